//! Metadata that every object has.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde_json::Value;

use super::names;
use crate::cluster::failure::Problem;
use crate::cluster::object::{at, flag_at, items_at, text_at};
use crate::cluster::resource::Resource;

/// The most that all annotations of an object may hold, in bytes.
const ANNOTATIONS: usize = 256 * 1024;

/// What is wrong with the metadata of a new object.
pub(super) fn create(resource: Resource, value: &Value, problems: &mut Vec<Problem>) {
    let name = text_at(value, &["metadata", "name"]);
    names::report(
        "metadata.name",
        name,
        names::object(resource, name),
        problems,
    );
    shared(value, problems);
}

/// What is wrong with the metadata of a new state.
pub(super) fn update(old: &Value, new: &Value, problems: &mut Vec<Problem>) {
    if at(old, &["metadata", "deletionTimestamp"]).is_some() {
        let before = items_at(old, &["metadata", "finalizers"]);
        let added: Vec<String> = items_at(new, &["metadata", "finalizers"])
            .iter()
            .filter(|finalizer| !before.contains(finalizer))
            .map(|finalizer| format!("{finalizer}"))
            .collect();
        if !added.is_empty() {
            problems.push(Problem::forbidden(
                "metadata.finalizers",
                &format!(
                    "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{}}}",
                    added.join(", ")
                ),
            ));
        }
    }
    let uids = [old, new].map(|value| text_at(value, &["metadata", "uid"]));
    if uids[0] != uids[1] {
        problems.push(Problem::invalid(
            "metadata.uid",
            uids[1],
            "field is immutable",
        ));
    }
    if at(old, &["metadata"]) != at(new, &["metadata"]) {
        shared(new, problems);
    }
}

fn shared(value: &Value, problems: &mut Vec<Problem>) {
    names::labels(
        at(value, &["metadata", "labels"]),
        "metadata.labels",
        problems,
    );
    annotations(value, problems);
    for (index, finalizer) in items_at(value, &["metadata", "finalizers"])
        .iter()
        .enumerate()
    {
        let text = finalizer.as_str().unwrap_or("");
        if !matches!(text, "orphan" | "foregroundDeletion" | "kubernetes") {
            names::qualified(text, &format!("metadata.finalizers[{index}]"), problems);
        }
    }
    owners(value, problems);
}

fn annotations(value: &Value, problems: &mut Vec<Problem>) {
    let mut size = 0;
    let annotations = at(value, &["metadata", "annotations"]).and_then(Value::as_object);
    for (key, value) in annotations.into_iter().flatten() {
        names::qualified(&key.to_lowercase(), "metadata.annotations", problems);
        size += key.len() + value.as_str().map_or(0, str::len);
    }
    if size > ANNOTATIONS {
        problems.push(Problem {
            reason: "FieldValueTooLong",
            field: "metadata.annotations".into(),
            message: format!("Too long: may not be more than {ANNOTATIONS} bytes"),
        });
    }
}

fn owners(value: &Value, problems: &mut Vec<Problem>) {
    let mut controllers: Vec<&str> = Vec::new();
    for (index, owner) in items_at(value, &["metadata", "ownerReferences"])
        .iter()
        .enumerate()
    {
        for key in ["apiVersion", "kind", "name", "uid"] {
            let text = text_at(owner, &[key]);
            if text.is_empty() {
                let field = format!("metadata.ownerReferences[{index}].{key}");
                let detail = if key == "apiVersion" {
                    "version must not be empty"
                } else {
                    "must not be empty"
                };
                problems.push(Problem::invalid(field, text, detail));
            }
        }
        if flag_at(owner, &["controller"]) {
            controllers.push(text_at(owner, &["name"]));
        }
    }
    if controllers.len() > 1 {
        problems.push(Problem::invalid(
            "metadata.ownerReferences",
            at(value, &["metadata", "ownerReferences"]).cloned().unwrap_or_default(),
            &format!(
                "Only one reference can have Controller set to true. Found \"true\" in references for {}",
                controllers.join(" and ")
            ),
        ));
    }
}
