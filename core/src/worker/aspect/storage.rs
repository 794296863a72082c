//! Numbers of storages: every filesystem of every unit has one, counted over the whole model and drawn from its record.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::charm::{Filesystem, FilesystemKind};
use crate::effect::Action;
use crate::kubernetes::names;
use crate::life::Life;
use crate::reason::Reason;
use crate::state::{ApplicationCommand, Caller, Command, ModelCommand, NewStorage};
use crate::worker::memory::Memory;
use crate::worker::verdict::Verdict;
use crate::worker::view::View;

use super::command;

/// Gives numbers to storages that have none.
pub fn storage(view: &View, memory: &Memory) -> Verdict {
    let going = view.record.life != Life::Alive;
    if going && view.record.removal.is_some_and(|wish| wish.destroy_storage) {
        return Verdict::Settled;
    }
    let missing = missing(view);
    let Ok(count) = u32::try_from(missing.len()) else {
        return Verdict::Settled;
    };
    if count == 0 {
        return Verdict::Settled;
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

/// Storages without a number: of units that are wanted, and of units that go and have a claim, so that no claim is left
/// without a record. A unit that has no record any more gets none: its storages may have records of their own by now.
fn missing(view: &View) -> Vec<NewStorage> {
    let Some(provisioning) = view.provisioning() else {
        return Vec::new();
    };
    let claim = |filesystem: &Filesystem, unit: u32| match filesystem.kind {
        FilesystemKind::Claim { .. } => {
            let template =
                names::claim_template(&view.name, &filesystem.storage, filesystem.index, view.uid);
            Some(Box::<str>::from(names::claim(&template, &view.name, unit)))
        }
        FilesystemKind::Rootfs | FilesystemKind::Tmpfs => None,
    };
    let mut missing = Vec::new();
    for unit in &view.record.units {
        for filesystem in &provisioning.filesystems {
            let claim = claim(filesystem, unit.number);
            let there = claim
                .as_deref()
                .is_some_and(|name| view.claim(name).is_some());
            let known = view.record.storage.iter().any(|storage| {
                storage.unit == unit.number
                    && storage.storage == filesystem.storage
                    && storage.index == filesystem.index
            });
            if !known && (there || unit.life == Life::Alive) {
                missing.push(NewStorage {
                    number: 0,
                    unit: unit.number,
                    storage: filesystem.storage.clone(),
                    index: filesystem.index,
                    claim,
                });
            }
        }
    }
    missing
}
