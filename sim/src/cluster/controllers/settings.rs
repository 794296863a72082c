//! How long things take, and on which nodes pods run: plain data.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use pilotage_core::time::Span;
use serde::{Deserialize, Serialize};

use super::Controller;

/// How long each step of the simulated control plane takes. Every span may be nothing.
///
/// The defaults are those of a quick real cluster with warm caches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// From a change to the pass of the controller that it concerns (StatefulSet, namespaces, accounts).
    pub reconcile: Span,
    /// From a change to the garbage collector's look at it.
    pub collect: Span,
    /// From a pod's creation to its binding.
    pub schedule: Span,
    /// Making a volume for a claim.
    pub provision: Span,
    /// Binding a claim to a volume that is there.
    pub bind: Span,
    /// From a Service's creation to the address of its load balancer.
    pub load_balancer: Span,
    /// From binding to the first status of the kubelet.
    pub admit: Span,
    /// Making the pod's sandbox: network and mounted volumes.
    pub sandbox: Span,
    /// Pulling an image.
    pub pull: Span,
    /// Starting a container whose image is there.
    pub start: Span,
    /// Ending a pod that was asked to end; the pod's grace period is the ceiling.
    pub terminate: Span,
    /// First and longest wait after a failed pull.
    pub pull_backoff: Backoff,
    /// First and longest wait before a crashed container starts again. The first restart does not wait.
    pub crash_backoff: Backoff,
    /// First and longest wait after a pass of a controller that was refused something.
    pub retry: Backoff,
    /// How often the kubelet looks again for a Secret, ConfigMap or claim that is missing.
    pub recheck: Span,
    /// How long a node may be silent before it counts as lost.
    pub node_grace: Span,
    /// How long pods that tolerate nothing else stay on a lost node before they are deleted.
    pub eviction: Span,
    /// How long pods of a Node object that is gone are left alone.
    pub orphaned_pod: Span,
    /// The nodes that register themselves at the start.
    pub nodes: Vec<NodeSettings>,
    /// Controllers that do not run, because whoever drives the cluster does their work.
    pub by_hand: Vec<Controller>,
    /// The storage class that is there at the start, as the default. If absent there is none, and nobody who makes volumes.
    pub storage: Option<StorageSettings>,
}

/// The storage class that a cluster starts with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StorageSettings {
    /// Its name.
    pub class: Box<str>,
    /// Whether volumes are made at once, and not only when a pod wants them.
    pub immediate: bool,
    /// Whether a volume is kept when its claim is deleted.
    pub retain: bool,
}

impl Default for StorageSettings {
    fn default() -> Self {
        StorageSettings {
            class: "standard".into(),
            immediate: false,
            retain: false,
        }
    }
}

/// A wait that doubles from `first` to `limit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Backoff {
    /// The first wait.
    pub first: Span,
    /// The longest wait.
    pub limit: Span,
}

impl Backoff {
    /// The wait after `failures` failures in a row (1 is the first).
    pub fn after(&self, failures: u32) -> Span {
        let doubled = 1u64
            .checked_shl(failures.saturating_sub(1))
            .and_then(|factor| self.first.0.checked_mul(factor))
            .unwrap_or(u64::MAX);
        Span(doubled.min(self.limit.0))
    }
}

/// A simulated node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NodeSettings {
    /// Its name, also its host name.
    pub name: Box<str>,
    /// Its address.
    pub address: Box<str>,
    /// `kubernetes.io/arch`, such as `amd64`.
    pub architecture: Box<str>,
    /// Allocatable CPU, as a quantity.
    pub cpu: Box<str>,
    /// Allocatable memory, as a quantity.
    pub memory: Box<str>,
    /// How many pods fit.
    pub pods: u32,
    /// Further labels.
    pub labels: Vec<(Box<str>, Box<str>)>,
}

impl Default for NodeSettings {
    fn default() -> Self {
        NodeSettings {
            name: "node-0".into(),
            address: "192.168.0.10".into(),
            architecture: "amd64".into(),
            cpu: "64".into(),
            memory: "256Gi".into(),
            pods: 1_000,
            labels: Vec::new(),
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            reconcile: Span(10),
            collect: Span(50),
            schedule: Span(50),
            provision: Span(300),
            bind: Span(20),
            load_balancer: Span::seconds(2),
            admit: Span(20),
            sandbox: Span(200),
            pull: Span::seconds(1),
            start: Span(500),
            terminate: Span::seconds(1),
            pull_backoff: Backoff {
                first: Span::seconds(10),
                limit: Span::seconds(300),
            },
            crash_backoff: Backoff {
                first: Span::seconds(10),
                limit: Span::seconds(300),
            },
            retry: Backoff {
                first: Span(5),
                limit: Span::seconds(1_000),
            },
            recheck: Span::seconds(10),
            node_grace: Span::seconds(50),
            eviction: Span::seconds(300),
            orphaned_pod: Span::seconds(40),
            nodes: vec![NodeSettings::default()],
            by_hand: Vec::new(),
            storage: Some(StorageSettings::default()),
        }
    }
}

impl Settings {
    /// Everything at once: what order remains is that of causes.
    pub fn instant() -> Self {
        Settings {
            reconcile: Span(0),
            collect: Span(0),
            schedule: Span(0),
            provision: Span(0),
            bind: Span(0),
            load_balancer: Span(0),
            admit: Span(0),
            sandbox: Span(0),
            pull: Span(0),
            start: Span(0),
            terminate: Span(0),
            ..Settings::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backoff_doubles_up_to_its_limit_and_never_overflows() {
        let backoff = Settings::default().pull_backoff;
        let waits: Vec<u64> = (1..8).map(|n| backoff.after(n).0 / 1_000).collect();
        assert_eq!(waits, [10, 20, 40, 80, 160, 300, 300]);
        assert_eq!(backoff.after(u32::MAX), Span::seconds(300));
    }
}
