//! The controllers of the cluster: what kube-controller-manager, the scheduler, the kubelets and the makers of volumes and
//! load balancers visibly do, as one machine that is told the time.
//!
//! Each controller is a function of what is there: it is given the name of one object to look at and makes what is wrong right,
//! through the same requests that anybody else would send, under the real component's manager name. Which objects are to be
//! looked at comes from what changed since the last pass; nothing scans the world.
//!
//! # Guarantees
//!
//! - The same requests, rules, incidents and moments give the same objects, byte for byte.
//! - One [`Controllers::run`] is one pass of one controller over one object, so that whoever explores orders can interleave them.
//! - What is remembered beside the objects (backoffs, what a kubelet is doing) may be lost: it is found again from the objects.
//!
//! # What is not simulated
//!
//! - Deployment, ReplicaSet and DaemonSet have no controller yet: a file of their own each, beside `stateful_set`.
//! - Caches of controllers are never stale, and one pass is never cut in two.
//! - Only warnings become Event objects; successes do not.
//! - Node heartbeats, endpoints, horizontal scaling, jobs, disruption budgets, service account tokens, resizing of volumes.
//! - The scheduler knows node selectors, required node affinity, taints, volumes and resources; no pod (anti-)affinity, spreading,
//!   priority or preemption.
//! - Probes: a container without a rule is ready as soon as its first probe could say so (`initialDelaySeconds`).

mod client;
mod conditions;
mod drive;
mod garbage_collector;
mod hash;
pub mod instruction;
mod kubelet;
mod namespace;
mod node;
mod observe;
mod resources;
mod scheduler;
mod service;
mod service_account;
pub mod settings;
mod stateful_set;
mod values;
mod volumes;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;

use pilotage_core::time::Timestamp;
use serde::{Deserialize, Serialize};

use self::client::Client;
use self::instruction::{Incident, Rules};
use self::settings::Settings;
use super::Cluster;
use super::object::Stored;
use super::resource::Resource;

/// A controller, in the order in which they are run when several are due at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Controller {
    /// The kubelet of a node, about its Node object.
    Node,
    /// Makes the account `default` of a namespace.
    ServiceAccount,
    /// Makes the map with the cluster's certificate of a namespace.
    RootCertificate,
    /// Marks lost nodes, and moves their pods away.
    NodeLifecycle,
    /// Runs pods of a StatefulSet.
    StatefulSet,
    /// Binds claims to volumes, and makes volumes.
    VolumeBinder,
    /// Keeps a claim or volume that is deleted until nobody uses it.
    VolumeProtection,
    /// Gives a Service its load balancer.
    Service,
    /// Gives a pod its node.
    Scheduler,
    /// The kubelet of a pod's node.
    Kubelet,
    /// Removes pods whose node is gone.
    PodCollector,
    /// Deletes what lost its owners.
    GarbageCollector,
    /// Empties a namespace that is deleted.
    Namespace,
}

/// One thing to look at: a controller and an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ActionId {
    /// Who looks.
    pub controller: Controller,
    /// The kind of the object.
    pub resource: Resource,
    /// The object's namespace; empty for cluster-scoped ones.
    pub namespace: Arc<str>,
    /// The object's name.
    pub name: Arc<str>,
}

/// What a pass leaves to be done for the same object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// Nothing until something changes.
    Settled,
    /// Nothing until somebody else changes something: what this pass changed was looked at in it.
    Seen,
    /// Look again at this moment.
    At(Timestamp),
    /// Something was refused: look again after a growing wait.
    Retry,
}

impl Next {
    /// The earlier of two.
    fn or(self, other: Next) -> Next {
        match (self, other) {
            (Next::Retry, _) | (_, Next::Retry) => Next::Retry,
            (Next::At(a), Next::At(b)) => Next::At(a.min(b)),
            (Next::Settled | Next::Seen, next) | (next, Next::Settled | Next::Seen) => next,
        }
    }

    /// Retry if a request was refused.
    fn after<T, E>(result: Result<T, E>) -> Next {
        match result {
            Ok(_) => Next::Settled,
            Err(_) => Next::Retry,
        }
    }
}

