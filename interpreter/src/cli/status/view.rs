//! What `status` shows, as the page gives it field by field (command line, 3.1 and 3.3). The order of the fields is the
//! order in which they are written.

use std::collections::BTreeMap;

use serde::Serialize;

/// Things by name.
pub type Named<T> = BTreeMap<String, T>;

fn is_zero(number: &u32) -> bool {
    *number == 0
}

fn is_false(truth: &bool) -> bool {
    !*truth
}

/// What could be read, or why it could not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Shown<T> {
    /// It could.
    Read(Box<T>),
    /// It could not.
    Damaged {
        /// Why.
        #[serde(rename = "status-error")]
        status_error: String,
    },
}

impl<T> Shown<T> {
    /// What could not be read, and why.
    pub fn damaged(error: &dyn std::fmt::Display) -> Self {
        Shown::Damaged {
            status_error: error.to_string(),
        }
    }

    /// What could be read.
    pub fn read(&self) -> Option<&T> {
        match self {
            Shown::Read(value) => Some(value),
            Shown::Damaged { .. } => None,
        }
    }
}

impl<T> From<T> for Shown<T> {
    fn from(value: T) -> Self {
        Shown::Read(Box::new(value))
    }
}

/// A model and all that is in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StatusView {
    /// The model itself.
    pub model: ModelView,
    /// There are none on Kubernetes.
    pub machines: Named<()>,
    /// Applications by name.
    pub applications: Named<Shown<ApplicationView>>,
    /// Storage.
    pub storage: StorageView,
    /// When this was read.
    pub controller: ControllerView,
}

/// The model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct ModelView {
    /// Its short name.
    pub name: String,
    /// Always `caas`.
    pub r#type: &'static str,
    /// The controller's name that we answer to.
    pub controller: String,
    /// The cloud's name that we answer to.
    pub cloud: String,
    /// The Juju version whose command line we speak.
    pub version: &'static str,
    /// What it does.
    pub model_status: Shown<StatusEntry>,
}

impl StatusView {
    /// The units of all applications.
    pub fn units(&self) -> impl Iterator<Item = (&String, &UnitView)> {
        let applications = self.applications.values().filter_map(Shown::read);
        applications.flat_map(|application| &application.units)
    }
}

/// When a status was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ControllerView {
    /// Time of day.
    pub timestamp: String,
}

/// An application.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct ApplicationView {
    /// The charm's URL.
    pub charm: String,
    /// The base, if the charm names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<BaseView>,
    /// Always `local`.
    pub charm_origin: &'static str,
    /// The charm's name.
    pub charm_name: String,
    /// The charm's revision in the model.
    pub charm_rev: u32,
    /// The charm's `version` file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub charm_version: Option<String>,
    /// Units wanted.
    #[serde(skip_serializing_if = "is_zero")]
    pub scale: u32,
    /// The uid of its Service.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_id: Option<String>,
    /// The Service's address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Always false: nothing is exposed.
    pub exposed: bool,
    /// How far it is on its way out; absent while it is alive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub life: Option<&'static str>,
    /// What it does.
    pub application_status: StatusEntry,
    /// Units by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub units: Named<UnitView>,
    /// The workload's version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

/// A base.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BaseView {
    /// Name of the system.
    pub name: String,
    /// Its channel, without `/stable`.
    pub channel: String,
}

/// A unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct UnitView {
    /// What its workload does.
    pub workload_status: StatusEntry,
    /// What its agent does.
    pub juju_status: StatusEntry,
    /// Whether it leads.
    #[serde(skip_serializing_if = "is_false")]
    pub leader: bool,
    /// Open ports, as `5432/TCP`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub open_ports: Vec<String>,
    /// The pod's address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// The pod's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_id: Option<String>,
}

/// A status: word, message, since.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StatusEntry {
    /// The word.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub current: String,
    /// For people.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// Since when.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub since: String,
    /// Of a unit's agent: how far the unit is on its way out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub life: Option<&'static str>,
}

/// Storage, three ways; also the JSON of `storage`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StorageView {
    /// Storages by id.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub storage: Named<StorageEntry>,
    /// Filesystems by number.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub filesystems: Named<FilesystemEntry>,
    /// Volumes by number.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub volumes: Named<VolumeEntry>,
}

impl StorageView {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.storage.is_empty() && self.filesystems.is_empty() && self.volumes.is_empty()
    }
}

/// A storage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StorageEntry {
    /// Always `filesystem`.
    pub kind: &'static str,
    /// How far it is on its way out.
    pub life: &'static str,
    /// What it does.
    pub status: StatusEntry,
    /// False for every filesystem, as Juju says it.
    pub persistent: bool,
    /// Who has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attachments: Option<StorageAttachments>,
}

/// Who has a storage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StorageAttachments {
    /// Units by name.
    pub units: Named<Attachment>,
}

/// That a unit has something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Attachment {
    /// How far the attachment is on its way out.
    pub life: &'static str,
}

/// A filesystem.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct FilesystemEntry {
    /// The claim's uid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_id: Option<String>,
    /// The number of its volume.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volume: Option<String>,
    /// The storage's id.
    pub storage: String,
    /// Who has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attachments: Option<Attachments<FilesystemMount>>,
    /// Its pool, once it is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pool: Option<String>,
    /// MiB; 0 until it is there.
    pub size: u64,
    /// How far it is on its way out.
    pub life: &'static str,
    /// What it does.
    pub status: StatusEntry,
}

/// A volume.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct VolumeEntry {
    /// The volume's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_id: Option<String>,
    /// The storage's id.
    pub storage: String,
    /// Who has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attachments: Option<Attachments<VolumeMount>>,
    /// Its pool, once it is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pool: Option<String>,
    /// MiB; 0 until it is there.
    pub size: u64,
    /// Whether it outlives its pod; true once it is there.
    pub persistent: bool,
    /// How far it is on its way out.
    pub life: &'static str,
    /// What it does.
    pub status: StatusEntry,
}

/// Who has a filesystem or a volume.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Attachments<T> {
    /// Where its containers see it, by unit.
    pub containers: Named<T>,
    /// Units by name.
    pub units: Named<Attachment>,
}

/// Where a unit sees a filesystem.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct FilesystemMount {
    /// The path; empty until it is there.
    pub mount_point: String,
    /// Whether it is only read.
    pub read_only: bool,
    /// How far it is on its way out.
    pub life: &'static str,
}

/// How a unit has a volume.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct VolumeMount {
    /// Whether it is only read.
    pub read_only: bool,
    /// How far it is on its way out.
    pub life: &'static str,
}
