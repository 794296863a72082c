//! DELETE (Kubernetes: "Garbage Collection", "Pod Lifecycle: Termination of Pods").

use alloc::format;
use alloc::string::ToString;
use alloc::sync::Arc;
use alloc::vec::Vec;

use pilotage_core::time::Span;
use serde_json::{Value, json};

use super::{Context, object};
use crate::cluster::Cluster;
use crate::cluster::moment;
use crate::cluster::object::{Stored, number_at, remove_at, set_at, text_at};
use crate::cluster::request::{Failure, Propagation, Response};
use crate::cluster::resource::Resource;

/// The finalizer of an object that waits for its dependents.
const FOREGROUND: &str = "foregroundDeletion";
/// The finalizer of an object whose dependents are to be freed first.
const ORPHAN: &str = "orphan";

impl Cluster {
    /// DELETE of one object.
    pub(super) fn delete(
        &mut self,
        context: &Context<'_>,
        uid: Option<&str>,
        version: Option<&str>,
        propagation: Propagation,
        grace: Option<u64>,
    ) -> Result<Response, Failure> {
        let old = self.find(context)?.clone();
        if let Some(uid) = uid
            && uid != old.uid()
        {
            return Err(super::update::uid_conflict(context, uid, old.uid()));
        }
        if let Some(version) = version
            && version != old.version.to_string()
        {
            return Err(Failure::conflict(
                context.resource,
                context.name,
                &format!(
                    "Precondition failed: ResourceVersion in precondition: {version}, ResourceVersion in object meta: {}",
                    old.version
                ),
            ));
        }
        if context.resource == Resource::Namespace {
            return self.delete_namespace(context, &old);
        }
        if context.resource == Resource::Pod {
            return Ok(object(
                200,
                self.delete_pod(context, &old, propagation, grace),
            ));
        }
        let mut value = old.value.clone();
        set_finalizers(&old, &mut value, propagation);
        if value.pointer("/metadata/finalizers").is_none() {
            let last = self.end(&old);
            return Ok(if returns_object(context.resource) {
                object(200, last)
            } else {
                gone(context, &last)
            });
        }
        mark(context, &old, &mut value, 0);
        if value == old.value {
            return Ok(object(200, old));
        }
        Ok(object(200, self.keep_as_server(&old, value)))
    }

    /// A pod is always marked first; without time left it goes at once after that. A later delete can only shorten the time;
    /// where none is left, it can still say what becomes of dependents.
    fn delete_pod(
        &mut self,
        context: &Context<'_>,
        old: &Arc<Stored>,
        propagation: Propagation,
        asked: Option<u64>,
    ) -> Arc<Stored> {
        let before = number_at(&old.value, &["metadata", "deletionGracePeriodSeconds"]);
        let grace = match before {
            Some(0) => 0,
            Some(before) if asked.is_none_or(|asked| asked >= before) => return old.clone(),
            Some(_) => asked.unwrap_or(0),
            None => grace_of(old, asked),
        };
        let mut value = old.value.clone();
        set_finalizers(old, &mut value, propagation);
        mark(context, old, &mut value, grace);
        if value == old.value {
            return old.clone();
        }
        let marked = self.keep_marked(old, value);
        if super::update::ends(&marked) {
            return self.end(&marked);
        }
        marked
    }

    /// A namespace ends in two steps: it takes no more objects, then its controller empties it and finalizes it.
    fn delete_namespace(
        &mut self,
        context: &Context<'_>,
        old: &Arc<Stored>,
    ) -> Result<Response, Failure> {
        if matches!(context.name, "default" | "kube-system" | "kube-public") {
            return Err(Failure::forbidden(
                context.resource,
                context.name,
                "this namespace may not be deleted",
            ));
        }
        if old.deleting() {
            return Ok(object(200, old.clone()));
        }
        let mut value = old.value.clone();
        set_at(
            &mut value,
            &["metadata", "deletionTimestamp"],
            Value::String(moment::text(context.at)),
        );
        set_at(&mut value, &["status", "phase"], Value::from("Terminating"));
        Ok(object(200, self.keep_as_server(old, value)))
    }
}

/// Adds the finalizer that the propagation asks for, and takes the other ones away.
fn set_finalizers(old: &Stored, value: &mut Value, propagation: Propagation) {
    let wanted = match propagation {
        Propagation::Background => None,
        Propagation::Foreground => Some(FOREGROUND),
        Propagation::Orphan => Some(ORPHAN),
        Propagation::Unsaid => old.finalizers().find_map(|said| {
            [FOREGROUND, ORPHAN]
                .into_iter()
                .find(|known| *known == said)
        }),
    };
    let mut finalizers: Vec<Value> = old
        .finalizers()
        .filter(|finalizer| {
            Some(*finalizer) == wanted || (*finalizer != FOREGROUND && *finalizer != ORPHAN)
        })
        .map(Value::from)
        .collect();
    if let Some(wanted) = wanted
        && !finalizers.iter().any(|finalizer| finalizer == wanted)
    {
        finalizers.push(Value::from(wanted));
    }
    if finalizers.is_empty() {
        remove_at(value, &["metadata", "finalizers"]);
    } else {
        set_at(value, &["metadata", "finalizers"], Value::Array(finalizers));
    }
}

/// The seconds that a pod may take to end: none before it runs and after it ended.
fn grace_of(old: &Stored, asked: Option<u64>) -> u64 {
    let phase = text_at(&old.value, &["status", "phase"]);
    if text_at(&old.value, &["spec", "nodeName"]).is_empty()
        || matches!(phase, "Succeeded" | "Failed")
    {
        return 0;
    }
    asked
        .or_else(|| number_at(&old.value, &["spec", "terminationGracePeriodSeconds"]))
        .unwrap_or(30)
}

/// Writes when the object is to be gone.
fn mark(context: &Context<'_>, old: &Stored, value: &mut Value, grace: u64) {
    let before = number_at(&old.value, &["metadata", "deletionGracePeriodSeconds"]);
    let began = moment::parse(text_at(&old.value, &["metadata", "deletionTimestamp"]))
        .map(|end| end.0.saturating_sub(before.unwrap_or(0) * 1_000));
    if old.deleting() && before.is_none_or(|before| before <= grace) {
        return; // It was to be gone by then already.
    }
    let began = began.map_or(context.at, pilotage_core::time::Timestamp);
    set_at(
        value,
        &["metadata", "deletionTimestamp"],
        Value::String(moment::text(began.after(Span::seconds(grace)))),
    );
    set_at(
        value,
        &["metadata", "deletionGracePeriodSeconds"],
        Value::from(grace),
    );
    if before.is_none() && old.generation() > 0 {
        set_at(
            value,
            &["metadata", "generation"],
            Value::from(old.generation() + 1),
        );
    }
}

/// Whether a delete that is done at once answers with the object instead of a status.
fn returns_object(resource: Resource) -> bool {
    matches!(
        resource,
        Resource::Pod
            | Resource::Service
            | Resource::ServiceAccount
            | Resource::StorageClass
            | Resource::PersistentVolume
            | Resource::PersistentVolumeClaim
    )
}

fn gone(context: &Context<'_>, last: &Stored) -> Response {
    let mut details = json!({
        "name": last.name(),
        "kind": context.resource.plural(),
        "uid": last.uid(),
    });
    if !context.resource.group().is_empty() {
        details["group"] = Value::from(context.resource.group());
    }
    Response::Value {
        code: 200,
        body: json!({
            "apiVersion": "v1",
            "kind": "Status",
            "metadata": {},
            "status": "Success",
            "details": details,
        }),
    }
}
