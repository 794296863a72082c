//! Names for what differs from one run to the next.
//!
//! | in a run | in a transcript |
//! |---|---|
//! | a uid | `<uid 2 of Pod web-0>`: of the second object of that name |
//! | a resource version | `<version 3 of Pod web-0>`: the third that the transcript shows, in the server's order |
//! | the version of a list | `<version of step 4>` |
//! | a time | `<time>` |
//! | the name of a controller revision | `web-<revision 1>` |
//! | an address or node port of a Service, a mounted token's volume | `<address>`, `<port>`, `kube-api-access-<random>` |

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::{key, key_of, normal::entry_label};

/// What stands for a time.
pub const TIME: &str = "<time>";

/// A uid that no object has, for whoever is to be refused.
pub const NOBODY: &str = "00000000-0000-4000-8000-000000000000";

/// The names given so far, for one transcript.
#[derive(Debug, Default)]
pub struct Symbols {
    own: String,
    uids: BTreeMap<String, String>,
    uids_of: BTreeMap<String, usize>,
    versions: BTreeMap<String, BTreeSet<u64>>,
    lists: BTreeMap<String, String>,
    revisions: BTreeMap<String, String>,
    hashes: BTreeMap<String, String>,
}

impl Symbols {
    /// For the transcript of that name, which plays in the namespace of that name.
    pub fn new(own: &str) -> Symbols {
        Symbols {
            own: own.to_owned(),
            ..Symbols::default()
        }
    }

    /// Learns everything that a value says about identities, in the order in which the transcript shows it.
    pub fn learn(&mut self, value: &Value) {
        match value {
            Value::Object(fields) => {
                self.learn_identity(value);
                self.learn_revisions(value);
                fields.values().for_each(|value| self.learn(value));
            }
            Value::Array(items) => items.iter().for_each(|item| self.learn(item)),
            _ => {}
        }
    }

    /// Learns the version of the list that step number `step` read.
    pub fn learn_list(&mut self, step: usize, version: &str) {
        self.lists
            .entry(version.to_owned())
            .or_insert_with(|| format!("<version of step {step}>"));
    }

    fn learn_identity(&mut self, value: &Value) {
        let own = self.own.clone();
        if let Some(key) = key(value, &own) {
            let metadata = &value["metadata"];
            // A Scale shows the version and uid of the object that it scales.
            if let Some(version) = metadata["resourceVersion"]
                .as_str()
                .and_then(|v| v.parse().ok())
            {
                self.versions
                    .entry(scaled(&key))
                    .or_default()
                    .insert(version);
            }
            self.learn_uid(&metadata["uid"], scaled(&key));
        } else if let (Some(kind), Some(name)) = (value["kind"].as_str(), value["name"].as_str()) {
            let namespace = value["namespace"].as_str().unwrap_or_default();
            self.learn_uid(&value["uid"], key_of(kind, namespace, name, &own));
        }
    }

    fn learn_uid(&mut self, uid: &Value, key: String) {
        let Some(uid) = uid.as_str().filter(|uid| is_uid(uid)) else {
            return;
        };
        if !self.uids.contains_key(uid) {
            let number = self.uids_of.entry(key.clone()).or_default();
            *number += 1;
            self.uids
                .insert(uid.to_owned(), format!("<uid {number} of {key}>"));
        }
    }

    fn learn_revisions(&mut self, value: &Value) {
        let owner = value["metadata"]["name"].as_str().unwrap_or_default();
        if value["kind"] == "StatefulSet" {
            for field in ["currentRevision", "updateRevision"] {
                self.learn_revision(owner, value["status"][field].as_str());
            }
        }
        if value["kind"] == "ControllerRevision" {
            let name = value["metadata"]["name"].as_str();
            let owner = value["metadata"]["ownerReferences"][0]["name"].as_str();
            // An orphan's name still begins with that of its first owner.
            if let Some(owner) = owner.or_else(|| Some(name?.rsplit_once('-')?.0)) {
                let owner = owner.to_owned();
                self.learn_revision(&owner, name);
            }
        }
    }

    fn learn_revision(&mut self, owner: &str, revision: Option<&str>) {
        let Some(revision) = revision.filter(|revision| !revision.is_empty()) else {
            return;
        };
        if self.revisions.contains_key(revision) {
            return;
        }
        // Revisions of two owners with one template have one hash, which stands alone in a label of the ControllerRevision.
        let hash = revision
            .strip_prefix(owner)
            .and_then(|rest| rest.strip_prefix('-'))
            .unwrap_or(revision);
        let number = self.hashes.len() + 1;
        let symbol = self.hashes.entry(hash.to_owned());
        let symbol = symbol.or_insert_with(|| format!("<revision {number}>"));
        let name = format!("{owner}-{symbol}");
        self.revisions.insert(revision.to_owned(), name);
    }

    /// The value with every known identity replaced. `context` is the object that a request is about.
    pub fn substitute(&self, value: &Value, context: &str) -> Value {
        let own_key = key(value, &self.own).map(|key| scaled(&key));
        let context = own_key.as_deref().unwrap_or(context);
        match value {
            Value::Object(fields) => Value::Object(
                fields
                    .iter()
                    .map(|(name, field)| (self.text(name), self.field(name, field, context)))
                    .collect::<Map<_, _>>(),
            ),
            Value::Array(items) => Value::Array(
                items
                    .iter()
                    .map(|item| self.substitute(item, context))
                    .collect(),
            ),
            Value::String(text) => Value::String(self.text(text)),
            other => other.clone(),
        }
    }

