//! The forms that objects take in [lives](super): few for each kind, so that writers agree, differ and conflict.

use serde_json::{Value, json};

use super::operation::Target;
use crate::control_plane::kind;
use crate::recorder::manifests::container;

/// How an object is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    /// With the label that lists select.
    pub labelled: bool,
    /// With this annotation.
    pub note: Option<u8>,
    /// It belongs to the ConfigMap of that name, if there is one.
    pub owner: Option<&'static str>,
    /// With a finalizer.
    pub held: bool,
    /// Which of the four forms of what its kind is about.
    pub part: u8,
}

/// The label that lists select.
pub const LABEL: &str = "app.kubernetes.io/managed-by";
/// The annotation of forms and edits.
pub const NOTE: &str = "pilotage.dev/note";
/// The finalizer of forms and edits.
pub const FINALIZER: &str = "pilotage.dev/held";

/// An object of that form, without its owner.
pub fn object(own: &str, target: Target, form: Form) -> Value {
    let Target { kind: of, name } = target;
    let mut object = part(own, of, form.part);
    object["apiVersion"] = kind(of).api_version.into();
    object["kind"] = of.into();
    object["metadata"] = json!({ "name": full_name(own, of, name) });
    if form.labelled {
        object["metadata"]["labels"] = json!({ LABEL: "pilotage" });
    }
    if let Some(note) = form.note {
        object["metadata"]["annotations"] = json!({ NOTE: note.to_string() });
    }
    if form.held {
        object["metadata"]["finalizers"] = json!([FINALIZER]);
    }
    object
}

/// The name that an object has: of what lives in no namespace, with the name of the life.
pub fn full_name(own: &str, of: &str, name: &str) -> String {
    if kind(of).namespaced {
        name.to_owned()
    } else {
        format!("{own}-{name}")
    }
}

/// What a kind is about, in one of four forms.
pub fn part(own: &str, of: &str, number: u8) -> Value {
    let one = |choice: [Value; 4]| choice[usize::from(number % 4)].clone();
    match of {
        "ConfigMap" => one([
            json!({ "data": { "a": "1" } }),
            json!({ "data": { "a": "2", "b": "1" } }),
            json!({ "data": { "b": "2" } }),
            json!({}),
        ]),
        "Secret" => one([
            json!({ "data": { "a": "MQ==" } }),
            json!({ "data": { "a": "Mg==", "b": "MQ==" } }),
            json!({ "data": { "b": "Mg==" }, "type": "Opaque" }),
            json!({ "type": "kubernetes.io/dockerconfigjson", "data": { ".dockerconfigjson": "e30=" } }),
        ]),
        "ServiceAccount" => one([
            json!({}),
            json!({ "automountServiceAccountToken": true }),
            json!({ "automountServiceAccountToken": false }),
            json!({ "imagePullSecrets": [{ "name": "a" }] }),
        ]),
        "Role" | "ClusterRole" => {
            let rule = |verbs: &[&str]| json!({ "apiGroups": [""], "resources": ["pods"], "verbs": verbs });
            one([
                json!({ "rules": [rule(&["get"])] }),
                json!({ "rules": [rule(&["get", "list"])] }),
                json!({ "rules": [rule(&["*"]), rule(&["get"])] }),
                json!({ "rules": [] }),
            ])
        }
        "RoleBinding" => {
            let account =
                |name: &str| json!({ "kind": "ServiceAccount", "name": name, "namespace": own });
            let role = |kind: &str| json!({ "apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": "web" });
            one([
                json!({ "roleRef": role("Role"), "subjects": [account("web")] }),
                json!({ "roleRef": role("Role"), "subjects": [account("web"), account("db")] }),
                json!({ "roleRef": role("Role") }),
                json!({ "roleRef": role("ClusterRole"), "subjects": [account("web")] }),
            ])
        }
        "Service" => {
            let port = |name: &str, port: u16| json!({ "name": name, "port": port });
            let selector = json!({ "app.kubernetes.io/name": "web" });
            one([
                json!({ "spec": { "type": "ClusterIP", "selector": selector, "ports": [port("placeholder", 65535)] } }),
                json!({ "spec": { "selector": selector, "ports": [port("http", 80), port("admin", 81)] } }),
                json!({ "spec": { "clusterIP": "None", "publishNotReadyAddresses": true, "selector": selector } }),
                json!({ "spec": { "type": "LoadBalancer", "ports": [port("http", 80)] } }),
            ])
        }
        "PersistentVolumeClaim" => {
            let claim = |mode: &str, size: &str| {
                json!({ "spec": { "accessModes": [mode], "storageClassName": "",
                    "resources": { "requests": { "storage": size } } } })
            };
            one([
                claim("ReadWriteOnce", "1Gi"),
                claim("ReadWriteOnce", "2Gi"),
                claim("ReadWriteOnce", "1024Mi"),
                claim("ReadWriteMany", "1Gi"),
            ])
        }
        "StatefulSet" => json!({ "spec": set(number) }),
        "Pod" => {
            let pod = |image: &str| json!({ "spec": { "containers": [container("app", image)] } });
            one([
                pod("registry.example/app:1"),
                pod("registry.example/app:2"),
                json!({ "spec": { "containers": [container("app", "registry.example/app:1")], "terminationGracePeriodSeconds": 0 } }),
                json!({ "spec": { "containers": [
                    container("app", "registry.example/app:1"), container("side", "registry.example/side:1"),
                ] } }),
            ])
        }
        other => panic!("no forms of {other}"),
    }
}

fn set(number: u8) -> Value {
    let selector = json!({ "app.kubernetes.io/name": "web" });
    let template = |image: &str| json!({ "metadata": { "labels": selector }, "spec": { "containers": [container("app", image)] } });
    let spec = json!({ "serviceName": "web-endpoints", "podManagementPolicy": "Parallel",
        "selector": { "matchLabels": selector }, "template": template("registry.example/app:1") });
    let with = |fields: Value| {
        let mut spec = spec.clone();
        for (key, value) in fields.as_object().into_iter().flatten() {
            spec[key] = value.clone();
        }
        spec
    };
    match number % 4 {
        0 => with(json!({ "replicas": 1 })),
        1 => with(json!({ "replicas": 2, "template": template("registry.example/app:2") })),
        2 => with(json!({ "updateStrategy": { "type": "OnDelete" }, "minReadySeconds": 0 })),
        _ => {
            let mut template = template("registry.example/app:1");
            template["spec"]["containers"][0]["volumeMounts"] =
                json!([{ "name": "data", "mountPath": "/data" }]);
            with(json!({ "replicas": 1, "template": template,
                "persistentVolumeClaimRetentionPolicy": { "whenDeleted": "Retain", "whenScaled": "Retain" },
                "volumeClaimTemplates": [{ "metadata": { "name": "data" },
                    "spec": { "accessModes": ["ReadWriteOnce"], "storageClassName": "",
                        "resources": { "requests": { "storage": "1Gi" } } } }] }))
        }
    }
}
