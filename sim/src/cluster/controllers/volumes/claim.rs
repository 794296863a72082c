//! A claim finds its volume, or gets one made.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;

use serde_json::{Value, json};

use super::super::client::{CONTROLLER_MANAGER, PROVISIONER};
use super::super::resources::nanos;
use super::super::values::selects;
use super::super::{Next, Turn};
use super::{
    BIND_COMPLETED, BOUND_BY_CONTROLLER, DEFAULT_CLASS, NO_PROVISIONER, PROVISIONED_BY,
    SELECTED_NODE, VOLUME_PROTECTION, annotation, class_of, same_reference, volume_named,
    waits_for_consumer,
};
use crate::cluster::object::{Stored, items_at, set_at, text_at};
use crate::cluster::resource::Resource;

pub(super) fn reconcile(turn: &mut Turn<'_>, namespace: &str, name: &str) -> Next {
    let key = (namespace.into(), name.into());
    let client = turn.client(CONTROLLER_MANAGER);
    let Some(claim) = client.peek_in(Resource::PersistentVolumeClaim, namespace, name) else {
        turn.memory.provisioning.remove(&key);
        return Next::Settled;
    };
    let wanted = text_at(&claim.value, &["spec", "volumeName"]);
    let volume = match wanted {
        "" => find(turn, &claim),
        wanted => match volume_named(&client, wanted) {
            Some(volume) => Some(volume),
            None if annotation(&claim, BIND_COMPLETED).is_some() => return lose(turn, &claim),
            None => return Next::Settled,
        },
    };
    if let Some(volume) = volume {
        turn.memory.provisioning.remove(&key);
        return join(turn, &claim, &volume);
    }
    if claim.deleting() {
        return Next::Settled;
    }
    provision(turn, &claim)
}

/// The volume that is meant for the claim, or the smallest free one that fits it.
fn find(turn: &mut Turn<'_>, claim: &Stored) -> Option<Arc<Stored>> {
    let client = turn.client(CONTROLLER_MANAGER);
    if let Some(made) = volume_named(&client, &format!("pvc-{}", claim.uid()))
        && same_reference(&made, claim)
    {
        return Some(made);
    }
    let class = text_at(&claim.value, &["spec", "storageClassName"]);
    let late = class_of(&client, claim).is_some_and(|class| waits_for_consumer(&class))
        && annotation(claim, SELECTED_NODE).is_none();
    let requested = requested(claim);
    let volumes = client.list(Resource::PersistentVolume, None);
    let meant = volumes
        .iter()
        .find(|volume| volume.at(&["spec", "claimRef"]).is_some() && same_reference(volume, claim));
    if let Some(meant) = meant {
        return Some(meant.clone());
    }
    if late {
        return None;
    }
    volumes
        .into_iter()
        .filter(|volume| {
            !volume.deleting()
                && volume.at(&["spec", "claimRef"]).is_none()
                && text_at(&volume.value, &["spec", "storageClassName"]) == class
                && capacity(volume) >= requested
                && items_at(&claim.value, &["spec", "accessModes"])
                    .iter()
                    .all(|mode| items_at(&volume.value, &["spec", "accessModes"]).contains(mode))
                && mode(volume) == mode(claim)
                && claim.at(&["spec", "selector"]).is_none_or(|selector| {
                    selects(Some(selector), volume.at(&["metadata", "labels"]))
                })
        })
        .min_by_key(|volume| (capacity(volume), volume.name().to_string()))
}

fn mode(stored: &Stored) -> &str {
    match text_at(&stored.value, &["spec", "volumeMode"]) {
        "" => "Filesystem",
        mode => mode,
    }
}

fn requested(claim: &Stored) -> i128 {
    nanos(&claim.value, &["spec", "resources", "requests", "storage"])
}

fn capacity(volume: &Stored) -> i128 {
    nanos(&volume.value, &["spec", "capacity", "storage"])
}

