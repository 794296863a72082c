//! Taking everything away: workload, pods, the rest, storage, and the record last (KAPP-27, B24, B26, B35, B41).
//!
//! By what is labelled as ours, of every kind that we watch, so that a crash between two deletes forgets nothing and
//! objects that a charm made under our labels go too (B39); then by name, with a fresh read, because a watch alone
//! proves no absence.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use crate::effect::Action;
use crate::kubernetes::{Key, Kind, Propagation, names};
use crate::life::Life;
use crate::name::{Uid, Version};
use crate::reason::Reason;
use crate::state::{
    ApplicationCommand, Caller, Command, ModelCommand, Storage, StorageCommand, StorageInstance,
};
use crate::time::Timestamp;
use crate::worker::memory::Memory;
use crate::worker::verdict::Verdict;
use crate::worker::view::View;
use crate::worker::wanted;

use super::command;
use super::storage::claim_of;

/// The next step of the removal.
pub fn removal(view: &View, memory: &Memory, at: Timestamp) -> Verdict {
    if view.record.life == Life::Dying {
        // Zero units is the end of the dying phase, however it came about (B33).
        return if view.record.units.is_empty() {
            Verdict::act(
                command(view, true, ApplicationCommand::MarkDead),
                Reason::Removal,
            )
        } else {
            Verdict::Settled
        };
    }
    let steps: [fn(&View, &Memory, Timestamp) -> Verdict; 6] =
        [doubts, workload, objects, claims, storage, record];
    for step in steps {
        match step(view, memory, at) {
            Verdict::Settled => {}
            verdict => return verdict,
        }
    }
    Verdict::Settled
}

fn read(view: &View, kind: Kind, name: &str) -> (Action, Reason) {
    let key = Key::new(kind, view.namespace(), name);
    (
        Action::Get { key: key.clone() },
        Reason::ConfirmGone { key },
    )
}

fn delete(view: &View, kind: Kind, name: &str, uid: Uid, because: Reason) -> (Action, Reason) {
    let key = Key::new(kind, view.namespace(), name);
    (
        Action::Delete {
            key,
            uid,
            propagation: Propagation::Background,
        },
        because,
    )
}

/// One at a time: that something is not there is an answer that ends a batch.
fn one(mut steps: impl Iterator<Item = (Action, Reason)>) -> Verdict {
    steps
        .next()
        .map_or(Verdict::Settled, |step| Verdict::Act(Vec::from([step])))
}

fn act_or_settled(steps: Vec<(Action, Reason)>) -> Verdict {
    if steps.is_empty() {
        Verdict::Settled
    } else {
        Verdict::Act(steps)
    }
}

/// What we are not sure about is read first.
fn doubts(view: &View, memory: &Memory, _: Timestamp) -> Verdict {
    let suspects = memory.suspects.iter();
    one(suspects.map(|suspect| read(view, suspect.kind, &suspect.name)))
}

/// The workload, and with it the pods.
fn workload(view: &View, memory: &Memory, _: Timestamp) -> Verdict {
    if let Some(seen) = view.stateful_set() {
        return if seen.deleting {
            Verdict::wait(Reason::ObjectsEnding)
        } else {
            Verdict::Act(Vec::from([delete(
                view,
                seen.kind,
                &seen.name,
                seen.uid,
                Reason::Removal,
            )]))
        };
    }
    // The workload has to be gone for sure before its pods are waited for: it would make new ones.
    if !memory.is_absent(Kind::StatefulSet, &view.name) {
        return Verdict::Act(Vec::from([read(view, Kind::StatefulSet, &view.name)]));
    }
    if !view.pods.is_empty() {
        // Pods without an owner are nobody's but ours.
        let orphans = view
            .pods
            .iter()
            .filter(|pod| pod.owner.is_none() && !pod.deleting);
        let deletes: Vec<(Action, Reason)> = orphans
            .map(|pod| {
                let name = names::pod(&view.name, pod.ordinal);
                delete(view, Kind::Pod, &name, pod.uid, Reason::Removal)
            })
            .collect();
        return if deletes.is_empty() {
            Verdict::wait(Reason::PodsEnding)
        } else {
            Verdict::Act(deletes)
        };
    }
    // A forced removal has not waited for pods before; any other has seen them gone when their units went.
    if !view.record.removal.is_some_and(|wish| wish.force) {
        return Verdict::Settled;
    }
    let former = memory.pods_seen.max(view.record.former_units);
    let pods = (0..former).map(|ordinal| names::pod(&view.name, ordinal));
    let unread = pods.filter(|name| !memory.is_absent(Kind::Pod, name));
    one(unread.map(|name| read(view, Kind::Pod, &name)))
}

/// Everything else that is ours, claims aside.
fn objects(view: &View, memory: &Memory, _: Timestamp) -> Verdict {
    let order = |kind: Kind| match kind {
        Kind::Service => 0_u8,
        Kind::Secret => 1,
        Kind::RoleBinding => 2,
        Kind::Role => 3,
        Kind::ClusterRoleBinding => 4,
        Kind::ClusterRole => 5,
        _ => 6,
    };
    let mut there: Vec<_> = view.objects.iter().filter(|seen| !seen.deleting).collect();
    there.sort_by_key(|seen| (order(seen.kind), seen.name.clone()));
    if !there.is_empty() {
        let deletes = there
            .iter()
            .map(|s| delete(view, s.kind, &s.name, s.uid, Reason::Removal));
        return Verdict::Act(deletes.collect());
    }
    if !view.objects.is_empty() {
        return Verdict::wait(Reason::ObjectsEnding);
    }
    let names = wanted::names(view).into_iter();
    let unread = names.filter(|(kind, name)| !memory.is_absent(*kind, name));
    one(unread.map(|(kind, name)| read(view, kind, &name)))
}

