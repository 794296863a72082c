//! Requests to the API server, one at a time.

use std::time::Duration;

use ::kube::Client;
use ::kube::client::Body;
use http::Method;
use http::header::{ACCEPT, CONTENT_TYPE};
use pilotage_core::outcome::{Outcome, Refusal};
use pilotage_core::time::Span;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::time::timeout;

use crate::cluster::kube::{Lines, Status, may_have_happened, reason, was_not_sent, whole};
use crate::failpoint::{Point, hit};

/// How long a request may take.
const PATIENCE: Duration = Duration::from_secs(10);

const JSON: &str = "application/json";

/// What a request writes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Write<'a> {
    /// POST: make it; it must not be there.
    Create(&'a Value),
    /// A JSON patch (RFC 6902).
    Patch(&'a Value),
    /// A forced server-side apply.
    Apply(&'a Value),
    /// DELETE, with these options.
    Delete(&'a Value),
}

/// Why a request did not do what it was to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Failed {
    /// It did not leave.
    NotSent(String),
    /// It left, and there was no answer, or none that could be read.
    Unknown(String),
    /// The server says no, and did nothing.
    Refused {
        code: u16,
        reason: String,
        message: String,
        causes: Vec<String>,
        retry_after: Option<u64>,
    },
}

impl Failed {
    /// The status code of the refusal; 0 if it is none.
    pub(super) fn code(&self) -> u16 {
        match self {
            Failed::Refused { code, .. } => *code,
            Failed::NotSent(_) | Failed::Unknown(_) => 0,
        }
    }

    /// Whether what was written to has changed meanwhile: nothing was done, and a fresh look may help.
    pub(super) fn is_conflict(&self) -> bool {
        match self {
            Failed::Refused { code: 409, .. } => true,
            // A patch of a list or a map that has another form by now.
            Failed::Refused {
                code: 422, reason, ..
            } => reason != "Invalid",
            _ => false,
        }
    }

    /// Whether the server does not take what was written, and will not take it again.
    pub(super) fn is_invalid(&self) -> bool {
        matches!(self.code(), 400 | 403 | 413 | 422)
    }

    /// Whether the object is missing that the request was about.
    pub(super) fn is_missing(&self) -> bool {
        self.code() == 404
    }

    /// Whether the namespace is missing that the object was to be in.
    pub(super) fn misses_namespace(&self) -> bool {
        matches!(self, Failed::Refused { code: 404, message, .. } if message.contains("namespaces \""))
    }

    /// In words.
    pub(super) fn words(&self) -> &str {
        match self {
            Failed::NotSent(words) | Failed::Unknown(words) => words,
            Failed::Refused { message, .. } => message,
        }
    }

    /// What became of the command that it was for.
    pub(super) fn outcome(self) -> Outcome {
        match self {
            Failed::NotSent(words) => Outcome::Refused {
                reason: Refusal::TryAgain,
                message: words.into(),
            },
            Failed::Unknown(_) => Outcome::Unknown,
            Failed::Refused {
                code,
                reason,
                message,
                causes,
                retry_after,
            } => {
                let kind = Refusal::of_status(
                    code,
                    &reason,
                    &message,
                    retry_after.map(Span::seconds),
                    causes.iter().map(String::as_str),
                );
                let kind = match kind {
                    // Of records, the server knows less than the rules do: what is missing or moved on is looked at anew.
                    Refusal::NotFound | Refusal::Conflict => Refusal::TryAgain,
                    other => other,
                };
                Outcome::Refused {
                    reason: kind,
                    message: message.into(),
                }
            }
        }
    }
}

/// The way to one server.
pub(super) struct Api {
    client: Client,
    pub(super) server: String,
}

impl Api {
    pub(super) fn new(client: Client, server: String) -> Self {
        Api { client, server }
    }

    /// Reads what is at a path.
    pub(super) async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Failed> {
        self.ask(Method::GET, path, "", None).await
    }

    /// Writes, once, and reads the answer.
    pub(super) async fn write<T: DeserializeOwned>(
        &self,
        path: &str,
        write: Write<'_>,
    ) -> Result<T, Failed> {
        let strict = "fieldManager=pilotage&fieldValidation=Strict";
        let (method, query, content, body) = match write {
            Write::Create(body) => (Method::POST, strict.to_owned(), JSON, body),
            Write::Patch(body) => {
                let content = "application/json-patch+json";
                (Method::PATCH, strict.to_owned(), content, body)
            }
            Write::Apply(body) => {
                let content = "application/apply-patch+yaml";
                (Method::PATCH, format!("{strict}&force=true"), content, body)
            }
            Write::Delete(body) => (Method::DELETE, String::new(), JSON, body),
        };
        let path = match &*query {
            "" => path.to_owned(),
            query => format!("{path}?{query}"),
        };
        hit(Point::CommitBefore);
        let written = self.ask(method, &path, content, Some(body.to_string()));
        let written = written.await;
        hit(Point::CommitAfter);
        written
    }

    async fn ask<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        content: &str,
        body: Option<String>,
    ) -> Result<T, Failed> {
        let reads = method == Method::GET;
        let request = request(method, path, content, body)?;
        let asked = async { whole(self.client.send(request).await?).await };
        let answer = match timeout(PATIENCE, asked).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(error)) if was_not_sent(&error) => return Err(Failed::NotSent(reason(&error))),
            Ok(Err(error)) => return Err(Failed::Unknown(reason(&error))),
            Err(_) => {
                let words = format!("no answer within {} s", PATIENCE.as_secs());
                return Err(Failed::Unknown(words));
            }
        };
        if !(200..300).contains(&answer.code) {
            let status = Status::read(answer.code, &answer.body);
            if !reads && may_have_happened(answer.code, &status.message) {
                return Err(Failed::Unknown(status.message));
            }
            return Err(refused(&status, answer.retry_after));
        }
        serde_json::from_slice(&answer.body)
            .map_err(|error| Failed::Unknown(format!("its answer cannot be read: {error}")))
    }

    /// Opens a watch.
    pub(super) async fn watch(&self, path: &str) -> Result<Lines, Failed> {
        let request = request(Method::GET, path, "", None)?;
        let response = timeout(PATIENCE, self.client.send(request)).await;
        let silent = |_| Failed::NotSent(format!("no answer within {} s", PATIENCE.as_secs()));
        let broken = |error: ::kube::Error| Failed::NotSent(reason(&error));
        let response = response.map_err(silent)?.map_err(broken)?;
        if response.status().is_success() {
            return Ok(Lines::new(response.into_body()));
        }
        let answer = timeout(PATIENCE, whole(response)).await;
        let answer = answer.map_err(silent)?.map_err(broken)?;
        Err(refused(
            &Status::read(answer.code, &answer.body),
            answer.retry_after,
        ))
    }
}

fn refused(status: &Status, retry_after: Option<u64>) -> Failed {
    Failed::Refused {
        code: status.code,
        reason: status.reason.clone(),
        message: match &*status.message {
            "" => format!("the server answers {}", status.code),
            message => message.to_owned(),
        },
        causes: status.causes().map(str::to_owned).collect(),
        retry_after,
    }
}

fn request(
    method: Method,
    path: &str,
    content: &str,
    body: Option<String>,
) -> Result<http::Request<Body>, Failed> {
    let mut builder = http::Request::builder()
        .method(method)
        .uri(path)
        .header(ACCEPT, JSON);
    if !content.is_empty() {
        builder = builder.header(CONTENT_TYPE, content);
    }
    builder
        .body(Body::from(body.unwrap_or_default().into_bytes()))
        .map_err(|error| Failed::NotSent(error.to_string()))
}
