//! Effects of the core as requests to the API server, and what comes back as outcomes and events: pure translation,
//! one to one. No write is repeated, no order chosen, no field defaulted.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use pilotage_core::digest::DigestKey;
use pilotage_core::effect::{Action, Severity};
use pilotage_core::event::Event;
use pilotage_core::kubernetes::labels::{API_VERSION, APPLICATION_KIND, MANAGED_BY, PILOTAGE};
use pilotage_core::kubernetes::read::{Fetched, ManagedFields, Object};
use pilotage_core::kubernetes::{self, Key, Kind};
use pilotage_core::name::{Uid, Version};
use pilotage_core::outcome::{Outcome, Refusal, Reply};
use pilotage_core::secret::{self, SecretRef};
use pilotage_core::time::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

use super::moment;
use super::object::{Stored, at, number_at, text_at};
use super::request::{Failure, Propagation, Request, Response, Subresource, Verb};
use super::resource::Resource;
use super::watch::{WatchEvent, WatchKind};

/// The kind as the API server knows it.
pub const fn resource(kind: Kind) -> Resource {
    match kind {
        Kind::Namespace => Resource::Namespace,
        Kind::ServiceAccount => Resource::ServiceAccount,
        Kind::Secret => Resource::Secret,
        Kind::Role => Resource::Role,
        Kind::RoleBinding => Resource::RoleBinding,
        Kind::ClusterRole => Resource::ClusterRole,
        Kind::ClusterRoleBinding => Resource::ClusterRoleBinding,
        Kind::Service => Resource::Service,
        Kind::PersistentVolumeClaim => Resource::PersistentVolumeClaim,
        Kind::StatefulSet => Resource::StatefulSet,
        Kind::Pod => Resource::Pod,
    }
}

/// The labels that a list or a watch of ours selects.
pub fn ours() -> Vec<(Box<str>, Box<str>)> {
    vec![(MANAGED_BY.into(), PILOTAGE.into())]
}

/// A list of all that is ours of a kind, in one namespace or in all.
pub fn list(kind: Kind, namespace: Option<Box<str>>) -> Request {
    Request {
        manager: PILOTAGE.into(),
        resource: resource(kind),
        namespace,
        name: "".into(),
        subresource: None,
        verb: Verb::List {
            labels: ours(),
            fields: vec![],
        },
    }
}

/// The request that an effect is, with the values of secrets in their places.
///
/// # Errors
/// The outcome of an effect that cannot be sent: a value is missing, or it is not for a cluster.
pub fn request(
    action: &Action,
    now: Timestamp,
    values: &impl Fn(&SecretRef) -> Option<String>,
) -> Result<Request, Outcome> {
    let fill = |body: &Value| {
        secret::fill(body, values).map_err(|missing| Outcome::Refused {
            reason: Refusal::SecretMissing,
            message: missing.to_string().into(),
        })
    };
    Ok(match action {
        Action::Create { manifest } => Request {
            name: "".into(),
            ..to(
                &manifest.key,
                Verb::Create {
                    body: fill(&manifest.body)?,
                },
            )
        },
        Action::TakeOver {
            key,
            uid,
            version,
            patch,
        } => to(
            key,
            Verb::JsonPatch {
                operations: guarded(*uid, *version, patch),
            },
        ),
        Action::Apply {
            uid,
            version,
            manifest,
        } => to(
            &manifest.key,
            Verb::Apply {
                body: fill(&manifest.guarded(*uid, *version))?,
                force: true,
            },
        ),
        Action::Scale {
            key,
            uid,
            version,
            replicas,
        } => Request {
            subresource: Some(Subresource::Scale),
            ..to(
                key,
                Verb::Update {
                    body: scale(key, *uid, *version, *replicas),
                },
            )
        },
        Action::Delete {
            key,
            uid,
            propagation,
        } => to(
            key,
            Verb::Delete {
                uid: Some(uid.to_string().into()),
                version: None,
                propagation: match propagation {
                    kubernetes::Propagation::Background => Propagation::Background,
                    kubernetes::Propagation::Foreground => Propagation::Foreground,
                    kubernetes::Propagation::Orphan => Propagation::Orphan,
                },
                grace: None,
            },
        ),
        Action::Get { key } => to(key, Verb::Get),
        Action::List { kind, namespace } => list(*kind, namespace.clone()),
        Action::Warnings { about, uid } => Request {
            resource: Resource::Event,
            name: "".into(),
            ..to(
                about,
                Verb::List {
                    labels: vec![],
                    fields: vec![
                        ("involvedObject.uid".into(), uid.to_string().into()),
                        ("type".into(), "Warning".into()),
                    ],
                },
            )
        },
        Action::RecordEvent {
            namespace,
            application,
            uid,
            severity,
            reason,
            message,
        } => {
            let about = json!({
                "apiVersion": API_VERSION,
                "kind": APPLICATION_KIND,
                "namespace": namespace,
                "name": application,
                "uid": uid.to_string(),
            });
            record_event(namespace, about, *severity, (reason, message), now)
        }
        Action::Store(_) => {
            return Err(Outcome::Refused {
                reason: Refusal::NotSent,
                message: "a command to the state is no request to a cluster".into(),
            });
        }
    })
}

