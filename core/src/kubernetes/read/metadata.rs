//! The metadata that every object has.

use alloc::boxed::Box;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::kubernetes::labels::Labels;
use crate::name::{Uid, Version};

/// Name, identity, version, labels.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Metadata {
    /// The name, unique in the kind and namespace at a time.
    pub name: Box<str>,
    /// The namespace; none for cluster-scoped kinds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<Box<str>>,
    /// The identity, unique for all time.
    pub uid: Uid,
    /// The version; rises with every change.
    #[serde(rename = "resourceVersion")]
    pub version: Version,
    /// Rises with every change of what was asked for.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub generation: u64,
    /// Labels.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    pub labels: Labels,
    /// Annotations.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    pub annotations: Labels,
    /// Who the object belongs to; it goes when they are all gone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub owner_references: Vec<OwnerReference>,
    /// When the object was made, RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub creation_timestamp: Option<Box<str>>,
    /// Since when the object is being deleted, RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deletion_timestamp: Option<Box<str>>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Metadata {
    /// Whether somebody asked for the object to go.
    pub fn is_deleting(&self) -> bool {
        self.deletion_timestamp.is_some()
    }

    /// The uid of the controller that made the object.
    pub fn controller(&self) -> Option<Uid> {
        self.owner_references
            .iter()
            .find(|owner| owner.controller)
            .map(|owner| owner.uid)
    }
}

/// One owner of an object.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct OwnerReference {
    /// The owner's kind.
    pub kind: Box<str>,
    /// The owner's identity.
    pub uid: Uid,
    /// Whether the owner is the one that manages the object.
    #[serde(default)]
    pub controller: bool,
}

/// Which fields one manager owns by one kind of write (Kubernetes: "Server-Side Apply").
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ManagedFields {
    /// The manager's name.
    #[serde(default)]
    pub manager: Box<str>,
    /// `Apply` or `Update`.
    #[serde(default)]
    pub operation: Box<str>,
    /// `status`, `scale`, or nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subresource: Option<Box<str>>,
    /// The fields, in the `FieldsV1` form.
    #[serde(default)]
    pub fields_v1: Value,
}
