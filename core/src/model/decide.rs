//! What a model's worker does next.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;

use crate::effect::Action;
use crate::kubernetes::{Key, Kind, Propagation, write};
use crate::life::Life;
use crate::reason::Reason;
use crate::state::{
    ApplicationCommand, Caller, Command, ModelCommand, StatusReport, Storage, StorageCommand, Word,
};
use crate::worker::aspect::status::unwatched;
use crate::worker::verdict::Aspect;
use crate::worker::view::Standing;

use super::{Member, ModelPhase, ModelWorker, UNREAD, claims};

pub(super) type Step = Option<(Action, Reason)>;

/// Where the model is.
pub(super) fn phase(worker: &ModelWorker, members: &[Member]) -> ModelPhase {
    match worker.view.life {
        Life::Gone => ModelPhase::Gone,
        Life::Alive if worker.standing() == Standing::Ready => ModelPhase::Ready,
        Life::Alive => ModelPhase::Missing,
        Life::Dying | Life::Dead
            if members.is_empty()
                && worker.storages.is_empty()
                && worker.unreadable.storages.is_empty()
                && claims::unnamed(worker).is_none() =>
        {
            ModelPhase::Removing
        }
        Life::Dying | Life::Dead => ModelPhase::Emptying,
    }
}

/// What there is to be done, whatever the phase.
pub(super) fn work(worker: &ModelWorker, members: &[Member]) -> Step {
    if worker.unwatched {
        return None;
    }
    let main = match worker.phase {
        ModelPhase::Missing => make_namespace(worker),
        ModelPhase::Ready | ModelPhase::Gone => None,
        ModelPhase::Emptying => empty(worker, members),
        ModelPhase::Removing => remove(worker),
    };
    main.or_else(|| sweep(worker))
        .or_else(|| claims::name(worker))
        .or_else(|| destroyed(worker))
        .or_else(|| claims::correct(worker))
}

fn namespace_key(worker: &ModelWorker) -> Key {
    Key::new(Kind::Namespace, "", &worker.view.namespace)
}

fn get(key: Key) -> Step {
    Some((Action::Get { key: key.clone() }, Reason::ReadAgain { key }))
}

pub(super) fn store(command: Command, because: Reason) -> Step {
    Some((Action::Store(Box::new(command)), because))
}

/// The namespace is made, never adopted: a namespace that is there and not ours is refused (B78).
fn make_namespace(worker: &ModelWorker) -> Step {
    if worker.namespace.is_some() {
        // It is going; its end is an event.
        return None;
    }
    let key = namespace_key(worker);
    match worker.memory.read.get(&key) {
        Some(Some(UNREAD)) => get(key),
        // Read, and not ours: named in the status until it is read again.
        Some(Some(_)) => None,
        Some(None) | None => {
            let manifest = write::namespace(&worker.view);
            Some((Action::Create { manifest }, Reason::Namespace))
        }
    }
}

/// Applications go first, then storages that the user wants destroyed; others are forgotten, their claims stay.
fn empty(worker: &ModelWorker, members: &[Member]) -> Step {
    let wish = worker.view.removal.unwrap_or_default();
    let member = members.iter().find(|member| {
        let asked = worker.memory.asked_to_go.get(&member.uid) == Some(&wish);
        let stays =
            member.life == Life::Alive || (wish.force && !member.removal.is_some_and(|r| r.force));
        stays && !asked
    });
    if let Some(member) = member {
        let command = Command::Application {
            application: member.uid,
            caller: Caller::Provisioner,
            expect: None,
            body: ApplicationCommand::Remove { wish },
        };
        return store(command, Reason::ModelRemoval);
    }
    if !members.is_empty() {
        return None;
    }
    let storage = worker.storages.values().find(|storage| !storage.destroy)?;
    let body = if wish.destroy_storage {
        StorageCommand::Destroy
    } else {
        StorageCommand::Clear
    };
    store(of_storage(storage, body), Reason::ModelRemoval)
}

pub(super) fn of_storage(storage: &Storage, body: StorageCommand) -> Command {
    Command::Storage {
        model: storage.model,
        number: storage.instance.number,
        caller: Caller::Provisioner,
        // To forget a storage must not win over a user who has just asked to destroy it.
        expect: matches!(body, StorageCommand::Clear).then_some(storage.version),
        body,
    }
}

