//! From what changed to what is to be looked at: one look at each watch event, no scan.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;

use pilotage_core::time::Timestamp;

use super::values::selects;
use super::{Controller, Controllers, garbage_collector, resources, service_account, volumes};
use crate::cluster::Cluster;
use crate::cluster::object::{Stored, items_at, text_at};
use crate::cluster::resource::Resource;

/// Namespace and name.
pub(super) type Name = (Arc<str>, Arc<str>);

/// What is known of pods without asking for each: kept from the events.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    /// Pods that nobody controls, for adoption.
    pub(super) loose: BTreeSet<Name>,
    /// ControllerRevisions that nobody controls, for adoption.
    pub(super) loose_revisions: BTreeSet<Name>,
    /// Pods that wait for a node.
    unscheduled: BTreeSet<Name>,
    /// Claims that are not bound.
    unbound: BTreeSet<Name>,
    /// What a pod takes of its node, while it runs there.
    taken: BTreeMap<Name, Share>,
    /// The sums by node.
    used: BTreeMap<Arc<str>, Use>,
    /// Pods by claim that they mount.
    mounts: BTreeMap<Name, BTreeSet<Arc<str>>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Share {
    node: Arc<str>,
    cpu: i128,
    memory: i128,
}

/// What the pods of a node take together, in thousand-millionths like all quantities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Use {
    pub(super) pods: i128,
    pub(super) cpu: i128,
    pub(super) memory: i128,
}

impl Index {
    /// What is taken of a node.
    pub(super) fn used(&self, node: &str) -> Use {
        self.used.get(node).copied().unwrap_or_default()
    }

    /// The running pods of a node.
    pub(super) fn pods_on(&self, node: &str) -> Vec<Name> {
        self.taken
            .iter()
            .filter(|(_, share)| &*share.node == node)
            .map(|(name, _)| name.clone())
            .collect()
    }

    /// Whether a pod that has a node mounts this claim.
    pub(super) fn mounted(&self, namespace: &str, claim: &str) -> bool {
        self.mounts
            .get(&(namespace.into(), claim.into()))
            .is_some_and(|pods| !pods.is_empty())
    }

    fn pod(&mut self, pod: &Stored, deleted: bool) {
        let name: Name = (pod.namespace().into(), pod.name().into());
        let node = text_at(&pod.value, &["spec", "nodeName"]);
        let ended = matches!(
            text_at(&pod.value, &["status", "phase"]),
            "Succeeded" | "Failed"
        );
        toggle(
            &mut self.loose,
            &name,
            !deleted && !pod.deleting() && pod.controller().is_none(),
        );
        toggle(
            &mut self.unscheduled,
            &name,
            !deleted && node.is_empty() && !ended,
        );
        let share = (!deleted && !node.is_empty() && !ended).then(|| Share {
            node: node.into(),
            cpu: resources::requested(&pod.value, "cpu"),
            memory: resources::requested(&pod.value, "memory"),
        });
        let before = match &share {
            Some(share) => self.taken.insert(name.clone(), share.clone()),
            None => self.taken.remove(&name),
        };
        if let Some(before) = before
            && let Some(sum) = self.used.get_mut(&before.node)
        {
            sum.pods -= 1_000_000_000;
            sum.cpu -= before.cpu;
            sum.memory -= before.memory;
        }
        if let Some(share) = share {
            let sum = self.used.entry(share.node).or_default();
            sum.pods += 1_000_000_000;
            sum.cpu += share.cpu;
            sum.memory += share.memory;
        }
        for claim in volumes::claims_of(pod) {
            let claim = (name.0.clone(), Arc::from(claim));
            if !deleted && !node.is_empty() {
                self.mounts.entry(claim).or_default().insert(name.1.clone());
            } else if let Some(pods) = self.mounts.get_mut(&claim) {
                pods.remove(&name.1);
                if pods.is_empty() {
                    self.mounts.remove(&claim);
                }
            }
        }
    }
}

fn toggle(set: &mut BTreeSet<Name>, name: &Name, belongs: bool) {
    if belongs {
        set.insert(name.clone());
    } else {
        set.remove(name);
    }
}

impl Controllers {
    /// Takes note of what changed since the last look.
    pub(super) fn observe(&mut self, api: &Cluster, at: Timestamp) {
        if api.version() == self.seen {
            return;
        }
        for change in api.changes_since(self.seen) {
            self.changed(
                api,
                at,
                change.before.as_deref(),
                &change.after,
                change.gone,
            );
        }
        self.seen = api.version();
    }

