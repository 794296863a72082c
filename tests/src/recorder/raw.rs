//! From what a run said to the transcript that another run would give too.

use serde_json::Value;

use super::Script;
use crate::control_plane::{Answer, Seen, kind_of_path};
use crate::transcript::normal::normal;
use crate::transcript::symbols::Symbols;
use crate::transcript::{Event, Request, Step, Transcript, Watch, key, key_of};

/// A step as it was, with the uids and versions of the run.
#[derive(Debug)]
pub(super) enum RawStep {
    Request {
        who: &'static str,
        method: String,
        path: String,
        query: Vec<(String, String)>,
        content_type: String,
        body: Value,
        /// The object of the path as the script saw it last: what a JSON patch counts in.
        before: Value,
        answer: Answer,
    },
    Watch {
        who: &'static str,
        path: String,
        query: Vec<(String, String)>,
        status: u16,
        events: Vec<Seen>,
    },
    Compact {
        before: String,
    },
    Rest {
        until: String,
        events: Vec<Seen>,
    },
}

pub(super) fn transcript(script: Script, steps: &[RawStep]) -> Transcript {
    let mut symbols = Symbols::new(script.name);
    for (index, step) in steps.iter().enumerate() {
        match step {
            RawStep::Request { answer, .. } => {
                let body = with_kinds(&answer.body);
                if let (true, Some(version)) = (
                    body["items"].is_array(),
                    body["metadata"]["resourceVersion"].as_str(),
                ) {
                    symbols.learn_list(index + 1, version);
                }
                symbols.learn(&body);
            }
            RawStep::Watch { events, .. } | RawStep::Rest { events, .. } => {
                events.iter().for_each(|seen| symbols.learn(&seen.object));
            }
            RawStep::Compact { .. } => {}
        }
    }
    Transcript {
        name: script.name.to_owned(),
        shows: script.shows.to_owned(),
        facts: script.facts.iter().map(|fact| (*fact).to_owned()).collect(),
        watched: script
            .watched
            .iter()
            .map(|kind| (*kind).to_owned())
            .collect(),
        steps: steps
            .iter()
            .map(|step| normal_step(step, &symbols, script.name))
            .collect(),
    }
}

fn normal_step(step: &RawStep, symbols: &Symbols, own: &str) -> Step {
    match step {
        RawStep::Request {
            who,
            method,
            path,
            query,
            content_type,
            body,
            before,
            answer,
        } => {
            let context = context(path, own);
            let body = if content_type == "application/json-patch+json" {
                symbols.substitute_json_patch(body, before, &context)
            } else {
                symbols.substitute(body, &context)
            };
            Step::Request(Request {
                who: (*who).to_owned(),
                method: method.clone(),
                path: path.clone(),
                query: normal_query(query, symbols),
                content_type: content_type.clone(),
                body,
                status: answer.status,
                answer: normal_object(&answer.body, symbols, &context),
            })
        }
        RawStep::Watch {
            who,
            path,
            query,
            status,
            events,
        } => Step::Watch(Watch {
            who: (*who).to_owned(),
            path: path.clone(),
            query: normal_query(query, symbols),
            status: *status,
            events: events
                .iter()
                .map(|seen| normal_event(seen, symbols))
                .collect(),
        }),
        RawStep::Compact { before } => Step::Compact {
            before: symbols.version(before, ""),
        },
        RawStep::Rest { until, events } => {
            let mut by_object: Vec<(String, Vec<Event>)> = Vec::new();
            for seen in events {
                let key = symbols.text(&key(&seen.object, own).unwrap_or_default());
                let event = normal_event(seen, symbols);
                match by_object.iter_mut().find(|(known, _)| *known == key) {
                    Some((_, events)) => events.push(event),
                    None => by_object.push((key, vec![event])),
                }
            }
            by_object.sort_by(|(left, _), (right, _)| left.cmp(right));
            Step::Rest {
                until: until.clone(),
                events: by_object,
            }
        }
    }
}

fn normal_event(seen: &Seen, symbols: &Symbols) -> Event {
    Event {
        event: seen.event.clone(),
        object: normal_object(&seen.object, symbols, ""),
    }
}

fn normal_object(value: &Value, symbols: &Symbols, context: &str) -> Value {
    normal(symbols.substitute(&with_kinds(value), context))
}

fn normal_query(query: &[(String, String)], symbols: &Symbols) -> Vec<(String, String)> {
    query
        .iter()
        .map(|(name, value)| match name.as_str() {
            "resourceVersion" => (name.clone(), symbols.version(value, "")),
            _ => (name.clone(), value.clone()),
        })
        .collect()
}

/// A list whose items say their kind, which the server leaves out.
fn with_kinds(value: &Value) -> Value {
    let mut value = value.clone();
    let kind = value["kind"].as_str().unwrap_or_default().to_owned();
    let api_version = value["apiVersion"].clone();
    if let (Some(kind), Some(items)) = (
        kind.strip_suffix("List"),
        value.get_mut("items").and_then(Value::as_array_mut),
    ) {
        for item in items {
            item["kind"] = kind.into();
            item["apiVersion"] = api_version.clone();
        }
    }
    value
}

fn context(path: &str, own: &str) -> String {
    match kind_of_path(path) {
        Some((kind, namespace, name, _)) => key_of(kind.name, &namespace, &name, own),
        None => String::new(),
    }
}
