//! What can happen to a model's record.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use crate::event::Event;
use crate::life::Life;
use crate::name::{Uid, Version};
use crate::outcome::Reply;
use crate::state::changes::model_changes;
use crate::state::naming::check_model_name;
use crate::state::{
    Caller, Denial, Model, ModelCommand, ModelSpec, ModelState, RemovalWish, Status, StatusReport,
    Word,
};
use crate::time::Timestamp;

use super::{FIRST, NONE, next, permission, recorded, resource_tags};

/// How many removed applications a model remembers.
pub const REMOVED_REMEMBERED: usize = 1_000;

/// Settings that Pilotage shows but nobody sets.
const FIXED: [&str; 4] = ["agent-version", "name", "type", "uuid"];

impl Model {
    /// A new model.
    ///
    /// # Errors
    /// A name that no namespace can have; settings that mean nothing.
    pub fn add(
        uid: Uid,
        at: Timestamp,
        name: &str,
        settings: &BTreeMap<String, String>,
    ) -> Result<(Model, Reply), Denial> {
        check_model_name(name)?;
        check_settings(settings)?;
        let model = Model {
            uid,
            name: name.into(),
            version: FIRST,
            created: at,
            spec: ModelSpec {
                settings: settings.clone(),
                ..ModelSpec::default()
            },
            status: ModelState {
                status: Status {
                    report: StatusReport::new(Word::Unknown, ""),
                    since: at,
                },
                ..ModelState::default()
            },
        };
        let changes = model_changes(None, Some(&model));
        Ok((model, recorded(NONE, FIRST, changes)))
    }

    /// Applies a command; `None` says that the record is gone. Whether a model is empty when it is cleared, the
    /// [`transaction`](crate::state::transaction) checks.
    ///
    /// # Errors
    /// Why the command is not carried out; then nothing has changed.
    pub fn apply(
        &self,
        at: Timestamp,
        caller: Caller,
        expect: Option<Version>,
        command: &ModelCommand,
    ) -> Result<(Option<Model>, Reply), Denial> {
        permission::model(caller, command)?;
        permission::version(
            self.version,
            expect,
            matches!(command, ModelCommand::Clear),
            permission::model_command_name(command),
        )?;
        let mut after = self.clone();
        let mut drawn = None;
        match command {
            ModelCommand::Add { .. } => return Err(Denial::ModelExists(self.name.clone())),
            ModelCommand::Configure { settings } => after.configure(settings)?,
            ModelCommand::SetConstraints { constraints } => {
                after.must_be_alive()?;
                after.spec.constraints = (**constraints).clone();
            }
            ModelCommand::Desire(desire) => after.desire(desire)?,
            ModelCommand::Destroy { wish } => after.destroy(*wish),
            ModelCommand::DrawStorage { count } => drawn = Some(after.draw_storage(*count)?),
            ModelCommand::DrawRevision { charm, floor } => {
                drawn = Some(after.draw_revision(charm, *floor)?);
            }
            ModelCommand::RememberRemoved {
                application,
                destroyed,
            } => after.remember(*application, *destroyed),
            ModelCommand::Report { status } => {
                after.status.status.update(at, status.clone());
            }
            ModelCommand::Clear => {
                if self.status.life != Life::Dying {
                    return Err(Denial::Untimely {
                        command: "clear",
                        name: self.name.clone(),
                        because: "nobody asked to remove it",
                    });
                }
                let changes = model_changes(Some(self), None);
                return Ok((None, recorded(self.version, next(self.version), changes)));
            }
        }
        let changes: Vec<Event> = if after == *self {
            Vec::new()
        } else {
            after.version = next(self.version);
            model_changes(Some(self), Some(&after))
        };
        let reply = Reply::Recorded {
            before: self.version,
            version: after.version,
            changes,
            drawn,
        };
        Ok((Some(after), reply))
    }

    fn must_be_alive(&self) -> Result<(), Denial> {
        match self.status.life {
            Life::Alive => Ok(()),
            _ => Err(Denial::ModelLeaving(self.name.clone())),
        }
    }

    fn configure(&mut self, settings: &BTreeMap<String, Option<String>>) -> Result<(), Denial> {
        self.must_be_alive()?;
        for (key, value) in settings {
            match value {
                Some(value) => self.spec.settings.insert(key.clone(), value.clone()),
                None => self.spec.settings.remove(key),
            };
        }
        check_settings(&self.spec.settings)
    }

    fn desire(&mut self, desire: &ModelSpec) -> Result<(), Denial> {
        if let Some(wish) = desire.removal {
            self.destroy(wish);
            return Ok(());
        }
        self.must_be_alive()?;
        self.spec.settings.clone_from(&desire.settings);
        self.spec.constraints.clone_from(&desire.constraints);
        check_settings(&self.spec.settings)
    }

    fn destroy(&mut self, wish: RemovalWish) {
        self.spec.removal = Some(self.spec.removal.unwrap_or_default().and(wish));
        self.status.life = self.status.life.max(Life::Dying);
    }

    fn draw_storage(&mut self, count: u32) -> Result<u32, Denial> {
        let first = self.status.next_storage;
        self.status.next_storage = first
            .checked_add(count)
            .ok_or(Denial::Exhausted("numbers for storages"))?;
        Ok(first)
    }

    fn draw_revision(&mut self, charm: &str, floor: u32) -> Result<u32, Denial> {
        self.must_be_alive()?;
        let next = self.status.next_revision.get(charm).copied();
        let drawn = next.unwrap_or(0).max(floor);
        let after = drawn
            .checked_add(1)
            .ok_or(Denial::Exhausted("revisions of this charm"))?;
        self.status.next_revision.insert(charm.into(), after);
        Ok(drawn)
    }

    /// What was to be destroyed stays so.
    fn remember(&mut self, application: Uid, destroy: bool) {
        let ModelState {
            removed, destroyed, ..
        } = &mut self.status;
        if destroy && !destroyed.contains(&application) {
            destroyed.push(application);
        }
        if !removed.contains(&application) {
            removed.push(application);
        }
        let surplus = removed.len().saturating_sub(REMOVED_REMEMBERED);
        removed.drain(..surplus);
        destroyed.retain(|uid| removed.contains(uid));
    }

    /// The name of its namespace.
    pub fn namespace(&self) -> &str {
        &self.name
    }
}

fn check_settings(settings: &BTreeMap<String, String>) -> Result<(), Denial> {
    if let Some(key) = settings.keys().find(|key| FIXED.contains(&&***key)) {
        return Err(Denial::SettingFixed(key.clone()));
    }
    resource_tags(settings).map(drop)
}
