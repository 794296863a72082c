//! Devices: what a charm can use, and what a user asks for. Recorded only; no unit gets one yet.

use alloc::collections::BTreeMap;
use alloc::string::String;

use serde::{Deserialize, Serialize};

/// A device that a charm can use.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DeviceDeclaration {
    /// Label of the device in the charm.
    pub name: String,
    /// Kubernetes' or the vendor's name of the kind: `gpu`, `nvidia.com/gpu`.
    pub kind: String,
    /// What it is for.
    pub description: String,
    /// The least number that the charm works with.
    pub minimum: u64,
    /// The most that it can use; `None` is no bound.
    pub maximum: Option<u64>,
}

/// What a user asks for with `--device LABEL=[COUNT,]TYPE[,K=V;…]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DeviceDirective {
    /// Number of devices, at least 1.
    pub count: u64,
    /// Kind of device.
    pub kind: String,
    /// Attributes that the device must have.
    pub attributes: BTreeMap<String, String>,
}
