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

use super::cluster::{Choice, context_of};
use super::environment::Environment;
use super::failure::Failure;
use super::grammar::Parsed;
use super::session::Session;
use super::status::build::NO_PROVISIONER;
use crate::cluster::{Access, Embedded};
use crate::store::{BoundCluster, CustomResources, Damaged, Snapshot, Sqlite, Store, StoreError};

/// How often a write that lost a race is repeated.
const ATTEMPTS: u32 = 10;
/// And for how long.
const PATIENCE: Duration = Duration::from_secs(5);

/// A state, open for commands.
pub struct State {
    /// Keeps the records.
    pub store: Arc<dyn Store>,
    /// The file; of a state in a cluster, what lies beside a file lies beside this one: traces, the chosen model.
    pub file: PathBuf,
    /// The way to the cluster that it is in, if it is in one.
    access: Option<Access>,
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Failure::failed(error.to_string())
    }
}

/// Where a state is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// In a file.
    File(PathBuf),
    /// In a cluster, as its custom resources.
    Cluster {
        /// The way to it.
        access: Access,
        /// The context that was named, if one was.
        context: Option<String>,
    },
}

impl Place {
    /// Where the state of a call is: `--state`, else `PILOTAGE_STATE`, else among the user's data. A state in a cluster
    /// that is not named further is in the one that `--cluster` names, if it names a real one.
    ///
    /// # Errors
    /// A context without a name.
    pub fn of(environment: &Environment, parsed: &Parsed) -> Result<Self, Failure> {
        let named = parsed
            .value("state")
            .or_else(|| environment.variable("PILOTAGE_STATE"));
        let context = match named {
            None => return Ok(Place::File(environment.data_folder().join("state.db"))),
            Some("kubernetes") => None,
            Some(named) => match named.strip_prefix("kubernetes:") {
                Some("") => return Err(Failure::usage("--state kubernetes: names no context")),
                Some(context) => Some(context.to_owned()),
                None => return Ok(Place::File(real(environment.path(named)))),
            },
        };
        let access = match (&context, Choice::named(environment, parsed)?) {
            (None, Some(Choice::Real(access))) => access,
            (None, _) if in_pod(environment) => Access::InCluster,
            _ => Access::Kubeconfig {
                file: None,
                context: context.clone(),
            },
        };
        Ok(Place::Cluster { access, context })
    }
}

/// Where a path leads: by whatever name a state is called, it has one lock, one embedded cluster and one folder of traces.
fn real(path: PathBuf) -> PathBuf {
    let linked = std::fs::read_link(&path).ok();
    let aim = linked.map(|aim| {
        path.parent()
            .map_or_else(|| aim.clone(), |at| at.join(&aim))
    });
    let path = aim.unwrap_or(path);
    if let Ok(whole) = path.canonicalize() {
        return whole;
    }
    // A file that is not there yet has a folder, perhaps.
    let (folder, name) = (path.parent(), path.file_name());
    let folder = folder.and_then(|folder| folder.canonicalize().ok());
    match (folder, name) {
        (Some(folder), Some(name)) => folder.join(name),
        _ => path,
    }
}

/// Whether this process runs in a pod, and nobody named a kubeconfig.
fn in_pod(environment: &Environment) -> bool {
    environment.variable("KUBERNETES_SERVICE_HOST").is_some()
        && environment.variable("KUBECONFIG").is_none()
}

impl State {
    /// Opens the state of a call. A file that is missing is an empty state, and reading does not make it.
    ///
    /// # Errors
    /// It cannot be used.
    pub fn open(session: &mut Session<'_>, parsed: &Parsed) -> Result<Self, Failure> {
        let state = match Place::of(session.environment, parsed)? {
            Place::File(file) => State::at(&file),
            Place::Cluster { access, context } => {
                let name = match context {
                    Some(context) => format!("kubernetes-{}", context.replace('/', "_")),
                    None => "kubernetes".into(),
                };
                let beside = session.environment.data_folder().join(name);
                State::within(access, beside)?
            }
        };
        session.detail(&format!("state: {}", state.place()));
        Ok(state)
    }

    /// The state in a file. Nothing is read or made yet.
    pub fn at(file: &Path) -> Self {
        State {
            store: Arc::new(Sqlite::new(file)),
            file: file.to_owned(),
            access: None,
        }
    }

    fn within(access: Access, beside: PathBuf) -> Result<Self, StoreError> {
        Ok(State {
            store: Arc::new(CustomResources::new(access.clone())?),
            file: beside,
            access: Some(access),
        })
    }

    /// The same state, opened once more.
    ///
    /// # Errors
    /// There is no randomness.
    pub fn again(&self) -> Result<Self, StoreError> {
        match &self.access {
            None => Ok(State::at(&self.file)),
            Some(access) => State::within(access.clone(), self.file.clone()),
        }
    }

    /// Where it is, for people.
    pub fn place(&self) -> String {
        match &self.access {
            None => self.file.display().to_string(),
            Some(_) => "the cluster's custom resources".into(),
        }
    }

    /// Whether it is a file that is not there yet.
    pub fn is_missing(&self) -> bool {
        self.access.is_none() && !self.file.exists()
    }

    /// The cloud's name that we answer to: as a variable says, else that of the cluster that the state is in or belongs to.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn cloud(&self, environment: &Environment) -> Result<String, Failure> {
        if let Some(named) = environment.cloud() {
            return Ok(named);
        }
        if let Some(access) = &self.access {
            return Ok(context_of(access).to_owned());
        }
        Ok(match self.store.cluster()? {
            Some(BoundCluster {
                name: Some(name), ..
            }) => name,
            Some(_) if !Embedded::lies_beside(&self.file) => "kubernetes".into(),
            _ => "embedded".into(),
        })
    }

    /// Whether it is in a cluster, and not in a file.
    pub fn is_in_cluster(&self) -> bool {
        self.access.is_some()
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
