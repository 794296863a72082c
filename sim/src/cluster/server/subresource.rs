//! `binding` of a pod, and `finalize` of a namespace.

use alloc::format;

use serde_json::{Value, json};

use super::{Context, expect_kind, object, update};
use crate::cluster::Cluster;
use crate::cluster::moment;
use crate::cluster::object::{at, items_at, set_at, text_at};
use crate::cluster::request::{Failure, Response};

impl Cluster {
    /// POST of a binding: the pod gets its node, once. No owner is recorded.
    pub(super) fn bind(
        &mut self,
        context: &Context<'_>,
        body: &Value,
    ) -> Result<Response, Failure> {
        let old = self.find(context)?.clone();
        let node = text_at(body, &["target", "name"]);
        if node.is_empty() {
            return Err(Failure::bad_request("a binding must name its target"));
        }
        let uid = text_at(body, &["metadata", "uid"]);
        if !uid.is_empty() && uid != old.uid() {
            return Err(update::uid_conflict(context, uid, old.uid()));
        }
        let refused = |detail: &str| Failure::conflict(context.resource, context.name, detail);
        if old.deleting() {
            return Err(refused(&format!(
                "pod {} is being deleted, cannot be assigned to a host",
                context.name
            )));
        }
        let bound = text_at(&old.value, &["spec", "nodeName"]);
        if !bound.is_empty() {
            return Err(refused(&format!(
                "pod {} is already assigned to node {bound:?}",
                context.name
            )));
        }
        let mut new = old.value.clone();
        set_at(&mut new, &["spec", "nodeName"], Value::from(node));
        let mut conditions: alloc::vec::Vec<Value> =
            items_at(&old.value, &["status", "conditions"]).to_vec();
        conditions.retain(|condition| text_at(condition, &["type"]) != "PodScheduled");
        conditions.push(json!({
            "lastProbeTime": null,
            "lastTransitionTime": moment::text(context.at),
            "status": "True",
            "type": "PodScheduled",
        }));
        set_at(
            &mut new,
            &["status", "conditions"],
            Value::Array(conditions),
        );
        self.keep_as_server(&old, new);
        Ok(Response::Value {
            code: 201,
            body: json!({
                "apiVersion": "v1",
                "code": 201,
                "kind": "Status",
                "metadata": {},
                "status": "Success",
            }),
        })
    }

    /// PUT of a namespace's finalizers: without any, a namespace that is being deleted is gone.
    pub(super) fn finalize(
        &mut self,
        context: &Context<'_>,
        mut body: Value,
    ) -> Result<Response, Failure> {
        expect_kind(context.resource, &mut body)?;
        update::check_place(context, &body)?;
        let old = self.find(context)?.clone();
        let version = text_at(&body, &["metadata", "resourceVersion"]);
        if !version.is_empty() && version.parse::<u64>().ok() != Some(old.version) {
            return Err(Failure::modified(context.resource, context.name));
        }
        let mut new = old.value.clone();
        match at(&body, &["spec", "finalizers"]) {
            Some(Value::Array(finalizers)) if !finalizers.is_empty() => {
                set_at(
                    &mut new,
                    &["spec", "finalizers"],
                    Value::Array(finalizers.clone()),
                );
            }
            _ => set_at(&mut new, &["spec"], json!({})),
        }
        if new == old.value {
            return Ok(object(200, old));
        }
        Ok(object(200, self.keep_as_server(&old, new)))
    }
}
