//! What can be asked of the API server, and what it answers.
//!
//! The shapes follow the HTTP API: one [`Request`] is one call, one [`Response`] its status line and body.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::object::Stored;
use super::resource::Resource;

/// One call to the API server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// Who asks: the field manager under which writes are recorded, and the name for the audit.
    pub manager: Box<str>,
    /// The kind of object, as the path names it.
    pub resource: Resource,
    /// The namespace of the path; none for cluster-scoped kinds and for lists over all namespaces.
    pub namespace: Option<Box<str>>,
    /// The object's name; empty for `Create` and `List`.
    pub name: Box<str>,
    /// The subresource of the path.
    pub subresource: Option<Subresource>,
    /// What is to be done.
    pub verb: Verb,
}

/// A part of an object with an address of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Subresource {
    /// `status`: writes touch the status alone.
    Status,
    /// `scale`: replicas alone, with uid and version guards (fact K12).
    Scale,
    /// `binding` of a pod: names its node.
    Binding,
    /// `finalize` of a namespace.
    Finalize,
}

/// What a request does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Verb {
    /// GET of one object.
    Get,
    /// GET of a collection, at one version.
    List {
        /// Only objects that carry all of these labels.
        labels: Vec<(Box<str>, Box<str>)>,
        /// Only objects of which these fields, as paths, are so.
        fields: Vec<(Box<str>, Box<str>)>,
    },
    /// POST.
    Create {
        /// The whole object.
        body: Value,
    },
    /// PUT: replaces the object (or its status, or its scale).
    Update {
        /// The whole object.
        body: Value,
    },
    /// PATCH with a server-side apply configuration.
    Apply {
        /// What the manager wants to own, `metadata.uid` and `metadata.resourceVersion` being guards.
        body: Value,
        /// Take fields from other managers instead of answering a conflict.
        force: bool,
    },
    /// PATCH by RFC 6902.
    JsonPatch {
        /// The operations, in order.
        operations: Value,
    },
    /// PATCH by RFC 7386.
    MergePatch {
        /// The patch.
        body: Value,
    },
    /// DELETE of one object.
    Delete {
        /// Only the object with this uid.
        uid: Option<Box<str>>,
        /// Only the object at this version.
        version: Option<Box<str>>,
        /// What happens to its dependents.
        propagation: Propagation,
        /// Seconds to end gracefully; the kind's own default if absent.
        grace: Option<u64>,
    },
}

/// What a delete does to dependents (Kubernetes: "Garbage Collection").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Propagation {
    /// The object goes at once, dependents after it.
    #[default]
    Background,
    /// The object waits for its dependents.
    Foreground,
    /// Dependents lose their owner and stay.
    Orphan,
    /// Nothing is said: what an earlier delete said holds, else [`Propagation::Background`].
    Unsaid,
}

/// The answer to one [`Request`].
#[derive(Clone, Debug)]
pub enum Response {
    /// 200 or 201 with an object.
    Object {
        /// 200, 201 or 202.
        code: u16,
        /// The object as it now is (as it last was, if it is gone).
        object: Arc<Stored>,
    },
    /// 200 with something that is no stored object: a Scale, or the Status of a finished delete.
    Value {
        /// 200 or 201.
        code: u16,
        /// The body.
        body: Value,
    },
    /// 200 with a collection.
    List {
        /// The version that all items are read at; watch from here.
        version: u64,
        /// The items, by namespace and name.
        items: Vec<Arc<Stored>>,
    },
    /// 4xx or 5xx.
    Failure(Failure),
}

/// A `Status` that says no.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The HTTP status code.
    pub code: u16,
    /// The machine-readable reason, such as `NotFound`, `AlreadyExists`, `Conflict`, `Invalid`.
    pub reason: Box<str>,
    /// The text for people.
    pub message: Box<str>,
    /// `details.causes`, as (reason, field, message).
    pub causes: Vec<(Box<str>, Box<str>, Box<str>)>,
}