fn to(key: &Key, verb: Verb) -> Request {
    Request {
        manager: PILOTAGE.into(),
        resource: resource(key.kind),
        namespace: key.namespace.clone(),
        name: key.name.clone(),
        subresource: None,
        verb,
    }
}

/// The patch, with its guards before it: the uid is tested (422), the version set, which is a condition (409, fact K8).
fn guarded(uid: Uid, version: Version, patch: &Value) -> Value {
    let mut operations = vec![
        json!({"op": "test", "path": "/metadata/uid", "value": uid.to_string()}),
        json!({"op": "replace", "path": "/metadata/resourceVersion", "value": version.to_string()}),
    ];
    operations.extend(patch.as_array().into_iter().flatten().cloned());
    Value::Array(operations)
}

fn scale(key: &Key, uid: Uid, version: Version, replicas: u32) -> Value {
    json!({
        "apiVersion": "autoscaling/v1",
        "kind": "Scale",
        "metadata": {
            "name": key.name,
            "namespace": key.namespace,
            "uid": uid.to_string(),
            "resourceVersion": version.to_string(),
        },
        "spec": {"replicas": replicas},
    })
}

/// A new Event object.
fn record_event(
    namespace: &str,
    about: Value,
    severity: Severity,
    (reason, message): (&str, &str),
    now: Timestamp,
) -> Request {
    let moment = moment::text(now);
    Request {
        manager: PILOTAGE.into(),
        resource: Resource::Event,
        namespace: Some(namespace.into()),
        name: "".into(),
        subresource: None,
        verb: Verb::Create {
            body: json!({
                "apiVersion": "v1",
                "kind": "Event",
                "metadata": {
                    "generateName": format!("{}-", text_at(&about, &["name"])),
                    "namespace": namespace,
                },
                "involvedObject": about,
                "reason": reason,
                "message": message,
                "type": match severity {
                    Severity::Normal => "Normal",
                    Severity::Warning => "Warning",
                },
                "source": {"component": PILOTAGE},
                "firstTimestamp": moment,
                "lastTimestamp": moment,
                "count": 1,
            }),
        },
    }
}

/// Reads an object as the core sees it. The data of a Secret is replaced by its fingerprint on the way.
///
/// # Errors
/// What does not have the form of its kind.
pub fn object(kind: Kind, stored: &Stored, key: DigestKey) -> Result<Object, serde_json::Error> {
    if kind == Kind::Secret {
        let mut value = stored.value.clone();
        secret::redact(key, &mut value);
        Object::read(kind, &value)
    } else {
        Object::read(kind, &stored.value)
    }
}

/// What became of an effect, from the answer to its request.
///
/// An answer that cannot be read is no answer.
pub fn outcome(action: &Action, response: Response, key: DigestKey) -> Outcome {
    match response {
        Response::Failure(failure) => refused(&failure),
        Response::Object { object, .. } => match action {
            Action::Delete { .. } if !remains(&object) => Outcome::Done(Reply::Nothing),
            Action::RecordEvent { .. } => Outcome::Done(Reply::Nothing),
            Action::Get { key: place } => {
                done(fetched(place.kind, &object, key).map(Reply::Fetched))
            }
            _ => match kind_of(action) {
                Some(kind) => {
                    let read = self::object(kind, &object, key);
                    done(read.map(|object| Reply::Object(Arc::new(object))))
                }
                None => Outcome::Unknown,
            },
        },
        Response::List { items, .. } if matches!(action, Action::Warnings { .. }) => {
            let newest = items.iter().max_by_key(|event| event.version);
            let message = newest.map(|event| text_at(&event.value, &["message"]).into());
            Outcome::Done(Reply::Warned(message))
        }
        Response::List { items, .. } => match kind_of(action) {
            Some(kind) => {
                let read: Result<Vec<_>, _> = items
                    .iter()
                    .map(|item| object(kind, item, key).map(Arc::new))
                    .collect();
                done(read.map(Reply::Listed))
            }
            None => Outcome::Unknown,
        },
        Response::Value { body, .. } => match action {
            Action::Scale { .. } => scaled(&body).map_or(Outcome::Unknown, Outcome::Done),
            Action::Delete { .. } => Outcome::Done(Reply::Nothing),
            _ => Outcome::Unknown,
        },
    }
}