/// A forced removal has not waited for claims either: what its units may have is looked for, so that none is left without a
/// record. The watch may not have told of it yet.
fn claims(view: &View, memory: &Memory, _: Timestamp) -> Verdict {
    let filesystems = view
        .provisioning()
        .into_iter()
        .flat_map(|made| &made.filesystems);
    let names = filesystems.flat_map(|one| {
        (0..view.record.former_units).filter_map(move |unit| claim_of(view, one, unit))
    });
    let mut unread = names.filter(|name| {
        view.claim(name).is_none() && !memory.is_absent(Kind::PersistentVolumeClaim, name)
    });
    one(unread
        .next()
        .into_iter()
        .map(|name| read(view, Kind::PersistentVolumeClaim, &name)))
}

/// Claims go if the user said so; otherwise their storages get records of their own, which outlive this one.
fn storage(view: &View, memory: &Memory, at: Timestamp) -> Verdict {
    let destroy = view.record.removal.is_some_and(|wish| wish.destroy_storage);
    if !destroy {
        return keep(view, at);
    }
    let deletes: Vec<(Action, Reason)> = (view.claims.iter())
        .filter(|claim| !claim.deleting)
        .map(|claim| {
            let instance = (view.record.storage.iter())
                .find(|storage| storage.claim.as_deref() == Some(&claim.name));
            let storage = instance.map_or_else(String::new, |storage| storage.id());
            let because = Reason::DestroyStorage {
                storage: storage.into(),
            };
            delete(
                view,
                Kind::PersistentVolumeClaim,
                &claim.name,
                claim.uid,
                because,
            )
        })
        .collect();
    if !deletes.is_empty() {
        return Verdict::Act(deletes);
    }
    if !view.claims.is_empty() {
        return Verdict::wait(Reason::ObjectsEnding);
    }
    let claims = view
        .record
        .storage
        .iter()
        .filter_map(|storage| storage.claim.as_deref());
    let unread = claims.filter(|name| !memory.is_absent(Kind::PersistentVolumeClaim, name));
    match one(unread.map(|name| read(view, Kind::PersistentVolumeClaim, name))) {
        Verdict::Settled => {}
        verdict => return verdict,
    }
    forget(
        view,
        view.record
            .storage
            .iter()
            .map(|storage| storage.number)
            .collect(),
    )
}

/// The record of a storage is written before it leaves this one: a crash between leaves two, never none.
fn keep(view: &View, at: Timestamp) -> Verdict {
    let claim = |storage: &StorageInstance| {
        let name = storage.claim.as_ref()?;
        view.claim(name).filter(|_| !view.kept.contains(name))
    };
    let mut steps: Vec<(Action, Reason)> = (view.record.storage.iter())
        .filter_map(|storage| Some((storage, claim(storage)?)))
        .map(|(storage, claim)| {
            let mut instance = StorageInstance::clone(storage);
            if claim.given.is_some() {
                instance.given.clone_from(&claim.given);
            }
            let record = Storage {
                model: view.model_uid,
                version: Version::default(),
                created: at,
                application: view.uid,
                application_name: view.name.clone(),
                instance,
                destroy: false,
            };
            let command = Command::Storage {
                model: view.model_uid,
                number: storage.number,
                caller: Caller::Provisioner,
                expect: None,
                body: StorageCommand::Keep {
                    storage: Box::new(record),
                },
            };
            (Action::Store(Box::new(command)), Reason::Removal)
        })
        .collect();
    let all: Vec<u32> = view
        .record
        .storage
        .iter()
        .map(|storage| storage.number)
        .collect();
    if let Verdict::Act(last) = forget(view, all) {
        steps.extend(last);
    }
    act_or_settled(steps)
}

fn forget(view: &View, numbers: Vec<u32>) -> Verdict {
    if numbers.is_empty() {
        return Verdict::Settled;
    }
    let body = ApplicationCommand::RemoveStorage { numbers };
    Verdict::act(command(view, true, body), Reason::Removal)
}

/// The uid is remembered before the record goes: what still appears under it is a leftover.
fn record(view: &View, _: &Memory, _: Timestamp) -> Verdict {
    let remember = Command::Model {
        model: view.model_uid,
        caller: Caller::Provisioner,
        expect: None,
        body: ModelCommand::RememberRemoved {
            application: view.uid,
            destroyed: view.record.removal.is_some_and(|wish| wish.destroy_storage),
        },
    };
    let remembered = view
        .model
        .as_deref()
        .is_some_and(|model| model.removed.contains(&view.uid));
    let mut steps = Vec::new();
    if !remembered {
        steps.push((Action::Store(Box::new(remember)), Reason::Removal));
    }
    steps.push((
        command(view, true, ApplicationCommand::Clear),
        Reason::Removal,
    ));
    Verdict::Act(steps)
}
