//! All that a user wants of a record, as one value: for stores whose specs users write directly.
//!
//! A single command says what is to change; a [`Desire`] says what is wanted, whatever there was. So a store that finds
//! a spec changed, and does not know by which steps, still gives one command. For every command of a user there is a
//! desire that does the same: [`ApplicationSpec::desire`] of what the command made.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::charm::{
    Charm, ConfigValue, Constraints, DeviceDirective, Filesystem, StorageDefaults,
    StorageDirective, filesystem,
};
use crate::name::Uid;

use super::{ApplicationSpec, CharmOrigin, Denial, NewApplication, RemovalWish, ResourceValue};

/// All that a user wants of an application.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Desire {
    /// The charm.
    pub charm: Arc<Charm>,
    /// Where it came from.
    pub origin: CharmOrigin,
    /// Resources that the user gives. What is not given comes from `upstream-source`.
    pub resources: BTreeMap<String, ResourceValue>,
    /// Units wanted.
    pub scale: u32,
    /// Whether it is trusted.
    pub trust: bool,
    /// Options of the charm; what is not named has its default.
    pub config: BTreeMap<String, ConfigValue>,
    /// Settings of the application itself; what is not named has its default.
    pub settings: BTreeMap<String, String>,
    /// The application's constraints.
    pub constraints: Constraints,
    /// Storage directives.
    pub storage: BTreeMap<String, StorageDirective>,
    /// The filesystems of each unit; where absent, what charm and directives make of the defaults.
    pub filesystems: Option<Vec<Filesystem>>,
    /// Devices.
    pub devices: BTreeMap<String, DeviceDirective>,
    /// The base asked for.
    pub base: Option<String>,
    /// Build the pods at least by this template revision.
    pub template: Option<u32>,
    /// Away with it. Then nothing else of the desire counts.
    pub removal: Option<RemovalWish>,
}

impl Desire {
    /// The filesystems of each unit.
    ///
    /// # Errors
    /// [`Denial::Storage`], with all that is wrong.
    pub(super) fn filesystems(&self) -> Result<Vec<Filesystem>, Denial> {
        match &self.filesystems {
            Some(filesystems) => Ok(filesystems.clone()),
            None => resolve(&self.charm, &self.storage),
        }
    }

    /// The new application that it asks for.
    ///
    /// # Errors
    /// [`Denial::Storage`], with all that is wrong.
    pub fn application(&self, model: Uid, name: &str) -> Result<NewApplication, Denial> {
        Ok(NewApplication {
            model,
            name: name.into(),
            charm: self.charm.clone(),
            origin: self.origin.clone(),
            resources: self.resources.clone(),
            scale: self.scale,
            trust: self.trust,
            config: self.config.clone(),
            settings: self.settings.clone(),
            constraints: self.constraints.clone(),
            storage: self.storage.clone(),
            filesystems: self.filesystems()?,
            devices: self.devices.clone(),
            base: self.base.clone(),
        })
    }
}

fn resolve(
    charm: &Charm,
    storage: &BTreeMap<String, StorageDirective>,
) -> Result<Vec<Filesystem>, Denial> {
    filesystem::filesystems(charm, storage, &StorageDefaults::default()).map_err(Denial::Storage)
}

impl ApplicationSpec {
    /// The desire that asks for what is here.
    pub fn desire(&self) -> Box<Desire> {
        let given = self.resources.iter().filter(|(_, resource)| resource.given);
        let resolved = resolve(&self.charm, &self.storage);
        Box::new(Desire {
            charm: self.charm.clone(),
            origin: self.origin.clone(),
            resources: given
                .map(|(name, resource)| (name.clone(), resource.value.clone()))
                .collect(),
            scale: self.scale,
            trust: self.trust,
            config: self.config.clone(),
            settings: self.settings.clone(),
            constraints: self.constraints.clone(),
            storage: self.storage.clone(),
            filesystems: match resolved {
                Ok(resolved) if resolved == self.filesystems => None,
                _ => Some(self.filesystems.clone()),
            },
            devices: self.devices.clone(),
            base: self.base.clone(),
            template: Some(self.template),
            removal: self.removal,
        })
    }
}
