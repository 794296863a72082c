//! Where the state is kept.
//!
//! # Guarantees
//! * One [`Command`] is one transaction: it finds the record, applies the command, keeps what comes out and appends
//!   what changed to the change log, or none of it.
//! * What [`Store::execute`] answered as done is durable.
//! * [`Store::snapshot`] shows one moment, and [`Store::changes_since`] its position gives every later change, in order.
//!
//! Every call blocks; none takes longer than a few seconds.

mod damage;
mod error;
mod holder;
pub mod kubernetes;
pub mod sqlite;

use std::path::Path;
use std::sync::Arc;

use pilotage_core::digest::DigestKey;
use pilotage_core::event::{Event, RecordName, Source};
use pilotage_core::name::Uid;
use pilotage_core::outcome::Outcome;
use pilotage_core::secret::SecretRef;
use pilotage_core::state::{
    Application, Command, Model, Storage, changes, model_changes, storage_changes,
};
use pilotage_core::time::Timestamp;

pub use damage::Damaged;
pub use error::StoreError;
pub use holder::{Held, Holder, Mark, host_name};
pub use kubernetes::CustomResources;
pub use sqlite::Sqlite;

/// Keeps records, applies commands to them, and tells what changed.
pub trait Store: Send + Sync {
    /// Executes one command at one moment, in one transaction, with the values of the secrets that it names.
    ///
    /// The answer is `Done` with [`Reply::Recorded`](pilotage_core::outcome::Reply::Recorded); or `Refused` with a
    /// message for the user, `TryAgain` if somebody else wrote first; or `Unknown` if the commit itself failed.
    /// On the first command the state comes into being.
    ///
    /// # Errors
    /// The state cannot be read or written. Nothing was changed.
    fn execute(
        &self,
        at: Timestamp,
        command: &Command,
        secrets: &[(SecretRef, String)],
    ) -> Result<Outcome, StoreError>;

    /// Everything, at one moment. A state that does not exist yet is empty, and stays away.
    ///
    /// # Errors
    /// The state cannot be read.
    fn snapshot(&self) -> Result<Snapshot, StoreError>;

    /// What changed since a position that a snapshot or an earlier call gave.
    ///
    /// # Errors
    /// The state cannot be read.
    fn changes_since(&self, position: Position) -> Result<Changes, StoreError>;

    /// The records that were found unreadable, by any call before, and still are. A watch that has told others takes a
    /// snapshot and tells everything again: nothing in the change log says that a record was damaged or put back.
    ///
    /// # Errors
    /// The state cannot be read.
    fn damaged(&self) -> Result<Vec<Damaged>, StoreError> {
        Ok(Vec::new())
    }

    /// Whether people read the records with tools of their own, and wait for what they say.
    fn is_read_by_others(&self) -> bool {
        false
    }

    /// The uid by which tools other than this one know an application, where that is not its own: what is told of it in the
    /// cluster names this one. None if they know of no other.
    fn shown_uid(&self, _application: Uid) -> Option<Uid> {
        None
    }

    /// A value of the vault.
    ///
    /// # Errors
    /// The state cannot be read.
    fn secret(&self, secret: &SecretRef) -> Result<Option<String>, StoreError>;

    /// The key of this state's fingerprints of secrets. The state comes into being if it does not exist yet.
    ///
    /// # Errors
    /// The state cannot be read or written.
    fn fingerprint_key(&self) -> Result<DigestKey, StoreError>;

    /// Remembers which cluster this state belongs to, the first time; afterwards refuses another. The state comes into
    /// being if it does not exist yet.
    ///
    /// # Errors
    /// [`StoreError::OtherCluster`], or the state cannot be read or written.
    fn bind_cluster(&self, cluster: Uid) -> Result<(), StoreError>;

    /// The cluster that this state belongs to, if the state keeps that; none while it belongs to none.
    ///
    /// # Errors
    /// The state cannot be read.
    fn cluster(&self) -> Result<Option<BoundCluster>, StoreError> {
        Ok(None)
    }

    /// Remembers how the cluster is called by whoever runs a provisioner on it. Written only where it is news.
    ///
    /// # Errors
    /// The state cannot be read or written.
    fn name_cluster(&self, _name: &str) -> Result<(), StoreError> {
        Ok(())
    }

    /// Who runs a provisioner on this state; nobody, if nobody does.
    ///
    /// # Errors
    /// That cannot be told.
    fn provisioner(&self) -> Result<Option<Holder>, StoreError>;

    /// Becomes the one provisioner of this state, until the answer is dropped or the process ends, however it ends.
    ///
    /// # Errors
    /// [`StoreError::Held`] names who is, or the state cannot be written.
    fn hold(&self, at: Timestamp) -> Result<Held, StoreError>;
}

/// Opens the state that `--state` names. Nothing is read or made yet.
pub fn open(path: &Path) -> Arc<dyn Store> {
    Arc::new(Sqlite::new(path))
}

/// The cluster that a state belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoundCluster {
    /// The uid of its namespace `kube-system`.
    pub uid: Uid,
    /// How it was called when a provisioner last ran on it; none if that was before names were kept.
    pub name: Option<String>,
}

/// Everything in a state, at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// Changes from here on are still to come.
    pub position: Position,
    /// Models, by uid.
    pub models: Vec<Model>,
    /// Applications, by uid.
    pub applications: Vec<Application>,
    /// Storages that outlived their applications, by model and number.
    pub storages: Vec<Storage>,
    /// Records that are there and cannot be read.
    pub damaged: Vec<Damaged>,
}

impl Snapshot {
    /// Everything as a watch tells it first, record by record.
    pub fn events(&self) -> impl Iterator<Item = Event> {
        let source = Source::Store;
        let models = self.models.iter();
        let applications = self.applications.iter();
        let storages = self.storages.iter();
        let damaged = self.damaged.iter();
        std::iter::once(Event::Listing { source })
            .chain(models.flat_map(|model| model_changes(None, Some(model))))
            .chain(applications.flat_map(|application| changes(None, Some(application))))
            .chain(storages.flat_map(|storage| storage_changes(None, Some(storage))))
            .chain(damaged.map(|damaged| Event::RecordUnreadable(damaged.record.clone())))
            .chain([Event::Synced { source }])
    }
}

impl Snapshot {
    /// Applications of models that have no record: a hand took it away, and nobody acts on them until it is back.
    pub fn without_model(&self) -> impl Iterator<Item = &Application> {
        let recorded = |uid| self.models.iter().any(|model| model.uid == uid);
        let damaged = |uid| {
            let mut damaged = self.damaged.iter();
            damaged.any(|one| matches!(one.record, RecordName::Model { model, .. } if model == uid))
        };
        let all = self.applications.iter();
        all.filter(move |one| !recorded(one.model) && !damaged(one.model))
    }
}

/// A place in the change log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position(pub u64);

/// What changed since a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Changes {
    /// These events, in order, and where to go on from.
    Events(Vec<Event>, Position),
    /// The log no longer reaches back so far, or it is another state: take a snapshot.
    Lost,
}
