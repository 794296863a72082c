//! An object as the API server keeps it.

use alloc::string::ToString;
use alloc::vec::Vec;

use serde_json::Value;

use super::fields::Managers;
use super::resource::Resource;

/// One version of one object. Immutable: a write makes a new one, watchers and lists share the old.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The kind.
    pub resource: Resource,
    /// The version of this state, unique in the cluster.
    pub version: u64,
    /// The object without `metadata.managedFields`; see [`Stored::whole`].
    pub value: Value,
    /// Who owns which field: `metadata.managedFields`, read.
    pub managers: Managers,
}

impl Stored {
    /// The object as the wire shows it, `metadata.managedFields` included.
    pub fn whole(&self) -> Value {
        let mut value = self.value.clone();
        if !self.managers.is_empty()
            && let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut)
        {
            metadata.insert("managedFields".to_string(), self.managers.to_value());
        }
        value
    }

    /// `metadata.name`.
    pub fn name(&self) -> &str {
        text_at(&self.value, &["metadata", "name"])
    }

    /// `metadata.namespace`, empty for cluster-scoped kinds.
    pub fn namespace(&self) -> &str {
        text_at(&self.value, &["metadata", "namespace"])
    }

    /// `metadata.uid`.
    pub fn uid(&self) -> &str {
        text_at(&self.value, &["metadata", "uid"])
    }

    /// `metadata.generation`, 0 for kinds that count none.
    pub fn generation(&self) -> u64 {
        number_at(&self.value, &["metadata", "generation"]).unwrap_or(0)
    }

    /// The value of a label.
    pub fn label(&self, key: &str) -> Option<&str> {
        at(&self.value, &["metadata", "labels", key]).and_then(Value::as_str)
    }

    /// Whether the object carries all of these labels.
    pub fn has_labels(&self, labels: &[(impl AsRef<str>, impl AsRef<str>)]) -> bool {
        labels
            .iter()
            .all(|(key, value)| self.label(key.as_ref()) == Some(value.as_ref()))
    }

    /// Whether a delete was accepted and the object waits for its grace period or finalizers.
    pub fn deleting(&self) -> bool {
        at(&self.value, &["metadata", "deletionTimestamp"]).is_some()
    }

    /// `metadata.finalizers`.
    pub fn finalizers(&self) -> impl Iterator<Item = &str> {
        items_at(&self.value, &["metadata", "finalizers"])
            .iter()
            .filter_map(Value::as_str)
    }

    /// `metadata.ownerReferences`.
    pub fn owners(&self) -> impl Iterator<Item = Owner<'_>> {
        items_at(&self.value, &["metadata", "ownerReferences"])
            .iter()
            .map(|reference| Owner {
                api_version: text_at(reference, &["apiVersion"]),
                kind: text_at(reference, &["kind"]),
                name: text_at(reference, &["name"]),
                uid: text_at(reference, &["uid"]),
                controller: flag_at(reference, &["controller"]),
                blocks: flag_at(reference, &["blockOwnerDeletion"]),
            })
    }

    /// The owner that controls the object.
    pub fn controller(&self) -> Option<Owner<'_>> {
        self.owners().find(|owner| owner.controller)
    }

    /// The field at that path.
    pub fn at(&self, path: &[&str]) -> Option<&Value> {
        at(&self.value, path)
    }
}

/// An entry of `metadata.ownerReferences`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner<'a> {
    /// Group and version of the owner's kind.
    pub api_version: &'a str,
    /// The owner's kind.
    pub kind: &'a str,
    /// The owner's name.
    pub name: &'a str,
    /// The owner's uid.
    pub uid: &'a str,
    /// Whether this owner controls the object.
    pub controller: bool,
    /// Whether a foreground delete of the owner waits for the object.
    pub blocks: bool,
}

/// The value at a path of field names.
pub fn at<'a>(value: &'a Value, path: &[&str]) -> Option<&'a Value> {
    path.iter().try_fold(value, |value, key| value.get(key))
}

/// The text at a path, empty if there is none.
pub fn text_at<'a>(value: &'a Value, path: &[&str]) -> &'a str {
    at(value, path).and_then(Value::as_str).unwrap_or("")
}

/// The natural number at a path.
pub fn number_at(value: &Value, path: &[&str]) -> Option<u64> {
    at(value, path).and_then(Value::as_u64)
}

/// Whether there is `true` at a path.
pub fn flag_at(value: &Value, path: &[&str]) -> bool {
    at(value, path).and_then(Value::as_bool).unwrap_or(false)
}

/// The list at a path, empty if there is none.
pub fn items_at<'a>(value: &'a Value, path: &[&str]) -> &'a [Value] {
    at(value, path)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// Sets the field at a path, making the records on the way; does nothing where something else than a record stands there.
pub fn set_at(value: &mut Value, path: &[&str], new: Value) {
    let Some((last, way)) = path.split_last() else {
        return;
    };
    let mut place = value;
    for key in way {
        let Value::Object(map) = place else { return };
        if !map.contains_key(*key) {
            map.insert((*key).to_string(), Value::Object(serde_json::Map::new()));
        }
        let Some(next) = map.get_mut(*key) else {
            return;
        };
        place = next;
    }
    if let Value::Object(map) = place {
        map.insert((*last).to_string(), new);
    }
}

/// Takes the field at a path away, and gives it back.
pub fn remove_at(value: &mut Value, path: &[&str]) -> Option<Value> {
    let (last, way) = path.split_last()?;
    let mut place = value;
    for key in way {
        place = place.get_mut(*key)?;
    }
    place.as_object_mut()?.remove(*last)
}

/// Sets a field of a record if it is not there.
pub(crate) fn set_default(value: &mut Value, key: &str, default: impl FnOnce() -> Value) {
    if let Value::Object(map) = value
        && !map.contains_key(key)
    {
        map.insert(key.to_string(), default());
    }
}
