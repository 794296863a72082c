//! The state in memory: what every store does, without IO.
//!
//! A [`Store`] is records, a vault of secret values and a log of changes. It is a value: cheap to clone, compared and
//! hashed as a whole, so that a world can be forked at any moment. It holds no rule: all of them are in
//! [`pilotage_core::state::transaction`].

mod log;
mod told;
mod vault;

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use pilotage_core::event::{Event, RecordName, Source};
use pilotage_core::name::Uid;
use pilotage_core::outcome::{Outcome, Refusal, Reply};
use pilotage_core::secret::SecretRef;
use pilotage_core::state::{
    Application, Command, Model, Records, Stopped, Storage, Transaction, Write, changes,
    model_changes, storage_changes, transaction,
};
use pilotage_core::time::Timestamp;

use crate::store::log::Log;
use crate::store::vault::Vault;

pub use told::{Told, ToldApplication, Unexpected};

/// A whole state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Store {
    models: BTreeMap<Uid, Arc<Model>>,
    applications: BTreeMap<Uid, Arc<Application>>,
    storages: BTreeMap<(Uid, u32), Arc<Storage>>,
    /// Records that are there and cannot be read.
    damaged: BTreeSet<RecordName>,
    vault: Vault,
    log: Log,
    uids_drawn: u32,
}

impl Store {
    /// An empty state.
    pub fn new() -> Self {
        Self::default()
    }

    /// A uid that no record ever had. Its first eight digits, which names of claims carry, are its own too.
    pub fn draw_uid(&mut self) -> Uid {
        self.uids_drawn = self.uids_drawn.wrapping_add(1);
        // An odd factor permutes the 32-bit numbers: uids are spread, and no two begin alike.
        let spread = u128::from(self.uids_drawn.wrapping_mul(0x9e37_79b1));
        // A UUID of version 8, "vendor specific" (RFC 9562).
        Uid((spread << 96) | (0x8000_8000 << 48) | u128::from(self.uids_drawn))
    }

    /// Carries out one command, or says why not. The values go into the vault with it, or not at all.
    pub fn execute(
        &mut self,
        at: Timestamp,
        command: &Command,
        secrets: &[(SecretRef, String)],
    ) -> Outcome {
        match self.transact(at, command, secrets) {
            Ok(reply) => Outcome::Done(reply),
            Err(Stopped::Denied(denial)) => denial.into(),
            Err(Stopped::Failed(record)) => Outcome::Refused {
                reason: Refusal::NotSent,
                message: format!("the record of {record} cannot be read").into(),
            },
        }
    }

    /// From now on a record cannot be read. No listener hears of that by itself.
    pub fn damage(&mut self, record: RecordName) {
        self.damaged.insert(record);
    }

    /// A record that could not be read can be read again.
    pub fn mend(&mut self, record: &RecordName) {
        self.damaged.remove(record);
    }

    /// A hand takes a model's record away, and nothing else. No listener hears of that by itself.
    pub fn lose_model(&mut self, uid: Uid) -> Option<Arc<Model>> {
        self.models.remove(&uid)
    }

    /// A hand puts a model's record back.
    pub fn put_model_back(&mut self, model: Arc<Model>) {
        self.models.insert(model.uid, model);
    }

    fn readable(&self, record: RecordName) -> Result<(), RecordName> {
        match self.damaged.contains(&record) {
            true => Err(record),
            false => Ok(()),
        }
    }

    fn read_model(&self, model: &Arc<Model>) -> Result<Arc<Model>, RecordName> {
        self.readable(RecordName::Model {
            model: model.uid,
            name: model.name.clone(),
        })?;
        Ok(model.clone())
    }

    fn read(&self, application: &Arc<Application>) -> Result<Arc<Application>, RecordName> {
        self.readable(RecordName::Application {
            application: application.uid,
            name: application.name.clone(),
            model: application.model,
        })?;
        Ok(application.clone())
    }

    fn read_storage(&self, storage: &Arc<Storage>) -> Result<Arc<Storage>, RecordName> {
        self.readable(RecordName::Storage {
            model: storage.model,
            number: storage.instance.number,
        })?;
        Ok(storage.clone())
    }

    /// As [`Store::execute`], with the denial as it is.
    ///
    /// # Errors
    /// Why the command was not carried out: a denial, or a record that cannot be read. Then nothing has changed.
    pub fn transact(
        &mut self,
        at: Timestamp,
        command: &Command,
        secrets: &[(SecretRef, String)],
    ) -> Result<Reply, Stopped<RecordName>> {
        let Transaction {
            write,
            reply,
            needs,
        } = transaction(self, at, command)?;
        for (secret, value) in secrets {
            self.vault.put(secret, value);
        }
        if let (Some(needs), Some(Write::PutApplication(application))) = (&needs, &write) {
            let comes = |secret: &SecretRef| secrets.iter().any(|(one, _)| one == secret);
            self.vault.keep(application.uid, |secret| {
                needs.contains(secret) || comes(secret)
            });
        }
        if let Some(write) = write {
            self.write(write);
        }
        if let Reply::Recorded { changes, .. } = &reply
            && !changes.is_empty()
        {
            self.log.append(changes);
        }
        Ok(reply)
    }

