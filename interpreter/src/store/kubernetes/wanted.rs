//! What a user's command changes of a spec, and nothing else of it.

use serde_json::{Map, Value, json};

use super::cache::Entry;
use super::record::Record;
use super::spec;

/// What a user's command wants of a spec.
pub(super) struct Wanted {
    /// As the record before it has it.
    before: Map<String, Value>,
    after: Map<String, Value>,
    /// A wish to remove stands alone.
    alone: bool,
}

/// What a command changed of what users want; none if it changed nothing of that.
pub(super) fn wanted(entry: &Entry, after: &Record) -> Option<Wanted> {
    let uid = entry.object.record_uid();
    match (entry.record.as_ref()?, after) {
        (Record::Application(before), Record::Application(after)) => (before.spec != after.spec)
            .then(|| Wanted {
                before: spec::write_application(uid, &before.spec.desire()),
                after: spec::write_application(uid, &after.spec.desire()),
                alone: after.spec.removal.is_some(),
            }),
        (Record::Model(before), Record::Model(after)) => {
            (before.spec != after.spec).then(|| Wanted {
                before: spec::write_model(uid, &before.spec),
                after: spec::write_model(uid, &after.spec),
                alone: after.spec.removal.is_some(),
            })
        }
        (Record::Storage(before), Record::Storage(after)) => {
            let destroy = |destroy: bool| Map::from_iter([("destroy".to_owned(), json!(destroy))]);
            (before.destroy != after.destroy).then(|| Wanted {
                before: destroy(before.destroy),
                after: destroy(after.destroy),
                alone: false,
            })
        }
        _ => None,
    }
}

impl Wanted {
    /// The changes of a spec. What says the same in other words stays as its user wrote it, unless it is all wrong.
    pub(super) fn operations(&self, spec: &Map<String, Value>, wrong: bool) -> Vec<Value> {
        let set = |key: &str, value: &Value| json!({ "op": "add", "path": format!("/spec/{key}"), "value": value });
        if self.alone {
            let removal = self.after.get("removal");
            let removal = removal.filter(|removal| spec.get("removal") != Some(removal));
            return removal
                .map(|removal| set("removal", removal))
                .into_iter()
                .collect();
        }
        let mut operations = Vec::new();
        for (key, value) in &self.after {
            let there = spec.get(key);
            let same = !wrong && self.before.get(key) == Some(value);
            if key == "uid" || same || there == Some(value) {
                continue;
            }
            operations.push(set(key, value));
        }
        for key in spec.keys() {
            let kept = matches!(&**key, "uid" | "storage") && !self.after.contains_key("charm");
            if key != "uid" && !kept && !self.after.contains_key(key) {
                operations.push(json!({ "op": "remove", "path": format!("/spec/{key}") }));
            }
        }
        operations
    }
}
