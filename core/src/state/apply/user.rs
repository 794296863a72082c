//! What users change of an application that is there.

use alloc::collections::BTreeMap;
use alloc::string::String;

use crate::charm::{ConfigValue, Constraints};
use crate::state::{Application, Denial, TEMPLATE_REVISION};

use super::{scaling, settings};

impl Application {
    /// Sets the number of units wanted. Units come in [`Application::restore_units`]; they go when the worker says so.
    pub(super) fn set_scale(&mut self, scale: i128) -> Result<(), Denial> {
        self.must_be_alive()?;
        self.spec.scale =
            scaling::units_wanted(scale, self.spec.filesystems.len(), self.spec.scale)?;
        Ok(())
    }

    pub(super) fn change_scale(&mut self, by: i64) -> Result<(), Denial> {
        let scale = i128::from(self.spec.scale).saturating_add(i128::from(by));
        self.set_scale(scale)
    }

    pub(super) fn set_trust(&mut self, trust: bool) -> Result<(), Denial> {
        self.must_be_alive()?;
        self.spec.trust = trust;
        Ok(())
    }

    pub(super) fn configure(
        &mut self,
        config: &BTreeMap<String, Option<ConfigValue>>,
        texts: &BTreeMap<String, Option<String>>,
    ) -> Result<(), Denial> {
        self.must_be_alive()?;
        for (name, value) in config {
            settings::check_option(&self.spec.charm, name, value.as_ref())?;
            set(&mut self.spec.config, name, value);
        }
        self.change_settings(texts)
    }

    /// Changes settings; trust is one of them under another name.
    pub(super) fn change_settings(
        &mut self,
        texts: &BTreeMap<String, Option<String>>,
    ) -> Result<(), Denial> {
        for (key, text) in texts {
            settings::check_key(key)?;
            if key == settings::TRUST {
                self.spec.trust = match text {
                    Some(text) => settings::truth(key, text)?,
                    None => false,
                };
            } else {
                set(&mut self.spec.settings, key, text);
            }
        }
        settings::check(&self.spec.settings)
    }

    pub(super) fn set_constraints(&mut self, constraints: &Constraints) -> Result<(), Denial> {
        self.must_be_alive()?;
        if self.spec.constraints != *constraints {
            self.spec.constraints = constraints.clone();
            self.spec.template = TEMPLATE_REVISION;
        }
        Ok(())
    }

    pub(super) fn upgrade(&mut self) -> Result<(), Denial> {
        self.must_be_alive()?;
        self.spec.template = TEMPLATE_REVISION;
        Ok(())
    }
}

fn set<T: Clone>(map: &mut BTreeMap<String, T>, key: &str, value: &Option<T>) {
    match value {
        Some(value) => map.insert(key.into(), value.clone()),
        None => map.remove(key),
    };
}