    fn field(&self, name: &str, field: &Value, context: &str) -> Value {
        match (name, field) {
            ("resourceVersion", Value::String(version)) => self.version(version, context).into(),
            ("nodePort", Value::Number(_)) => "<port>".into(),
            ("clusterIP", Value::String(address)) if is_address(address) => "<address>".into(),
            ("clusterIPs", Value::Array(addresses)) => addresses
                .iter()
                .map(|address| match address.as_str() {
                    Some(text) if is_address(text) => Value::from("<address>"),
                    _ => address.clone(),
                })
                .collect(),
            _ => self.substitute(field, context),
        }
    }

    /// A JSON patch with versions replaced, and entries of `managedFields` named instead of numbered, as `live` has them.
    pub fn substitute_json_patch(&self, operations: &Value, live: &Value, context: &str) -> Value {
        let mut operations = self.substitute(operations, context);
        for operation in operations.as_array_mut().into_iter().flatten() {
            let path = operation["path"].as_str().unwrap_or_default().to_owned();
            if path == "/metadata/resourceVersion" {
                let version = operation["value"].as_str().unwrap_or_default().to_owned();
                operation["value"] = self.version(&version, context).into();
            }
            let Some(rest) = path.strip_prefix("/metadata/managedFields/") else {
                continue;
            };
            // The whole entry, or a field of it.
            let (index, field) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            let entry = index
                .parse::<usize>()
                .ok()
                .map(|index| &live["metadata"]["managedFields"][index]);
            if let Some(entry) = entry.filter(|entry| entry.is_object()) {
                let label = entry_label(entry);
                operation["path"] = format!(
                    "/metadata/managedFields/<{}>{field}",
                    label.replace('/', "~1")
                )
                .into();
            }
        }
        operations
    }

    /// The name of a version: that of `context`, or of a list, or of any object; a version that nobody showed stays as it is.
    pub fn version(&self, version: &str, context: &str) -> String {
        self.text(&self.version_of(version, context))
    }

    fn version_of(&self, version: &str, context: &str) -> String {
        let Ok(number) = version.parse::<u64>() else {
            return version.to_owned();
        };
        let symbol = |key: &str, numbers: &BTreeSet<u64>| {
            let place = numbers.iter().position(|known| *known == number)?;
            Some(format!("<version {} of {key}>", place + 1))
        };
        let of_context = self
            .versions
            .get_key_value(context)
            .and_then(|(k, v)| symbol(k, v));
        of_context
            .or_else(|| self.lists.get(version).cloned())
            .or_else(|| {
                self.versions
                    .iter()
                    .find_map(|(key, numbers)| symbol(key, numbers))
            })
            .unwrap_or_else(|| version.to_owned())
    }

    /// A text with every known identity replaced.
    pub fn text(&self, text: &str) -> String {
        if is_time(text) {
            return TIME.to_owned();
        }
        if let Some(symbol) = self.hashes.get(text) {
            return symbol.clone();
        }
        let mut text = text.to_owned();
        for (uid, symbol) in &self.uids {
            if text.contains(uid) {
                text = text.replace(uid, symbol);
            }
        }
        for (revision, symbol) in &self.revisions {
            if text.contains(revision) {
                text = text.replace(revision, symbol);
            }
        }
        if let Some(rest) = text
            .strip_prefix("kube-api-access-")
            .filter(|rest| rest.len() == 5)
        {
            text = text.replace(rest, "<random>");
        }
        if text.contains("the ResourceVersion in the precondition (") {
            text = without_numbers_in_brackets(&text);
        }
        if let Some((start, _)) = text.split_once("too old resource version: ") {
            text = format!("{start}too old resource version: <version>");
        }
        text
    }
}

fn scaled(key: &str) -> String {
    match key.strip_prefix("Scale ") {
        Some(name) => format!("StatefulSet {name}"),
        None => key.to_owned(),
    }
}

/// `(487)` becomes `(<version>)`.
fn without_numbers_in_brackets(text: &str) -> String {
    let mut parts = text.split('(');
    let mut replaced = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|letter: char| letter.is_ascii_digit());
        let number = rest.len() < part.len() && rest.starts_with(')');
        replaced.push('(');
        replaced.push_str(if number { "<version>" } else { "" });
        replaced.push_str(if number { rest } else { part });
    }
    replaced
}

/// Whether a text is a time as the server writes it.
pub fn is_time(text: &str) -> bool {
    text.len() >= 20 && text.ends_with('Z') && text.parse::<jiff::Timestamp>().is_ok()
}

/// Whether a text is a uid as a server makes it.
pub fn is_uid(text: &str) -> bool {
    text.len() == 36
        && text != NOBODY
        && text.chars().enumerate().all(|(index, letter)| match index {
            8 | 13 | 18 | 23 => letter == '-',
            _ => letter.is_ascii_hexdigit(),
        })
}

fn is_address(text: &str) -> bool {
    text.parse::<std::net::IpAddr>().is_ok()
}
