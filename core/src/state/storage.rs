//! Storages: as a part of an application's record, and as records that outlive it.

use alloc::boxed::Box;
use alloc::string::String;

use serde::{Deserialize, Serialize};

use crate::name::{Uid, Version};
use crate::time::Timestamp;

use super::Status;

/// What a storage is doing (command line, 3.3).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)] // The words themselves.
pub enum StorageWord {
    #[default]
    Pending,
    Attaching,
    Attached,
    Detaching,
    Detached,
    Destroying,
    Error,
    Unknown,
}

impl StorageWord {
    /// The word for a storage that no unit has: a late report must not attach it again.
    pub fn of_nobody(self) -> Self {
        match self {
            StorageWord::Pending | StorageWord::Attaching | StorageWord::Attached => {
                StorageWord::Detached
            }
            word => word,
        }
    }
}

/// One storage of one unit. It stays when the unit goes, and the next unit of that number gets it again (B42).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct StorageInstance {
    /// Counted over the whole model; storage `data` with number 3 is `data/3`, its filesystem and volume are `3`.
    pub number: u32,
    /// Name of the storage in the charm.
    pub storage: String,
    /// Which of several, where the charm declares `multiple`.
    pub index: Option<u32>,
    /// The unit number that it belongs to.
    pub unit: u32,
    /// Name of the claim; none for `rootfs` and `tmpfs`, which end with their pod.
    pub claim: Option<Box<str>>,
    /// Where the unit sees it.
    pub mount_point: String,
    /// Whether the unit only reads it.
    pub read_only: bool,
    /// The pool, as `storage` shows it.
    pub pool: String,
    /// What the cluster gave; nothing until the claim is bound.
    pub given: Option<super::command::Given>,
    /// What it is doing.
    pub word: StorageWord,
    /// Message and since.
    pub status: Status,
}

impl StorageInstance {
    /// The storage's id, as `data/3`.
    pub fn id(&self) -> String {
        alloc::format!("{}/{}", self.storage, self.number)
    }
}

/// A storage that outlived its application: its claim is still there.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Storage {
    /// Its model.
    pub model: Uid,
    /// The record's version.
    pub version: Version,
    /// When the record was made.
    pub created: Timestamp,
    /// The application that it belonged to.
    pub application: Uid,
    /// That application's name.
    pub application_name: Box<str>,
    /// The storage as it was.
    pub instance: StorageInstance,
    /// Whether a user asked to destroy it: then its claim is deleted, then this record.
    pub destroy: bool,
}
