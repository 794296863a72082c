//! What a real control plane did, step by step, as files that people can read and the simulator can be held against.
//!
//! A transcript lists requests with their answers, and between them rests, at which every watch event since the last rest is given, per object
//! and in order. Between two rests nothing is said about the order of events of *different* objects: a real control plane makes no promise there.
//!
//! # Normal form
//!
//! What differs from one run to the next is replaced by a name for it ([`symbols`]): uids, versions, times, addresses, ports, names of controller
//! revisions. `metadata.managedFields` is a map from `manager operation version subresource` to the fields, because the server orders the list by time.
//!
//! # File
//!
//! A state that the file has shown before is named by its version (`same`), an object that it has shown before is written as its `change`: a merge patch (RFC 7386) to what the file said last about it (`file`); an object that is new may be
//! written as its change to the body of the request, or to the first object of its kind, as that was shown first.

pub mod difference;
pub mod file;
pub mod normal;
pub mod print;
pub mod symbols;

use serde_json::Value;

/// One story of a control plane.
#[derive(Clone, Debug, PartialEq)]
pub struct Transcript {
    /// The name of its file, and of the namespace in which it plays.
    pub name: String,
    /// What can be learned from it.
    pub shows: String,
    /// The rows of the table of facts that it records, such as `K7`.
    pub facts: Vec<String>,
    /// The kinds whose watch events it gives.
    pub watched: Vec<String>,
    /// What happened.
    pub steps: Vec<Step>,
}

/// One step of a [`Transcript`].
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// A request and its answer.
    Request(Request),
    /// A watch that was read to its end.
    Watch(Watch),
    /// Everything older than a version was forgotten.
    Compact {
        /// The symbol of the version.
        before: String,
    },
    /// Nobody did anything until the controllers had nothing left to do.
    Rest {
        /// What was waited for.
        until: String,
        /// What the watches said since the last rest: per object, in order.
        events: Vec<(String, Vec<Event>)>,
    },
}

/// One request and its answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The user, who is the field manager of writes too.
    pub who: String,
    /// The HTTP method.
    pub method: String,
    /// The path.
    pub path: String,
    /// The query, without the field manager.
    pub query: Vec<(String, String)>,
    /// The type of the body, empty without one.
    pub content_type: String,
    /// The body, null without one.
    pub body: Value,
    /// The HTTP status code of the answer.
    pub status: u16,
    /// The body of the answer, in normal form.
    pub answer: Value,
}

/// A watch, read until the server had nothing more to say.
#[derive(Clone, Debug, PartialEq)]
pub struct Watch {
    /// The user.
    pub who: String,
    /// The path of the collection.
    pub path: String,
    /// The query without `watch`: where to start, what to select.
    pub query: Vec<(String, String)>,
    /// The HTTP status code.
    pub status: u16,
    /// The events, in order.
    pub events: Vec<Event>,
}

/// One watch event.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// ADDED, MODIFIED, DELETED or ERROR.
    pub event: String,
    /// The object in normal form; for ERROR a Status.
    pub object: Value,
}

impl Transcript {
    /// How many steps are requests or watches or compactions, that is, something that somebody did.
    pub fn deeds(&self) -> usize {
        self.steps
            .iter()
            .filter(|step| !matches!(step, Step::Rest { .. }))
            .count()
    }
}

/// The name under which a transcript speaks of an object: kind and name, with the namespace unless it is the transcript's `own`.
pub fn key(object: &Value, own: &str) -> Option<String> {
    let kind = object["kind"].as_str()?;
    let metadata = object.get("metadata")?;
    let name = metadata["name"].as_str()?;
    Some(key_of(
        kind,
        metadata["namespace"].as_str().unwrap_or_default(),
        name,
        own,
    ))
}

/// The same, from its parts.
pub fn key_of(kind: &str, namespace: &str, name: &str, own: &str) -> String {
    if namespace.is_empty() || namespace == own {
        format!("{kind} {name}")
    } else {
        format!("{kind} {namespace}/{name}")
    }
}