/// Binds claim and volume to each other, the volume first: whatever is done is not done again.
fn join(turn: &mut Turn<'_>, claim: &Arc<Stored>, volume: &Arc<Stored>) -> Next {
    let mut client = turn.client(CONTROLLER_MANAGER);
    let taken = volume.at(&["spec", "claimRef"]).is_some();
    if taken && !same_reference(volume, claim) {
        // Somebody else's volume: the claim waits.
        return Next::Settled;
    }
    let reference = text_at(&volume.value, &["spec", "claimRef", "uid"]);
    if reference != claim.uid() {
        if claim.deleting() {
            return Next::Settled;
        }
        let mut after = volume.value.clone();
        if !taken {
            set_at(
                &mut after,
                &["metadata", "annotations", BOUND_BY_CONTROLLER],
                json!("yes"),
            );
        }
        set_at(
            &mut after,
            &["spec", "claimRef"],
            json!({
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "namespace": claim.namespace(),
                "name": claim.name(),
                "uid": claim.uid(),
                "resourceVersion": claim.version.to_string(),
            }),
        );
        if client.change(volume, &after).is_err() {
            return Next::Retry;
        }
    }
    let Some(volume) = volume_named(&client, volume.name()) else {
        return Next::Retry;
    };
    let mut status = volume.value.get("status").cloned().unwrap_or(json!({}));
    set_at(&mut status, &["phase"], json!("Bound"));
    if client.set_status(&volume, &status).is_err() {
        return Next::Retry;
    }
    let mut after = claim.value.clone();
    if text_at(&after, &["spec", "volumeName"]).is_empty() {
        set_at(&mut after, &["spec", "volumeName"], json!(volume.name()));
        set_at(
            &mut after,
            &["metadata", "annotations", BOUND_BY_CONTROLLER],
            json!("yes"),
        );
    }
    if annotation(claim, BIND_COMPLETED).is_none() {
        set_at(
            &mut after,
            &["metadata", "annotations", BIND_COMPLETED],
            json!("yes"),
        );
    }
    if client.change(claim, &after).is_err() {
        return Next::Retry;
    }
    let Some(claim) = client.peek_in(
        Resource::PersistentVolumeClaim,
        claim.namespace(),
        claim.name(),
    ) else {
        return Next::Retry;
    };
    let mut status = claim.value.get("status").cloned().unwrap_or(json!({}));
    set_at(&mut status, &["phase"], json!("Bound"));
    for field in ["accessModes", "capacity"] {
        if let Some(value) = volume.at(&["spec", field])
            && (field != "capacity" || status.get("capacity").is_none())
        {
            set_at(&mut status, &[field], value.clone());
        }
    }
    Next::after(client.set_status(&claim, &status))
}

/// A bound claim whose volume is gone.
fn lose(turn: &mut Turn<'_>, claim: &Arc<Stored>) -> Next {
    Next::after(
        turn.client(CONTROLLER_MANAGER)
            .set_status(claim, &json!({ "phase": "Lost" })),
    )
}

/// Has a volume made for the claim, if its class says how.
fn provision(turn: &mut Turn<'_>, claim: &Arc<Stored>) -> Next {
    let (at, takes) = (turn.at, turn.settings.provision);
    let mut client = turn.client(CONTROLLER_MANAGER);
    if claim.at(&["spec", "storageClassName"]).is_none() {
        let default = client
            .list(Resource::StorageClass, None)
            .into_iter()
            .find(|class| annotation(class, DEFAULT_CLASS) == Some("true"));
        return match default {
            None => Next::Settled,
            Some(class) => {
                let mut after = claim.value.clone();
                set_at(
                    &mut after,
                    &["spec", "storageClassName"],
                    json!(class.name()),
                );
                Next::after(client.change(claim, &after))
            }
        };
    }
    let Some(class) = class_of(&client, claim) else {
        let name = text_at(&claim.value, &["spec", "storageClassName"]);
        if !name.is_empty() {
            let text = format!("storageclass.storage.k8s.io \"{name}\" not found");
            client.warn(claim, "ProvisioningFailed", &text);
        }
        return Next::Settled;
    };
    let maker = text_at(&class.value, &["provisioner"]);
    let late = waits_for_consumer(&class) && annotation(claim, SELECTED_NODE).is_none();
    if maker == NO_PROVISIONER || late {
        return Next::Settled;
    }
    let asked = "volume.kubernetes.io/storage-provisioner";
    if annotation(claim, asked) != Some(maker) {
        let mut after = claim.value.clone();
        for key in ["volume.beta.kubernetes.io/storage-provisioner", asked] {
            set_at(&mut after, &["metadata", "annotations", key], json!(maker));
        }
        if client.change(claim, &after).is_err() {
            return Next::Retry;
        }
    }
    if turn.settings.storage.is_none() {
        return Next::Settled;
    }
    let key = (claim.namespace().into(), claim.name().into());
    let since = *turn.memory.provisioning.entry(key).or_insert(at);
    if at < since.after(takes) {
        return Next::At(since.after(takes));
    }
    let volume = volume(claim, &class, maker);
    Next::after(
        turn.client(PROVISIONER)
            .create(Resource::PersistentVolume, "", volume),
    )
}

fn volume(claim: &Stored, class: &Stored, maker: &str) -> Value {
    let name: String = format!("pvc-{}", claim.uid());
    let reclaim = match text_at(&class.value, &["reclaimPolicy"]) {
        "" => "Delete",
        policy => policy,
    };
    json!({
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {
            "name": name,
            "annotations": { PROVISIONED_BY: maker },
            "finalizers": [VOLUME_PROTECTION],
        },
        "spec": {
            "accessModes": items_at(&claim.value, &["spec", "accessModes"]),
            "capacity": {
                "storage": text_at(&claim.value, &["spec", "resources", "requests", "storage"]),
            },
            "claimRef": {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "namespace": claim.namespace(),
                "name": claim.name(),
                "uid": claim.uid(),
                "resourceVersion": claim.version.to_string(),
            },
            "csi": { "driver": maker, "volumeHandle": name },
            "persistentVolumeReclaimPolicy": reclaim,
            "storageClassName": class.name(),
            "volumeMode": mode(claim),
        },
    })
}