    /// A pod that a request ends without any grace is first to end and then gone. Controllers see the one before the other.
    pub(super) fn remember_ended(&mut self, api: &Cluster) {
        for change in api.changes_since(self.seen) {
            let (Some(before), pod) = (&change.before, &change.after) else {
                continue;
            };
            let marked = pod.resource == Resource::Pod && pod.deleting() && !before.deleting();
            let gone = || {
                api.peek(pod.resource, pod.namespace(), pod.name())
                    .is_none()
            };
            if marked
                && !change.gone
                && gone()
                && let Some(owner) = pod.controller()
                && owner.kind == Resource::StatefulSet.kind()
            {
                self.memory
                    .ending
                    .entry((pod.namespace().into(), owner.name.into()))
                    .or_default()
                    .push(pod.clone());
            }
        }
    }

    /// Takes note of everything that is there.
    pub(super) fn observe_all(&mut self, api: &Cluster, at: Timestamp) {
        self.memory.index = Index::default();
        for stored in api.all_objects() {
            self.changed(api, at, None, stored, false);
        }
        self.seen = api.version();
    }

    fn changed(
        &mut self,
        api: &Cluster,
        at: Timestamp,
        before: Option<&Stored>,
        stored: &Stored,
        deleted: bool,
    ) {
        let (namespace, name) = (stored.namespace(), stored.name());
        let resource = stored.resource;
        match resource {
            Resource::Namespace => {
                if stored.deleting() && !before.is_some_and(Stored::deleting) {
                    self.mark(at, Controller::Namespace, resource, "", name);
                }
                self.mark(at, Controller::ServiceAccount, resource, "", name);
                self.mark(at, Controller::RootCertificate, resource, "", name);
            }
            Resource::ServiceAccount if deleted && name == service_account::ACCOUNT => {
                let space = Resource::Namespace;
                self.mark(at, Controller::ServiceAccount, space, "", namespace);
            }
            Resource::ConfigMap if deleted && name == service_account::CERTIFICATE => {
                let space = Resource::Namespace;
                self.mark(at, Controller::RootCertificate, space, "", namespace);
            }
            Resource::Node => {
                self.mark(at, Controller::NodeLifecycle, resource, "", name);
                if deleted {
                    for (namespace, pod) in self.memory.index.pods_on(name) {
                        self.mark(
                            at,
                            Controller::PodCollector,
                            Resource::Pod,
                            &namespace,
                            &pod,
                        );
                    }
                }
                self.retry_unscheduled(at);
            }
            Resource::StorageClass => {
                self.retry_unbound(at);
                self.retry_unscheduled(at);
            }
            Resource::PersistentVolume => {
                self.mark(at, Controller::VolumeBinder, resource, "", name);
                self.mark(at, Controller::VolumeProtection, resource, "", name);
                let claim = |field| text_at(&stored.value, &["spec", "claimRef", field]);
                if claim("name").is_empty() {
                    self.retry_unbound(at);
                } else {
                    self.mark(
                        at,
                        Controller::VolumeBinder,
                        Resource::PersistentVolumeClaim,
                        claim("namespace"),
                        claim("name"),
                    );
                }
            }
            Resource::PersistentVolumeClaim => self.claim_changed(api, at, stored, deleted),
            Resource::Service => self.mark(at, Controller::Service, resource, namespace, name),
            Resource::StatefulSet => {
                self.mark(at, Controller::StatefulSet, resource, namespace, name)
            }
            Resource::ControllerRevision => toggle(
                &mut self.memory.index.loose_revisions,
                &(namespace.into(), name.into()),
                !deleted && stored.controller().is_none(),
            ),
            Resource::Pod => self.pod_changed(api, at, stored, deleted),
            _ => {}
        }
        self.ownership_changed(api, at, before, stored, deleted);
        // The last object of a namespace that ends lets it go.
        if deleted
            && api
                .peek(Resource::Namespace, "", namespace)
                .is_some_and(|space| space.deleting())
            && Resource::ALL
                .iter()
                .all(|kind| api.objects(*kind, Some(namespace)).next().is_none())
        {
            let space = Resource::Namespace;
            self.mark(at, Controller::Namespace, space, "", namespace);
        }
    }

    fn claim_changed(&mut self, api: &Cluster, at: Timestamp, claim: &Stored, deleted: bool) {
        let (namespace, name) = (claim.namespace(), claim.name());
        let bound = text_at(&claim.value, &["status", "phase"]) == "Bound";
        toggle(
            &mut self.memory.index.unbound,
            &(namespace.into(), name.into()),
            !deleted && !bound,
        );
        self.mark(
            at,
            Controller::VolumeProtection,
            claim.resource,
            namespace,
            name,
        );
        if deleted {
            // A StatefulSet makes no pod while a claim of it is being deleted.
            for set in api.objects(Resource::StatefulSet, Some(namespace)) {
                if name.contains(set.name()) {
                    self.mark(
                        at,
                        Controller::StatefulSet,
                        set.resource,
                        namespace,
                        set.name(),
                    );
                }
            }
            let volume = text_at(&claim.value, &["spec", "volumeName"]);
            if !volume.is_empty() {
                self.mark(
                    at,
                    Controller::VolumeBinder,
                    Resource::PersistentVolume,
                    "",
                    volume,
                );
            }
        } else {
            self.mark(
                at,
                Controller::VolumeBinder,
                claim.resource,
                namespace,
                name,
            );
        }
        self.retry_unscheduled(at);
    }

