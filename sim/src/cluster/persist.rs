//! Writing a cluster down, and reading it back.
//!
//! What makes a cluster is its objects and two counters. Who keeps it writes each [`Change`](super::Change) as it
//! comes, together with the counters; what was written before a version is then not watched any more: a watch from an
//! older version is answered 410, as after a restart of a real API server.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Cluster;
use super::fields::Managers;
use super::object::{Stored, at, remove_at, text_at};
use super::resource::Resource;
use super::settings::Settings;
use super::store::Store;

/// What a cluster counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// The newest version.
    pub version: u64,
    /// How many uids and generated names were drawn.
    pub drawn: u64,
}

/// Something that was written as an object, and is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{object}: {problem}")]
pub struct NotObject {
    /// What it calls itself.
    pub object: String,
    /// What is wrong.
    pub problem: &'static str,
}

impl Cluster {
    /// What the cluster counts, at this moment.
    pub fn counters(&self) -> Counters {
        Counters {
            version: self.version(),
            drawn: self.drawn,
        }
    }

    /// The cluster that had these objects, as [`Stored::whole`] wrote them, and these counters. Its controllers are to be
    /// started again.
    ///
    /// # Errors
    /// Counters that no cluster reaches; else the first thing that is no object of a version up to the counter's.
    pub fn restore(
        settings: Settings,
        counters: Counters,
        objects: impl IntoIterator<Item = Value>,
    ) -> Result<Self, NotObject> {
        if counters.version.max(counters.drawn) >= BEYOND {
            return Err(NotObject {
                object: "the counters".into(),
                problem: "one of them is larger than a cluster ever counts",
            });
        }
        let objects: Result<Vec<Arc<Stored>>, NotObject> = objects
            .into_iter()
            .map(|value| read(value, counters.version).map(Arc::new))
            .collect();
        Ok(Cluster {
            settings,
            store: Store::restore(objects?, counters.version),
            denials: Vec::new(),
            drawn: counters.drawn,
            controllers: None,
        })
    }
}

/// Numbers of the API are `int64`. A cluster never counts so far, and what it counts on from must leave room to count.
const BEYOND: u64 = i64::MAX.unsigned_abs();

fn beyond(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.as_u64().is_some_and(|number| number >= BEYOND),
        Value::Array(items) => items.iter().any(beyond),
        Value::Object(fields) => fields.values().any(beyond),
        Value::Null | Value::Bool(_) | Value::String(_) => false,
    }
}

fn read(mut value: Value, newest: u64) -> Result<Stored, NotObject> {
    let name = |value: &Value| {
        let kind = text_at(value, &["kind"]);
        alloc::format!("{kind} \"{}\"", text_at(value, &["metadata", "name"]))
    };
    let problem = |value: &Value, problem| NotObject {
        object: name(value),
        problem,
    };
    let kind = Resource::of(text_at(&value, &["apiVersion"]), text_at(&value, &["kind"]));
    let resource = kind.ok_or_else(|| problem(&value, "there is no such kind"))?;
    let version = text_at(&value, &["metadata", "resourceVersion"]).parse();
    let version = version.map_err(|_| problem(&value, "its version is no number"))?;
    if version > newest {
        return Err(problem(&value, "its version is yet to come"));
    }
    if beyond(&value) {
        return Err(problem(
            &value,
            "it has a number that is larger than the API's",
        ));
    }
    if text_at(&value, &["metadata", "uid"]).is_empty() {
        return Err(problem(&value, "it has no uid"));
    }
    let managers = match at(&value, &["metadata", "managedFields"]) {
        None => Managers::default(),
        Some(written) => Managers::parse(written)
            .ok_or_else(|| problem(&value, "who owns its fields cannot be read"))?,
    };
    remove_at(&mut value, &["metadata", "managedFields"]);
    Ok(Stored {
        resource,
        version,
        value,
        managers,
    })
}
