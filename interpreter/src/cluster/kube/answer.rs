//! Answers of the API server as outcomes.

use std::sync::Arc;

use pilotage_core::digest::DigestKey;
use pilotage_core::effect::Action;
use pilotage_core::kubernetes::Kind;
use pilotage_core::kubernetes::read::{Fetched, ManagedFields};
use pilotage_core::name::Version;
use pilotage_core::outcome::{Outcome, Refusal, Reply};
use pilotage_core::time::Span;
use pilotage_sim::cluster::effects;
use serde::Deserialize;

use super::read::{Reader, Status};

/// What the server answered to one request.
pub(crate) struct Answer {
    pub(crate) code: u16,
    /// Its header `Retry-After`, in seconds.
    pub(crate) retry_after: Option<u64>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// What became of the effect that asked. An answer that cannot be read is no answer.
    pub(super) fn outcome(&self, action: &Action, key: DigestKey) -> Outcome {
        if !(200..300).contains(&self.code) {
            return self.refused(action);
        }
        match self.reply(action, key) {
            Ok(Some(reply)) => Outcome::Done(reply),
            Ok(None) | Err(_) => Outcome::Unknown,
        }
    }

    fn reply(&self, action: &Action, key: DigestKey) -> Result<Option<Reply>, serde_json::Error> {
        if let Action::Warnings { .. } = action {
            let warnings: Warnings = serde_json::from_slice(&self.body)?;
            return Ok(Some(Reply::Warned(warnings.newest())));
        }
        let reader = effects::kind_of(action).map(|kind| Reader { kind, key });
        let Some(reader) = reader else {
            return Ok(Some(Reply::Nothing));
        };
        let reply = match action {
            Action::Scale { .. } => {
                let scale: Scale = serde_json::from_slice(&self.body)?;
                Reply::Scaled {
                    version: scale.metadata.version,
                    replicas: scale.spec.replicas,
                }
            }
            Action::Delete { .. } => {
                let left: Left = serde_json::from_slice(&self.body)?;
                if left.remains(reader.kind) {
                    Reply::Object(Arc::new(reader.object(&self.body)?))
                } else {
                    Reply::Nothing
                }
            }
            Action::Get { .. } => {
                let owned: Owned = serde_json::from_slice(&self.body)?;
                Reply::Fetched(Fetched {
                    object: Arc::new(reader.object(&self.body)?),
                    managed_fields: owned.metadata.managed_fields,
                })
            }
            Action::List { .. } => {
                let page = reader.page(&self.body)?;
                Reply::Listed(page.items.into_iter().map(Arc::new).collect())
            }
            _ => Reply::Object(Arc::new(reader.object(&self.body)?)),
        };
        Ok(Some(reply))
    }

    fn refused(&self, action: &Action) -> Outcome {
        let status = Status::read(self.code, &self.body);
        let seconds = self.retry_after.or_else(|| {
            let said = status.details.as_ref()?.retry_after_seconds;
            (said > 0).then_some(said)
        });
        let reason = Refusal::of_status(
            self.code,
            &status.reason,
            &status.message,
            seconds.map(Span::seconds),
            status.causes(),
        );
        let reads = matches!(
            action,
            Action::Get { .. } | Action::List { .. } | Action::Warnings { .. }
        );
        let busy = matches!(reason, Refusal::Busy { .. });
        if busy && !reads && may_have_happened(self.code, &status.message) {
            return Outcome::Unknown;
        }
        Outcome::Refused {
            reason,
            message: status.message.into(),
        }
    }
}

/// Whether a write that was answered like this may have been done, or may still be: the server, or something between
/// it and us, gave up on waiting. A webhook that cannot be asked is before the write, so nothing was done.
pub(crate) fn may_have_happened(code: u16, message: &str) -> bool {
    match code {
        502 | 504 => true,
        500 => !message.contains("failed calling webhook"),
        _ => false,
    }
}

#[derive(Deserialize)]
struct Warnings {
    #[serde(default)]
    items: Vec<Warning>,
}

#[derive(Deserialize)]
struct Warning {
    metadata: Versioned,
    #[serde(default)]
    message: Box<str>,
}

impl Warnings {
    /// What the one says that was written last.
    fn newest(self) -> Option<Box<str>> {
        let warnings = self.items.into_iter();
        let newest = warnings.max_by_key(|warning| warning.metadata.version);
        newest.map(|warning| warning.message)
    }
}

#[derive(Deserialize)]
struct Scale {
    metadata: Versioned,
    #[serde(default)]
    spec: Replicas,
}

