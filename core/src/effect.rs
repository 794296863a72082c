//! What is to be done: plain data, one request each.

use alloc::boxed::Box;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::kubernetes::manifest::Manifest;
use crate::kubernetes::{Key, Kind, Propagation};
use crate::name::{Uid, Version};
use crate::reason::Reason;
use crate::state::Command;

/// Which effect an outcome belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EffectId {
    /// The application, or the model, whose worker asked.
    pub owner: Uid,
    /// Which life of that worker: an answer to a former one is recognised and dropped.
    pub incarnation: u32,
    /// Rises by one with every effect of that life.
    pub sequence: u32,
}

/// One thing to be done.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Effect {
    /// Names it; exactly one outcome is owed for it.
    pub id: EffectId,
    /// The application's or model's name, for people.
    pub subject: Box<str>,
    /// Why.
    pub because: Reason,
    /// What.
    pub action: Action,
}

/// One call to the Kubernetes API, or one transaction on the state.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// POST. It cannot touch what is there. Answered by [`Reply::Object`](crate::outcome::Reply::Object).
    Create {
        /// The object, birth fields included.
        manifest: Manifest,
    },
    /// A JSON patch that turns the entry of our POST in `managedFields` into one that later applies can shrink, and
    /// releases the birth fields (fact K8). Answered by the object.
    TakeOver {
        /// The object.
        key: Key,
        /// Only the one with this uid.
        uid: Uid,
        /// Only at this version.
        version: Version,
        /// RFC 6902.
        patch: Value,
    },
    /// A forced server-side apply of the manifest without its birth fields, guarded by uid and version. Answered by
    /// the object.
    Apply {
        /// Only the one with this uid.
        uid: Uid,
        /// Only at this version.
        version: Version,
        /// What we want.
        manifest: Manifest,
    },
    /// PUT of the scale subresource, guarded by uid and version (fact K12). Answered by
    /// [`Reply::Scaled`](crate::outcome::Reply::Scaled).
    Scale {
        /// The workload.
        key: Key,
        /// Only the one with this uid.
        uid: Uid,
        /// Only at this version.
        version: Version,
        /// The number of pods.
        replicas: u32,
    },
    /// DELETE. Answered by the object, if it is still there, or by [`Reply::Nothing`](crate::outcome::Reply::Nothing).
    Delete {
        /// The object.
        key: Key,
        /// Only the one with this uid.
        uid: Uid,
        /// What happens to its dependents.
        propagation: Propagation,
    },
    /// A fresh read from the API's store, not from a cache. Answered by
    /// [`Reply::Fetched`](crate::outcome::Reply::Fetched), or refused as not found.
    Get {
        /// The object.
        key: Key,
    },
    /// A fresh read of all of ours of a kind. Answered by [`Reply::Listed`](crate::outcome::Reply::Listed).
    List {
        /// The kind.
        kind: Kind,
        /// Where; everywhere if absent.
        namespace: Option<Box<str>>,
    },
    /// The newest warning among the Kubernetes Events about an object: what keeps its controller from its work stands
    /// nowhere else. Answered by [`Reply::Warned`](crate::outcome::Reply::Warned).
    Warnings {
        /// The object.
        about: Key,
        /// Its uid.
        uid: Uid,
    },
    /// A Kubernetes Event about an application, as an object of kind `Application` that may or may not be in the
    /// cluster. Best effort: nothing follows from what becomes of it.
    RecordEvent {
        /// The namespace of its model.
        namespace: Box<str>,
        /// Its name.
        application: Box<str>,
        /// Its uid.
        uid: Uid,
        /// `Normal` or `Warning`.
        severity: Severity,
        /// In a word, in CamelCase.
        reason: Box<str>,
        /// For people.
        message: Box<str>,
    },
    /// One transaction on the state. Answered by [`Reply::Recorded`](crate::outcome::Reply::Recorded).
    Store(Box<Command>),
}

/// How loud a Kubernetes Event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Severity {
    /// As wished.
    Normal,
    /// Somebody should look.
    Warning,
}