    fn pod_changed(&mut self, api: &Cluster, at: Timestamp, pod: &Stored, deleted: bool) {
        let (namespace, name) = (pod.namespace(), pod.name());
        self.memory.index.pod(pod, deleted);
        let node = text_at(&pod.value, &["spec", "nodeName"]);
        if !deleted && node.is_empty() {
            self.mark(at, Controller::Scheduler, Resource::Pod, namespace, name);
        }
        if !node.is_empty() {
            // Only a pod that the kubelet has not met waits for its admission.
            let from = if deleted || self.memory.kubelet.knows(pod) {
                at
            } else {
                at.after(self.settings.admit)
            };
            self.mark(from, Controller::Kubelet, Resource::Pod, namespace, name);
            if !deleted && api.peek(Resource::Node, "", node).is_none() {
                self.mark(at, Controller::PodCollector, Resource::Pod, namespace, name);
            }
            if !deleted
                && api
                    .peek(Resource::Node, "", node)
                    .is_some_and(|node| !items_at(&node.value, &["spec", "taints"]).is_empty())
            {
                self.mark(at, Controller::NodeLifecycle, Resource::Node, "", node);
            }
        }
        let ended = matches!(
            text_at(&pod.value, &["status", "phase"]),
            "Succeeded" | "Failed"
        );
        if deleted {
            for claim in volumes::claims_of(pod) {
                self.mark(
                    at,
                    Controller::VolumeProtection,
                    Resource::PersistentVolumeClaim,
                    namespace,
                    claim,
                );
            }
        }
        if deleted || ended {
            self.retry_unscheduled(at);
        }
        match pod.controller() {
            Some(owner) if owner.kind == "StatefulSet" => self.mark(
                at,
                Controller::StatefulSet,
                Resource::StatefulSet,
                namespace,
                owner.name,
            ),
            Some(_) => {}
            None => {
                let labels = pod.at(&["metadata", "labels"]);
                for set in api.objects(Resource::StatefulSet, Some(namespace)) {
                    if selects(set.at(&["spec", "selector"]), labels) {
                        self.mark(
                            at,
                            Controller::StatefulSet,
                            set.resource,
                            namespace,
                            set.name(),
                        );
                    }
                }
            }
        }
    }

    /// Puts objects on the garbage collector's list: whose owners are gone, who begin to be held back by their dependents, and
    /// who were held back by one that is no longer theirs.
    fn ownership_changed(
        &mut self,
        api: &Cluster,
        at: Timestamp,
        before: Option<&Stored>,
        stored: &Stored,
        deleted: bool,
    ) {
        let collect = |controllers: &mut Self, object: &Stored| {
            controllers.mark(
                at,
                Controller::GarbageCollector,
                object.resource,
                object.namespace(),
                object.name(),
            );
        };
        let freed = before.into_iter().flat_map(|before| {
            before
                .owners()
                .filter(|owner| deleted || !stored.owners().any(|still| still.uid == owner.uid))
        });
        for owner in freed {
            if let Some(owner) = garbage_collector::find(api, stored.namespace(), &owner)
                && owner.deleting()
            {
                collect(self, owner);
            }
        }
        if deleted {
            for dependent in api.dependents(stored.uid()) {
                collect(self, dependent);
            }
        } else if garbage_collector::begins_to_wait(before, stored)
            || garbage_collector::lost_an_owner(api, stored)
        {
            collect(self, stored);
        }
    }

    /// What keeps pods from a node may have gone.
    fn retry_unscheduled(&mut self, at: Timestamp) {
        let pods: Vec<Name> = self.memory.index.unscheduled.iter().cloned().collect();
        for (namespace, name) in pods {
            self.mark(at, Controller::Scheduler, Resource::Pod, &namespace, &name);
        }
    }

    /// What keeps claims from a volume may have gone.
    fn retry_unbound(&mut self, at: Timestamp) {
        let claims: Vec<Name> = self.memory.index.unbound.iter().cloned().collect();
        for (namespace, name) in claims {
            self.mark(
                at,
                Controller::VolumeBinder,
                Resource::PersistentVolumeClaim,
                &namespace,
                &name,
            );
        }
    }
}