/// All controllers, with what they have yet to look at.
#[derive(Clone, Debug)]
pub struct Controllers {
    settings: Arc<Settings>,
    rules: Arc<Rules>,
    /// Up to which version changes are known.
    seen: u64,
    due: BTreeMap<ActionId, Timestamp>,
    order: BTreeSet<(Timestamp, ActionId)>,
    refusals: BTreeMap<ActionId, u32>,
    memory: Memory,
}

/// What controllers remember beside the objects.
#[derive(Clone, Debug, Default)]
struct Memory {
    kubelet: kubelet::Memory,
    index: observe::Index,
    /// Silent nodes, and since when.
    lost: BTreeMap<Arc<str>, Timestamp>,
    /// Pods that a request ended at once, by the StatefulSet that has yet to see that they were to end.
    ending: BTreeMap<observe::Name, Vec<Arc<Stored>>>,
    /// Pods whose node no longer exists, and since when.
    homeless: BTreeMap<(Arc<str>, Arc<str>), Timestamp>,
    /// When a Service was first seen to need a load balancer.
    balancing: BTreeMap<(Arc<str>, Arc<str>), Timestamp>,
    /// When a claim was first seen to need a volume.
    provisioning: BTreeMap<(Arc<str>, Arc<str>), Timestamp>,
}

/// What one pass works with.
struct Turn<'a> {
    api: &'a mut Cluster,
    at: Timestamp,
    settings: &'a Settings,
    rules: &'a Rules,
    memory: &'a mut Memory,
}

impl Turn<'_> {
    fn client(&mut self, manager: &'static str) -> Client<'_> {
        Client::new(self.api, self.at, manager)
    }
}

impl Controllers {
    /// Controllers that have seen nothing yet.
    pub fn new(settings: Settings) -> Self {
        Controllers {
            settings: Arc::new(settings),
            rules: Arc::default(),
            seen: 0,
            due: BTreeMap::new(),
            order: BTreeSet::new(),
            refusals: BTreeMap::new(),
            memory: Memory::default(),
        }
    }

    /// Registers the nodes and looks at everything that is there: at the start, and when the cluster was read back from a file.
    pub fn start(&mut self, api: &Cluster, at: Timestamp) {
        let settings = self.settings.clone();
        for node in &settings.nodes {
            self.mark(at, Controller::Node, Resource::Node, "", node.name.as_ref());
        }
        self.observe_all(api, at);
    }

    /// How containers behave from now on, instead of what was said before.
    pub fn instruct(&mut self, at: Timestamp, rules: Rules) {
        self.rules = Arc::new(rules);
        for (namespace, name) in self.memory.kubelet.pods() {
            self.mark(at, Controller::Kubelet, Resource::Pod, &namespace, &name);
        }
    }

    /// Something happens, once.
    pub fn befall(&mut self, api: &Cluster, at: Timestamp, incident: Incident) {
        match incident {
            Incident::NodeLost { node } => {
                self.memory.lost.entry(node.as_ref().into()).or_insert(at);
                self.mark(at, Controller::NodeLifecycle, Resource::Node, "", &node);
            }
            Incident::NodeReturned { node } => {
                self.memory.lost.remove(node.as_ref());
                self.mark(at, Controller::Node, Resource::Node, "", &node);
                for (namespace, name) in self.memory.index.pods_on(&node) {
                    self.mark(at, Controller::Kubelet, Resource::Pod, &namespace, &name);
                }
            }
            Incident::PodEvicted { namespace, pod } => {
                if let Some(stored) = api.peek(Resource::Pod, &namespace, &pod) {
                    self.memory.kubelet.evict(stored);
                    self.mark(at, Controller::Kubelet, Resource::Pod, &namespace, &pod);
                }
            }
            Incident::ContainerExits {
                namespace,
                pod,
                container,
                code,
                reason,
            } => {
                if let Some(stored) = api.peek(Resource::Pod, &namespace, &pod) {
                    self.memory
                        .kubelet
                        .exit(stored, &container, at, code, reason);
                    self.mark(at, Controller::Kubelet, Resource::Pod, &namespace, &pod);
                }
            }
        }
    }

    /// What is due at this moment, in the order in which [`Controllers::advance`] would run it.
    pub fn pending(&self, at: Timestamp) -> Vec<ActionId> {
        self.order
            .iter()
            .take_while(|(due, _)| *due <= at)
            .map(|(_, action)| action.clone())
            .collect()
    }

