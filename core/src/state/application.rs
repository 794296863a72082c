//! Applications: what a user wants, and what Pilotage knows.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::charm::{
    Charm, ConfigValue, Constraints, DeviceDirective, Filesystem, StorageDirective,
};
use crate::digest::Digest;
use crate::life::Life;
use crate::name::{Uid, Version};
use crate::secret::SecretRef;
use crate::time::Timestamp;

use super::{Status, StatusReport, StorageInstance, Unit};

/// An application's record.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Application {
    /// The identity of this life of the name.
    pub uid: Uid,
    /// The name, unique in the model until the record is gone.
    pub name: Box<str>,
    /// The model.
    pub model: Uid,
    /// The record's version; rises by one with every change.
    pub version: Version,
    /// When the record was made.
    pub created: Timestamp,
    /// What users want.
    pub spec: ApplicationSpec,
    /// What Pilotage knows.
    pub status: ApplicationState,
}

/// What users want of an application.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ApplicationSpec {
    /// The charm.
    pub charm: Arc<Charm>,
    /// Where the charm came from.
    pub origin: CharmOrigin,
    /// Rises with every refresh and every new resource (Juju: charm modified version).
    pub modified: u32,
    /// Resources, by name.
    pub resources: BTreeMap<String, Resource>,
    /// Units wanted.
    pub scale: u32,
    /// Whether its pods may do everything in the cluster.
    pub trust: bool,
    /// The charm's options that the user set.
    pub config: BTreeMap<String, ConfigValue>,
    /// Settings of the application itself that the user set (command line, 2.3), as text.
    pub settings: BTreeMap<String, String>,
    /// The application's constraints.
    pub constraints: Constraints,
    /// Storage directives as the user gave them, by storage.
    pub storage: BTreeMap<String, StorageDirective>,
    /// The filesystems of each unit, as they were resolved when the user asked.
    pub filesystems: Vec<Filesystem>,
    /// Devices asked for, by label. Recorded only.
    pub devices: BTreeMap<String, DeviceDirective>,
    /// The base asked for, if not the charm's own, as `ubuntu@22.04`.
    pub base: Option<String>,
    /// The template revision that builds its pods.
    pub template: u32,
    /// Set once the application is to go.
    pub removal: Option<RemovalWish>,
}

impl Application {
    /// The values of the vault that it names.
    pub fn secrets(&self) -> impl Iterator<Item = &SecretRef> {
        let resources = self.spec.resources.values();
        resources.filter_map(|resource| match &resource.value {
            ResourceValue::Image { login, .. } => login.as_ref().map(|login| &login.secret),
            ResourceValue::File { .. } => None,
        })
    }
}

/// Where a charm came from.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CharmOrigin {
    /// The revision in this model; `local:<charm>-<revision>` is the charm's URL.
    pub revision: u32,
    /// The charm's `version` file.
    pub version: Option<String>,
}

/// A resource and how it came.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Resource {
    /// What it is.
    pub value: ResourceValue,
    /// Whether the user gave it; otherwise it is the charm's `upstream-source`.
    pub given: bool,
    /// Rises with every new value.
    pub revision: u32,
    /// Since when.
    pub since: Timestamp,
}

/// What a resource is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ResourceValue {
    /// An image.
    Image {
        /// The image reference.
        path: String,
        /// How to log in at its registry.
        login: Option<Login>,
    },
    /// A file. Only charm code uses it, which Pilotage does not run, so its content is not kept.
    File {
        /// The path that was given.
        path: String,
        /// Bytes.
        size: u64,
        /// Digest of the content.
        digest: Digest,
    },
}

/// How to log in at a registry.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Login {
    /// Who.
    pub username: String,
    /// The password, in the vault.
    pub secret: SecretRef,
    /// The keyed fingerprint of the `data` that the pull secret must have.
    pub fingerprint: Digest,
}

/// How something is to go.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct RemovalWish {
    /// Delete its claims too.
    pub destroy_storage: bool,
    /// Do not wait for agents; units leave the state at once and a tombstone stays until the cluster is clean.
    pub force: bool,
}

/// A removal as a user asks for it.
pub type Removal = RemovalWish;

/// What Pilotage knows of an application.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ApplicationState {
    /// How far it is on its way out.
    pub life: Life,
    /// The target of the scaling in progress.
    pub scaling: Option<u32>,
    /// Units, by number.
    pub units: Vec<Unit>,
    /// How many units it had, counted from 0, when it was removed by force: what they left is looked for by name.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub former_units: u32,
    /// Storages, by number; also those whose unit is gone.
    pub storage: Vec<StorageInstance>,
    /// The service, as last reported.
    pub service: Option<ServiceReport>,
    /// The provisioner's own status: the most severe verdict of its worker. Laid over what the units say.
    pub provisioner: Status,
    /// Whether the provisioner has said, since users last changed their mind, that all that they want is there and every
    /// pod is built by it. It says so only where somebody asks ([`Config::confirm`](crate::provisioner::Config::confirm)).
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub at_rest: bool,
    /// When the units' derived status last changed; see the status rules.
    pub settled: Status,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // As serde asks.
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// What was last reported of an application as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ApplicationReport {
    /// The service.
    pub service: Option<ServiceReport>,
    /// The provisioner's own status.
    pub provisioner: StatusReport,
    /// Whether all that users want is there.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub at_rest: bool,
}

/// An application's service.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ServiceReport {
    /// The uid of the Service, which is the application's provider id (KAPP-31).
    pub uid: Option<Uid>,
    /// Addresses, the first of which is shown (KAPP-32).
    pub addresses: Vec<Box<str>>,
}
