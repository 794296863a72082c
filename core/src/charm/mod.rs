//! What the files of a charm mean.
//!
//! A charm is data: a name, containers with their images, storages, options. This module gives those files their
//! meaning, as plain values without places or text left to parse; finding the files, and saying in which line a mistake
//! stands, is the interpreter's work. The types are the contract: records keep a [`Charm`], a worker builds objects of it.
//!
//! Every list is sorted by name and holds each name once, so that equal charms are equal values, whatever order their
//! authors wrote. Numbers are whole; a decimal number is kept as canonical text, so that values can be compared and
//! hashed.

pub mod affinity;
pub mod assumes;
pub mod bundle;
pub mod config;
pub mod constraints;
pub mod container;
pub mod device;
pub mod directive;
pub mod document;
pub mod filesystem;
mod format;
pub mod image;
pub mod metadata;
pub mod mistake;
pub mod names;
pub mod resource;
mod size;
pub mod storage;

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

pub use affinity::Affinity;
pub use assumes::Assumption;
pub use config::{ConfigOption, ConfigValue, OptionKind};
pub use constraints::Constraints;
pub use container::{Container, Mount};
pub use device::{DeviceDeclaration, DeviceDirective};
pub use directive::StorageDirective;
pub use filesystem::{
    AccessMode, ContainerMount, Filesystem, FilesystemKind, Pool, Provider, StorageDefaults,
};
pub use metadata::{Files, Reading, read};
pub use mistake::{Mistake, Severity};
pub use resource::{ResourceDeclaration, ResourceKind};
pub use storage::{Count, StorageDeclaration, StorageKind};

/// One charm: what its metadata and its configuration options say.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Charm {
    /// The charm's own name; the application's name unless the user gives another.
    pub name: String,
    /// One line about what it is for.
    pub summary: String,
    /// Longer text about what it is for.
    pub description: String,
    /// How the charm wants its workload run.
    pub format: Format,
    /// As whom the charm's own code runs.
    pub user: CharmUser,
    /// The bases that the charm names, the first of which it prefers.
    pub bases: Vec<Base>,
    /// What must be there for the charm to work; all of it.
    pub assumes: Vec<Assumption>,
    /// Workload containers, by name.
    pub containers: Vec<Container>,
    /// Storages, by name.
    pub storages: Vec<StorageDeclaration>,
    /// Resources (images and files), by name.
    pub resources: Vec<ResourceDeclaration>,
    /// Devices, by name. Recorded only: no unit gets one yet.
    pub devices: Vec<DeviceDeclaration>,
    /// Configuration options, by name.
    pub options: Vec<ConfigOption>,
}

/// How a charm wants its workload run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// Version 1: an operator pod sends a pod specification.
    PodSpec,
    /// Version 2: workload containers beside the charm's, in the units' own pods.
    Sidecar,
}

/// As whom the charm's own code runs (`charm-user`).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum CharmUser {
    /// The charm does not say: root, by custom.
    #[default]
    Default,
    /// Root (0).
    Root,
    /// A user that may become root.
    Sudoer,
    /// A user that may not.
    NonRoot,
}

/// An operating system image that a charm is built for, as `ubuntu@22.04/stable`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Base {
    /// Name of the system: `ubuntu`.
    pub name: String,
    /// Channel of the system: `22.04/stable`.
    pub channel: String,
}

impl Charm {
    /// The container of that name.
    pub fn container(&self, name: &str) -> Option<&Container> {
        self.containers
            .iter()
            .find(|container| container.name == name)
    }

    /// The storage of that name.
    pub fn storage(&self, name: &str) -> Option<&StorageDeclaration> {
        self.storages.iter().find(|storage| storage.name == name)
    }

    /// The resource of that name.
    pub fn resource(&self, name: &str) -> Option<&ResourceDeclaration> {
        self.resources.iter().find(|resource| resource.name == name)
    }

    /// The configuration option of that name.
    pub fn option(&self, name: &str) -> Option<&ConfigOption> {
        self.options.iter().find(|option| option.name == name)
    }
}

impl core::fmt::Display for Base {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}@{}", self.name, self.channel)
    }
}
