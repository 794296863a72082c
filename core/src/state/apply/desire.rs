//! What is wanted, whatever there was: each rule of the single commands, at once.

use alloc::collections::BTreeMap;
use alloc::string::String;

use crate::state::{Application, Denial, Desire, Resource, TEMPLATE_REVISION};
use crate::time::Timestamp;

use super::{refresh, resources, scaling, settings};

impl Application {
    /// All of it or nothing. A wish to remove stands alone: on what leaves, nothing else is changed.
    pub(super) fn desire(&mut self, at: Timestamp, desire: &Desire) -> Result<(), Denial> {
        if let Some(wish) = desire.removal {
            self.remove(at, wish);
            return Ok(());
        }
        self.must_be_alive()?;
        settings::check_config(&desire.charm, &desire.config)?;
        let mut texts = desire.settings.clone();
        let trust = match texts.remove(settings::TRUST) {
            Some(text) => settings::truth(settings::TRUST, &text)?,
            None => desire.trust,
        };
        settings::check(&texts)?;
        let filesystems = desire.filesystems()?;
        let asked = i128::from(desire.scale);
        let scale = scaling::units_wanted(asked, filesystems.len(), self.spec.scale)?;
        if let Some(storage) = refresh::first_difference(&self.spec.filesystems, &filesystems) {
            return Err(Denial::ClaimsChange {
                application: self.name.clone(),
                storage,
            });
        }

        let spec = &mut self.spec;
        let before = spec.clone();
        spec.charm = desire.charm.clone();
        spec.origin = desire.origin.clone();
        let former = only_given(&before.resources, desire);
        spec.resources = resources::at_refresh(at, &spec.charm, &desire.resources, &former)?;
        spec.config = desire.config.clone();
        spec.settings = texts;
        spec.constraints = desire.constraints.clone();
        spec.storage = desire.storage.clone();
        spec.filesystems = filesystems;
        spec.devices = desire.devices.clone();
        spec.base = desire.base.clone();
        spec.scale = scale;
        spec.trust = trust;
        if spec.charm != before.charm
            || spec.origin != before.origin
            || spec.resources != before.resources
        {
            spec.modified = spec.modified.saturating_add(1);
        }
        let rebuilt = spec.modified != before.modified
            || spec.filesystems != before.filesystems
            || spec.constraints != before.constraints;
        let asked = desire.template.unwrap_or(0).min(TEMPLATE_REVISION);
        spec.template = match rebuilt {
            true => TEMPLATE_REVISION,
            false => spec.template.max(asked),
        };
        Ok(())
    }
}

/// The resources as they were, of which only those count as given that are still given.
fn only_given(before: &BTreeMap<String, Resource>, desire: &Desire) -> BTreeMap<String, Resource> {
    let still = before.iter().map(|(name, resource)| {
        let mut resource = resource.clone();
        resource.given &= desire.resources.contains_key(name);
        (name.clone(), resource)
    });
    still.collect()
}
