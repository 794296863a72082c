//! JSON patch (RFC 6902) and JSON merge patch (RFC 7386).

use alloc::format;
use alloc::string::{String, ToString};

use serde_json::Value;

use super::Context;
use crate::cluster::Cluster;
use crate::cluster::object::{Stored, text_at};
use crate::cluster::request::{Failure, Response, Subresource};

/// A patch that touches this place gets the owners written out, and may change them (fact K8).
const MANAGED_FIELDS: &str = "/metadata/managedFields";

impl Cluster {
    /// PATCH by RFC 6902.
    pub(super) fn json_patch(
        &mut self,
        context: &Context<'_>,
        operations: &Value,
    ) -> Result<Response, Failure> {
        let old = self.find(context)?.clone();
        let Some(operations) = operations.as_array() else {
            return Err(Failure::bad_request("a JSON patch is a list of operations"));
        };
        let touches = operations.iter().any(|operation| {
            ["path", "from"].iter().any(|key| {
                operation
                    .get(*key)
                    .and_then(Value::as_str)
                    .is_some_and(|path| {
                        path.starts_with(MANAGED_FIELDS) || MANAGED_FIELDS.starts_with(path)
                    })
            })
        });
        let mut new = if touches {
            old.whole()
        } else {
            old.value.clone()
        };
        for operation in operations {
            operate(&mut new, operation).map_err(rejected)?;
        }
        self.check_patched(context, &old, &new)?;
        self.change(context, &old, new)
    }

    /// PATCH by RFC 7386.
    pub(super) fn merge_patch(
        &mut self,
        context: &Context<'_>,
        body: &Value,
    ) -> Result<Response, Failure> {
        let old = self.find(context)?.clone();
        let touches = body.pointer(MANAGED_FIELDS).is_some();
        let Some(parts) = body.as_object() else {
            return Err(Failure::bad_request("a merge patch is an object"));
        };
        let status = context.subresource == Some(Subresource::Status);
        let mut new = if touches {
            old.whole()
        } else if status && parts.keys().all(|part| part == "status") {
            // What such a write cannot change is put back at the end: it need not be carried there.
            outline(&old)
        } else {
            old.value.clone()
        };
        merge_patch(&mut new, body);
        self.check_patched(context, &old, &new)?;
        self.change(context, &old, new)
    }

    /// A patch may not rename an object or make another kind of it.
    fn check_patched(
        &self,
        context: &Context<'_>,
        old: &Stored,
        new: &Value,
    ) -> Result<(), Failure> {
        if !new.is_object() || new.get("metadata").is_none_or(|value| !value.is_object()) {
            return Err(Failure::bad_request("the patched object has no metadata"));
        }
        for key in ["apiVersion", "kind"] {
            if new.get(key) != old.value.get(key) {
                return Err(Failure::bad_request(format!("a patch cannot change {key}")));
            }
        }
        super::update::check_place(context, new)
    }
}

fn rejected(error: String) -> Failure {
    let mut failure =
        Failure::unprocessable("the server rejected our request due to an error in our request");
    failure
        .causes
        .push(("UnexpectedServerResponse".into(), "".into(), error.into()));
    failure
}

/// An object's kind, place and status alone.
fn outline(old: &Stored) -> Value {
    let mut outline = serde_json::Map::new();
    for part in ["apiVersion", "kind", "status"] {
        if let Some(value) = old.value.get(part) {
            outline.insert(part.to_string(), value.clone());
        }
    }
    let mut metadata = serde_json::Map::new();
    for field in ["name", "namespace", "uid", "resourceVersion"] {
        if let Some(value) = old.at(&["metadata", field]) {
            metadata.insert(field.to_string(), value.clone());
        }
    }
    outline.insert("metadata".to_string(), Value::Object(metadata));
    Value::Object(outline)
}

/// Merges a patch by RFC 7386: `null` takes away, records merge, everything else replaces.
pub(super) fn merge_patch(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = Value::Object(serde_json::Map::new());
    }
    let Value::Object(map) = target else { return };
    for (key, value) in patch {
        if value.is_null() {
            map.remove(key);
        } else {
            merge_patch(map.entry(key.clone()).or_insert(Value::Null), value);
        }
    }
}

