//! A Lease (coordination.k8s.io/v1) on the cluster.

use std::sync::Arc;

use ::kube::client::Body;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{Method, Request};
use pilotage_core::time::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

use super::answer::Answer as HttpAnswer;
use super::read::Status;
use super::request::encode;
use super::{Link, reason};
use crate::clock;
use crate::cluster::Answer;
use crate::leader::{Ask, Leases, Record, Seen, Told, Trouble};

const JSON: &str = "application/json";
/// How every write says who writes, and that unknown fields are refused.
const WRITE: &str = "?fieldManager=pilotage&fieldValidation=Strict";

/// One Lease of a cluster. Its namespace is made with it, if there is none.
pub struct Lease {
    pub(super) link: Arc<Link>,
    pub(super) namespace: String,
    pub(super) name: String,
}

impl Leases for Lease {
    fn ask(&self, ask: Ask) -> Answer<Result<Told, Trouble>> {
        let lease = Lease {
            link: self.link.clone(),
            namespace: self.namespace.clone(),
            name: self.name.clone(),
        };
        Box::pin(async move { lease.answered(&ask).await })
    }

    fn name(&self) -> String {
        format!("{}/{}", self.namespace, self.name)
    }
}

impl Lease {
    async fn answered(&self, ask: &Ask) -> Result<Told, Trouble> {
        let all = format!(
            "/apis/coordination.k8s.io/v1/namespaces/{}/leases",
            encode(&self.namespace)
        );
        let one = format!("{all}/{}", encode(&self.name));
        let answer = match ask {
            Ask::Get => self.send(Method::GET, one, None).await?,
            Ask::Create(record) => {
                let body = self.manifest(record, None);
                let path = all + WRITE;
                let answer = self
                    .send(Method::POST, path.clone(), Some(body.clone()))
                    .await?;
                // What is missing where something is to be made is the place.
                if answer.code == 404 {
                    self.make_namespace().await?;
                    self.send(Method::POST, path, Some(body)).await?
                } else {
                    answer
                }
            }
            Ask::Update {
                uid,
                version,
                record,
            } => {
                let body = self.manifest(record, Some((uid, version)));
                self.send(Method::PUT, one + WRITE, Some(body)).await?
            }
        };
        match (answer.code, ask) {
            (200 | 201, _) => read(&answer.body),
            (404, Ask::Get) => Ok(Told::Missing),
            (404 | 409, _) => Ok(Told::TooLate),
            _ => Err(refused(&answer)),
        }
    }

    async fn make_namespace(&self) -> Result<(), Trouble> {
        let body = json!({
            "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": self.namespace },
        });
        let path = format!("/api/v1/namespaces{WRITE}");
        let answer = self.send(Method::POST, path, Some(body)).await?;
        match answer.code {
            201 | 409 => Ok(()),
            _ => Err(refused(&answer)),
        }
    }

    async fn send(
        &self,
        method: Method,
        path: String,
        body: Option<Value>,
    ) -> Result<HttpAnswer, Trouble> {
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header(ACCEPT, JSON);
        if body.is_some() {
            request = request.header(CONTENT_TYPE, JSON);
        }
        let body = body.map(|body| body.to_string()).unwrap_or_default();
        let trouble = |reason| Trouble {
            reason,
            denied: false,
        };
        let request = request.body(Body::from(body.into_bytes()));
        let request = request.map_err(|error| trouble(error.to_string()))?;
        let answer = self.link.ask(request).await;
        answer.map_err(|error| trouble(reason(&error)))
    }

    fn manifest(&self, record: &Record, guard: Option<(&String, &String)>) -> Value {
        let now = micro(clock::now());
        let mut metadata = json!({
            "name": self.name,
            "namespace": self.namespace,
            "labels": { "app.kubernetes.io/name": "pilotage" },
        });
        if let Some((uid, version)) = guard {
            metadata["uid"] = json!(uid);
            metadata["resourceVersion"] = json!(version);
        }
        json!({
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": metadata,
            "spec": {
                // Others take no name at all for a broken lease, an empty one for one that was given back.
                "holderIdentity": record.holder.as_deref().unwrap_or_default(),
                "leaseDurationSeconds": record.seconds,
                "leaseTransitions": record.transitions,
                "acquireTime": record.acquired.as_ref().unwrap_or(&now),
                "renewTime": now,
            },
        })
    }
}

fn refused(answer: &HttpAnswer) -> Trouble {
    let status = Status::read(answer.code, &answer.body);
    let message = match &*status.message {
        "" => "no reason is given",
        message => message,
    };
    Trouble {
        reason: format!("{message} ({})", answer.code),
        denied: answer.code == 403,
    }
}

#[derive(Deserialize)]
struct Read {
    metadata: Metadata,
    #[serde(default)]
    spec: Spec,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    uid: String,
    resource_version: String,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Spec {
    holder_identity: Option<String>,
    lease_duration_seconds: Option<u64>,
    lease_transitions: Option<u64>,
    acquire_time: Option<String>,
}

fn read(text: &[u8]) -> Result<Told, Trouble> {
    let read: Read = serde_json::from_slice(text).map_err(|error| Trouble {
        reason: format!("the lease cannot be read: {error}"),
        denied: false,
    })?;
    let holder = read.spec.holder_identity;
    Ok(Told::Is(Seen {
        uid: read.metadata.uid,
        version: read.metadata.resource_version,
        says: Record {
            holder: holder.filter(|holder| !holder.is_empty()),
            seconds: read.spec.lease_duration_seconds.unwrap_or_default(),
            transitions: read.spec.lease_transitions.unwrap_or_default(),
            acquired: read.spec.acquire_time,
        },
    }))
}

/// A moment with six digits after the point, as the kind `MicroTime` wants it.
fn micro(at: Timestamp) -> String {
    let millis = i64::try_from(at.0).unwrap_or(i64::MAX);
    let at = jiff::Timestamp::from_millisecond(millis).unwrap_or_default();
    format!("{at:.6}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_has_six_digits_after_the_point() {
        assert_eq!(
            micro(Timestamp(1_700_000_000_120)),
            "2023-11-14T22:13:20.120000Z"
        );
    }

    #[test]
    fn a_lease_that_was_given_back_has_no_holder() {
        let text = |holder: &str| {
            format!(
                r#"{{"metadata":{{"uid":"u","resourceVersion":"7"}},"spec":{{{holder}"leaseDurationSeconds":15}}}}"#
            )
        };
        let holder = |text: String| match read(text.as_bytes()) {
            Ok(Told::Is(seen)) => seen.says.holder,
            other => panic!("{other:?}"),
        };
        assert_eq!(holder(text("")), None);
        assert_eq!(holder(text(r#""holderIdentity":"","#)), None);
        let held = holder(text(r#""holderIdentity":"me","#));
        assert_eq!(held.as_deref(), Some("me"));
    }
}
