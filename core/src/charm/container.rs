//! Workload containers: `containers`.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::document::{At, Value};
use super::mistake::{self, Report};
use super::{ResourceDeclaration, ResourceKind, StorageDeclaration, names, storage};

/// One workload container.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Container {
    /// Name of the container, a DNS label.
    pub name: String,
    /// Name of the resource of kind `oci-image` that it runs.
    pub resource: String,
    /// Where it sees the charm's storages, in the order written.
    pub mounts: Vec<Mount>,
    /// User id that it runs as: 0 to 999, or from 10000. `None` leaves it to the image, which is not 0.
    pub uid: Option<u32>,
    /// Group id, with the same bounds.
    pub gid: Option<u32>,
}

/// A storage as one container sees it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Mount {
    /// Name of the storage.
    pub storage: String,
    /// Absolute path in the container, without a slash at its end. `None`: the storage's own path.
    pub location: Option<String>,
}

/// Keys that a container can have.
const KEYS: [&str; 5] = ["resource", "mounts", "uid", "gid", "bases"];

/// Reads `containers`.
pub(super) fn read(
    root: &At<'_>,
    resources: &[ResourceDeclaration],
    storages: &[StorageDeclaration],
    report: &mut Report,
) -> Vec<Container> {
    let Some(at) = root.get("containers") else {
        return Vec::new();
    };
    at.entries(report)
        .iter()
        .filter_map(|(name, at)| read_one(name, at, resources, storages, report))
        .collect()
}

fn read_one(
    name: &str,
    at: &At<'_>,
    resources: &[ResourceDeclaration],
    storages: &[StorageDeclaration],
    report: &mut Report,
) -> Option<Container> {
    if !names::is_label(name) {
        report.error(
            at.key,
            &at.path,
            format!("{name:?} cannot be the name of a container"),
            "use at most 63 lower-case letters, digits and hyphens, beginning and ending with a letter or a digit",
        );
    }
    let entries = at.entries(report);
    if !at.is_map_or_nothing() {
        return None;
    }
    for (key, unknown) in entries.iter().filter(|(key, _)| !KEYS.contains(key)) {
        report.error(
            unknown.key,
            &at.path,
            format!("unknown key {key:?} in a container"),
            advice_for_unknown(key, unknown),
        );
    }
    Some(Container {
        name: name.into(),
        // A container with a mistake is read on, so that its other mistakes are told as well.
        resource: read_resource(at, resources, report).unwrap_or_default(),
        mounts: read_mounts(at, storages, report),
        uid: read_identity(at, "uid", report),
        gid: read_identity(at, "gid", report),
    })
}

/// What to do about a key that a container cannot have.
fn advice_for_unknown(key: &str, at: &At<'_>) -> String {
    if holds_a_container(&at.node.value) {
        return format!(
            "what stands under {key:?} is one level too deep: move it up, directly under the container"
        );
    }
    mistake::did_you_mean(key, &KEYS)
}

/// A map with a container's keys, or a list of them, stands one level too deep.
fn holds_a_container(value: &Value) -> bool {
    match value {
        Value::Map(entries) => entries
            .iter()
            .any(|entry| KEYS.contains(&entry.key.as_str())),
        Value::List(items) => items.iter().any(|item| holds_a_container(&item.value)),
        Value::Scalar(_) => false,
    }
}

/// Whether a key that a container cannot have is where its image was meant to be.
fn was_meant_as_resource(key: &str, at: &At<'_>) -> bool {
    holds_a_container(&at.node.value) || mistake::closest(key, &KEYS) == Some("resource")
}

