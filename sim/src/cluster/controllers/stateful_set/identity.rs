//! What makes a pod the one of its ordinal: name, labels, host name, volumes.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde_json::{Value, json};

use super::super::client::Client;
use super::revision::{self, Revision};
use super::{Member, Set, claims};
use crate::cluster::object::{items_at, set_at, text_at};
use crate::cluster::request::Failure;

const POD_NAME: &str = "statefulset.kubernetes.io/pod-name";
const POD_INDEX: &str = "apps.kubernetes.io/pod-index";

pub(super) fn pod_name(set: &Set<'_>, ordinal: u64) -> String {
    format!("{}-{ordinal}", set.name)
}

/// The ordinal in a pod's name, if it is one of this set's names.
pub(super) fn ordinal_of(set: &str, pod: &str) -> Option<u64> {
    let digits = pod.strip_prefix(set)?.strip_prefix('-')?;
    let canonical = digits == "0" || !digits.starts_with('0');
    (canonical && digits.bytes().all(|digit| digit.is_ascii_digit()))
        .then(|| digits.parse().ok())
        .flatten()
}

pub(super) fn owner_reference(set: &Set<'_>) -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "name": set.name,
        "uid": set.uid,
        "controller": true,
        "blockOwnerDeletion": true,
    })
}

/// The pod of an ordinal, by the template of a revision.
pub(super) fn pod(set: &Set<'_>, revision: &Revision, ordinal: u64) -> Value {
    let name = pod_name(set, ordinal);
    let template = revision.template();
    let mut pod = json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {},
        "spec": template.get("spec").cloned().unwrap_or(json!({})),
    });
    for field in ["labels", "annotations", "finalizers"] {
        if let Some(value) = template.get("metadata").and_then(|data| data.get(field)) {
            set_at(&mut pod, &["metadata", field], value.clone());
        }
    }
    let metadata = [
        ("name", json!(name)),
        ("generateName", json!(format!("{}-", set.name))),
        ("namespace", json!(set.namespace)),
        ("ownerReferences", json!([owner_reference(set)])),
    ];
    for (field, value) in metadata {
        set_at(&mut pod, &["metadata", field], value);
    }
    let labels = [
        (POD_NAME, name.clone()),
        (POD_INDEX, format!("{ordinal}")),
        (revision::LABEL, revision.name().into()),
    ];
    for (key, value) in labels {
        set_at(&mut pod, &["metadata", "labels", key], json!(value));
    }
    set_at(&mut pod, &["spec", "hostname"], json!(name));
    let service = text_at(&set.stored.value, &["spec", "serviceName"]);
    if !service.is_empty() {
        set_at(&mut pod, &["spec", "subdomain"], json!(service));
    }
    let volumes = volumes(set, ordinal, items_at(&pod, &["spec", "volumes"]));
    if !volumes.is_empty() {
        set_at(&mut pod, &["spec", "volumes"], volumes.into());
    }
    pod
}

/// The claims of the ordinal as volumes, then the others of the template.
fn volumes(set: &Set<'_>, ordinal: u64, others: &[Value]) -> Vec<Value> {
    let templates = claims::templates(set);
    let mut volumes: Vec<Value> = templates
        .iter()
        .map(|template| {
            json!({
                "name": claims::template_name(template),
                "persistentVolumeClaim": {
                    "claimName": claims::name(set, template, ordinal),
                },
            })
        })
        .collect();
    let others = others.iter().filter(|volume| {
        !templates
            .iter()
            .any(|template| claims::template_name(template) == text_at(volume, &["name"]))
    });
    volumes.extend(others.cloned());
    volumes
}

/// Makes a pod what its ordinal wants it to be: labels that somebody took away, and volumes. The server refuses other volumes
/// for a pod that is there, and so holds the set up until the pod is deleted.
pub(super) fn restore(
    client: &mut Client<'_>,
    set: &Set<'_>,
    member: &Member,
) -> Result<(), Failure> {
    let (pod, name) = (&member.pod, member.pod.name());
    let mounted = claims::mounted(set, member);
    if pod.label(POD_NAME) == Some(name) && mounted {
        return Ok(());
    }
    let mut after = pod.value.clone();
    let index = format!("{}", member.ordinal);
    set_at(&mut after, &["metadata", "labels", POD_NAME], json!(name));
    set_at(&mut after, &["metadata", "labels", POD_INDEX], json!(index));
    if !mounted {
        let volumes = volumes(
            set,
            member.ordinal,
            items_at(&pod.value, &["spec", "volumes"]),
        );
        set_at(&mut after, &["spec", "volumes"], volumes.into());
    }
    let changed = client.change(pod, &after);
    if let Err(failure) = &changed {
        let text = format!(
            "update Pod {name} in StatefulSet {} failed error: {}",
            set.name, failure.message
        );
        client.warn(set.stored, "FailedUpdate", &text);
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::ordinal_of;

    #[test]
    fn an_ordinal_is_read_from_names_of_the_set_alone() {
        for (pod, ordinal) in [
            ("a-0", Some(0)),
            ("a-12", Some(12)),
            ("a-01", None),
            ("a-", None),
            ("a", None),
            ("a-b-0", None),
            ("ab-0", None),
            ("a-+1", None),
        ] {
            assert_eq!(ordinal_of("a", pod), ordinal, "{pod}");
        }
    }
}
