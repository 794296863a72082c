//! Invariants 1, 2 and 6: pods and their units.

use alloc::format;
use alloc::sync::Arc;

use pilotage_core::life::Life;
use pilotage_core::state::Application;

use crate::cluster::Change;
use crate::cluster::object::{Stored, at, number_at, text_at};
use crate::cluster::resource::Resource;

use super::{Broken, Pair, Seen, Who, Witness, application_uid, ends, holds};

/// The ordinal that a pod's name ends with.
fn ordinal(pod: &Stored) -> Option<u32> {
    pod.name().rsplit_once('-')?.1.parse().ok()
}

/// 1: scaling and removing take away no pod of a unit that is not dead.
pub(super) fn taken(witness: &Witness, seen: &Seen<'_>) -> Result<(), Broken> {
    for change in &seen.changes {
        match change.after.resource {
            Resource::StatefulSet if seen.we_wrote() => workload(seen, change)?,
            Resource::Pod if ends(change) => pod(witness, seen, change)?,
            _ => {}
        }
    }
    Ok(())
}

fn owner<'a>(seen: &'a Seen<'_>, object: &Stored) -> Option<&'a Arc<Application>> {
    seen.application(application_uid(object)?)
}

/// The highest number of a unit whose pod must stay, and one more; 0 if there is none.
fn must_stay(application: &Application) -> u32 {
    let units = application.status.units.iter();
    let stay = units.filter(|unit| matches!(unit.life, Life::Alive | Life::Dying));
    stay.map(|unit| unit.number + 1).max().unwrap_or(0)
}

/// What we do to a workload is what its controller will do to pods.
fn workload(seen: &Seen<'_>, change: &Change) -> Result<(), Broken> {
    let Some(before) = &change.before else {
        return Ok(());
    };
    let Some(application) = owner(seen, before) else {
        return Ok(());
    };
    let stay = must_stay(application);
    let orphans = change.after.finalizers().any(|one| one == "orphan");
    holds(1, !ends(change) || orphans || stay == 0, || {
        format!(
            "StatefulSet {} is deleted while unit {} is not dead",
            before.name(),
            stay.saturating_sub(1)
        )
    })?;
    let replicas = |object: &Stored| number_at(&object.value, &["spec", "replicas"]).unwrap_or(1);
    let (from, to) = (replicas(before), replicas(&change.after));
    holds(1, to >= from || to >= u64::from(stay), || {
        format!("replicas fall to {to} while unit {} is not dead", stay - 1)
    })
}

fn pod(witness: &Witness, seen: &Seen<'_>, change: &Change) -> Result<(), Broken> {
    let pod = change.before.as_ref().unwrap_or(&change.after);
    let (Some(application), Some(number)) = (owner(seen, pod), ordinal(pod)) else {
        return Ok(());
    };
    let alive = application
        .unit(number)
        .is_some_and(|unit| unit.life != Life::Dead);
    let ended = matches!(
        text_at(&pod.value, &["status", "phase"]),
        "Failed" | "Succeeded"
    );
    if !alive || ended || rolled(seen, pod) {
        return Ok(());
    }
    let excused = match seen.who {
        Who::Ours | Who::Late => false,
        Who::Person => true,
        Who::Controller | Who::Nobody => witness.meddled,
    };
    holds(1, excused, || {
        format!(
            "pod {} is taken away while its unit is not dead",
            pod.name()
        )
    })
}

/// Whether the pod is of an old template, and so may be replaced.
fn rolled(seen: &Seen<'_>, pod: &Stored) -> bool {
    let set = pod.controller().and_then(|owner| {
        let cluster = &seen.world.cluster;
        cluster
            .peek(Resource::StatefulSet, pod.namespace(), owner.name)
            .filter(|set| set.uid() == owner.uid)
    });
    let hash = pod.label("controller-revision-hash").unwrap_or("");
    set.is_some_and(|set| {
        let update = text_at(&set.value, &["status", "updateRevision"]);
        let observed = number_at(&set.value, &["status", "observedGeneration"]).unwrap_or(0);
        hash != update || observed < set.generation()
    })
}

/// 2: no unit leaves the state while its pod exists, unless the user forced it.
pub(super) fn units_left(seen: &Seen<'_>, records: &[Pair<'_>]) -> Result<(), Broken> {
    for (before, after) in records {
        let Some(before) = before else { continue };
        let wish = |one: &Arc<Application>| one.spec.removal.is_some_and(|wish| wish.force);
        if wish(before) || after.is_some_and(wish) {
            continue;
        }
        for unit in &before.status.units {
            if after.is_some_and(|after| after.unit(unit.number).is_some()) {
                continue;
            }
            let name = format!("{}-{}", before.name, unit.number);
            let mut pods = seen.world.cluster.objects(Resource::Pod, None);
            let there =
                pods.any(|pod| pod.name() == name && application_uid(pod) == Some(before.uid));
            holds(2, !there, || {
                format!(
                    "unit {} left the state while pod {name} exists",
                    unit.number
                )
            })?;
        }
    }
    Ok(())
}

/// 6: a stateful unit's number is its pod's ordinal.
pub(super) fn numbers(records: &[Pair<'_>]) -> Result<(), Broken> {
    for (_, after) in records {
        let Some(after) = after else { continue };
        for unit in &after.status.units {
            let Some(pod) = &unit.pod else { continue };
            let wanted = format!("{}-{}", after.name, unit.number);
            holds(6, *pod.name == *wanted, || {
                format!("unit {} is said to be pod {}", unit.number, pod.name)
            })?;
        }
    }
    Ok(())
}

/// 6: the workload numbers its pods from 0, so that no ordinal ever means another unit.
pub(super) fn starts_at_zero(object: &Stored) -> Result<(), Broken> {
    let start = at(&object.value, &["spec", "ordinals", "start"]).and_then(|one| one.as_u64());
    holds(6, start.unwrap_or(0) == 0, || {
        format!("StatefulSet {} does not count from 0", object.name())
    })
}
