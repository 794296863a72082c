//! What the names in a transcript stand for in a replay, and where two values differ.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::recorder::THEN;
use crate::transcript::symbols::{TIME, is_time};

/// What each name of the transcript stands for in this replay.
#[derive(Debug, Default)]
pub(super) struct Bindings {
    /// From a symbol with its angle brackets to the text.
    actual: BTreeMap<String, String>,
    /// From the text of a uid or of an object's version back.
    symbols: BTreeMap<String, String>,
}

/// A field, what the real cluster had there, what the simulated one had.
pub(super) type Place = (String, String, String);

impl Bindings {
    /// The text with every symbol replaced; none if one is not known.
    pub(super) fn resolve(&self, text: &str) -> Option<String> {
        let mut resolved = String::new();
        for part in parts(text) {
            match part {
                Part::Text(text) => resolved.push_str(text),
                Part::Symbol(symbol) => resolved.push_str(self.actual.get(symbol)?),
            }
        }
        Some(resolved)
    }

    /// A body to be sent, with every symbol replaced.
    pub(super) fn fill(&self, value: &Value) -> Result<Value, String> {
        Ok(match value {
            Value::String(text) if text == TIME => THEN.into(),
            // The path of a patch names an entry of `managedFields`.
            Value::String(text) if text.starts_with("/metadata/managedFields/<") => value.clone(),
            Value::String(text) => self
                .resolve(text)
                .ok_or_else(|| format!("nothing is known of {text}"))?
                .into(),
            Value::Array(items) => items
                .iter()
                .map(|item| self.fill(item))
                .collect::<Result<Value, _>>()?,
            Value::Object(fields) => {
                let filled: Result<Map<_, _>, String> = fields
                    .iter()
                    .map(|(key, value)| Ok((key.clone(), self.fill(value)?)))
                    .collect();
                filled?.into()
            }
            other => other.clone(),
        })
    }

    /// Learns what the symbols in `real` stand for where `simulated` has a text in their place.
    pub(super) fn learn(&mut self, real: &Value, simulated: &Value) {
        match (real, simulated) {
            (Value::Object(real), Value::Object(simulated)) => {
                for (key, value) in real {
                    if let Some(other) = simulated.get(key) {
                        self.learn(value, other);
                    }
                }
            }
            (Value::Array(real), Value::Array(simulated)) => {
                real.iter()
                    .zip(simulated)
                    .for_each(|(real, simulated)| self.learn(real, simulated));
            }
            (Value::String(real), Value::String(simulated)) => self.learn_text(real, simulated),
            _ => {}
        }
    }

    fn learn_text(&mut self, real: &str, simulated: &str) {
        let parts = parts(real);
        let [before @ .., Part::Symbol(symbol)] = parts.as_slice() else {
            return;
        };
        let prefix = match before {
            [] => "",
            [Part::Text(text)] => text,
            _ => return,
        };
        let Some(text) = simulated.strip_prefix(prefix) else {
            return;
        };
        if !is_name(symbol) || text.is_empty() || self.actual.contains_key(*symbol) {
            return;
        }
        // One thing has one name; a list and an object may have one version.
        let taken = self.symbols.get(text).is_some_and(|known| known != symbol);
        if taken && !symbol.starts_with("<version of step") {
            return;
        }
        self.actual.insert((*symbol).to_owned(), text.to_owned());
        if !symbol.starts_with("<version of step") {
            self.symbols.insert(text.to_owned(), (*symbol).to_owned());
        }
    }

    /// Where the two values differ.
    pub(super) fn compare(&self, real: &Value, simulated: &Value) -> Vec<Place> {
        let mut places = Vec::new();
        if real["kind"] == "Status" && real["status"] == "Failure" {
            // The text is for people; causes are compared as far as they are for programs.
            for field in ["code", "reason"] {
                self.walk(&real[field], &simulated[field], field, &mut places);
            }
            let ending = |status: &Value| {
                let causes = status["details"]["causes"]
                    .as_array()
                    .cloned()
                    .unwrap_or_default();
                causes
                    .iter()
                    .any(|cause| cause["reason"] == "NamespaceTerminating")
            };
            if ending(real) != ending(simulated) {
                places.push((
                    "cause NamespaceTerminating".into(),
                    ending(real).to_string(),
                    ending(simulated).to_string(),
                ));
            }
            return places;
        }
        self.walk(real, simulated, "", &mut places);
        places
    }