/// The namespace goes when nothing in it may stay: deleting it would delete claims that nobody wanted destroyed. Then
/// the record goes.
fn remove(worker: &ModelWorker) -> Step {
    let view = &worker.view;
    let kept_claims = worker
        .leftovers
        .values()
        .any(|l| l.key.kind == Kind::PersistentVolumeClaim);
    let leftovers = worker
        .leftovers
        .values()
        .any(|l| l.deleting || l.key.kind != Kind::PersistentVolumeClaim);
    if leftovers {
        return None;
    }
    if view.owns_namespace && !kept_claims {
        let key = namespace_key(worker);
        match &worker.namespace {
            Some(seen) if seen.deleting => return None,
            Some(seen) => {
                let action = Action::Delete {
                    key,
                    uid: seen.uid,
                    propagation: Propagation::Background,
                };
                return Some((action, Reason::ModelRemoval));
            }
            // A watch alone proves no absence. What is there and was read is not ours.
            None if !matches!(worker.memory.read.get(&key), Some(None)) => {
                let foreign =
                    matches!(worker.memory.read.get(&key), Some(Some(uid)) if *uid != UNREAD);
                if !foreign {
                    return get(key);
                }
            }
            None => {}
        }
    }
    let command = Command::Model {
        model: view.uid,
        caller: Caller::Provisioner,
        expect: Some(view.version),
        body: ModelCommand::Clear,
    };
    store(command, Reason::ModelRemoval)
}

/// Objects of applications that were removed are deleted; claims are never leftovers.
fn sweep(worker: &ModelWorker) -> Step {
    let (uid, leftover) = worker.leftovers.iter().find(|(_, leftover)| {
        !leftover.deleting && leftover.key.kind != Kind::PersistentVolumeClaim
    })?;
    let action = Action::Delete {
        key: leftover.key.clone(),
        uid: *uid,
        propagation: Propagation::Background,
    };
    Some((
        action,
        Reason::Leftover {
            key: leftover.key.clone(),
        },
    ))
}

/// Storages that a user destroyed: the claim by its uid, a fresh read, then the record.
fn destroyed(worker: &ModelWorker) -> Step {
    worker
        .storages
        .values()
        .filter(|storage| storage.destroy)
        .find_map(|storage| {
            let because = || Reason::DestroyStorage {
                storage: storage.instance.id().into(),
            };
            let clear = || store(of_storage(storage, StorageCommand::Clear), because());
            let Some(claim) = storage.instance.claim.as_deref() else {
                return clear();
            };
            let key = Key::new(Kind::PersistentVolumeClaim, &worker.view.namespace, claim);
            let seen = worker
                .leftovers
                .iter()
                .find(|(_, leftover)| leftover.key == key);
            match (seen, worker.memory.read.get(&key)) {
                (Some((_, leftover)), _) if leftover.deleting => None,
                (Some((uid, _)), _) => Some((
                    Action::Delete {
                        key,
                        uid: *uid,
                        propagation: Propagation::Background,
                    },
                    because(),
                )),
                (None, Some(None)) => clear(),
                // Something else has the name now: what was ours is gone.
                (None, Some(Some(uid))) if *uid != UNREAD => clear(),
                (None, _) => get(key),
            }
        })
}

/// The model's own status.
pub(super) fn report(worker: &ModelWorker) -> Step {
    let status = status(worker);
    if status == worker.view.status || worker.view.life == Life::Gone {
        return None;
    }
    let command = Command::Model {
        model: worker.view.uid,
        caller: Caller::Provisioner,
        expect: None,
        body: ModelCommand::Report { status },
    };
    store(command, Reason::Status)
}

fn status(worker: &ModelWorker) -> StatusReport {
    if let Some(failure) = &worker.failure {
        return StatusReport::new(Word::Error, &**failure);
    }
    let name = &worker.view.namespace;
    if worker.unwatched {
        return StatusReport::new(Word::Blocked, unwatched(name));
    }
    // That the state did not take a status is nothing that a status could say.
    let held = &worker.memory.backoff.held;
    if let Some(held) = held.iter().find(|held| held.aspect == Aspect::Removal) {
        let text = match &held.reason {
            Reason::Refused { message, .. } => format!("{message}"),
            _ => "the cluster does not answer".into(),
        };
        return StatusReport::new(Word::Error, text);
    }
    match worker.phase {
        ModelPhase::Missing => match worker.memory.read.get(&namespace_key(worker)) {
            Some(Some(uid)) if *uid != UNREAD => StatusReport::new(
                Word::Error,
                format!(
                    "a namespace called \"{name}\" already exists on this k8s cluster. Please pick a different model name."
                ),
            ),
            _ => StatusReport::new(Word::Waiting, "the namespace is being made"),
        },
        ModelPhase::Ready => StatusReport::new(Word::Active, strangers(&worker.strangers)),
        ModelPhase::Emptying => {
            StatusReport::new(Word::Terminated, "applications and storage are going")
        }
        ModelPhase::Removing | ModelPhase::Gone => {
            StatusReport::new(Word::Terminated, "the namespace is going")
        }
    }
}

/// A wrong state file must not cost anybody a pod: what is labelled as ours and is of no application that this state
/// ever had is named and left alone.
fn strangers(keys: &[Key]) -> String {
    match keys {
        [] => String::new(),
        [key] => {
            format!("{key} belongs to an application that is not in this state; it is left alone")
        }
        [key, rest @ ..] => format!(
            "{key} and {} more belong to applications that are not in this state; they are left alone",
            rest.len()
        ),
    }
}
