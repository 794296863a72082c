//! Invariant 3: no claim is deleted unless its storage was destroyed by the user. And at rest, each claim of ours is
//! named by a record, which says what the cluster gave for it; or it is going.

use alloc::format;

use pilotage_core::state::{Given, StorageInstance};

use crate::cluster::object::{Stored, text_at};
use crate::cluster::resource::Resource;
use crate::world::World;

use super::{Broken, Seen, Who, Witness, application_uid, ends, holds};

pub(super) fn deleted(witness: &Witness, seen: &Seen<'_>) -> Result<(), Broken> {
    let claims = seen
        .changes
        .iter()
        .filter(|change| change.after.resource == Resource::PersistentVolumeClaim && ends(change));
    for change in claims {
        let claim = change.before.as_ref().unwrap_or(&change.after);
        let Some(uid) = application_uid(claim) else {
            continue;
        };
        let with_application = witness.applications.get(&uid).copied().unwrap_or(false);
        let alone = seen.world.store.storages().any(|storage| {
            storage.destroy && storage.instance.claim.as_deref() == Some(claim.name())
        });
        let excused = with_application || alone || seen.who == Who::Person;
        holds(3, excused, || {
            format!(
                "claim {} is deleted, and nobody destroyed its storage",
                claim.name()
            )
        })?;
    }
    Ok(())
}

/// 4, at rest: nothing of ours is left that no record names.
pub(super) fn named(world: &World) -> Result<(), Broken> {
    let claims = world.cluster.objects(Resource::PersistentVolumeClaim, None);
    for claim in claims.filter(|claim| !claim.deleting()) {
        if claim.label("app.kubernetes.io/managed-by") != Some("pilotage") {
            continue;
        }
        let text = |problem: &str| format!("claim {} {problem}", claim.name());
        let Some(instance) = instance(world, claim) else {
            return Err(Broken::new(4, text("is there, and no record names it")));
        };
        let bound = text_at(&claim.value, &["status", "phase"]) == "Bound";
        let given = instance.given.as_ref();
        let right = |given: &Given| {
            Some(given.claim) == claim.uid().parse().ok()
                && *given.volume == *text_at(&claim.value, &["spec", "volumeName"])
        };
        holds(4, given.is_some_and(right) == bound, || {
            text(&format!(
                "is not what its record says: bound {bound}, and the record has {given:?}"
            ))
        })?;
    }
    // And nothing is named that never came, or is gone.
    for application in world.store.applications() {
        let all = application.status.storage.iter();
        for storage in all.filter(|one| application.unit(one.unit).is_none()) {
            let mut claims = world.cluster.objects(Resource::PersistentVolumeClaim, None);
            let there = claims.any(|one| Some(one.name()) == storage.claim.as_deref());
            holds(4, there, || {
                format!("storage {} is recorded, and is nothing", storage.id())
            })?;
        }
    }
    Ok(())
}

/// The storage that a claim is, in the record of its application or in one of its own.
fn instance<'a>(world: &'a World, claim: &Stored) -> Option<&'a StorageInstance> {
    let attached = world
        .store
        .applications()
        .filter(|one| Some(one.uid) == application_uid(claim))
        .flat_map(|one| &one.status.storage);
    let detached = world
        .store
        .storages()
        .filter(|one| Some(one.application) == application_uid(claim))
        .map(|one| &one.instance);
    let mut all = attached.chain(detached);
    all.find(|one| one.claim.as_deref() == Some(claim.name()))
}
