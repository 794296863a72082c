//! The objects that scripts write: small, but of the shape that Pilotage's own manifests have.

use serde_json::{Value, json};

/// The labels of everything that belongs to the application `web`.
pub fn labels() -> Value {
    json!({
        "app.kubernetes.io/name": "web",
        "app.kubernetes.io/managed-by": "pilotage",
        "pilotage.dev/application-uid": "77aa",
    })
}

/// What selects the pods of `web`.
pub fn selector() -> Value {
    json!({ "app.kubernetes.io/name": "web", "pilotage.dev/application-uid": "77aa" })
}

/// A container that names only what it must.
pub fn container(name: &str, image: &str) -> Value {
    json!({ "name": name, "image": image })
}

/// A StatefulSet `web` of one container, with `replicas`.
pub fn stateful_set(replicas: u32) -> Value {
    let mut set = birthless_stateful_set();
    set["spec"]["replicas"] = replicas.into();
    set
}

/// The same without its birth field.
pub fn birthless_stateful_set() -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "StatefulSet",
        "metadata": { "name": "web", "labels": labels(), "annotations": { "pilotage.dev/charm-revision": "1" } },
        "spec": {
            "serviceName": "web-endpoints",
            "podManagementPolicy": "Parallel",
            "ordinals": { "start": 0 },
            "persistentVolumeClaimRetentionPolicy": { "whenDeleted": "Retain", "whenScaled": "Retain" },
            "selector": { "matchLabels": selector() },
            "template": {
                "metadata": { "labels": labels(), "annotations": { "pilotage.dev/charm-revision": "1" } },
                "spec": {
                    "containers": [container("app", "registry.example/app:1")],
                    "terminationGracePeriodSeconds": 30,
                },
            },
        },
    })
}

/// A StatefulSet `web` with a claim template `data` of `size`, mounted at `/data`.
pub fn stateful_set_with_claims(replicas: u32, size: &str) -> Value {
    let mut set = stateful_set(replicas);
    set["spec"]["volumeClaimTemplates"] = json!([{
        "metadata": { "name": "data", "labels": labels() },
        "spec": claim_spec(size),
    }]);
    set["spec"]["template"]["spec"]["containers"][0]["volumeMounts"] =
        json!([{ "name": "data", "mountPath": "/data" }]);
    set
}

/// A claim.
pub fn claim(name: &str, size: &str) -> Value {
    json!({ "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": { "name": name, "labels": labels() }, "spec": claim_spec(size) })
}

fn claim_spec(size: &str) -> Value {
    // The empty class: volumes are made by hand.
    json!({ "accessModes": ["ReadWriteOnce"], "storageClassName": "", "resources": { "requests": { "storage": size } } })
}

/// A service `web` with the port that stands for none.
pub fn service() -> Value {
    json!({
        "apiVersion": "v1", "kind": "Service",
        "metadata": { "name": "web", "labels": labels() },
        "spec": { "type": "ClusterIP", "selector": selector(), "ports": [{ "name": "placeholder", "port": 65535 }] },
    })
}

/// A pod that nobody owns.
pub fn pod(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": { "name": name },
        "spec": { "containers": [container("app", "registry.example/app:1")] },
    })
}

/// A secret or a config map with one value (a secret's is base64).
pub fn data(kind: &str, name: &str, key: &str, value: &str) -> Value {
    json!({ "apiVersion": "v1", "kind": kind, "metadata": { "name": name }, "data": { key: value } })
}

/// An account.
pub fn account(name: &str) -> Value {
    json!({ "apiVersion": "v1", "kind": "ServiceAccount", "metadata": { "name": name, "labels": labels() } })
}

/// The object with one field set: the pointer's parent must be there.
pub fn with(mut object: Value, pointer: &str, value: Value) -> Value {
    let (parent, field) = pointer.rsplit_once('/').expect("a pointer has a slash");
    let field = field.replace("~1", "/");
    object.pointer_mut(parent).expect("the parent is there")[field] = value;
    object
}

/// The object with the guards of a version and a uid, either of which may be null.
pub fn guarded(mut object: Value, uid: Value, version: Value) -> Value {
    for (key, value) in [("uid", uid), ("resourceVersion", version)] {
        if !value.is_null() {
            object["metadata"][key] = value;
        }
    }
    object
}
