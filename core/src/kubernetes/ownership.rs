//! Who owns which fields: reading `managedFields`, and the patch that takes our birth entry over (fact K8).

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde_json::{Map, Value, json};

use super::labels::PILOTAGE;
use super::manifest::Manifest;
use super::read::{Fetched, ManagedFields};
use super::satisfies::could_be_ours;

fn is_ours(entry: &ManagedFields, operation: &str) -> bool {
    &*entry.manager == PILOTAGE && &*entry.operation == operation && entry.subresource.is_none()
}

/// The JSON patch that turns the entry that our POST left into an `Apply` entry and releases the birth fields; none if
/// there is no such entry, so that an apply can shrink what is ours as it is.
///
/// It sets the version that was read, so that a stale one is answered 409.
pub fn take_over(fetched: &Fetched, manifest: &Manifest) -> Option<Value> {
    let entries = &fetched.managed_fields;
    let at = entries.iter().position(|entry| is_ours(entry, "Update"))?;
    let version = fetched.object.metadata().version.to_string();
    let mut operations = Vec::from([
        json!({ "op": "replace", "path": "/metadata/resourceVersion", "value": version }),
    ]);
    let entry = entries.get(at)?;
    if entries.iter().any(|entry| is_ours(entry, "Apply")) {
        // An earlier take-over was followed by another write of the old kind: the applied entry is the one to keep.
        operations.push(
            json!({ "op": "remove", "path": alloc::format!("/metadata/managedFields/{at}") }),
        );
        return Some(Value::Array(operations));
    }
    let path = |rest: &str| alloc::format!("/metadata/managedFields/{at}/{rest}");
    operations.push(json!({ "op": "replace", "path": path("operation"), "value": "Apply" }));
    for pointer in &manifest.birth {
        let steps: Vec<String> = pointer
            .split('/')
            .skip(1)
            .map(|step| alloc::format!("f:{step}"))
            .collect();
        if lookup(&entry.fields_v1, &steps).is_some() {
            let rest = alloc::format!("fieldsV1/{}", steps.join("/"));
            operations.push(json!({ "op": "remove", "path": path(&rest) }));
        }
    }
    Some(Value::Array(operations))
}

fn lookup<'a>(fields: &'a Value, steps: &[String]) -> Option<&'a Value> {
    steps
        .iter()
        .try_fold(fields, |fields, step| fields.get(step))
}

/// A field that is ours alone and that the manifest no longer names: the path of the first. Fields that others own too
/// would stay anyway, and so would defaults, which the server put into the entry of our POST (fact K8).
pub fn no_longer_named(fetched: &Fetched, manifest: &Manifest) -> Option<Box<str>> {
    let wanted = manifest.without_birth_fields();
    let ours = fetched.managed_fields.iter();
    let ours = ours.filter(|entry| is_ours(entry, "Update") || is_ours(entry, "Apply"));
    let others: Vec<&ManagedFields> = (fetched.managed_fields.iter())
        .filter(|entry| !(is_ours(entry, "Update") || is_ours(entry, "Apply")))
        .collect();
    for entry in ours {
        let Value::Object(fields) = &entry.fields_v1 else {
            continue;
        };
        let mut path = Vec::new();
        if let Some(found) = unnamed(fields, &wanted, &mut path, &others, manifest) {
            return Some(found);
        }
    }
    None
}

fn unnamed(
    fields: &Map<String, Value>,
    wanted: &Value,
    path: &mut Vec<String>,
    others: &[&ManagedFields],
    manifest: &Manifest,
) -> Option<Box<str>> {
    for (field, inner) in fields {
        if field == "." {
            continue;
        }
        path.push(field.clone());
        let named = step(wanted, field);
        let found = match (named, inner) {
            (Some(named), Value::Object(inner)) => unnamed(inner, named, path, others, manifest),
            (Some(_), _) => None,
            (None, _) if is_birth(path, manifest) || is_default(path) => None,
            (None, _)
                if others
                    .iter()
                    .any(|other| lookup(&other.fields_v1, path).is_some()) =>
            {
                None
            }
            (None, _) => Some(readable(path)),
        };
        path.pop();
        if found.is_some() {
            return found;
        }
    }
    None
}

