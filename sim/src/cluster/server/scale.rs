//! The `scale` subresource: replicas with a guard (facts K12 and K24).

use alloc::string::String;
use alloc::vec::Vec;

use serde_json::{Value, json};

use super::{Context, patch, update};
use crate::cluster::Cluster;
use crate::cluster::failure::Problem;
use crate::cluster::fields::{FieldSet, compare};
use crate::cluster::object::{Stored, at, number_at, set_at, text_at};
use crate::cluster::request::{Failure, Response, Verb};

impl Cluster {
    /// Reads or writes the replicas of an object.
    pub(super) fn scale(&mut self, context: &Context<'_>, verb: Verb) -> Result<Response, Failure> {
        let old = self.find(context)?.clone();
        let body = match verb {
            Verb::Get => {
                return Ok(Response::Value {
                    code: 200,
                    body: scale_of(&old),
                });
            }
            Verb::Update { body } => body,
            Verb::MergePatch { body } => {
                let mut scale = scale_of(&old);
                patch::merge_patch(&mut scale, &body);
                scale
            }
            _ => return Err(Failure::not_allowed()),
        };
        update::check_place(context, &body)?;
        let uid = text_at(&body, &["metadata", "uid"]);
        if !uid.is_empty() && uid != old.uid() {
            return Err(update::uid_conflict(context, uid, old.uid()));
        }
        let replicas = match at(&body, &["spec", "replicas"]) {
            None => 0,
            Some(replicas) => replicas
                .as_i64()
                .ok_or_else(|| Failure::bad_request("spec.replicas is not a number"))?,
        };
        if replicas < 0 {
            return Err(Failure::invalid(
                context.resource,
                context.name,
                &[Problem::invalid(
                    "spec.replicas",
                    replicas,
                    "must be greater than or equal to 0",
                )],
            ));
        }
        let mut new = old.value.clone();
        set_at(&mut new, &["spec", "replicas"], Value::from(replicas));
        let version = at(&body, &["metadata", "resourceVersion"]).cloned();
        set_at(
            &mut new,
            &["metadata", "resourceVersion"],
            version.unwrap_or(Value::Null),
        );
        let mut managers = old.managers.read();
        // A scale sees only those who own the replicas: where nobody does, nothing is recorded, and times are not kept. A
        // Scale to nothing names no replicas, so nobody owns them any more.
        if managers.owned().contains(&["spec", "replicas"]) {
            let mut comparison = compare(&old.value, &new, context.resource.schema());
            if replicas == 0 {
                core::mem::swap(&mut comparison.removed, &mut comparison.changed);
            }
            if comparison.is_empty() {
                managers.split(&FieldSet::of(&["spec", "replicas"]));
            } else {
                managers.record_update(&context.writer(), comparison);
                managers.forget_time(&context.writer());
            }
        }
        let unscoped = Context {
            subresource: None,
            ..*context
        };
        match self.keep(&unscoped, &old, new, managers)? {
            Response::Object { code, object } => Ok(Response::Value {
                code,
                body: scale_of(&object),
            }),
            other => Ok(other),
        }
    }
}

/// The `Scale` of an object.
fn scale_of(stored: &Stored) -> Value {
    let mut metadata = json!({"name": stored.name()});
    for key in ["namespace", "uid", "resourceVersion", "creationTimestamp"] {
        if let Some(value) = stored.at(&["metadata", key]) {
            metadata[key] = value.clone();
        }
    }
    let mut scale = json!({
        "apiVersion": "autoscaling/v1",
        "kind": "Scale",
        "metadata": metadata,
        "spec": {},
        "status": {"replicas": number_at(&stored.value, &["status", "replicas"]).unwrap_or(0)},
    });
    let replicas = number_at(&stored.value, &["spec", "replicas"]).unwrap_or(0);
    if replicas > 0 {
        scale["spec"]["replicas"] = Value::from(replicas);
    }
    let selector = selector_text(stored);
    if !selector.is_empty() {
        scale["status"]["selector"] = Value::String(selector);
    }
    scale
}

/// The selector as a query writes it.
fn selector_text(stored: &Stored) -> String {
    let pairs: Vec<String> = stored
        .at(&["spec", "selector", "matchLabels"])
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .map(|(key, value)| alloc::format!("{key}={}", value.as_str().unwrap_or("")))
        .collect();
    pairs.join(",")
}
