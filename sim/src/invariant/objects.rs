//! Invariants 4, 5 and 11: whose objects are touched, and what is left of an application.

use alloc::format;

use pilotage_core::name::Uid;
use pilotage_core::reason::Reason;

use crate::cluster::resource::Resource;

use super::{Broken, Pair, Seen, Witness, application_uid, holds, pods};

/// 5: what we write or delete was ours before. 11: of an unknown application nothing is touched, and only what is of a
/// removed one is swept.
pub(super) fn written(witness: &Witness, seen: &Seen<'_>) -> Result<(), Broken> {
    if !seen.we_wrote() {
        return Ok(());
    }
    let sweeps = seen
        .ran()
        .any(|(effect, _)| matches!(effect.because, Reason::Leftover { .. }));
    for change in &seen.changes {
        if change.after.resource == Resource::StatefulSet {
            pods::starts_at_zero(&change.after)?;
        }
        let Some(before) = &change.before else {
            continue;
        };
        if let Some(uid) = application_uid(before) {
            let known = witness.applications.contains_key(&uid);
            holds(11, known, || {
                format!("{} is of an application that we do not know", before.name())
            })?;
            let removed = seen.application(uid).is_none() || removed(seen, uid);
            holds(11, !sweeps || removed, || {
                format!(
                    "{} is swept, and its application was not removed",
                    before.name()
                )
            })?;
        }
        holds(5, witness.ours.contains(before.uid()), || {
            format!(
                "{:?} {} was written, and it never was ours",
                before.resource,
                before.name()
            )
        })?;
    }
    Ok(())
}

fn removed(seen: &Seen<'_>, uid: Uid) -> bool {
    let mut models = seen.world.store.models();
    models.any(|model| model.status.removed.contains(&uid))
}

/// 4: when a record goes, nothing of its application is left but claims whose storage was not destroyed. What has lost
/// the label that says so is nobody's; whether the worker knew better is seen at rest. So is whether what a deposed
/// provisioner made too late is swept.
pub(super) fn record_went(
    witness: &Witness,
    seen: &Seen<'_>,
    records: &[Pair<'_>],
) -> Result<(), Broken> {
    for (before, after) in records {
        let (Some(before), None) = (before, after) else {
            continue;
        };
        let destroyed = witness.applications.get(&before.uid).copied();
        let left = seen.world.cluster.all_objects().find(|object| {
            let kept = match object.resource {
                Resource::PersistentVolumeClaim => destroyed != Some(true),
                // Made and collected by controllers alone.
                Resource::ControllerRevision | Resource::Event => true,
                _ => false,
            };
            let late = witness.late.contains(object.uid());
            application_uid(object) == Some(before.uid) && witness.is_ours(object) && !kept && !late
        });
        if let Some(left) = left {
            return Err(Broken::new(
                4,
                format!(
                    "the record of {} went while {:?} {} is there",
                    before.name,
                    left.resource,
                    left.name()
                ),
            ));
        }
    }
    Ok(())
}
