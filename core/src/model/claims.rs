//! Claims of applications that were removed: each has a record of its own, which says what the cluster shows of it.
//!
//! An application's worker hands over those that it knows. A claim can come later: a StatefulSet's controller may make
//! one of a set that is gone by then, and a watch may tell of one after the application's record went.

use alloc::boxed::Box;
use alloc::string::String;

use crate::kubernetes::names;
use crate::life::Life;
use crate::name::Version;
use crate::reason::Reason;
use crate::state::{
    Caller, Command, ModelCommand, Status, Storage, StorageCommand, StorageInstance, StorageWord,
};
use crate::time::Timestamp;
use crate::worker::aspect::report::of_claim;

use super::decide::{Step, of_storage, store};
use super::{LeftClaim, Leftover, ModelWorker};

fn claims(worker: &ModelWorker) -> impl Iterator<Item = (&Leftover, &LeftClaim)> {
    let leftovers = worker.leftovers.values();
    leftovers.filter_map(|leftover| Some((leftover, leftover.claim.as_deref()?)))
}

/// A claim that no record names. A model that goes and leaves its storage behind needs none for it.
pub(super) fn unnamed(worker: &ModelWorker) -> Option<(&Leftover, &LeftClaim)> {
    let removal = worker.view.removal.unwrap_or_default();
    if worker.view.life != Life::Alive && !removal.destroy_storage {
        return None;
    }
    // It may be what such a record names.
    if !worker.unreadable.storages.is_empty() {
        return None;
    }
    let named = |claim: &LeftClaim| {
        let mut storages = worker.storages.values();
        storages.any(|storage| storage.instance.claim.as_ref() == Some(&claim.seen.name))
    };
    claims(worker).find(|(leftover, claim)| !leftover.deleting && !named(claim))
}

/// Gives a claim that no record names a record of its own, by which it is kept or destroyed, as its application's storage
/// was to be.
pub(super) fn name(worker: &ModelWorker) -> Step {
    let (leftover, claim) = unnamed(worker)?;
    let Some(number) = worker.memory.drawn else {
        let command = Command::Model {
            model: worker.view.uid,
            caller: Caller::Provisioner,
            expect: None,
            body: ModelCommand::DrawStorage { count: 1 },
        };
        return store(command, Reason::NumberStorage);
    };
    let storage = Storage {
        model: worker.view.uid,
        version: Version::default(),
        created: Timestamp::default(),
        application: claim.application,
        application_name: leftover.application.clone(),
        instance: instance(number, leftover, claim),
        destroy: worker.view.destroyed.contains(&claim.application),
    };
    let command = Command::Storage {
        model: worker.view.uid,
        number,
        caller: Caller::Provisioner,
        expect: None,
        body: StorageCommand::Keep {
            storage: Box::new(storage),
        },
    };
    store(command, Reason::NumberStorage)
}

/// The storage that a claim is, as far as the claim alone says it. One that no StatefulSet of ours made is called as it
/// is.
fn instance(number: u32, leftover: &Leftover, claim: &LeftClaim) -> StorageInstance {
    let name = &claim.seen.name;
    let parts = names::parts_of_claim(&leftover.application, claim.application, name);
    let (storage, index, unit) = parts.unwrap_or_else(|| (String::from(&**name), None, 0));
    StorageInstance {
        number,
        storage,
        index,
        unit,
        claim: Some(name.clone()),
        mount_point: String::new(),
        read_only: false,
        pool: "kubernetes".into(),
        given: claim.seen.given.clone(),
        word: StorageWord::Detached,
        status: Status::default(),
    }
}

/// The record of a storage follows its claim: it may have been kept before the claim was bound.
pub(super) fn correct(worker: &ModelWorker) -> Step {
    let kept = worker.storages.values().filter(|storage| !storage.destroy);
    kept.filter_map(|storage| {
        let instance = &storage.instance;
        let named = |claim: &LeftClaim| instance.claim.as_ref() == Some(&claim.seen.name);
        let (_, claim) = claims(worker).find(|(_, claim)| named(claim))?;
        let report = of_claim(instance, &claim.seen, false);
        let same = report.word == instance.word
            && report.given == instance.given
            && report.message == instance.status.report.message;
        (!same).then(|| {
            (
                of_storage(storage, StorageCommand::Report(report)),
                Reason::Report,
            )
        })
    })
    .find_map(|(command, because)| store(command, because))
}