    /// The next moment at which something is due.
    pub fn wake_at(&self) -> Option<Timestamp> {
        self.order.first().map(|(due, _)| *due)
    }

    /// Runs one pass of one controller; nothing if it is not pending at all.
    pub fn run(&mut self, api: &mut Cluster, at: Timestamp, action: &ActionId) {
        let Some(due) = self.due.remove(action) else {
            return;
        };
        self.order.remove(&(due, action.clone()));
        let (settings, rules) = (self.settings.clone(), self.rules.clone());
        let mut turn = Turn {
            api,
            at,
            settings: &settings,
            rules: &rules,
            memory: &mut self.memory,
        };
        let (namespace, name) = (&*action.namespace, &*action.name);
        let next = match action.controller {
            Controller::Node => node::register(&mut turn, name),
            Controller::ServiceAccount => service_account::account(&mut turn, name),
            Controller::RootCertificate => service_account::certificate(&mut turn, name),
            Controller::NodeLifecycle => node::reconcile(&mut turn, name),
            Controller::StatefulSet => stateful_set::reconcile(&mut turn, namespace, name),
            Controller::VolumeBinder => volumes::bind(&mut turn, action.resource, namespace, name),
            Controller::VolumeProtection => {
                volumes::protect(&mut turn, action.resource, namespace, name)
            }
            Controller::Service => service::reconcile(&mut turn, namespace, name),
            Controller::Scheduler => scheduler::reconcile(&mut turn, namespace, name),
            Controller::Kubelet => kubelet::reconcile(&mut turn, namespace, name),
            Controller::PodCollector => node::collect_pod(&mut turn, namespace, name),
            Controller::GarbageCollector => {
                garbage_collector::reconcile(&mut turn, action.resource, namespace, name)
            }
            Controller::Namespace => namespace::reconcile(&mut turn, name),
        };
        self.observe(api, at);
        match next {
            Next::Settled => {
                self.refusals.remove(action);
            }
            Next::Seen => {
                self.refusals.remove(action);
                if let Some(due) = self.due.remove(action) {
                    self.order.remove(&(due, action.clone()));
                }
            }
            Next::At(moment) => {
                self.refusals.remove(action);
                self.schedule(moment, action.clone());
            }
            Next::Retry => {
                let refusals = self.refusals.entry(action.clone()).or_insert(0);
                *refusals += 1;
                let wait = settings.retry.after(*refusals);
                self.schedule(at.after(wait), action.clone());
            }
        }
    }

    /// Runs everything that is due at this moment, and what becomes due by it, until nothing is left for this moment.
    pub fn advance(&mut self, api: &mut Cluster, at: Timestamp) {
        self.observe(api, at);
        while let Some((due, action)) = self.order.first().cloned() {
            if due > at {
                break;
            }
            self.run(api, at, &action);
        }
    }

    /// Puts an object on a controller's list, to be looked at as soon as the controller's own delay allows.
    fn mark(
        &mut self,
        at: Timestamp,
        controller: Controller,
        resource: Resource,
        namespace: &str,
        name: &str,
    ) {
        if self.settings.by_hand.contains(&controller) {
            return;
        }
        let wait = match controller {
            Controller::StatefulSet
            | Controller::ServiceAccount
            | Controller::RootCertificate
            | Controller::Namespace
            | Controller::VolumeProtection => self.settings.reconcile,
            Controller::GarbageCollector => self.settings.collect,
            Controller::Scheduler => self.settings.schedule,
            Controller::VolumeBinder => self.settings.bind,
            Controller::Kubelet
            | Controller::Node
            | Controller::NodeLifecycle
            | Controller::PodCollector
            | Controller::Service => pilotage_core::time::Span(0),
        };
        self.schedule(
            at.after(wait),
            ActionId {
                controller,
                resource,
                namespace: namespace.into(),
                name: name.into(),
            },
        );
    }

    /// Makes an action due at a moment, unless it is due earlier anyway.
    fn schedule(&mut self, moment: Timestamp, action: ActionId) {
        match self.due.get(&action) {
            Some(due) if *due <= moment => return,
            Some(due) => {
                self.order.remove(&(*due, action.clone()));
            }
            None => {}
        }
        self.due.insert(action.clone(), moment);
        self.order.insert((moment, action));
    }
}

#[cfg(test)]
mod tests;