fn read_resource(
    at: &At<'_>,
    resources: &[ResourceDeclaration],
    report: &mut Report,
) -> Option<String> {
    if let Some(bases) = at.get_or_null("bases") {
        report.error(
            bases.key,
            &at.path,
            "containers built from \"bases\" are not supported: Kubernetes needs an image",
            "name a resource of type oci-image with \"resource:\"",
        );
    }
    let Some(named) = at.get("resource") else {
        // One slip, one mistake: whoever mends the key has the image.
        let told = at.get_or_null("bases").is_some()
            || at
                .entries(report)
                .iter()
                .any(|(key, at)| !KEYS.contains(key) && was_meant_as_resource(key, at));
        if !told {
            report.error(
                at.key,
                &at.path,
                "the container has no image",
                "add \"resource:\" with the name of a resource of type oci-image",
            );
        }
        return None;
    };
    let name = named.text(report)?;
    match resources.iter().find(|resource| resource.name == name) {
        Some(resource) if resource.kind == ResourceKind::OciImage => Some(name.into()),
        Some(_) => {
            report.error(
                named.node.place,
                &named.path,
                format!("the resource {name:?} is a file, and a container runs an image"),
                format!("give the resource {name:?} the type oci-image, or name another one"),
            );
            None
        }
        None => {
            let known: Vec<&str> = resources
                .iter()
                .map(|resource| resource.name.as_str())
                .collect();
            report.error(
                named.node.place,
                &named.path,
                format!("there is no resource {name:?}"),
                match mistake::closest(name, &known) {
                    Some(near) => format!("did you mean {near:?}?"),
                    None => format!("declare {name:?} under \"resources\", with type oci-image"),
                },
            );
            None
        }
    }
}

fn read_mounts(at: &At<'_>, storages: &[StorageDeclaration], report: &mut Report) -> Vec<Mount> {
    let Some(list) = at.get("mounts") else {
        return Vec::new();
    };
    let mut mounts: Vec<Mount> = Vec::new();
    for at in list.items(report) {
        let Some(mount) = read_mount(&at, storages, report) else {
            continue;
        };
        let taken = mounts
            .iter()
            .find(|other| mount.location.is_some() && other.location == mount.location);
        if let Some(other) = taken {
            report.error(
                at.key,
                &at.path,
                format!(
                    "the storages {:?} and {:?} are mounted at the same path {}",
                    other.storage,
                    mount.storage,
                    mount.location.as_deref().unwrap_or_default()
                ),
                "give each mount a path of its own",
            );
        }
        mounts.push(mount);
    }
    mounts
}

fn read_mount(at: &At<'_>, storages: &[StorageDeclaration], report: &mut Report) -> Option<Mount> {
    const KEYS: [&str; 2] = ["storage", "location"];
    for (key, unknown) in at
        .entries(report)
        .iter()
        .filter(|(key, _)| !KEYS.contains(key))
    {
        report.error(
            unknown.key,
            &at.path,
            format!("unknown key {key:?} in a mount"),
            mistake::did_you_mean(key, &KEYS),
        );
    }
    let location = at
        .get("location")
        .and_then(|at| storage::read_location(&at, report));
    let Some(named) = at.get("storage") else {
        let slip = at
            .entries(report)
            .iter()
            .any(|(key, _)| mistake::closest(key, &KEYS) == Some("storage"));
        if at.is_map_or_nothing() && !slip {
            report.error(
                at.key,
                &at.path,
                "the mount names no storage",
                "add \"storage:\" with the name of a storage",
            );
        }
        return None;
    };
    let name = named.text(report)?;
    if !storages.iter().any(|storage| storage.name == name) {
        let known: Vec<&str> = storages
            .iter()
            .map(|storage| storage.name.as_str())
            .collect();
        report.error(
            named.node.place,
            &named.path,
            format!("there is no storage {name:?}"),
            match mistake::closest(name, &known) {
                Some(near) => format!("did you mean {near:?}?"),
                None => format!("declare {name:?} under \"storage\""),
            },
        );
    }
    Some(Mount {
        storage: name.into(),
        location,
    })
}

/// Ids from 1000 to 9999 belong to people and to the system; above the largest of 31 bits Kubernetes takes none.
fn read_identity(at: &At<'_>, key: &str, report: &mut Report) -> Option<u32> {
    let at = at.get(key)?;
    let number = at.whole(report)?;
    match u32::try_from(number) {
        Ok(id @ (0..=999 | 10_000..=0x7fff_ffff)) => Some(id),
        _ => {
            report.error(
                at.node.place,
                &at.path,
                format!("{number} is not allowed as {key}: 1000 to 9999 are reserved, and Kubernetes takes 31 bits"),
                format!("choose a {key} from 0 to 999 or from 10000 to 2147483647"),
            );
            None
        }
    }
}
