//! When controllers have nothing left to do.

use serde_json::Value;

use crate::recorder::Live;

/// Whether no controller has anything to do: each has seen the last word of what it cares for, and what it is to make or
/// to take away is made or gone.
pub(super) fn at_rest(live: &Live<'_>) -> bool {
    live.all().all(|object| {
        let ending = !object["metadata"]["deletionTimestamp"].is_null();
        if ending {
            !collector_is_to_free(live, object) && !claim_is_to_go(live, object)
        } else {
            let idle = object["kind"] != "StatefulSet" || !controller_is_to_act(live, object);
            idle && !is_abandoned(live, object)
        }
    })
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn has_finalizer(object: &Value, name: &str) -> bool {
    items(&object["metadata"]["finalizers"]).any(|finalizer| finalizer == name)
}

fn is_owned_by(object: &Value, owner: &Value) -> bool {
    items(&object["metadata"]["ownerReferences"])
        .any(|reference| reference["uid"] == owner["metadata"]["uid"])
}

/// Nobody that it belongs to is there any more.
fn is_abandoned(live: &Live<'_>, object: &Value) -> bool {
    let owners = &object["metadata"]["ownerReferences"];
    items(owners).next().is_some() && !live.all().any(|owner| is_owned_by(object, owner))
}

/// It waits for its dependents, which are free or gone.
fn collector_is_to_free(live: &Live<'_>, object: &Value) -> bool {
    has_finalizer(object, "orphan")
        || has_finalizer(object, "foregroundDeletion")
            && !live.all().any(|dependent| is_owned_by(dependent, object))
}

/// It waits for pods that use it, of which there are none.
fn claim_is_to_go(live: &Live<'_>, claim: &Value) -> bool {
    let uses = |pod: &Value| {
        let mut volumes = items(&pod["spec"]["volumes"]);
        volumes
            .any(|volume| volume["persistentVolumeClaim"]["claimName"] == claim["metadata"]["name"])
    };
    claim["kind"] == "PersistentVolumeClaim"
        && has_finalizer(claim, "kubernetes.io/pvc-protection")
        && !live.of("Pod").any(uses)
}

/// It has not read its workload's last words, has to make a pod, or to take one away that has ended.
fn controller_is_to_act(live: &Live<'_>, set: &Value) -> bool {
    let unread = set["status"]["observedGeneration"] != set["metadata"]["generation"];
    let name = set["metadata"]["name"].as_str().unwrap_or_default();
    let replicas = set["spec"]["replicas"].as_u64().unwrap_or(1);
    let missing = (0..replicas).any(|ordinal| !live.has(&format!("Pod {name}-{ordinal}")));
    let ended = live.of("Pod").any(|pod| {
        is_owned_by(pod, set)
            && pod["metadata"]["deletionTimestamp"].is_null()
            && (pod["status"]["phase"] == "Failed" || pod["status"]["phase"] == "Succeeded")
    });
    unread || missing || ended
}
