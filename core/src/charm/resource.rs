//! Resources: what a charm needs beside its own files.

use alloc::string::String;

use serde::{Deserialize, Serialize};

/// A resource that a charm declares.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ResourceDeclaration {
    /// Name of the resource.
    pub name: String,
    /// What it is.
    pub kind: ResourceKind,
    /// What it is for.
    pub description: String,
    /// Where its image is found while the user gives none (`upstream-source`), when that is a usable reference.
    pub upstream_source: Option<String>,
    /// Name of the file, for a resource that is one.
    pub filename: Option<String>,
}

/// What a resource is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ResourceKind {
    /// An image for a container.
    #[serde(rename = "oci-image")]
    OciImage,
    /// A file for the charm's code.
    #[serde(rename = "file")]
    File,
}
