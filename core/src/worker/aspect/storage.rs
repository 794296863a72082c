//! Numbers of storages: every filesystem of every unit has one, counted over the whole model and drawn from its record.
//! So has every claim that a unit left behind; and nothing else.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use crate::charm::{Filesystem, FilesystemKind};
use crate::effect::Action;
use crate::kubernetes::{Key, Kind, names};
use crate::life::Life;
use crate::reason::Reason;
use crate::state::{
    ApplicationCommand, Caller, Command, ModelCommand, NewStorage, StorageInstance,
};
use crate::worker::memory::Memory;
use crate::worker::verdict::Verdict;
use crate::worker::view::View;

use super::command;

/// Gives numbers to storages that have none.
pub fn storage(view: &View, memory: &Memory) -> Verdict {
    // What is dead deletes its claims, whether or not they have numbers; until then they are numbered, so that they are
    // known by name.
    if view.record.life == Life::Dead
        && view.record.removal.is_some_and(|wish| wish.destroy_storage)
    {
        return Verdict::Settled;
    }
    let missing = missing(view);
    let Ok(count) = u32::try_from(missing.len()) else {
        return Verdict::Settled;
    };
    if count == 0 {
        return phantoms(view, memory);
    }
    match memory.drawn {
        Some((first, drawn)) if drawn >= count => {
            let numbered = missing
                .into_iter()
                .zip(first..)
                .map(|(storage, number)| NewStorage { number, ..storage });
            let body = ApplicationCommand::AddStorage {
                storages: numbered.collect(),
            };
            Verdict::act(command(view, false, body), Reason::NumberStorage)
        }
        _ => {
            let draw = Command::Model {
                model: view.model_uid,
                caller: Caller::Provisioner,
                expect: None,
                body: ModelCommand::DrawStorage { count },
            };
            Verdict::act(Action::Store(Box::new(draw)), Reason::NumberStorage)
        }
    }
}

/// Storages of units that went before their claims came, or whose claims went after them, are nothing, once a fresh read
/// has said so. What is dead hands over what it has, and forgets the rest.
fn phantoms(view: &View, memory: &Memory) -> Verdict {
    if view.record.life == Life::Dead {
        return Verdict::Settled;
    }
    let phantom = |storage: &StorageInstance| {
        let claim = storage.claim.as_deref();
        view.unit(storage.unit).is_none() && claim.is_some_and(|name| view.claim(name).is_none())
    };
    let phantoms = view.record.storage.iter().filter(|one| phantom(one));
    let (mut numbers, mut unread) = (Vec::new(), None);
    for storage in phantoms {
        match storage.claim.as_deref() {
            Some(name) if memory.is_absent(Kind::PersistentVolumeClaim, name) => {
                numbers.push(storage.number);
            }
            claim => unread = unread.or(claim),
        }
    }
    // One at a time: that something is not there is an answer that ends a batch.
    if let Some(name) = unread {
        let key = Key::new(Kind::PersistentVolumeClaim, view.namespace(), name);
        let read = Action::Get { key: key.clone() };
        return Verdict::act(read, Reason::ConfirmGone { key });
    }
    if numbers.is_empty() {
        return Verdict::Settled;
    }
    let forget = ApplicationCommand::RemoveStorage { numbers };
    Verdict::act(command(view, true, forget), Reason::NumberStorage)
}

/// Storages without a number: of units that are wanted, and those whose claim is there though their unit goes, or has gone
/// before anybody saw the claim, so that no claim is left without a record. What has a record of its own needs none.
fn missing(view: &View) -> Vec<NewStorage> {
    let Some(provisioning) = view.provisioning() else {
        return Vec::new();
    };
    let known: BTreeSet<(u32, &str, Option<u32>)> = (view.record.storage.iter())
        .map(|known| (known.unit, &*known.storage, known.index))
        .collect();
    let mut missing = Vec::new();
    for unit in &view.record.units {
        for filesystem in &provisioning.filesystems {
            let place = (unit.number, &*filesystem.storage, filesystem.index);
            if !known.contains(&place) && unit.life == Life::Alive {
                missing.push(NewStorage {
                    number: 0,
                    unit: unit.number,
                    storage: filesystem.storage.clone(),
                    index: filesystem.index,
                    claim: claim_of(view, filesystem, unit.number),
                });
            }
        }
    }
    let named = (view.record.storage.iter()).filter_map(|known| known.claim.as_deref());
    let new = missing.iter().filter_map(|new| new.claim.as_deref());
    let named: BTreeSet<&str> = named.chain(new).collect();
    let unnamed = view.claims.iter().filter(|claim| {
        !claim.deleting && !view.kept.contains(&claim.name) && !named.contains(&*claim.name)
    });
    let of_claims: Vec<NewStorage> = unnamed
        .filter_map(|seen| {
            let (storage, index, unit) = names::parts_of_claim(&view.name, view.uid, &seen.name)?;
            let mut filesystems = provisioning.filesystems.iter();
            let filesystem =
                filesystems.find(|one| one.storage == storage && one.index == index)?;
            Some(NewStorage {
                number: 0,
                unit,
                storage,
                index,
                claim: Some(claim_of(view, filesystem, unit)?),
            })
        })
        .collect();
    missing.extend(of_claims);
    missing
}

/// The name of the claim of a unit's filesystem, if it is a claim.
pub fn claim_of(view: &View, filesystem: &Filesystem, unit: u32) -> Option<Box<str>> {
    match filesystem.kind {
        FilesystemKind::Claim { .. } => {
            let template =
                names::claim_template(&view.name, &filesystem.storage, filesystem.index, view.uid);
            Some(names::claim(&template, &view.name, unit).into())
        }
        FilesystemKind::Rootfs | FilesystemKind::Tmpfs => None,
    }
}