    fn write(&mut self, write: Write) {
        match write {
            Write::PutModel(model) => {
                self.models.insert(model.uid, model);
            }
            Write::DropModel(uid) => {
                self.models.remove(&uid);
            }
            Write::PutApplication(application) => {
                self.applications.insert(application.uid, application);
            }
            Write::DropApplication(uid) => {
                self.applications.remove(&uid);
                self.vault.drop_all_of(uid);
            }
            Write::PutStorage(storage) => {
                self.storages
                    .insert((storage.model, storage.instance.number), storage);
            }
            Write::DropStorage { model, number } => {
                self.storages.remove(&(model, number));
            }
        }
    }

    /// Everything that there is, as a watch tells it first; what follows is what comes after [`Store::head`].
    pub fn list(&self) -> Vec<Event> {
        let source = Source::Store;
        let mut events = alloc::vec![Event::Listing { source }];
        for model in self.models.values() {
            if self.read_model(model).is_ok() {
                events.extend(model_changes(None, Some(model)));
            }
        }
        for application in self.applications.values() {
            if self.read(application).is_ok() {
                events.extend(changes(None, Some(application)));
            }
        }
        for storage in self.storages.values() {
            if self.read_storage(storage).is_ok() {
                events.extend(storage_changes(None, Some(storage)));
            }
        }
        let damaged = self.damaged.iter().cloned();
        events.extend(damaged.map(Event::RecordUnreadable));
        events.push(Event::Synced { source });
        events
    }

    /// How many changes were committed so far.
    pub fn head(&self) -> u64 {
        self.log.head()
    }

    /// What was committed after the first `seen` changes, one item for each; `None` if that is forgotten, or has not
    /// happened: then only a list helps.
    pub fn changes_since(&self, seen: u64) -> Option<impl Iterator<Item = &[Event]>> {
        self.log.since(seen)
    }

    /// Forgets the first `seen` changes: everybody has heard them.
    pub fn forget(&mut self, seen: u64) {
        self.log.forget(seen);
    }

    /// A value of the vault.
    pub fn secret(&self, secret: &SecretRef) -> Option<&str> {
        self.vault.get(secret)
    }

    /// All models, by uid.
    pub fn models(&self) -> impl Iterator<Item = &Arc<Model>> {
        self.models.values()
    }

    /// All applications, by uid.
    pub fn applications(&self) -> impl Iterator<Item = &Arc<Application>> {
        self.applications.values()
    }

    /// All storages with a record of their own, by model and number.
    pub fn storages(&self) -> impl Iterator<Item = &Arc<Storage>> {
        self.storages.values()
    }
}

impl Records for Store {
    type Failure = RecordName;

    fn model(&self, uid: Uid) -> Result<Option<Arc<Model>>, RecordName> {
        let model = self.models.get(&uid);
        model.map(|model| self.read_model(model)).transpose()
    }

    fn model_named(&self, name: &str) -> Result<Option<Arc<Model>>, RecordName> {
        let mut models = self.models.values();
        let model = models.find(|model| &*model.name == name);
        model.map(|model| self.read_model(model)).transpose()
    }

    fn application(&self, uid: Uid) -> Result<Option<Arc<Application>>, RecordName> {
        let application = self.applications.get(&uid);
        application.map(|one| self.read(one)).transpose()
    }

    fn application_named(
        &self,
        model: Uid,
        name: &str,
    ) -> Result<Option<Arc<Application>>, RecordName> {
        let mut applications = self.applications.values();
        let application = applications
            .find(|application| application.model == model && &*application.name == name);
        application.map(|one| self.read(one)).transpose()
    }

    fn application_names(&self, model: Uid) -> Result<Vec<Box<str>>, RecordName> {
        let applications = self.applications.values();
        Ok(applications
            .filter(|application| application.model == model)
            .map(|application| application.name.clone())
            .collect())
    }

    fn storage(&self, model: Uid, number: u32) -> Result<Option<Arc<Storage>>, RecordName> {
        let storage = self.storages.get(&(model, number));
        storage.map(|one| self.read_storage(one)).transpose()
    }

    fn is_empty(&self, model: Uid) -> Result<bool, RecordName> {
        let application = self.applications.values().any(|one| one.model == model);
        let storage = self.storages.keys().any(|(of, _)| *of == model);
        Ok(!application && !storage)
    }
}
