//! Invariant 3: no claim is deleted unless its storage was destroyed by the user.

use alloc::format;

use crate::cluster::resource::Resource;

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
