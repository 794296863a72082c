//! What became of an effect.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::event::Event;
use crate::kubernetes::read::{Fetched, Object};
use crate::name::Version;
use crate::time::Span;

/// What became of an effect. Whoever runs effects owes exactly one per effect.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It was done; for a write this is what it made.
    Done(Reply),
    /// It was not done, and never will be by this request.
    Refused {
        /// The kind of refusal.
        reason: Refusal,
        /// For people, as the refuser said it.
        message: Box<str>,
    },
    /// No answer: it may have happened, it may still happen.
    Unknown,
    /// An earlier effect of the same batch was not done, so this one was not tried.
    NotAttempted,
}

/// What came back.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reply {
    /// The object as the server answered.
    Object(Arc<Object>),
    /// The object and who owns its fields.
    Fetched(Fetched),
    /// All objects of a kind that are ours.
    Listed(Vec<Arc<Object>>),
    /// What the newest warning about an object says, if there is one.
    Warned(Option<Box<str>>),
    /// The workload's number of pods, and its version since.
    Scaled {
        /// The version since.
        version: Version,
        /// The number of pods.
        replicas: u32,
    },
    /// The record's version since, what changed, and what was drawn.
    Recorded {
        /// The version that the command was applied to; 0 for a new record. Whoever knew an older one has missed a
        /// change, and waits for the watch to tell it before it believes `changes`.
        before: Version,
        /// The record's version since; equal to `before` if nothing changed.
        version: Version,
        /// The same events that the store's watch will tell.
        changes: Vec<Event>,
        /// The first of the numbers drawn, for a command that draws.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        drawn: Option<u32>,
    },
    /// There is nothing to say: the object is gone.
    Nothing,
}

/// The kinds of refusal that the core treats differently.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Refusal {
    /// There is no such object or record.
    NotFound,
    /// The name is taken.
    AlreadyExists,
    /// Somebody else was faster, or a guard did not hold.
    Conflict,
    /// We may not.
    Forbidden,
    /// The server cannot take it as it is.
    Invalid,
    /// A quota is used up.
    Quota,
    /// A rule of the cluster's owner says no.
    Denied,
    /// Too much at once; not before `after`.
    Busy {
        /// How long to wait, if the server said so.
        after: Option<Span>,
    },
    /// The namespace is going away.
    NamespaceTerminating,
    /// The record has moved on: read and decide again.
    TryAgain,
    /// A value that the manifest needs is not in the vault.
    SecretMissing,
    /// It never left this process.
    NotSent,
}

impl Refusal {
    /// The kind of an answer of the Kubernetes API, from its status code, `reason`, `message` and the reasons of its
    /// `details.causes`.
    ///
    /// Quota and admission speak through 403 and 422 and their text alone ("Resource Quotas", "Validating Admission
    /// Policy", "Dynamic Admission Control").
    pub fn of_status<'a>(
        code: u16,
        reason: &str,
        message: &str,
        retry_after: Option<Span>,
        causes: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        if causes
            .into_iter()
            .any(|cause| cause == "NamespaceTerminating")
        {
            return Refusal::NamespaceTerminating;
        }
        let denied = message.contains("denied the request")
            || message.contains("denied request")
            || message.contains("violates PodSecurity");
        match code {
            404 => Refusal::NotFound,
            409 if reason == "AlreadyExists" => Refusal::AlreadyExists,
            409 => Refusal::Conflict,
            403 if message.contains("exceeded quota") || message.contains("failed quota") => {
                Refusal::Quota
            }
            403 | 422 | 400 if denied => Refusal::Denied,
            401 | 403 => Refusal::Forbidden,
            // An apply with a field that the server does not know is answered 500 (fact K19).
            500 if message.contains("failed to create typed") => Refusal::Invalid,
            400 | 405 | 413 | 415 | 422 => Refusal::Invalid,
            _ => Refusal::Busy { after: retry_after },
        }
    }
}
