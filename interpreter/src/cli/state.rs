//! The state as commands see it: records read at one moment, changed by commands (command line, 1.6).

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use pilotage_core::event::RecordName;
use pilotage_core::name::Uid;
use pilotage_core::outcome::{Outcome, Refusal, Reply};
use pilotage_core::secret::SecretRef;
use pilotage_core::state::{
    Application, ApplicationCommand, Caller, Command, ModelCommand, StorageCommand,
};

use super::environment::Environment;
use super::failure::Failure;
use super::grammar::Parsed;
use super::session::Session;
use super::status::build::NO_PROVISIONER;
use crate::store::{Damaged, Snapshot, Sqlite, Store, StoreError};

/// How often a write that lost a race is repeated.
const ATTEMPTS: u32 = 10;
/// And for how long.
const PATIENCE: Duration = Duration::from_secs(5);

/// A state, open for commands.
pub struct State {
    /// Keeps the records.
    pub store: Arc<dyn Store>,
    /// The file.
    pub file: PathBuf,
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Failure::failed(error.to_string())
    }
}

/// Where the state of a call is: `--state`, else `PILOTAGE_STATE`, else among the user's data.
///
/// # Errors
/// It is said to be in a cluster, which is not supported yet.
pub fn location(environment: &Environment, parsed: &Parsed) -> Result<PathBuf, Failure> {
    let named = parsed
        .value("state")
        .or_else(|| environment.variable("PILOTAGE_STATE"));
    match named {
        Some("kubernetes") => Err(Failure::failed(
            "a state in a real cluster is not available yet; name a file with --state",
        )),
        Some(path) => Ok(environment.path(path)),
        None => Ok(environment.data_folder().join("state.db")),
    }
}

impl State {
    /// Opens the state of a call. A file that is missing is an empty state, and reading does not make it.
    ///
    /// # Errors
    /// It cannot be used.
    pub fn open(session: &mut Session<'_>, parsed: &Parsed) -> Result<Self, Failure> {
        let file = location(session.environment, parsed)?;
        session.detail(&format!("state: {}", file.display()));
        Ok(State::at(&file))
    }

    /// The state in a file. Nothing is read or made yet.
    pub fn at(file: &Path) -> Self {
        State {
            store: Arc::new(Sqlite::new(file)),
            file: file.to_owned(),
        }
    }

