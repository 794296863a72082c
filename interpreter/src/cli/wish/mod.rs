//! What a user wishes of one application, whichever command or file says it: `deploy`, `refresh`, a bundle, `up`.
//!
//! [`options`] reads what the command line says, [`resources`] makes resources of what was given, [`check`] decides
//! whether the model can have it, before anything is written; [`apply`] makes commands of it.

pub mod apply;
pub mod check;
pub mod options;
pub mod resources;

use std::collections::BTreeMap;
use std::sync::Arc;

use pilotage_core::charm::{Charm, ConfigValue, Constraints, DeviceDirective, StorageDirective};

use crate::charm::{BundleCharm, GivenResource, ReadCharm};

/// What a user wishes of one application. What is `None` or not in a map was not said.
#[derive(Clone, Debug)]
pub struct Wish {
    /// The application's name.
    pub name: String,
    /// The charm.
    pub charm: Arc<Charm>,
    /// The revision that the charm's files claim.
    pub claimed: Option<u64>,
    /// The charm's `version` file.
    pub version: Option<String>,
    /// Units.
    pub scale: Option<u32>,
    /// Whether it is trusted.
    pub trust: Option<bool>,
    /// Resources.
    pub resources: BTreeMap<String, GivenResource>,
    /// Options of the charm.
    pub config: BTreeMap<String, ConfigValue>,
    /// Settings of the application itself.
    pub settings: BTreeMap<String, String>,
    /// Constraints.
    pub constraints: Option<Constraints>,
    /// Storage directives.
    pub storage: BTreeMap<String, StorageDirective>,
    /// Devices.
    pub devices: BTreeMap<String, DeviceDirective>,
    /// Base.
    pub base: Option<String>,
}

impl Wish {
    /// A charm, and nothing said about it.
    pub fn of_charm(name: &str, read: ReadCharm) -> Self {
        let version = version_file(&read);
        Wish {
            name: name.into(),
            claimed: read.revision,
            version,
            charm: Arc::new(read.charm),
            scale: None,
            trust: None,
            resources: BTreeMap::new(),
            config: BTreeMap::new(),
            settings: BTreeMap::new(),
            constraints: None,
            storage: BTreeMap::new(),
            devices: BTreeMap::new(),
            base: None,
        }
    }

    /// What a bundle says.
    pub fn of_bundle(part: BundleCharm) -> Self {
        let application = part.application;
        Wish {
            scale: application.scale,
            trust: application.trust,
            resources: part.resources,
            config: part.config,
            settings: part.settings,
            constraints: application.constraints,
            storage: application.storage,
            devices: application.devices,
            base: application.base,
            ..Wish::of_charm(&application.name, part.read)
        }
    }
}

/// The charm's `version` file, as charm tools write it: one line.
fn version_file(read: &ReadCharm) -> Option<String> {
    let text = std::fs::read_to_string(read.path.join("version")).ok()?;
    let line = text.lines().next()?.trim();
    (!line.is_empty()).then(|| line.to_owned())
}
