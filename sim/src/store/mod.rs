//! The state in memory: what every store does, without IO.
//!
//! A [`Store`] is records, a vault of secret values and a log of changes. It is a value: cheap to clone, compared and
//! hashed as a whole, so that a world can be forked at any moment. It holds no rule: all of them are in
//! [`pilotage_core::state::transaction`].

mod log;
mod told;
mod vault;

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use core::convert::Infallible;

use pilotage_core::event::{Event, Source};
use pilotage_core::name::Uid;
use pilotage_core::outcome::{Outcome, Reply};
use pilotage_core::secret::SecretRef;
use pilotage_core::state::{
    Application, Command, Denial, Model, Records, Stopped, Storage, Transaction, Write, changes,
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
            Err(denial) => denial.into(),
        }
    }

    /// As [`Store::execute`], with the denial as it is.
    ///
    /// # Errors
    /// Why the command was not carried out; then nothing has changed.
    pub fn transact(
        &mut self,
        at: Timestamp,
        command: &Command,
        secrets: &[(SecretRef, String)],
    ) -> Result<Reply, Denial> {
        let Transaction { write, reply } =
            transaction(self, at, command).map_err(|stopped| match stopped {
                Stopped::Denied(denial) => denial,
                Stopped::Failed(never) => match never {},
            })?;
        for (secret, value) in secrets {
            self.vault.put(secret, value);
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
            events.extend(model_changes(None, Some(model)));
        }
        for application in self.applications.values() {
            events.extend(changes(None, Some(application)));
        }
        for storage in self.storages.values() {
            events.extend(storage_changes(None, Some(storage)));
        }
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
    type Failure = Infallible;

    fn model(&self, uid: Uid) -> Result<Option<Arc<Model>>, Infallible> {
        Ok(self.models.get(&uid).cloned())
    }

    fn model_named(&self, name: &str) -> Result<Option<Arc<Model>>, Infallible> {
        let mut models = self.models.values();
        Ok(models.find(|model| &*model.name == name).cloned())
    }

    fn application(&self, uid: Uid) -> Result<Option<Arc<Application>>, Infallible> {
        Ok(self.applications.get(&uid).cloned())
    }

    fn application_named(
        &self,
        model: Uid,
        name: &str,
    ) -> Result<Option<Arc<Application>>, Infallible> {
        let mut applications = self.applications.values();
        Ok(applications
            .find(|application| application.model == model && &*application.name == name)
            .cloned())
    }

    fn application_names(&self, model: Uid) -> Result<Vec<Box<str>>, Infallible> {
        let applications = self.applications.values();
        Ok(applications
            .filter(|application| application.model == model)
            .map(|application| application.name.clone())
            .collect())
    }

    fn storage(&self, model: Uid, number: u32) -> Result<Option<Arc<Storage>>, Infallible> {
        Ok(self.storages.get(&(model, number)).cloned())
    }

    fn is_empty(&self, model: Uid) -> Result<bool, Infallible> {
        let application = self.applications.values().any(|one| one.model == model);
        let storage = self.storages.keys().any(|(of, _)| *of == model);
        Ok(!application && !storage)
    }
}
