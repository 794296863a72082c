//! The StatefulSet and its pod template, in the plain shape: each container runs its image's own entry point
//! (design, section 4; reference, 12.3 and 12.4).

use alloc::string::String;
use alloc::vec::Vec;

use serde_json::{Map, Value, json};

use super::{Kind, Manifest, Site, affinity, list, object, pointers};
use crate::charm::{Constraints, Filesystem, FilesystemKind};
use crate::kubernetes::{labels, names};
use crate::state::{ProvisionedContainer, Provisioning};

/// Annotation of the pod template: the charm's revision, so that every refresh rolls the pods.
pub const CHARM_REVISION: &str = "pilotage.dev/charm-revision";
/// Label of a claim template: the storage of the charm that it is for.
pub const STORAGE: &str = "pilotage.dev/storage";
/// The group that owns volumes in a pod whose containers run under uids of their own (KAPP-21).
const FILESYSTEM_GROUP: u32 = 170;

/// The StatefulSet. `replicas` is a birth field: afterwards only `Scale` changes it.
pub fn stateful_set(site: Site<'_>, provisioning: &Provisioning, replicas: u32) -> Manifest {
    let claims = provisioning
        .filesystems
        .iter()
        .filter_map(|filesystem| claim(site, filesystem));
    let spec = object([
        ("replicas", json!(replicas)),
        ("serviceName", json!(names::endpoints(site.application))),
        ("podManagementPolicy", json!("Parallel")),
        // Named although it is the default: units' numbers rest on it (fact K26).
        ("ordinals", json!({ "start": 0 })),
        // Named although it is the default: claims rest on it.
        (
            "persistentVolumeClaimRetentionPolicy",
            json!({ "whenDeleted": "Retain", "whenScaled": "Retain" }),
        ),
        ("updateStrategy", json!({ "type": "RollingUpdate" })),
        ("selector", json!({ "matchLabels": site.selector() })),
        ("template", template(site, provisioning)),
        ("volumeClaimTemplates", list(claims.collect())),
    ]);
    let mut manifest = site.manifest(Kind::StatefulSet, site.application, json!({ "spec": spec }));
    manifest.birth = pointers(["/spec/replicas"]);
    manifest
}

fn template(site: Site<'_>, provisioning: &Provisioning) -> Value {
    let constraints = provisioning.constraints.over(&site.model.constraints);
    let containers = provisioning.containers.iter();
    let any_uid = containers
        .clone()
        .any(|container| container.uid.or(container.gid).is_some());
    let pull = containers
        .clone()
        .filter(|container| container.login.is_some());
    let pull = pull.map(|c| json!({ "name": names::pull_secret(site.application, &c.name) }));
    let spec = object([
        ("serviceAccountName", json!(site.application)),
        ("automountServiceAccountToken", json!(true)),
        ("terminationGracePeriodSeconds", json!(30)),
        ("imagePullSecrets", list(pull.collect())),
        (
            "securityContext",
            if any_uid {
                json!({ "fsGroup": FILESYSTEM_GROUP })
            } else {
                Value::Null
            },
        ),
        ("nodeSelector", affinity::node_selector(&constraints)),
        ("affinity", affinity::affinity(&constraints)),
        (
            "containers",
            list(
                containers
                    .map(|container| self::container(site, container, provisioning, &constraints))
                    .collect(),
            ),
        ),
        (
            "volumes",
            list(
                provisioning
                    .filesystems
                    .iter()
                    .filter_map(|f| volume(site, f))
                    .collect(),
            ),
        ),
    ]);
    json!({
        "metadata": {
            "labels": site.labels(),
            "annotations": { CHARM_REVISION: alloc::format!("{}", provisioning.revision) },
        },
        "spec": spec,
    })
}

fn container(
    site: Site<'_>,
    container: &ProvisionedContainer,
    provisioning: &Provisioning,
    constraints: &Constraints,
) -> Value {
    let mounts = provisioning.filesystems.iter().flat_map(|filesystem| {
        let mine = filesystem
            .mounts
            .iter()
            .filter(|mount| mount.container == container.name);
        mine.map(|mount| {
            object([
                ("name", json!(volume_name(site, filesystem))),
                ("mountPath", json!(mount.path)),
                (
                    "readOnly",
                    if filesystem.read_only {
                        json!(true)
                    } else {
                        Value::Null
                    },
                ),
            ])
        })
    });
    let number = |number: Option<u32>| number.map_or(Value::Null, |number| json!(number));
    let user = object([
        ("runAsUser", number(container.uid)),
        ("runAsGroup", number(container.gid)),
    ]);
    object([
        ("name", json!(container.name)),
        ("image", json!(container.image)),
        ("imagePullPolicy", json!("IfNotPresent")),
        (
            "securityContext",
            if user == json!({}) { Value::Null } else { user },
        ),
        ("resources", resources(constraints)),
        ("volumeMounts", list(mounts.collect())),
    ])
}

/// Memory and CPU of every workload container, asked for and bounded alike (KAPP-51).
fn resources(constraints: &Constraints) -> Value {
    let mut amounts = Map::new();
    if let Some(mem) = constraints.mem.filter(|mem| *mem > 0) {
        amounts.insert("memory".into(), Value::String(alloc::format!("{mem}Mi")));
    }
    if let Some(cpu) = constraints.cpu_power.filter(|cpu| *cpu > 0) {
        amounts.insert("cpu".into(), Value::String(alloc::format!("{cpu}m")));
    }
    if amounts.is_empty() {
        return Value::Null;
    }
    json!({ "requests": amounts, "limits": amounts })
}

/// The name by which containers mount a filesystem.
fn volume_name(site: Site<'_>, filesystem: &Filesystem) -> String {
    match filesystem.kind {
        FilesystemKind::Claim { .. } => names::claim_template(
            site.application,
            &filesystem.storage,
            filesystem.index,
            site.uid,
        ),
        FilesystemKind::Rootfs | FilesystemKind::Tmpfs => {
            names::volume(site.application, &filesystem.storage, filesystem.index)
        }
    }
}

/// A volume that ends with its pod (KAPP-59).
fn volume(site: Site<'_>, filesystem: &Filesystem) -> Option<Value> {
    let medium = match filesystem.kind {
        FilesystemKind::Claim { .. } => return None,
        FilesystemKind::Rootfs => Value::Null,
        FilesystemKind::Tmpfs => json!("Memory"),
    };
    let limit = json!(alloc::format!("{}Mi", filesystem.size_mib));
    let empty_dir = object([("sizeLimit", limit), ("medium", medium)]);
    Some(json!({ "name": volume_name(site, filesystem), "emptyDir": empty_dir }))
}

fn claim(site: Site<'_>, filesystem: &Filesystem) -> Option<Value> {
    let FilesystemKind::Claim { class, mode } = &filesystem.kind else {
        return None;
    };
    let labels: labels::Labels = (site.labels().iter())
        .chain([(STORAGE, filesystem.storage.as_str())])
        .map(|(key, value)| (String::from(key), String::from(value)))
        .collect();
    let size = alloc::format!("{}Mi", filesystem.size_mib);
    let class = class.clone().map_or(Value::Null, Value::String);
    let modes: Vec<Value> = [json!(mode)].into();
    Some(json!({
        "metadata": { "name": volume_name(site, filesystem), "labels": labels },
        "spec": object([
            ("accessModes", Value::Array(modes)),
            ("storageClassName", class),
            ("resources", json!({ "requests": { "storage": size } })),
        ]),
    }))
}
