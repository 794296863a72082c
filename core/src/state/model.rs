//! Models: a namespace and what holds for all its applications.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::charm::Constraints;
use crate::kubernetes::labels::Labels;
use crate::life::Life;
use crate::name::{Uid, Version};
use crate::time::Timestamp;

use super::{RemovalWish, Status};

/// A model's record.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Model {
    /// The identity.
    pub uid: Uid,
    /// The name, unique in the state.
    pub name: Box<str>,
    /// The record's version.
    pub version: Version,
    /// When the record was made.
    pub created: Timestamp,
    /// What users want.
    pub spec: ModelSpec,
    /// What Pilotage knows.
    pub status: ModelState,
}

/// What users want of a model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ModelSpec {
    /// Settings that differ from their defaults, by key.
    pub settings: BTreeMap<String, String>,
    /// Constraints that stand behind each application's.
    pub constraints: Constraints,
    /// Set once the model is to go.
    pub removal: Option<RemovalWish>,
}

/// What Pilotage knows of a model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ModelState {
    /// How far it is on its way out.
    pub life: Life,
    /// What it does.
    pub status: Status,
    /// Uids of applications that were removed, oldest first; the last 1,000. Their objects are leftovers.
    pub removed: Vec<Uid>,
    /// Those of them whose storage was to be destroyed: claims of theirs that are found later go too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub destroyed: Vec<Uid>,
    /// The next number of a storage.
    pub next_storage: u32,
    /// The next revision of each charm, by the charm's name.
    pub next_revision: BTreeMap<String, u32>,
}

/// What the provisioner needs of a model.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ModelView {
    /// The identity.
    pub uid: Uid,
    /// The record's version.
    pub version: Version,
    /// The name.
    pub name: Box<str>,
    /// The namespace.
    pub namespace: Box<str>,
    /// Whether the namespace is the model's own. The model `default` uses the namespace `default` without owning it.
    pub owns_namespace: bool,
    /// How far it is on its way out.
    pub life: Life,
    /// How it is to go.
    pub removal: Option<RemovalWish>,
    /// Labels for the metadata of every object (`resource-tags`).
    pub resource_tags: Labels,
    /// Constraints that stand behind each application's.
    pub constraints: Constraints,
    /// Uids of applications that were removed.
    pub removed: Vec<Uid>,
    /// Those of them whose storage was to be destroyed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub destroyed: Vec<Uid>,
    /// What was last reported of it.
    pub status: super::StatusReport,
}
