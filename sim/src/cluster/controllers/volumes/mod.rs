//! Claims and volumes: binding, dynamic provisioning, protection while in use, release and reclaim
//! (Kubernetes: "Persistent Volumes").

mod claim;
mod volume;

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use pilotage_core::time::Timestamp;
use serde_json::json;

use super::client::{CONTROLLER_MANAGER, Client, PROVISIONER};
use super::settings::StorageSettings;
use super::{Next, Turn};
use crate::cluster::Cluster;
use crate::cluster::object::{Stored, at, items_at, text_at};
use crate::cluster::request::{Failure, Propagation};
use crate::cluster::resource::Resource;

pub(super) const SELECTED_NODE: &str = "volume.kubernetes.io/selected-node";
const BIND_COMPLETED: &str = "pv.kubernetes.io/bind-completed";
const BOUND_BY_CONTROLLER: &str = "pv.kubernetes.io/bound-by-controller";
const PROVISIONED_BY: &str = "pv.kubernetes.io/provisioned-by";
const DEFAULT_CLASS: &str = "storageclass.kubernetes.io/is-default-class";
const NO_PROVISIONER: &str = "kubernetes.io/no-provisioner";
const CLAIM_PROTECTION: &str = "kubernetes.io/pvc-protection";
const VOLUME_PROTECTION: &str = "kubernetes.io/pv-protection";

/// The names of the claims that a pod mounts.
pub(super) fn claims_of(pod: &Stored) -> impl Iterator<Item = &str> {
    items_at(&pod.value, &["spec", "volumes"])
        .iter()
        .map(|volume| text_at(volume, &["persistentVolumeClaim", "claimName"]))
        .filter(|name| !name.is_empty())
}

/// Whether a pod's claims allow it to be scheduled.
pub(super) enum Readiness {
    /// All are bound.
    Ready,
    /// These wait for their first consumer to be placed.
    Consumer(Vec<Arc<Stored>>),
    /// One is missing or cannot be bound yet: why.
    Missing(String),
}

/// What a pod's claims say to its scheduling.
pub(super) fn readiness(client: &Client<'_>, pod: &Stored) -> Readiness {
    let mut waiting = Vec::new();
    for name in claims_of(pod) {
        let Some(claim) = client.peek_in(Resource::PersistentVolumeClaim, pod.namespace(), name)
        else {
            return Readiness::Missing(alloc::format!(
                "persistentvolumeclaim \"{name}\" not found"
            ));
        };
        if claim.deleting() {
            return Readiness::Missing(alloc::format!(
                "persistentvolumeclaim \"{name}\" is being deleted"
            ));
        }
        match text_at(&claim.value, &["status", "phase"]) {
            "Bound" => {}
            "Lost" => {
                let volume = text_at(&claim.value, &["spec", "volumeName"]);
                return Readiness::Missing(alloc::format!(
                    "persistentvolumeclaim \"{name}\" bound to non-existent persistentvolume \"{volume}\""
                ));
            }
            _ => {
                let late = class_of(client, &claim).is_some_and(|class| waits_for_consumer(&class));
                if !late || !text_at(&claim.value, &["spec", "volumeName"]).is_empty() {
                    return Readiness::Missing(
                        "pod has unbound immediate PersistentVolumeClaims".into(),
                    );
                }
                waiting.push(claim);
            }
        }
    }
    if waiting.is_empty() {
        Readiness::Ready
    } else {
        Readiness::Consumer(waiting)
    }
}

fn class_of(client: &Client<'_>, claim: &Stored) -> Option<Arc<Stored>> {
    let name = text_at(&claim.value, &["spec", "storageClassName"]);
    client.peek(super::client::Address {
        resource: Resource::StorageClass,
        namespace: "",
        name,
    })
}

fn waits_for_consumer(class: &Stored) -> bool {
    text_at(&class.value, &["volumeBindingMode"]) == "WaitForFirstConsumer"
}

fn volume_named(client: &Client<'_>, name: &str) -> Option<Arc<Stored>> {
    client.peek(super::client::Address {
        resource: Resource::PersistentVolume,
        namespace: "",
        name,
    })
}

/// Makes the storage class that the cluster starts with.
pub(super) fn found(cluster: &mut Cluster, at: Timestamp, storage: Option<&StorageSettings>) {
    let Some(storage) = storage else {
        return;
    };
    let mode = if storage.immediate {
        "Immediate"
    } else {
        "WaitForFirstConsumer"
    };
    let class = json!({
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": { "name": storage.class, "annotations": { DEFAULT_CLASS: "true" } },
        "provisioner": "simulated",
        "reclaimPolicy": if storage.retain { "Retain" } else { "Delete" },
        "volumeBindingMode": mode,
    });
    // One that is there already, as after a restart, stays as it is.
    let _ = Client::new(cluster, at, PROVISIONER).create(Resource::StorageClass, "", class);
}

/// Looks at a claim or a volume and binds, provisions, releases or reclaims.
pub(super) fn bind(turn: &mut Turn<'_>, resource: Resource, namespace: &str, name: &str) -> Next {
    match resource {
        Resource::PersistentVolume => volume::reconcile(turn, name),
        _ => claim::reconcile(turn, namespace, name),
    }
}

/// Keeps claims and volumes that are deleted until they are no longer used.
pub(super) fn protect(
    turn: &mut Turn<'_>,
    resource: Resource,
    namespace: &str,
    name: &str,
) -> Next {
    let client = turn.client(CONTROLLER_MANAGER);
    let (stored, finalizer) = match resource {
        Resource::PersistentVolume => (volume_named(&client, name), VOLUME_PROTECTION),
        _ => (client.peek_in(resource, namespace, name), CLAIM_PROTECTION),
    };
    let Some(stored) = stored else {
        return Next::Settled;
    };
    let used = match resource {
        Resource::PersistentVolume => text_at(&stored.value, &["status", "phase"]) == "Bound",
        _ => turn.memory.index.mounted(namespace, name),
    };
    let held = stored.finalizers().any(|name| name == finalizer);
    let mut client = turn.client(CONTROLLER_MANAGER);
    if !stored.deleting() && !held {
        Next::after(client.add_finalizer(&stored, finalizer))
    } else if stored.deleting() && held && !used {
        Next::after(client.drop_finalizer(&stored, finalizer))
    } else {
        Next::Settled
    }
}

/// Deletes exactly this volume, and lets it go.
fn destroy(client: &mut Client<'_>, volume: &Stored) -> Result<(), Failure> {
    client.delete(volume, Propagation::Background, None)
}

fn same_reference(volume: &Stored, claim: &Stored) -> bool {
    let reference = |field| text_at(&volume.value, &["spec", "claimRef", field]);
    let uid = reference("uid");
    reference("name") == claim.name()
        && reference("namespace") == claim.namespace()
        && (uid.is_empty() || uid == claim.uid())
}

fn annotation<'a>(stored: &'a Stored, key: &str) -> Option<&'a str> {
    at(&stored.value, &["metadata", "annotations", key]).and_then(serde_json::Value::as_str)
}