/// The outcome of a request that was refused.
pub fn refused(failure: &Failure) -> Outcome {
    let causes = failure.causes.iter().map(|(reason, _, _)| &**reason);
    Outcome::Refused {
        reason: Refusal::of_status(
            failure.code,
            &failure.reason,
            &failure.message,
            None,
            causes,
        ),
        message: failure.message.clone(),
    }
}

fn done(reply: Result<Reply, serde_json::Error>) -> Outcome {
    reply.map_or(Outcome::Unknown, Outcome::Done)
}

/// The kind of the object that an action is about, or of those that it lists.
pub fn kind_of(action: &Action) -> Option<Kind> {
    match action {
        Action::Create { manifest } | Action::Apply { manifest, .. } => Some(manifest.key.kind),
        Action::TakeOver { key, .. }
        | Action::Scale { key, .. }
        | Action::Delete { key, .. }
        | Action::Get { key } => Some(key.kind),
        Action::List { kind, .. } => Some(*kind),
        Action::Warnings { .. } | Action::RecordEvent { .. } | Action::Store(_) => None,
    }
}

/// Whether an object that a delete answered with is still there: it waits for finalizers, for its grace period, or,
/// a namespace, for its content. Some kinds are answered with their last state when they are already gone.
fn remains(object: &Stored) -> bool {
    let grace = number_at(&object.value, &["metadata", "deletionGracePeriodSeconds"]);
    object.deleting()
        && (object.resource == Resource::Namespace
            || object.finalizers().next().is_some()
            || grace.is_some_and(|seconds| seconds > 0))
}

fn fetched(kind: Kind, stored: &Stored, key: DigestKey) -> Result<Fetched, serde_json::Error> {
    let managed_fields = match at(&stored.whole(), &["metadata", "managedFields"]) {
        Some(fields) => Vec::<ManagedFields>::deserialize(fields)?,
        None => Vec::new(),
    };
    Ok(Fetched {
        object: Arc::new(object(kind, stored, key)?),
        managed_fields,
    })
}

fn scaled(body: &Value) -> Option<Reply> {
    let version = text_at(body, &["metadata", "resourceVersion"]).parse();
    let replicas = number_at(body, &["spec", "replicas"]).unwrap_or(0);
    Some(Reply::Scaled {
        version: Version(version.ok()?),
        replicas: u32::try_from(replicas).ok()?,
    })
}

/// The event that tells of one object in a list.
///
/// # Errors
/// What does not have the form of its kind.
pub fn seen(kind: Kind, stored: &Stored, key: DigestKey) -> Result<Event, serde_json::Error> {
    Ok(match object(kind, stored, key)? {
        Object::Pod(pod) => Event::PodUpdated(Arc::new(pod)),
        object => Event::ObjectUpdated(Arc::new(object)),
    })
}

/// The event that a watch of a kind tells.
///
/// # Errors
/// What does not have the form of its kind.
pub fn watched(kind: Kind, event: &WatchEvent, key: DigestKey) -> Result<Event, serde_json::Error> {
    if event.kind != WatchKind::Deleted {
        return seen(kind, &event.object, key);
    }
    let uid = event
        .object
        .uid()
        .parse()
        .map_err(serde::de::Error::custom)?;
    let version = Version(event.object.version);
    let key = Key::new(kind, event.object.namespace(), event.object.name());
    Ok(match kind {
        Kind::Pod => Event::PodDeleted { key, uid, version },
        _ => Event::ObjectDeleted { key, uid, version },
    })
}
