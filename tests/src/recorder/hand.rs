//! What somebody does: every method is one request, written down with its answer.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::Recorder;
use super::raw::RawStep;
use crate::control_plane::{Answer, Call, ClientError, Seen, kind};
use crate::transcript::symbols::NOBODY;

/// A uid that no object has.
pub fn wrong_uid() -> Value {
    json!(NOBODY)
}

/// One user at work. Objects without a namespace are meant in that of the script.
pub struct Hand<'b, 'a> {
    recorder: &'b mut Recorder<'a>,
    who: &'static str,
}

impl<'b, 'a> Hand<'b, 'a> {
    pub(super) fn new(recorder: &'b mut Recorder<'a>, who: &'static str) -> Self {
        Hand { recorder, who }
    }

    /// POST.
    pub fn create(&mut self, object: Value) -> Answer {
        let path = kind(text(&object, "/kind")).collection(self.namespace_of(&object));
        self.request("POST", &path, &[], JSON, Some(object))
    }

    /// PUT of a whole object.
    pub fn replace(&mut self, object: Value) -> Answer {
        let path = self.path(&object);
        self.request("PUT", &path, &[], JSON, Some(object))
    }

    /// Server-side apply that takes fields of others.
    pub fn apply(&mut self, object: Value) -> Answer {
        let path = self.path(&object);
        self.request("PATCH", &path, &[("force", "true")], APPLY, Some(object))
    }

    /// Server-side apply that answers a conflict where others own a field.
    pub fn apply_without_force(&mut self, object: Value) -> Answer {
        let path = self.path(&object);
        self.request("PATCH", &path, &[], APPLY, Some(object))
    }

    /// PATCH by RFC 7386; `name` may have a subresource: `web/status`.
    pub fn merge_patch(&mut self, of: &str, name: &str, patch: Value) -> Answer {
        let path = kind(of).object(self.recorder.namespace(), name);
        self.request(
            "PATCH",
            &path,
            &[],
            "application/merge-patch+json",
            Some(patch),
        )
    }

    /// PATCH by RFC 6902.
    pub fn json_patch(&mut self, of: &str, name: &str, operations: Value) -> Answer {
        let path = kind(of).object(self.recorder.namespace(), name);
        self.request("PATCH", &path, &[], JSON_PATCH, Some(operations))
    }

    /// GET of one object.
    pub fn get(&mut self, of: &str, name: &str) -> Answer {
        let path = kind(of).object(self.recorder.namespace(), name);
        self.request("GET", &path, &[], "", None)
    }

    /// GET of all objects of a kind in the namespace, with all of the labels (`a=b,c=d`).
    pub fn list(&mut self, of: &str, labels: &str) -> Answer {
        let path = kind(of).collection(self.recorder.namespace());
        let query = [("labelSelector", labels)];
        self.request(
            "GET",
            &path,
            if labels.is_empty() { &[] } else { &query },
            "",
            None,
        )
    }

    /// DELETE with options, such as `{"propagationPolicy": "Orphan"}`.
    pub fn delete(&mut self, of: &str, name: &str, options: Value) -> Answer {
        let path = kind(of).object(self.recorder.namespace(), name);
        self.request("DELETE", &path, &[], JSON, Some(options))
    }

    /// PUT of the scale of a StatefulSet; uid and version are guards where they are no null.
    pub fn scale(&mut self, name: &str, replicas: u32, uid: Value, version: Value) -> Answer {
        let namespace = self.recorder.namespace();
        let mut metadata = json!({ "name": name, "namespace": namespace });
        for (key, value) in [("uid", uid), ("resourceVersion", version)] {
            if !value.is_null() {
                metadata[key] = value;
            }
        }
        let path = kind("StatefulSet").object(namespace, name) + "/scale";
        let scale = json!({ "apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": metadata, "spec": { "replicas": replicas } });
        self.request("PUT", &path, &[], JSON, Some(scale))
    }

    /// A watch from a version, read until the server has said everything that it knows.
    pub fn watch(&mut self, of: &str, version: &str, labels: &str) -> Vec<Seen> {
        let path = kind(of).collection(self.recorder.namespace());
        let mut query = vec![("resourceVersion".to_owned(), version.to_owned())];
        if !labels.is_empty() {
            query.push(("labelSelector".to_owned(), labels.to_owned()));
        }
        let mut asked = query.clone();
        asked.push(("watch".into(), "true".into()));
        asked.push(("timeoutSeconds".into(), "2".into()));
        let call = Call {
            who: self.who,
            method: "GET",
            path: &path,
            query: &asked,
            content_type: "",
            body: None,
        };
        let mut events = Vec::new();
        let status = self
            .recorder
            .control_plane
            .client()
            .stream(&call, |mut line| {
                match line["type"].as_str() {
                    Some(event) => {
                        let event = event.to_owned();
                        events.push(Seen {
                            event,
                            object: line["object"].take(),
                        });
                    }
                    // An answer that is no stream: a Status.
                    None => events.push(Seen {
                        event: "ERROR".into(),
                        object: line,
                    }),
                }
                true
            });
        let status = status.expect("the server answers a watch");
        let who = self.who;
        self.recorder.steps.push(RawStep::Watch {
            who,
            path,
            query,
            status,
            events: events.clone(),
        });
        events
    }

    /// Any request. The user is the field manager of writes.
    ///
    /// # Panics
    ///
    /// When there is no answer.
    pub fn request(
        &mut self,
        method: &str,
        path: &str,
        query: &[(&str, &str)],
        content_type: &str,
        body: Option<Value>,
    ) -> Answer {
        let query: Vec<(String, String)> = query
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect();
        let mut sent = query.clone();
        if ["POST", "PUT", "PATCH"].contains(&method) {
            sent.push(("fieldManager".into(), self.who.into()));
        }
        let call = Call {
            who: self.who,
            method,
            path,
            query: &sent,
            content_type,
            body: body.as_ref(),
        };
        let answer: Result<Answer, ClientError> = self.recorder.control_plane.client().call(&call);
        let answer = answer.unwrap_or_else(|error| panic!("{method} {path}: {error}"));
        let before = self.recorder.shown.get(path).cloned().unwrap_or_default();
        if answer.status < 300 {
            self.recorder
                .shown
                .insert(path.to_owned(), answer.body.clone());
        }
        self.recorder.steps.push(RawStep::Request {
            who: self.who,
            method: method.to_owned(),
            path: path.to_owned(),
            query,
            content_type: content_type.to_owned(),
            body: body.unwrap_or_default(),
            before,
            answer: answer.clone(),
        });
        answer
    }

    fn path(&self, object: &Value) -> String {
        kind(text(object, "/kind"))
            .object(self.namespace_of(object), text(object, "/metadata/name"))
    }

    fn namespace_of<'c>(&self, object: &'c Value) -> &'c str {
        match text(object, "/metadata/namespace") {
            "" => self.recorder.namespace(),
            namespace => namespace,
        }
    }
}

/// The objects that answers showed last, by path.
pub(super) type Shown = BTreeMap<String, Value>;

const JSON: &str = "application/json";
const APPLY: &str = "application/apply-patch+yaml";
const JSON_PATCH: &str = "application/json-patch+json";

fn text<'c>(value: &'c Value, pointer: &str) -> &'c str {
    value
        .pointer(pointer)
        .and_then(Value::as_str)
        .unwrap_or_default()
}
