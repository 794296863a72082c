//! Storages that a charm declares: `storage`.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

/// A storage that a charm declares.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct StorageDeclaration {
    /// Name of the storage.
    pub name: String,
    /// What it is.
    pub kind: StorageKind,
    /// What it is for.
    pub description: String,
    /// Whether all units share one; recorded, without an effect.
    pub shared: bool,
    /// Whether it is only read.
    pub read_only: bool,
    /// How many each unit gets.
    pub count: Count,
    /// Least size in MiB that the charm works with.
    pub minimum_size_mib: Option<u64>,
    /// Absolute path at which the charm sees it, without a slash at its end; `None`: a path of ours.
    pub location: Option<String>,
    /// Further wishes, such as `transient`; recorded, without an effect.
    pub properties: Vec<String>,
}

/// What a storage is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StorageKind {
    /// A mounted filesystem.
    Filesystem,
    /// A block device: refused at deploy, as containers get none.
    Block,
}

/// How many filesystems of a storage each unit gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Count {
    /// The charm declares no `multiple`: exactly one.
    One,
    /// The charm's `multiple.range`.
    Multiple {
        /// The least number; 0 makes the storage optional.
        minimum: u32,
        /// The most; `None` is no bound.
        maximum: Option<u32>,
    },
}

impl Count {
    /// The least number that a unit needs.
    pub fn minimum(self) -> u32 {
        match self {
            Self::One => 1,
            Self::Multiple { minimum, .. } => minimum,
        }
    }

    /// The most that a unit can have; `None` is no bound.
    pub fn maximum(self) -> Option<u32> {
        match self {
            Self::One => Some(1),
            Self::Multiple { maximum, .. } => maximum,
        }
    }
}
