//! The filesystems that each unit of an application gets.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

/// One filesystem that every unit gets: what a charm's storage, a user's directive and a model's defaults make together.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Filesystem {
    /// Name of the storage in the charm.
    pub storage: String,
    /// Which of several, from 0; `None` where the charm does not declare `multiple`. It is part of the claim's name.
    pub index: Option<u32>,
    /// Name of the pool as the user or the model gave it; `None` where neither did. What `storage` shows.
    pub pool: Option<String>,
    /// What it is made of.
    pub kind: FilesystemKind,
    /// Size in MiB.
    pub size_mib: u64,
    /// Absolute path at which the charm itself sees it.
    pub path: String,
    /// Whether it is only read.
    pub read_only: bool,
    /// Where workload containers see it; by container, then as written.
    pub mounts: Vec<ContainerMount>,
}

/// Where one workload container sees a filesystem.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ContainerMount {
    /// Name of the container.
    pub container: String,
    /// Absolute path in it.
    pub path: String,
}

/// What a filesystem is made of.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FilesystemKind {
    /// A persistent volume claim.
    Claim {
        /// Name of the storage class; `None` leaves it to the cluster's default.
        class: Option<String>,
        /// How nodes may mount it.
        mode: AccessMode,
    },
    /// A directory of the node that ends with the pod.
    Rootfs,
    /// Memory of the node that ends with the pod.
    Tmpfs,
}

/// How nodes may mount a claim, in Kubernetes' words.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum AccessMode {
    /// Read and written by one node.
    #[default]
    ReadWriteOnce,
    /// Only read, by many nodes.
    ReadOnlyMany,
    /// Read and written by many nodes.
    ReadWriteMany,
}

/// A pool: a name for a way of making filesystems.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Pool {
    /// Its name.
    pub name: String,
    /// What makes its filesystems.
    pub provider: Provider,
    /// Attributes of the provider, such as `storage-class`.
    pub attributes: BTreeMap<String, String>,
}

/// What makes the filesystems of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Provider {
    /// The cluster, by claims.
    Kubernetes,
    /// The node's disk.
    Rootfs,
    /// The node's memory.
    Tmpfs,
}

/// What a model says about storage.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct StorageDefaults {
    /// Pool or storage class for storages without one; `None`: the cluster's default class.
    pub pool: Option<String>,
    /// Pools that users made, by name.
    pub pools: Vec<Pool>,
}
