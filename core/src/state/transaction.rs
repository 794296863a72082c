//! One command against a whole state: what every store does between reading and writing.
//!
//! A store finds records, hands them to [`transaction`], and keeps what comes out together with the reply's changes, all
//! in one transaction of its own. So no rule about records, and none about their names, is in any store.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::life::Life;
use crate::name::{Uid, Version};
use crate::outcome::{Outcome, Reply};
use crate::secret::SecretRef;
use crate::time::Timestamp;

use super::naming::{check_derived_names, may_clash};
use super::{
    Application, ApplicationCommand, Caller, Command, Denial, Model, ModelCommand, NewApplication,
    Storage, StorageCommand,
};

/// Where a transaction finds records.
pub trait Records {
    /// Why a record cannot be read.
    type Failure;

    /// The model of that uid.
    ///
    /// # Errors
    /// The store cannot say.
    fn model(&self, uid: Uid) -> Result<Option<Arc<Model>>, Self::Failure>;
    /// The model of that name.
    ///
    /// # Errors
    /// The store cannot say.
    fn model_named(&self, name: &str) -> Result<Option<Arc<Model>>, Self::Failure>;
    /// The application of that uid.
    ///
    /// # Errors
    /// The store cannot say.
    fn application(&self, uid: Uid) -> Result<Option<Arc<Application>>, Self::Failure>;
    /// The application of that name in a model.
    ///
    /// # Errors
    /// The store cannot say.
    fn application_named(
        &self,
        model: Uid,
        name: &str,
    ) -> Result<Option<Arc<Application>>, Self::Failure>;
    /// The names of all applications of a model.
    ///
    /// # Errors
    /// The store cannot say.
    fn application_names(&self, model: Uid) -> Result<Vec<Box<str>>, Self::Failure>;
    /// The storage of that number in a model, if it has a record of its own.
    ///
    /// # Errors
    /// The store cannot say.
    fn storage(&self, model: Uid, number: u32) -> Result<Option<Arc<Storage>>, Self::Failure>;
    /// Whether a model has neither an application nor a storage with a record of its own.
    ///
    /// # Errors
    /// The store cannot say.
    fn is_empty(&self, model: Uid) -> Result<bool, Self::Failure>;
}

/// Why a command was not carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stopped<F> {
    /// By a rule.
    Denied(Denial),
    /// The store could not read.
    Failed(F),
}

impl<F> From<Denial> for Stopped<F> {
    fn from(denial: Denial) -> Self {
        Stopped::Denied(denial)
    }
}

/// What a store is to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Write {
    /// Put, or replace, this model's record.
    PutModel(Arc<Model>),
    /// Take this model's record away.
    DropModel(Uid),
    /// Put, or replace, this application's record.
    PutApplication(Arc<Application>),
    /// Take this application's record away, and its values out of the vault.
    DropApplication(Uid),
    /// Put, or replace, the record of this storage.
    PutStorage(Arc<Storage>),
    /// Take the record of this storage away.
    DropStorage {
        /// The model.
        model: Uid,
        /// The storage's number in it.
        number: u32,
    },
}

/// What came of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transaction {
    /// What to write; nothing if nothing changed.
    pub write: Option<Write>,
    /// The record's version, what changed, and what was drawn: always a [`Reply::Recorded`].
    pub reply: Reply,
    /// Where an application's record is written: the values of its vault that may still be asked for. What else is kept
    /// of it, and does not come with this command, is forgotten.
    ///
    /// They are those that the record names, and those that it named before this write: an effect that was decided on
    /// the former record may still be on its way. No object needs the vault once it is made.
    pub needs: Option<BTreeSet<SecretRef>>,
}

/// The values that an application's record, before a write and after it, names.
fn needs(before: Option<&Application>, after: &Application) -> Option<BTreeSet<SecretRef>> {
    let before = before.into_iter().flat_map(Application::secrets);
    Some(before.chain(after.secrets()).cloned().collect())
}

impl From<&Transaction> for Outcome {
    fn from(transaction: &Transaction) -> Outcome {
        Outcome::Done(transaction.reply.clone())
    }
}

