//! What of a record the provisioner needs.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::charm::Format;

use super::apply::{resource_tags, service_settings};
use super::{
    Application, Model, ModelView, ProvisionedContainer, Provisioning, ResourceValue,
    StorageInstance, Unit,
};

/// The model that uses the namespace of the same name without owning it (command line, 1.7).
pub const DEFAULT_MODEL: &str = "default";

impl Application {
    /// The unit of that number.
    pub fn unit(&self, number: u32) -> Option<&Unit> {
        let units = &self.status.units;
        let place = units.binary_search_by_key(&number, |unit| unit.number);
        units.get(place.ok()?)
    }

    /// The storage of that number.
    pub fn storage(&self, number: u32) -> Option<&StorageInstance> {
        let storages = &self.status.storage;
        let place = storages.binary_search_by_key(&number, |storage| storage.number);
        storages.get(place.ok()?)
    }
}

/// What an application's objects are made from.
///
/// # Errors
/// What is missing, for people: a wait, not a fault of the worker (B121).
pub fn provisioning(application: &Application) -> Result<Provisioning, Box<str>> {
    let spec = &application.spec;
    let charm = &spec.charm;
    if charm.format == Format::PodSpec {
        return Err("pod-spec charms are not supported yet".into());
    }
    if charm.containers.is_empty() {
        return Err(alloc::format!(
            "charm \"{}\" has no containers: it needs the model's agent image",
            charm.name
        )
        .into());
    }
    let mut containers = Vec::with_capacity(charm.containers.len());
    for container in &charm.containers {
        let resource = &container.resource;
        let value = spec.resources.get(resource).map(|one| &one.value);
        let Some(ResourceValue::Image { path, login }) = value else {
            return Err(alloc::format!(
                "container \"{}\" has no image: give one with --resource {resource}=IMAGE",
                container.name
            )
            .into());
        };
        containers.push(ProvisionedContainer {
            name: container.name.clone(),
            image: path.clone(),
            login: login.clone(),
            uid: container.uid,
            gid: container.gid,
        });
    }
    let service = service_settings(&spec.settings).map_err(|wrong| alloc::format!("{wrong}"))?;
    Ok(Provisioning {
        revision: spec.modified,
        template: spec.template,
        user: charm.user,
        containers,
        filesystems: spec.filesystems.clone(),
        constraints: spec.constraints.clone(),
        service,
    })
}

impl Model {
    /// What the provisioner needs of it.
    pub fn view(&self) -> ModelView {
        ModelView {
            uid: self.uid,
            version: self.version,
            name: self.name.clone(),
            namespace: self.namespace().into(),
            owns_namespace: &*self.name != DEFAULT_MODEL,
            life: self.status.life,
            removal: self.spec.removal,
            // Commands let no others in; a record that was written by hand has none rather than half of them.
            resource_tags: resource_tags(&self.spec.settings).unwrap_or_default(),
            constraints: self.spec.constraints.clone(),
            removed: self.status.removed.clone(),
            destroyed: self.status.destroyed.clone(),
            status: self.status.status.report.clone(),
        }
    }
}
