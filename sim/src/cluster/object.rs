//! An object as the API server keeps it.

use serde_json::Value;

use super::resource::Resource;

/// One version of one object. Immutable: a write makes a new one, watchers and lists share the old.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The kind.
    pub resource: Resource,
    /// The version of this state, unique in the cluster.
    pub version: u64,
    /// The whole object, `managedFields` included.
    pub value: Value,
}