/// Carries out one operation of a JSON patch.
fn operate(value: &mut Value, operation: &Value) -> Result<(), String> {
    let path = operation
        .get("path")
        .and_then(Value::as_str)
        .ok_or("an operation has no path")?;
    let given = || {
        operation
            .get("value")
            .cloned()
            .ok_or_else(|| format!("the operation on {path:?} has no value"))
    };
    let missing = |path: &str| format!("the path {path:?} does not exist");
    let from = || {
        operation
            .get("from")
            .and_then(Value::as_str)
            .ok_or_else(|| format!("the operation on {path:?} has no \"from\""))
    };
    match text_at(operation, &["op"]) {
        "add" => add(value, path, given()?),
        "replace" => {
            let new = given()?;
            let place = value.pointer_mut(path).ok_or_else(|| missing(path))?;
            *place = new;
            Ok(())
        }
        "remove" => remove(value, path).map(drop),
        "move" => {
            let moved = remove(value, from()?)?;
            add(value, path, moved)
        }
        "copy" => {
            let from = from()?;
            let copy = value.pointer(from).cloned().ok_or_else(|| missing(from))?;
            add(value, path, copy)
        }
        "test" => {
            let found = value.pointer(path).unwrap_or(&Value::Null);
            if *found == given()? {
                Ok(())
            } else {
                Err(format!("testing path {path} failed"))
            }
        }
        other => Err(format!("{other:?} is no operation of a JSON patch")),
    }
}

/// The parent of a path, and the last step.
fn parent<'a>(value: &'a mut Value, path: &str) -> Result<(&'a mut Value, String), String> {
    let (way, last) = path
        .rsplit_once('/')
        .ok_or_else(|| format!("the path {path:?} leads nowhere"))?;
    let last = last.replace("~1", "/").replace("~0", "~");
    let parent = value
        .pointer_mut(way)
        .ok_or_else(|| format!("the path {path:?} does not exist"))?;
    Ok((parent, last))
}

fn add(value: &mut Value, path: &str, new: Value) -> Result<(), String> {
    if path.is_empty() {
        *value = new;
        return Ok(());
    }
    let (parent, last) = parent(value, path)?;
    match parent {
        Value::Object(map) => {
            map.insert(last, new);
            Ok(())
        }
        Value::Array(items) => {
            let place = if last == "-" {
                items.len()
            } else {
                index(&last, items, true)?
            };
            items.insert(place, new);
            Ok(())
        }
        _ => Err(format!("the path {path:?} does not exist")),
    }
}

fn remove(value: &mut Value, path: &str) -> Result<Value, String> {
    let (parent, last) = parent(value, path)?;
    match parent {
        Value::Object(map) => map.remove(&last),
        Value::Array(items) => {
            let place = index(&last, items, false)?;
            Some(items.remove(place))
        }
        _ => None,
    }
    .ok_or_else(|| format!("the path {path:?} does not exist"))
}

fn index(text: &str, items: &[Value], end: bool) -> Result<usize, String> {
    text.parse::<usize>()
        .ok()
        .filter(|place| place.to_string() == text)
        .filter(|place| *place < items.len() || (end && *place == items.len()))
        .ok_or_else(|| format!("there is no item {text:?} in a list of {}", items.len()))
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use super::*;
    use serde_json::json;

    #[test]
    fn operations_do_what_the_standard_says() {
        let mut value = json!({"a": {"b/c": [1, 2]}, "d": 4});
        for operation in [
            json!({"op": "test", "path": "/a/b~1c/0", "value": 1}),
            json!({"op": "add", "path": "/a/b~1c/1", "value": 9}),
            json!({"op": "add", "path": "/a/b~1c/-", "value": 3}),
            json!({"op": "copy", "from": "/d", "path": "/e"}),
            json!({"op": "move", "from": "/d", "path": "/f"}),
            json!({"op": "remove", "path": "/a/b~1c/0"}),
            json!({"op": "replace", "path": "/e", "value": null}),
        ] {
            operate(&mut value, &operation).unwrap();
        }
        assert_eq!(value, json!({"a": {"b/c": [9, 2, 3]}, "e": null, "f": 4}));
        let wrong: Vec<Value> = vec![
            json!({"op": "test", "path": "/f", "value": 5}),
            json!({"op": "remove", "path": "/nothing"}),
            json!({"op": "remove", "path": ""}),
            json!({"op": "add", "path": "/a/b~1c/04", "value": 1}),
            json!({"op": "add", "path": "/a/b~1c/9", "value": 1}),
            json!({"op": "add", "path": "/f/x", "value": 1}),
            json!({"op": "dance", "path": "/f"}),
            json!({"op": "add", "path": "/g"}),
            json!({}),
            json!(3),
        ];
        let before = value.clone();
        for operation in wrong {
            assert!(operate(&mut value, &operation).is_err(), "{operation}");
        }
        assert_eq!(value, before);
    }
}
