//! Invariant 12: the records' own invariants hold after every command. And at rest there are no units but those that are
//! wanted, and those that leave and still have a pod.

use alloc::format;

use pilotage_core::kubernetes::names;
use pilotage_core::life::Life;
use pilotage_core::state::{check, check_change};

use crate::cluster::resource::Resource;
use crate::world::World;

use super::{Broken, Pair, application_uid, holds};

pub(super) fn check_all(records: &[Pair<'_>]) -> Result<(), Broken> {
    for (before, after) in records {
        let Some(after) = after else { continue };
        let result = match before {
            Some(before) => check_change(before, after),
            None => check(after),
        };
        result.map_err(|broken| Broken::new(12, format!("record of {}: {broken}", after.name)))?;
    }
    Ok(())
}

pub(super) fn units(world: &World) -> Result<(), Broken> {
    for application in world.store.applications() {
        let wanted = application.desired_scale();
        let units = &application.status.units;
        let missing = (0..wanted).find(|number| application.unit(*number).is_none());
        holds(12, missing.is_none(), || {
            format!("at rest {} has no unit {missing:?}", application.name)
        })?;
        for unit in units.iter().filter(|unit| unit.number >= wanted) {
            let name = names::pod(&application.name, unit.number);
            let mut pods = world.cluster.objects(Resource::Pod, None);
            let pod =
                pods.any(|pod| pod.name() == name && application_uid(pod) == Some(application.uid));
            holds(12, pod && unit.life != Life::Alive, || {
                format!(
                    "at rest {} has unit {}, which nobody wants",
                    application.name, unit.number
                )
            })?;
        }
    }
    Ok(())
}