#[derive(Deserialize)]
struct Versioned {
    #[serde(rename = "resourceVersion")]
    version: Version,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Replicas {
    // Zero is left out.
    replicas: u32,
}

#[derive(Deserialize)]
struct Owned {
    metadata: OwnedMetadata,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OwnedMetadata {
    #[serde(default)]
    managed_fields: Vec<ManagedFields>,
}

/// What a delete leaves of an object.
#[derive(Deserialize)]
struct Left {
    #[serde(default)]
    kind: String,
    #[serde(default)]
    metadata: LeftMetadata,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct LeftMetadata {
    deletion_timestamp: Option<Box<str>>,
    deletion_grace_period_seconds: Option<u64>,
    finalizers: Vec<Box<str>>,
}

impl Left {
    /// Whether the object is still there: it waits for finalizers, for its grace period, or, a namespace, for its
    /// content. Some kinds are answered with their last state when they are already gone, others with a `Status`.
    fn remains(&self, kind: Kind) -> bool {
        let metadata = &self.metadata;
        self.kind != "Status"
            && metadata.deletion_timestamp.is_some()
            && (kind == Kind::Namespace
                || !metadata.finalizers.is_empty()
                || metadata
                    .deletion_grace_period_seconds
                    .is_some_and(|seconds| seconds > 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pilotage_core::kubernetes::{Key, Propagation};
    use pilotage_core::name::Uid;

    fn outcome(action: &Action, code: u16, body: &str) -> Outcome {
        let answer = Answer {
            code,
            retry_after: None,
            body: body.into(),
        };
        answer.outcome(action, DigestKey::default())
    }

    fn get() -> Action {
        Action::Get {
            key: Key::new(Kind::Pod, "shop", "web-0"),
        }
    }

    fn delete(kind: Kind) -> Action {
        Action::Delete {
            key: Key::new(kind, "shop", "web-0"),
            uid: Uid(1),
            propagation: Propagation::Background,
        }
    }

    fn failure(code: u16, message: &str) -> String {
        format!(r#"{{"kind":"Status","status":"Failure","code":{code},"message":"{message}"}}"#)
    }

    #[test]
    fn a_write_that_timed_out_in_the_server_is_unknown_and_a_read_is_refused() {
        let words = failure(500, "etcdserver: request timed out");
        assert_eq!(outcome(&delete(Kind::Pod), 500, &words), Outcome::Unknown);
        assert_eq!(outcome(&delete(Kind::Pod), 504, "<html>"), Outcome::Unknown);
        let busy = Outcome::Refused {
            reason: Refusal::Busy { after: None },
            message: "etcdserver: request timed out".into(),
        };
        assert_eq!(outcome(&get(), 500, &words), busy);
        let webhook = failure(500, "Internal error occurred: failed calling webhook");
        let refused = outcome(&delete(Kind::Pod), 500, &webhook);
        assert!(matches!(refused, Outcome::Refused { .. }), "{refused:?}");
    }

    #[test]
    fn how_long_to_wait_is_taken_from_the_header_or_the_body() {
        let after = |seconds| Outcome::Refused {
            reason: Refusal::Busy {
                after: Some(Span::seconds(seconds)),
            },
            message: "slow down".into(),
        };
        let body =
            r#"{"status":"Failure","message":"slow down","details":{"retryAfterSeconds":3}}"#;
        assert_eq!(outcome(&delete(Kind::Pod), 429, body), after(3));
        let answer = Answer {
            code: 429,
            retry_after: Some(7),
            body: body.into(),
        };
        assert_eq!(answer.outcome(&get(), DigestKey::default()), after(7));
    }

    #[test]
    fn a_deleted_object_is_answered_as_long_as_it_is_there() {
        let object = |rest: &str| {
            format!(
                r#"{{"kind":"Pod","metadata":{{"name":"web-0","namespace":"shop","uid":"00000000-0000-0000-0000-000000000001","resourceVersion":"9"{rest}}}}}"#
            )
        };
        let done = r#"{"kind":"Status","metadata":{},"status":"Success"}"#;
        let gone = Outcome::Done(Reply::Nothing);
        assert_eq!(outcome(&delete(Kind::Role), 200, done), gone);
        assert_eq!(outcome(&delete(Kind::Pod), 200, &object("")), gone);
        let ending = object(
            r#","deletionTimestamp":"2026-01-01T00:00:00Z","deletionGracePeriodSeconds":30"#,
        );
        let left = outcome(&delete(Kind::Pod), 200, &ending);
        let Outcome::Done(Reply::Object(left)) = left else {
            panic!("{left:?}");
        };
        assert!(left.metadata().is_deleting());
    }

    #[test]
    fn what_cannot_be_read_is_no_answer() {
        assert_eq!(outcome(&get(), 200, r#"{"metadata":{}}"#), Outcome::Unknown);
    }
}