    /// Everything, at one moment.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn snapshot(&self) -> Result<Snapshot, Failure> {
        Ok(self.store.snapshot()?)
    }

    /// Whether something acts on the state.
    ///
    /// # Errors
    /// That cannot be told.
    pub fn is_provisioned(&self) -> Result<bool, Failure> {
        Ok(self.store.provisioner()?.is_some())
    }

    /// Changes one record; a race that is lost is run again.
    ///
    /// # Errors
    /// The state's refusal, in its words.
    pub fn execute(
        &self,
        session: &Session<'_>,
        command: &Command,
        secrets: &[(SecretRef, String)],
    ) -> Result<Reply, Failure> {
        let begun = Instant::now();
        for attempt in 1.. {
            let at = session.environment.now();
            match self.store.execute(at, command, secrets)? {
                Outcome::Done(reply) => return Ok(reply),
                Outcome::Refused {
                    reason: Refusal::TryAgain,
                    ..
                } if attempt < ATTEMPTS && begun.elapsed() < PATIENCE => {
                    std::thread::sleep(Duration::from_millis(20 * u64::from(attempt)));
                }
                Outcome::Refused {
                    reason: Refusal::TryAgain,
                    ..
                } => break,
                Outcome::Refused { message, .. } => return Err(Failure::failed(message)),
                Outcome::Unknown | Outcome::NotAttempted => {
                    return Err(Failure::failed(
                        "the state did not confirm the change; look at the status before you try again",
                    ));
                }
            }
        }
        Err(Failure::failed("state changed meanwhile; please try again"))
    }

    /// Changes an application's record as its user.
    ///
    /// # Errors
    /// The state's refusal, in its words.
    pub fn change(
        &self,
        session: &Session<'_>,
        application: Uid,
        body: ApplicationCommand,
    ) -> Result<Reply, Failure> {
        self.change_with(session, application, body, &[])
    }

    /// The same with values for the vault.
    ///
    /// # Errors
    /// The state's refusal, in its words.
    pub fn change_with(
        &self,
        session: &Session<'_>,
        application: Uid,
        body: ApplicationCommand,
        secrets: &[(SecretRef, String)],
    ) -> Result<Reply, Failure> {
        let command = Command::Application {
            application,
            caller: Caller::User,
            expect: None,
            body,
        };
        self.execute(session, &command, secrets)
    }

    /// Changes a model's record as its user.
    ///
    /// # Errors
    /// The state's refusal, in its words.
    pub fn change_model(
        &self,
        session: &Session<'_>,
        model: Uid,
        body: ModelCommand,
    ) -> Result<Reply, Failure> {
        let command = Command::Model {
            model,
            caller: Caller::User,
            expect: None,
            body,
        };
        self.execute(session, &command, &[])
    }

    /// Changes the record of a storage that outlived its application, as its user.
    ///
    /// # Errors
    /// The state's refusal, in its words.
    pub fn change_storage(
        &self,
        session: &Session<'_>,
        model: Uid,
        number: u32,
        body: StorageCommand,
    ) -> Result<Reply, Failure> {
        let command = Command::Storage {
            model,
            number,
            caller: Caller::User,
            expect: None,
            body,
        };
        self.execute(session, &command, &[])
    }

    /// Says after a write that nothing acts on it, if so.
    ///
    /// # Errors
    /// That cannot be told.
    pub fn note_provisioner(&self, session: &mut Session<'_>) -> Result<(), Failure> {
        if !self.is_provisioned()? {
            session.note(NO_PROVISIONER);
        }
        Ok(())
    }
}

/// What a snapshot holds of one model.
#[derive(Clone, Debug)]
pub struct Contents<'a> {
    /// Its applications.
    pub applications: Vec<&'a Application>,
    /// Its storages that outlived their applications.
    pub storages: Vec<&'a pilotage_core::state::Storage>,
    /// Its records that cannot be read.
    pub damaged: Vec<&'a Damaged>,
}

impl Snapshot {
    /// What there is of one model; nothing of a model that has no record yet.
    pub fn of_model(&self, model: Option<Uid>) -> Contents<'_> {
        let mine = |uid: Uid| model == Some(uid);
        Contents {
            applications: self
                .applications
                .iter()
                .filter(|application| mine(application.model))
                .collect(),
            storages: self
                .storages
                .iter()
                .filter(|storage| mine(storage.model))
                .collect(),
            damaged: self
                .damaged
                .iter()
                .filter(|damaged| mine(damaged.record.model()))
                .collect(),
        }
    }

    /// The damage of a model's own record, if it has any.
    pub fn damaged_model(&self, fits: impl Fn(&str, Uid) -> bool) -> Option<&Damaged> {
        self.damaged.iter().find(|damaged| {
            matches!(&damaged.record, RecordName::Model { model, name } if fits(name, *model))
        })
    }
}

impl<'a> Contents<'a> {
    /// The application of a name.
    ///
    /// # Errors
    /// Its record is there and cannot be read.
    pub fn application(&self, name: &str) -> Result<Option<&'a Application>, Failure> {
        let damaged = self.damaged.iter().find(|damaged| {
            matches!(&damaged.record, RecordName::Application { name: theirs, .. } if **theirs == *name)
        });
        if let Some(damaged) = damaged {
            return Err(Failure::failed(damaged.to_string()));
        }
        Ok(self
            .applications
            .iter()
            .find(|application| &*application.name == name)
            .copied())
    }
}
