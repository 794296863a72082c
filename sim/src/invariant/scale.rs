//! Invariant 9: we never set replicas to anything but the number wanted.

use alloc::format;
use alloc::vec::Vec;

use pilotage_core::effect::Action;
use pilotage_core::kubernetes::Kind;
use pilotage_core::life::Life;
use pilotage_core::name::Version;
use pilotage_core::state::Application;

use crate::cluster::object::number_at;

use super::{Broken, Seen, Witness, holds};

/// max(target, 1 + highest ordinal of a unit that is not dead), where the target is min(units wanted, lowest ordinal of a
/// unit that is not alive) (design, section 3).
pub(super) fn wanted(application: &Application) -> u32 {
    let asked = match application.status.life {
        Life::Alive => application.spec.scale,
        Life::Dying | Life::Dead | Life::Gone => 0,
    };
    let (mut target, mut highest) = (asked, 0);
    for unit in &application.status.units {
        if unit.life != Life::Alive {
            target = target.min(unit.number);
        }
        if unit.life != Life::Dead {
            highest = highest.max(unit.number + 1);
        }
    }
    target.max(highest)
}

/// What the core asks for rests on the newest record that it was told of, or on a newer one.
pub(super) fn replicas(witness: &Witness, seen: &Seen<'_>) -> Result<(), Broken> {
    let Some((_, _, step)) = seen.world.steps.last() else {
        return Ok(());
    };
    for effect in &step.effects {
        let set = match &effect.action {
            Action::Scale { replicas, .. } => u64::from(*replicas),
            Action::Create { manifest } if manifest.key.kind == Kind::StatefulSet => {
                number_at(&manifest.body, &["spec", "replicas"]).unwrap_or(1)
            }
            _ => continue,
        };
        let heard = seen.world.heard.get(&effect.id.owner);
        let heard = heard.copied().unwrap_or_default();
        let known = witness.wanted.get(&effect.id.owner);
        let known: &[(Version, u32)] = known.map_or(&[], Vec::as_slice);
        let from = known.iter().rposition(|(version, _)| *version <= heard);
        let mut right = known.iter().skip(from.unwrap_or(0));
        holds(
            9,
            right.any(|(_, number)| u64::from(*number) == set),
            || format!("replicas are set to {set}, which nothing that is known asks for"),
        )?;
    }
    Ok(())
}