/// Applies one command to a state.
///
/// # Errors
/// Why it was not carried out; then there is nothing to write.
pub fn transaction<R: Records>(
    records: &R,
    at: Timestamp,
    command: &Command,
) -> Result<Transaction, Stopped<R::Failure>> {
    match command {
        Command::Application {
            application,
            caller,
            expect,
            body: ApplicationCommand::Add(new),
        } => {
            check_new(*caller, *expect)?;
            add_application(records, at, *application, new)
        }
        Command::Application {
            application,
            caller,
            expect,
            body,
        } => {
            let before = records
                .application(*application)
                .map_err(Stopped::Failed)?
                .ok_or(Denial::ApplicationNotFound(*application))?;
            let (after, reply) = before.apply(at, *caller, *expect, body)?;
            if let Some(after) = &after
                && (&before.spec.charm, &before.spec.filesystems)
                    != (&after.spec.charm, &after.spec.filesystems)
                && let Some(model) = records.model(after.model).map_err(Stopped::Failed)?
            {
                check_names(records, &model, after)?;
            }
            let (write, needs) = match after {
                None => (Some(Write::DropApplication(*application)), None),
                Some(after) if after == *before => (None, None),
                Some(after) => {
                    let needs = needs(Some(&*before), &after);
                    (Some(Write::PutApplication(Arc::new(after))), needs)
                }
            };
            Ok(Transaction {
                write,
                reply,
                needs,
            })
        }
        Command::Model {
            model,
            caller,
            expect,
            body: ModelCommand::Add { name, settings },
        } => {
            check_new(*caller, *expect)?;
            let taken = records.model(*model).map_err(Stopped::Failed)?.is_some()
                || records
                    .model_named(name)
                    .map_err(Stopped::Failed)?
                    .is_some();
            if taken {
                return Err(Denial::ModelExists(name.clone()).into());
            }
            let (new, reply) = Model::add(*model, at, name, settings)?;
            let write = Some(Write::PutModel(Arc::new(new)));
            Ok(Transaction {
                write,
                reply,
                needs: None,
            })
        }
        Command::Model {
            model,
            caller,
            expect,
            body,
        } => {
            let before = records
                .model(*model)
                .map_err(Stopped::Failed)?
                .ok_or(Denial::ModelNotFound(*model))?;
            let (after, reply) = before.apply(at, *caller, *expect, body)?;
            let write = match after {
                None => {
                    if !records.is_empty(*model).map_err(Stopped::Failed)? {
                        return Err(Denial::Untimely {
                            command: "clear",
                            name: before.name.clone(),
                            because: "applications or storages of it are still recorded",
                        }
                        .into());
                    }
                    Some(Write::DropModel(*model))
                }
                Some(after) => (after != *before).then(|| Write::PutModel(Arc::new(after))),
            };
            Ok(Transaction {
                write,
                reply,
                needs: None,
            })
        }
        Command::Storage {
            model,
            number,
            caller,
            expect,
            body,
        } => change_storage(records, at, (*model, *number), *caller, *expect, body),
    }
}

/// A record that is to be made is made by a user, and has no version yet.
fn check_new(caller: Caller, expect: Option<Version>) -> Result<(), Denial> {
    if caller != Caller::User {
        return Err(Denial::NotPermitted { command: "add" });
    }
    match expect {
        Some(_) => Err(Denial::Contradiction("a new record has no version yet")),
        None => Ok(()),
    }
}

fn add_application<R: Records>(
    records: &R,
    at: Timestamp,
    uid: Uid,
    new: &NewApplication,
) -> Result<Transaction, Stopped<R::Failure>> {
    let model = records
        .model(new.model)
        .map_err(Stopped::Failed)?
        .ok_or(Denial::ModelNotFound(new.model))?;
    if model.status.life != Life::Alive {
        return Err(Denial::ModelLeaving(model.name.clone()).into());
    }
    // A uid is an identity for all time: one that was removed never lives again.
    let taken = model.status.removed.contains(&uid)
        || records.application(uid).map_err(Stopped::Failed)?.is_some()
        || records
            .application_named(new.model, &new.name)
            .map_err(Stopped::Failed)?
            .is_some();
    if taken {
        return Err(Denial::ApplicationExists(new.name.clone()).into());
    }
    let (application, reply) = Application::add(uid, at, new)?;
    check_names(records, &model, &application)?;
    let needs = needs(None, &application);
    let write = Some(Write::PutApplication(Arc::new(application)));
    Ok(Transaction {
        write,
        reply,
        needs,
    })
}

/// No object of the application has a name that is too long, or that another application of the model has given to one
/// of its own.
fn check_names<R: Records>(
    records: &R,
    model: &Model,
    application: &Application,
) -> Result<(), Stopped<R::Failure>> {
    let mut others = Vec::new();
    for name in records
        .application_names(model.uid)
        .map_err(Stopped::Failed)?
    {
        if may_clash(&application.name, &name) {
            let other = records.application_named(model.uid, &name);
            others.extend(other.map_err(Stopped::Failed)?);
        }
    }
    check_derived_names(model.namespace(), application, &others)?;
    Ok(())
}

fn change_storage<R: Records>(
    records: &R,
    at: Timestamp,
    (model, number): (Uid, u32),
    caller: Caller,
    expect: Option<Version>,
    body: &StorageCommand,
) -> Result<Transaction, Stopped<R::Failure>> {
    if let StorageCommand::Keep { storage } = body
        && (storage.model != model || storage.instance.number != number)
    {
        return Err(Denial::Contradiction("the storage that is to be kept is another").into());
    }
    let before = records.storage(model, number).map_err(Stopped::Failed)?;
    match (before, body) {
        (None, StorageCommand::Keep { storage }) => {
            if records.model(model).map_err(Stopped::Failed)?.is_none() {
                return Err(Denial::ModelNotFound(model).into());
            }
            let (kept, reply) = Storage::keep(at, caller, storage)?;
            let write = Some(Write::PutStorage(Arc::new(kept)));
            Ok(Transaction {
                write,
                reply,
                needs: None,
            })
        }
        (None, _) => Err(Denial::StorageNotFound(number).into()),
        (Some(before), body) => {
            let (after, reply) = before.apply(at, caller, expect, body)?;
            let write = match after {
                None => Some(Write::DropStorage { model, number }),
                Some(after) => (after != *before).then(|| Write::PutStorage(Arc::new(after))),
            };
            Ok(Transaction {
                write,
                reply,
                needs: None,
            })
        }
    }
}