/// One step of a `FieldsV1` path down a manifest: `f:name`, or `k:{"key":"value"}` into a list of maps. Members of sets
/// (`v:`) are compared by value.
fn step<'a>(value: &'a Value, field: &str) -> Option<&'a Value> {
    if let Some(name) = field.strip_prefix("f:") {
        return value.get(name);
    }
    if let Some(keys) = field.strip_prefix("k:") {
        let keys: Map<String, Value> = serde_json::from_str(keys).ok()?;
        // A key that the manifest leaves to its default, such as a port's protocol, does not tell items apart.
        let fits = |item: &&Value| {
            keys.iter()
                .all(|(key, value)| item.get(key).is_none_or(|named| named == value))
        };
        return value.as_array()?.iter().find(fits);
    }
    if let Some(text) = field.strip_prefix("v:") {
        let member: Value = serde_json::from_str(text).ok()?;
        return value.as_array()?.iter().find(|item| **item == member);
    }
    None
}

/// Whether a field that no manifest of ours names can only be the server's doing.
fn is_default(path: &[String]) -> bool {
    let Some((last, parents)) = path.split_last() else {
        return false;
    };
    // Labels, annotations and whole parts have no defaults; items of lists are somebody's.
    let named = !parents.is_empty() && parents.first().is_none_or(|first| first != "f:metadata");
    match last.strip_prefix("f:") {
        Some(field) if named => !could_be_ours(&readable(parents), field),
        _ => false,
    }
}

fn is_birth(path: &[String], manifest: &Manifest) -> bool {
    let pointer: String = path
        .iter()
        .map(|step| alloc::format!("/{}", step.strip_prefix("f:").unwrap_or(step)))
        .collect();
    manifest.birth.iter().any(|birth| **birth == *pointer)
}

fn readable(path: &[String]) -> Box<str> {
    let steps: Vec<&str> = path
        .iter()
        .map(|step| step.strip_prefix("f:").unwrap_or(step))
        .collect();
    steps.join(".").into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kubernetes::{Key, Kind};

    /// What an apply would take away from a workload that our POST made with `fields`.
    fn taken_away(fields: Value) -> Option<Box<str>> {
        let body = json!({"metadata": {"name": "ledger"}, "spec": {"template": {"spec": {
            "containers": [{"name": "ledger", "image": "ledger:1"}],
        }}}});
        let live = json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {
            "name": "ledger", "namespace": "shop", "resourceVersion": "7",
            "uid": "00000000-0000-8000-8000-000000000001",
        }, "spec": {}});
        let manifest = Manifest {
            key: Key::new(Kind::StatefulSet, "shop", "ledger"),
            birth: Vec::new(),
            body,
        };
        let entry = json!({"manager": PILOTAGE, "operation": "Update", "fieldsV1": fields});
        let fetched = Fetched {
            object: serde_json::from_value(live).unwrap(),
            managed_fields: Vec::from([serde_json::from_value(entry).unwrap()]),
        };
        no_longer_named(&fetched, &manifest)
    }

    #[test]
    fn defaults_of_the_server_are_not_ours_to_take_away() {
        let container = json!({".": {}, "f:name": {}, "f:image": {}, "f:imagePullPolicy": {}});
        let pod =
            json!({"f:dnsPolicy": {}, "f:containers": {"k:{\"name\":\"ledger\"}": container}});
        let fields = json!({"f:spec": {
            "f:revisionHistoryLimit": {}, "f:template": {"f:spec": pod},
        }});
        assert_eq!(taken_away(fields), None);
    }

    #[test]
    fn what_our_builders_may_have_named_before_is() {
        let volumes = json!({"f:spec": {"f:template": {"f:spec": {"f:volumes": {}}}}});
        assert_eq!(
            taken_away(volumes).as_deref(),
            Some("spec.template.spec.volumes")
        );
        let tag = json!({"f:metadata": {"f:annotations": {"f:team": {}}}});
        assert_eq!(taken_away(tag).as_deref(), Some("metadata.annotations"));
    }
}
