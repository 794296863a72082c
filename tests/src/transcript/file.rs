//! Transcripts as files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use thiserror::Error;

use super::difference::{merge, merge_patch};
use super::{Event, Request, Step, Transcript, Watch, key, print};

/// A file is no transcript.
#[derive(Debug, Error)]
pub enum ReadError {
    /// It can't be read.
    #[error("{path}: {source}", path = .path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It is no JSON.
    #[error("{path}: {source}", path = .path.display())]
    Json {
        /// Which.
        path: PathBuf,
        /// Why.
        source: serde_json::Error,
    },
    /// It lacks something.
    #[error("{path}: step {step}: {problem}", path = .path.display())]
    Shape {
        /// Which.
        path: PathBuf,
        /// The step, from 1; 0 is the head.
        step: usize,
        /// What is wrong.
        problem: String,
    },
}

/// The folder of the committed transcripts.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("transcripts")
}

/// The files of all committed transcripts, by name.
pub fn all() -> std::io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder())? {
        let path = entry?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "json")
        {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// Reads one file.
pub fn read(path: &Path) -> Result<Transcript, ReadError> {
    let own = |path: &Path| path.to_owned();
    let text = std::fs::read_to_string(path).map_err(|source| ReadError::Io {
        path: own(path),
        source,
    })?;
    let value = serde_json::from_str(&text).map_err(|source| ReadError::Json {
        path: own(path),
        source,
    })?;
    decode(&value).map_err(|(step, problem)| ReadError::Shape {
        path: own(path),
        step,
        problem,
    })
}

/// The text of the file for a transcript.
pub fn text(transcript: &Transcript) -> String {
    print::print(&encode(transcript))
}

/// What the file said last about each object.
struct Said {
    own: String,
    last: BTreeMap<String, Value>,
    /// The first object of each kind, as shown first, and its key.
    first: BTreeMap<String, (String, Value)>,
    /// Every state, by its version.
    states: BTreeMap<String, Value>,
}

impl Said {
    fn new(own: &str) -> Said {
        Said {
            own: own.to_owned(),
            last: BTreeMap::new(),
            first: BTreeMap::new(),
            states: BTreeMap::new(),
        }
    }

    /// An object that was not shown before is written as its change to the `body` of the request or to the first object of its kind, if that is
    /// shorter; one that was shown as its change to that.
    fn write(&mut self, object: &Value, body: &Value) -> Map<String, Value> {
        let mut written = Map::new();
        if object["items"].is_array() {
            let mut list = object.clone();
            for item in list["items"].as_array_mut().into_iter().flatten() {
                *item = Value::Object(self.write(item, &Value::Null));
            }
            written.insert("list".into(), list);
            return written;
        }
        let Some(key) = key(object, &self.own) else {
            written.insert("answer".into(), object.clone());
            return written;
        };
        if self.states.get(version(object)) == Some(object) {
            self.remember(&key, object);
            written.insert("same".into(), version(object).into());
            return written;
        }
        let mut whole = Map::new();
        whole.insert("object".into(), object.clone());
        let mut ways = vec![whole];
        let mut way = |relation: &str, name: &str, before: &Value| {
            if let Some(change) = merge_patch(before, object) {
                let way = [
                    (relation.to_owned(), name.into()),
                    ("change".to_owned(), change),
                ];
                ways.push(way.into_iter().collect());
            }
        };
        if let Some(before) = self.last.get(&key) {
            way("of", &key, before);
        } else if body["kind"] == object["kind"] {
            way("like", "body", body);
        }
        if let Some((first, before)) = self
            .first
            .get(kind(object))
            .filter(|(first, _)| *first != key)
        {
            way("like", first, before);
        }
        self.remember(&key, object);
        // The first of the shortest: `min_by_key` keeps the order of the ways.
        ways.into_iter()
            .min_by_key(|way| Value::Object(way.clone()).to_string().len())
            .unwrap_or_default()
    }

    fn read(&mut self, written: &Value, body: &Value) -> Result<Value, String> {
        if let Some(list) = written.get("list") {
            let mut list = list.clone();
            for item in list["items"].as_array_mut().into_iter().flatten() {
                *item = self.read(item, &Value::Null)?;
            }
            return Ok(list);
        }
        if let Some(answer) = written.get("answer") {
            return Ok(answer.clone());
        }
        if let Some(same) = written["same"].as_str() {
            let object = self.states.get(same).cloned();
            let object = object.ok_or_else(|| format!("{same} was not shown before"))?;
            let key = key(&object, &self.own).ok_or("an object without kind and name")?;
            self.remember(&key, &object);
            return Ok(object);
        }
        let before = match (written["of"].as_str(), written["like"].as_str()) {
            (Some(of), _) => self
                .last
                .get(of)
                .ok_or_else(|| format!("{of} was not shown before"))?,
            (None, Some("body")) => body,
            (None, Some(like)) => {
                let first = self.first.values().find(|(first, _)| first == like);
                &first
                    .ok_or_else(|| format!("{like} is not the first of its kind"))?
                    .1
            }
            (None, None) => &Value::Null,
        };
        let object = match written.get("object") {
            Some(object) => object.clone(),
            None => merge(before, &written["change"]),
        };
        let key = key(&object, &self.own).ok_or("an object without kind and name")?;
        self.remember(&key, &object);
        Ok(object)
    }

    fn remember(&mut self, key: &str, object: &Value) {
        self.last.insert(key.to_owned(), object.clone());
        self.states
            .insert(version(object).to_owned(), object.clone());
        let first = || (key.to_owned(), object.clone());
        self.first
            .entry(kind(object).to_owned())
            .or_insert_with(first);
    }
}

fn version(object: &Value) -> &str {
    object["metadata"]["resourceVersion"]
        .as_str()
        .unwrap_or_default()
}

fn kind(object: &Value) -> &str {
    object["kind"].as_str().unwrap_or_default()
}

fn encode(transcript: &Transcript) -> Value {
    let mut said = Said::new(&transcript.name);
    let steps: Vec<Value> = transcript
        .steps
        .iter()
        .map(|step| Value::Object(encode_step(step, &mut said)))
        .collect();
    json!({
        "name": transcript.name,
        "shows": transcript.shows,
        "facts": transcript.facts,
        "watched": transcript.watched,
        "steps": steps,
    })
}

fn encode_step(step: &Step, said: &mut Said) -> Map<String, Value> {
    let mut written = Map::new();
    let mut put = |key: &str, value: Value| {
        if value != json!("") && value != json!({}) && !value.is_null() {
            written.insert(key.into(), value);
        }
    };
    match step {
        Step::Request(request) => {
            put("who", request.who.clone().into());
            put("method", request.method.clone().into());
            put("path", request.path.clone().into());
            put("query", pairs(&request.query));
            put("contentType", request.content_type.clone().into());
            put("body", request.body.clone());
            put("status", request.status.into());
            written.append(&mut said.write(&request.answer, &request.body));
        }
        Step::Watch(watch) => {
            put("who", watch.who.clone().into());
            put("watch", watch.path.clone().into());
            put("query", pairs(&watch.query));
            put("status", watch.status.into());
            let events = watch
                .events
                .iter()
                .map(|event| encode_event(event, said))
                .collect();
            written.insert("events".into(), Value::Array(events));
        }
        Step::Compact { before } => put("compact", before.clone().into()),
        Step::Rest { until, events } => {
            put("rest", until.clone().into());
            let mut by_object = Map::new();
            for (key, events) in events {
                let events = events
                    .iter()
                    .map(|event| encode_event(event, said))
                    .collect();
                by_object.insert(key.clone(), Value::Array(events));
            }
            written.insert("events".into(), Value::Object(by_object));
        }
    }
    written
}

fn encode_event(event: &Event, said: &mut Said) -> Value {
    let mut written = said.write(&event.object, &Value::Null);
    // Which object it is stands above the list of its events, or in the change.
    written.insert("event".into(), event.event.clone().into());
    Value::Object(written)
}

fn pairs(query: &[(String, String)]) -> Value {
    query
        .iter()
        .map(|(key, value)| (key.clone(), Value::from(value.as_str())))
        .collect()
}

type Problem = (usize, String);

fn decode(value: &Value) -> Result<Transcript, Problem> {
    let text = |key: &str| {
        value[key]
            .as_str()
            .map(str::to_owned)
            .ok_or_else(|| (0, format!("no text `{key}`")))
    };
    let name = text("name")?;
    let mut said = Said::new(&name);
    let steps = value["steps"]
        .as_array()
        .ok_or_else(|| (0, "no list `steps`".to_owned()))?;
    let steps = steps
        .iter()
        .enumerate()
        .map(|(index, step)| decode_step(step, &mut said).map_err(|problem| (index + 1, problem)))
        .collect::<Result<_, _>>()?;
    Ok(Transcript {
        name,
        shows: text("shows")?,
        facts: texts(&value["facts"]),
        watched: texts(&value["watched"]),
        steps,
    })
}

fn decode_step(step: &Value, said: &mut Said) -> Result<Step, String> {
    let text = |key: &str| step[key].as_str().unwrap_or_default().to_owned();
    let status = || {
        let code = step["status"]
            .as_u64()
            .and_then(|code| u16::try_from(code).ok());
        code.ok_or_else(|| "no number `status`".to_owned())
    };
    let query = || -> Vec<(String, String)> {
        let fields = step["query"].as_object().into_iter().flatten();
        fields
            .map(|(key, value)| (key.clone(), value.as_str().unwrap_or_default().to_owned()))
            .collect()
    };
    let mut events = |events: &Value| -> Result<Vec<Event>, String> {
        let mut read = Vec::new();
        for event in events.as_array().into_iter().flatten() {
            let name = event["event"]
                .as_str()
                .ok_or("an event without name")?
                .to_owned();
            read.push(Event {
                event: name,
                object: said.read(event, &Value::Null)?,
            });
        }
        Ok(read)
    };
    if step.get("rest").is_some() {
        let mut by_object = Vec::new();
        for (key, value) in step["events"].as_object().into_iter().flatten() {
            by_object.push((key.clone(), events(value)?));
        }
        return Ok(Step::Rest {
            until: text("rest"),
            events: by_object,
        });
    }
    if step.get("compact").is_some() {
        return Ok(Step::Compact {
            before: text("compact"),
        });
    }
    if step.get("watch").is_some() {
        let events = events(&step["events"])?;
        return Ok(Step::Watch(Watch {
            who: text("who"),
            path: text("watch"),
            query: query(),
            status: status()?,
            events,
        }));
    }
    Ok(Step::Request(Request {
        who: text("who"),
        method: text("method"),
        path: text("path"),
        query: query(),
        content_type: text("contentType"),
        body: step["body"].clone(),
        status: status()?,
        answer: said.read(step, &step["body"])?,
    }))
}

fn texts(value: &Value) -> Vec<String> {
    let items = value.as_array().into_iter().flatten();
    items.filter_map(Value::as_str).map(str::to_owned).collect()
}
