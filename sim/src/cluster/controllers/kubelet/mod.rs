//! The kubelet: runs the containers of the pods that were given to its node, reports on them, and ends them.
//!
//! Nothing really runs. A container pulls, starts, runs, is ready and exits as the settings and the rules say; what can be seen
//! of it is what a real kubelet would report.

mod container;
mod ending;
mod mounts;
mod status;

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use pilotage_core::time::Timestamp;

use self::container::{Container, Host};
use super::client::KUBELET;
use super::instruction::Subject;
use super::{Next, Turn};
use crate::cluster::object::{Stored, items_at, text_at};
use crate::cluster::resource::Resource;

/// What the kubelets know of their pods. If it is lost they find it again from the pods' statuses.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    pods: BTreeMap<(Arc<str>, Arc<str>), Run>,
    /// How many pod addresses were given.
    addresses: u32,
}

/// A pod on its node.
#[derive(Clone, Debug)]
struct Run {
    uid: Box<str>,
    /// When its network and volumes are ready; nothing while they cannot be made.
    sandbox: Option<Timestamp>,
    address: Option<Box<str>>,
    init: Vec<Container>,
    containers: Vec<Container>,
    evicted: bool,
    /// When it was first seen that the pod is to end.
    ending: Option<Timestamp>,
}

impl Memory {
    /// Whether a kubelet met this pod.
    pub(super) fn knows(&self, pod: &Stored) -> bool {
        self.pods
            .get(&key(pod.namespace(), pod.name()))
            .is_some_and(|run| *run.uid == *pod.uid())
    }

    /// All pods that a kubelet looks after.
    pub(super) fn pods(&self) -> Vec<(Arc<str>, Arc<str>)> {
        self.pods.keys().cloned().collect()
    }

    /// The node runs short: the pod is to be evicted.
    pub(super) fn evict(&mut self, pod: &Stored) {
        if let Some(run) = self.run(pod) {
            run.evicted = true;
        }
    }

    /// A container ends by itself now.
    pub(super) fn exit(
        &mut self,
        pod: &Stored,
        name: &str,
        at: Timestamp,
        code: i32,
        reason: Box<str>,
    ) {
        let limit = pilotage_core::time::Span::seconds(10);
        if let Some(run) = self.run(pod)
            && let Some(container) = run
                .containers
                .iter_mut()
                .find(|container| container.is(name))
        {
            container.exit(at, code, reason, limit);
        }
    }

    fn run(&mut self, pod: &Stored) -> Option<&mut Run> {
        self.pods
            .get_mut(&key(pod.namespace(), pod.name()))
            .filter(|run| *run.uid == *pod.uid())
    }

    fn address(&mut self) -> Box<str> {
        self.addresses += 1;
        let [_, high, middle, low] = self.addresses.to_be_bytes();
        format!("10.{}.{middle}.{low}", 128 | high).into()
    }
}

fn key(namespace: &str, name: &str) -> (Arc<str>, Arc<str>) {
    (namespace.into(), name.into())
}

pub(super) fn reconcile(turn: &mut Turn<'_>, namespace: &str, name: &str) -> Next {
    let key = key(namespace, name);
    let Some(pod) = turn.client(KUBELET).peek_in(Resource::Pod, namespace, name) else {
        turn.memory.kubelet.pods.remove(&key);
        return Next::Settled;
    };
    let node = text_at(&pod.value, &["spec", "nodeName"]);
    if node.is_empty() || turn.memory.lost.contains_key(node) {
        return Next::Settled;
    }
    // The run is taken out while the pass works on it, and put back at its end.
    let mut run = match turn.memory.kubelet.pods.remove(&key) {
        Some(run) if *run.uid == *pod.uid() => run,
        _ => recover(turn, &pod),
    };
    let next = look_after(turn, &pod, &mut run);
    if turn
        .client(KUBELET)
        .peek_in(Resource::Pod, namespace, name)
        .is_some()
    {
        turn.memory.kubelet.pods.insert(key, run);
    }
    next
}

fn look_after(turn: &mut Turn<'_>, pod: &Arc<Stored>, run: &mut Run) -> Next {
    let ended = matches!(
        text_at(&pod.value, &["status", "phase"]),
        "Succeeded" | "Failed"
    );
    if pod.deleting() {
        return ending::end(turn, pod, run, ended);
    }
    if ended {
        return Next::Settled;
    }
    if run.evicted {
        return ending::evict(turn, pod, run);
    }
    let next = progress(turn, pod, run);
    let status = status::of(turn, pod, run);
    next.or(Next::after(turn.client(KUBELET).set_status(pod, &status)))
}

