//! The commands: every rule about records.
//!
//! [`Application::apply`], [`Model::apply`] and [`Storage::apply`] take a record and a command and give the record
//! that comes out, or why not. They are total and read no clock. A command that changes nothing gives the same version
//! and no changes, and a store then writes nothing; every change raises the version by one.
//!
//! * `add`: a new application;
//! * `user`: scale, trust, options, constraints;
//! * `refresh`: another revision, resources;
//! * `desire`: all that is wanted, at once;
//! * `scaling`: how units come and go;
//! * `report`: what the cluster shows;
//! * `removal`: the way out;
//! * `storage`: storages inside an application's record;
//! * `model`, `detached`: the two other kinds of record;
//! * `permission`: who may give which command, and which rest on what was seen.

mod add;
mod desire;
mod detached;
mod model;
mod permission;
mod refresh;
mod removal;
mod report;
mod resources;
mod scaling;
mod settings;
mod storage;
mod user;

use alloc::vec::Vec;

use crate::event::Event;
use crate::life::Life;
use crate::name::{Uid, Version};
use crate::outcome::Reply;
use crate::time::Timestamp;

use super::changes::{changes, last_words};
use super::{Application, ApplicationCommand, Caller, Denial, NewApplication};

pub use model::REMOVED_REMEMBERED;
pub use scaling::{LARGEST_SCALE, most_units};
pub use settings::APPLICATION_SETTINGS;
pub(super) use settings::{resource_tags, service_settings};

impl Application {
    /// A new application.
    ///
    /// # Errors
    /// Whatever of it cannot be: name, options, settings, resources, number of units.
    pub fn add(
        uid: Uid,
        at: Timestamp,
        new: &NewApplication,
    ) -> Result<(Application, Reply), Denial> {
        let mut application = add::application(uid, at, new)?;
        application.restore_units(at);
        application.settle(at);
        let changes = changes(None, Some(&application));
        let reply = recorded(NONE, application.version, changes);
        Ok((application, reply))
    }

    /// Applies a command; `None` says that the record is gone.
    ///
    /// # Errors
    /// Why the command is not carried out; then nothing has changed.
    pub fn apply(
        &self,
        at: Timestamp,
        caller: Caller,
        expect: Option<Version>,
        command: &ApplicationCommand,
    ) -> Result<(Option<Application>, Reply), Denial> {
        use ApplicationCommand as Command;
        permission::application(caller, command)?;
        permission::version(
            self.version,
            expect,
            permission::rests_on_what_was_seen(command),
            permission::application_command_name(command),
        )?;
        let mut after = self.clone();
        match command {
            Command::Add(_) => return Err(Denial::ApplicationExists(self.name.clone())),
            Command::SetScale { scale } => after.set_scale(i128::from(*scale))?,
            Command::ChangeScale { by } => after.change_scale(*by)?,
            Command::SetTrust { trust } => after.set_trust(*trust)?,
            Command::Configure { config, settings } => after.configure(config, settings)?,
            Command::SetConstraints { constraints } => after.set_constraints(constraints)?,
            Command::Refresh(refresh) => after.refresh(at, refresh)?,
            Command::Upgrade => after.upgrade()?,
            Command::Desire(desire) => after.desire(at, desire)?,
            Command::Remove { wish } => after.remove(at, *wish),
            Command::BeginScaling { target } => after.begin_scaling(*target)?,
            Command::EndScaling => after.end_scaling()?,
            Command::DestroyUnits { from } => after.destroy_units(*from)?,
            Command::RemoveUnits { numbers } => after.remove_units(at, numbers)?,
            Command::AddStorage { storages } => after.add_storage(at, storages)?,
            Command::Report(report) => after.report(at, report),
            Command::MarkDead => after.mark_dead()?,
            Command::RemoveStorage { numbers } => after.remove_storage(numbers)?,
            Command::Clear => {
                self.check_clear()?;
                let changes = alloc::vec![last_words(self)];
                return Ok((None, recorded(self.version, next(self.version), changes)));
            }
        }
        after.restore_units(at);
        after.settle(at);
        if after.spec != self.spec {
            after.status.at_rest = false;
        }
        if after == *self {
            let reply = recorded(self.version, self.version, Vec::new());
            return Ok((Some(after), reply));
        }
        after.version = next(self.version);
        let changes = changes(Some(self), Some(&after));
        let reply = recorded(self.version, after.version, changes);
        Ok((Some(after), reply))
    }

    /// What users may still change: only what is alive.
    fn must_be_alive(&self) -> Result<(), Denial> {
        match self.status.life {
            Life::Alive => Ok(()),
            life => Err(Denial::ApplicationLeaving {
                name: self.name.clone(),
                life,
            }),
        }
    }

    fn untimely(&self, command: &'static str, because: &'static str) -> Denial {
        Denial::Untimely {
            command,
            name: self.name.clone(),
            because,
        }
    }
}

/// The version of what is no record yet.
const NONE: Version = Version(0);

/// The version of a record that was never changed.
const FIRST: Version = Version(1);

fn next(version: Version) -> Version {
    Version(version.0.saturating_add(1))
}

fn recorded(before: Version, version: Version, changes: Vec<Event>) -> Reply {
    Reply::Recorded {
        before,
        version,
        changes,
        drawn: None,
    }
}
