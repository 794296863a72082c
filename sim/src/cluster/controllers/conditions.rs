//! Conditions of a status: found by type, with the moment of their last change kept.

use alloc::string::String;
use alloc::vec::Vec;

use pilotage_core::time::Timestamp;
use serde_json::{Value, json};

use crate::cluster::moment;
use crate::cluster::object::{items_at, remove_at, set_at, text_at};

/// The condition of that type in a status.
pub(super) fn condition<'a>(status: &'a Value, kind: &str) -> Option<&'a Value> {
    items_at(status, &["conditions"])
        .iter()
        .find(|condition| text_at(condition, &["type"]) == kind)
}

/// When the condition of that type took the state that it has, if it has this one.
pub(super) fn since(status: &Value, kind: &str, state: &str) -> Option<String> {
    condition(status, kind)
        .filter(|condition| text_at(condition, &["status"]) == state)
        .map(|condition| text_at(condition, &["lastTransitionTime"]).into())
}

/// What a condition is to say.
pub(super) struct Condition<'a> {
    pub(super) kind: &'a str,
    pub(super) state: bool,
    /// Empty for none.
    pub(super) reason: &'a str,
    /// Empty for none.
    pub(super) message: &'a str,
}

/// Makes a condition of a pod say this: in its place, or at the end.
pub(super) fn set_condition(status: &mut Value, at: Timestamp, condition: Condition<'_>) {
    let state = if condition.state { "True" } else { "False" };
    let changed = since(status, condition.kind, state).unwrap_or_else(|| moment::text(at));
    let mut new = json!({
        "type": condition.kind,
        "status": state,
        "lastProbeTime": null,
        "lastTransitionTime": changed,
    });
    for (field, text) in [("reason", condition.reason), ("message", condition.message)] {
        if !text.is_empty() {
            new[field] = json!(text);
        }
    }
    let mut all = match remove_at(status, &["conditions"]) {
        Some(Value::Array(all)) => all,
        _ => Vec::new(),
    };
    match all
        .iter_mut()
        .find(|old| text_at(old, &["type"]) == condition.kind)
    {
        Some(old) => *old = new,
        None => all.push(new),
    }
    set_at(status, &["conditions"], Value::Array(all));
}

/// The status of an object, to be changed.
pub(super) fn status_of(object: &Value) -> Value {
    match object.get("status") {
        Some(status) if status.is_object() => status.clone(),
        _ => json!({}),
    }
}
