//! Constraints: what the units of an application need of the nodes that run them.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

/// Constraints of an application or a model.
///
/// `None` means not named: the model's value holds. An *empty* value (0, no text, no list) is named too and means none,
/// also against the model's. On Kubernetes `mem`, `cpu_power`, `arch`, `tags` and `zones` have an effect; the rest is
/// kept and shown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct Constraints {
    /// Architecture: `amd64`, `arm64`, `ppc64el`, `s390x`, `riscv64`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arch: Option<String>,
    /// Kind of machine container; no effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
    /// Number of cores; no effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cores: Option<u64>,
    /// Thousandths of a CPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_power: Option<u64>,
    /// Role of the instance; no effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance_role: Option<String>,
    /// Type of the instance; no effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance_type: Option<String>,
    /// Memory in MiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mem: Option<u64>,
    /// Size of the root disk in MiB; no effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root_disk: Option<u64>,
    /// Where the root disk comes from; no effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root_disk_source: Option<String>,
    /// Affinity terms, in the order given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<String>>,
    /// Network spaces; no effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spaces: Option<Vec<String>>,
    /// Kind of virtual machine; no effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub virt_type: Option<String>,
    /// Zones, one of which a unit must be in, in the order given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zones: Option<Vec<String>>,
    /// Whether a public address is wanted; no effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allocate_public_ip: Option<bool>,
    /// Machine image; no effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image_id: Option<String>,
}