/// Brings the pod as far as it is at this moment.
fn progress(turn: &mut Turn<'_>, pod: &Arc<Stored>, run: &mut Run) -> Next {
    let at = turn.at;
    let Some(sandbox) = run.sandbox else {
        let recheck = at.after(turn.settings.recheck);
        let mut client = turn.client(KUBELET);
        if let Some(problem) = mounts::missing(&client, pod) {
            client.warn(pod, "FailedMount", &problem);
            return Next::At(recheck);
        }
        let ready = at.after(turn.settings.sandbox);
        run.sandbox = Some(ready);
        // The first report tells that the kubelet took the pod.
        return Next::At(ready);
    };
    if at < sandbox {
        return Next::At(sandbox);
    }
    if run.address.is_none() {
        run.address = Some(turn.memory.kubelet.address());
    }
    let always = matches!(
        text_at(&pod.value, &["spec", "restartPolicy"]),
        "" | "Always"
    );
    let on_failure = text_at(&pod.value, &["spec", "restartPolicy"]) == "OnFailure";
    let mut next = Next::Settled;
    let specs = items_at(&pod.value, &["spec", "initContainers"]);
    for (container, spec) in run.init.iter_mut().zip(specs) {
        let subject = subject(pod, spec);
        let host = Host {
            settings: turn.settings,
            rules: turn.rules,
            subject,
            restarts: |code| code != 0 && (always || on_failure),
            initial: true,
            problem: mounts::environment(&turn.client(KUBELET), pod, spec),
        };
        next = next.or(container.advance(at, &host));
        if !container.completed() {
            return next;
        }
    }
    let specs = items_at(&pod.value, &["spec", "containers"]);
    for (container, spec) in run.containers.iter_mut().zip(specs) {
        let host = Host {
            settings: turn.settings,
            rules: turn.rules,
            subject: subject(pod, spec),
            restarts: |code| always || (on_failure && code != 0),
            initial: false,
            problem: mounts::environment(&turn.client(KUBELET), pod, spec),
        };
        next = next.or(container.advance(at, &host));
    }
    next
}

fn subject<'a>(pod: &'a Stored, spec: &'a serde_json::Value) -> Subject<'a> {
    Subject {
        namespace: pod.namespace(),
        pod: pod.name(),
        container: text_at(spec, &["name"]),
        image: text_at(spec, &["image"]),
    }
}

/// A pod that no kubelet knows yet: as its status says, which for a new pod is nothing.
fn recover(turn: &mut Turn<'_>, pod: &Stored) -> Run {
    let address = text_at(&pod.value, &["status", "podIP"]);
    let containers = |specs: &str, statuses: &str| {
        let statuses = items_at(&pod.value, &["status", statuses]);
        items_at(&pod.value, &["spec", specs])
            .iter()
            .map(|spec| {
                let name = text_at(spec, &["name"]);
                let status = statuses
                    .iter()
                    .find(|status| text_at(status, &["name"]) == name);
                Container::recover(name, status)
            })
            .collect()
    };
    let memory = &mut turn.memory.kubelet;
    if let Some(number) = number_of(address) {
        memory.addresses = memory.addresses.max(number);
    }
    Run {
        uid: pod.uid().into(),
        sandbox: (!address.is_empty()).then_some(turn.at),
        address: (!address.is_empty()).then(|| address.into()),
        init: containers("initContainers", "initContainerStatuses"),
        containers: containers("containers", "containerStatuses"),
        evicted: false,
        ending: None,
    }
}

/// The count in an address that a kubelet gave.
fn number_of(address: &str) -> Option<u32> {
    let mut parts = address.split('.').map(str::parse::<u8>);
    let mut part = || parts.next()?.ok();
    let (_, high, middle, low) = (part()?, part()?, part()?, part()?);
    Some(u32::from_be_bytes([0, high & 127, middle, low]))
}

/// A made-up identifier of 64 hexadecimal digits, the same for the same parts.
fn digest(parts: &[&str]) -> String {
    let mut text = String::new();
    for round in 0..8u8 {
        let mut fnv = super::hash::Fnv::default();
        fnv.write(&[round]);
        for part in parts {
            fnv.write(part.as_bytes());
            fnv.write(&[0]);
        }
        text.push_str(&format!("{:08x}", fnv.0));
    }
    text.to_string()
}