    fn walk(&self, real: &Value, simulated: &Value, place: &str, places: &mut Vec<Place>) {
        match (real, simulated) {
            (Value::Object(left), Value::Object(right)) => {
                let left: BTreeMap<String, &Value> = left
                    .iter()
                    .map(|(key, value)| (self.resolve(key).unwrap_or_else(|| key.clone()), value))
                    .collect();
                for (key, value) in &left {
                    let place = format!("{place}/{key}");
                    match right.get(key) {
                        Some(other) => self.walk(value, other, &place, places),
                        None => places.push((place, value.to_string(), "nothing".into())),
                    }
                }
                for (key, value) in right.iter().filter(|(key, _)| !left.contains_key(*key)) {
                    places.push((
                        format!("{place}/{key}"),
                        "nothing".into(),
                        value.to_string(),
                    ));
                }
            }
            (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
                for (index, (left, right)) in left.iter().zip(right).enumerate() {
                    self.walk(left, right, &format!("{place}/{index}"), places);
                }
            }
            (Value::String(left), right) if left.contains('<') => {
                if !self.text_fits(left, right) {
                    let known = self.resolve(left);
                    let known = known.map(|known| format!(" ({known})")).unwrap_or_default();
                    places.push((
                        place.to_owned(),
                        format!("{real}{known}"),
                        right.to_string(),
                    ));
                }
            }
            // What people read.
            _ if place.ends_with("/message") && real.is_string() && simulated.is_string() => {}
            _ if real == simulated => {}
            _ => places.push((place.to_owned(), real.to_string(), simulated.to_string())),
        }
    }

    fn text_fits(&self, real: &str, simulated: &Value) -> bool {
        match (real, simulated) {
            (TIME, Value::String(text)) => is_time(text),
            ("<address>", Value::String(text)) => text.parse::<std::net::IpAddr>().is_ok(),
            ("<port>", Value::Number(_)) => true,
            ("kube-api-access-<random>", Value::String(text)) => text
                .strip_prefix("kube-api-access-")
                .is_some_and(|rest| rest.len() == 5),
            (_, Value::String(text)) => {
                // A text for people with an angle bracket in it is itself.
                self.resolve(real).as_deref() == Some(text) || real == text
            }
            _ => false,
        }
    }

    /// The versions of objects whose order is another than in the transcript: the later of each pair.
    pub(super) fn out_of_order(&self) -> Vec<String> {
        let mut of_object: BTreeMap<&str, BTreeMap<u64, u64>> = BTreeMap::new();
        for (symbol, actual) in &self.actual {
            let named = symbol
                .strip_prefix("<version ")
                .and_then(|rest| rest.split_once(" of "));
            if let Some((Ok(number), object)) =
                named.map(|(number, object)| (number.parse(), object))
            {
                of_object
                    .entry(object)
                    .or_default()
                    .insert(number, actual.parse().unwrap_or(0));
            }
        }
        let mut wrong = Vec::new();
        for (object, versions) in of_object {
            let pairs: Vec<(&u64, &u64)> = versions.iter().collect();
            for pair in pairs.windows(2) {
                if pair[0].1 >= pair[1].1 {
                    wrong.push(format!("<version {} of {object}", pair[1].0));
                }
            }
        }
        wrong
    }
}

enum Part<'a> {
    Text(&'a str),
    Symbol(&'a str),
}

/// The symbols of a text, with their brackets, and what is between them. A symbol may hold another: `<uid 1 of ControllerRevision web-<revision 1>>`.
fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let (mut begin, mut depth) = (0, 0);
    for (index, letter) in text.char_indices() {
        match letter {
            '<' => {
                if depth == 0 && begin < index {
                    parts.push(Part::Text(&text[begin..index]));
                }
                if depth == 0 {
                    begin = index;
                }
                depth += 1;
            }
            '>' if depth > 0 => {
                depth -= 1;
                if depth == 0 {
                    parts.push(Part::Symbol(&text[begin..=index]));
                    begin = index + 1;
                }
            }
            _ => {}
        }
    }
    if begin < text.len() {
        parts.push(Part::Text(&text[begin..]));
    }
    parts
}

/// Whether a symbol names one thing that is the same all through a transcript.
fn is_name(symbol: &str) -> bool {
    ["<uid ", "<version ", "<revision "]
        .iter()
        .any(|kind| symbol.starts_with(kind))
}
