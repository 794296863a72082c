//! Invariant 10: no wake-up is lost, and nothing is asked for too often.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::format;

use pilotage_core::effect::Action;
use pilotage_core::event::Event;
use pilotage_core::name::Uid;
use pilotage_core::outcome::{Outcome, Refusal};
use pilotage_core::reason::Reason;
use pilotage_core::time::{Span, Timestamp};

use super::{Broken, Seen, Witness, holds};

/// Effects that an application may ask for in a minute while everything is refused.
const EFFECTS_A_MINUTE: usize = 4;

/// Refusals that an application may meet in a minute, the first included: two for each of its aspects, prompt conflicts,
/// and what the delays leave.
const REFUSALS_A_MINUTE: usize = 20;

/// That everything is refused.
#[derive(Clone, Debug)]
pub(super) struct Refused {
    /// In which life of the provisioner, and how.
    so: (u32, Refusal),
    /// Since when.
    since: Timestamp,
    /// When effects were asked for since.
    asked: BTreeMap<Uid, VecDeque<Timestamp>>,
}

/// After the timer at the moment that was asked for there are effects or a later moment.
pub(super) fn woken(seen: &Seen<'_>) -> Result<(), Broken> {
    if !seen.before.woken {
        return Ok(());
    }
    let Some((at, Event::Timer, step)) = seen.world.steps.last() else {
        return Ok(());
    };
    let at = Timestamp(at.0.saturating_sub(seen.world.behind.0));
    let later = step.wake_at.is_none_or(|wake_at| wake_at > at);
    holds(10, later || !step.effects.is_empty(), || {
        format!(
            "woken at {at}, it asks for nothing and to be woken at {:?}",
            step.wake_at
        )
    })
}

/// Nothing is put back that nobody changed; a provisioner that has just begun cannot know who changed it.
pub(super) fn needed(witness: &Witness, seen: &Seen<'_>) -> Result<(), Broken> {
    let put_back = seen.ran().find_map(|(effect, _)| match &effect.because {
        Reason::Drift { key, field } => Some((key, field)),
        _ => None,
    });
    let Some((key, field)) = put_back else {
        return Ok(());
    };
    holds(10, witness.meddled || seen.world.lives() > 1, || {
        format!("{field} of {key} is put back, and nobody changed it")
    })
}

/// While everything is refused, after the first minute, at most so many effects for one application in any minute.
pub(super) fn rate(witness: &mut Witness, seen: &Seen<'_>) -> Result<(), Broken> {
    let now = seen.world.now;
    for (effect, outcome) in &seen.world.ran {
        // That something is not there is what a read or a delete was to find out.
        let found_out = matches!(effect.action, Action::Get { .. } | Action::Delete { .. })
            && matches!(
                outcome,
                Outcome::Refused {
                    reason: Refusal::NotFound,
                    ..
                }
            );
        if matches!(outcome, Outcome::Refused { .. }) && !found_out {
            let times = witness
                .refusals
                .entry((effect.id.owner, effect.id.incarnation))
                .or_default();
            times.retain(|at| now.since(*at) < Span::seconds(60));
            times.push_back(now);
            holds(10, times.len() <= REFUSALS_A_MINUTE, || {
                format!(
                    "{} was refused {} times within a minute",
                    effect.subject,
                    times.len()
                )
            })?;
        }
    }
    let Some(refusal) = &seen.world.refusing else {
        witness.refused = None;
        return Ok(());
    };
    if seen.world.ran.is_empty() {
        return Ok(());
    }
    // Who has just begun, or has not asked yet, knows of no refusal; and another one is met anew.
    let of_now = (seen.world.lives(), refusal.clone());
    let Refused { since, asked, .. } = match &mut witness.refused {
        Some(known) if known.so == of_now => known,
        refused => refused.insert(Refused {
            so: of_now,
            since: now,
            asked: BTreeMap::new(),
        }),
    };
    if now.since(*since) < Span::seconds(60) {
        return Ok(());
    }
    for (effect, _) in &seen.world.ran {
        let times = asked.entry(effect.id.owner).or_default();
        times.retain(|at| now.since(*at) < Span::seconds(60));
        times.push_back(now);
        holds(10, times.len() <= EFFECTS_A_MINUTE, || {
            format!(
                "{} asked for {} effects within a minute while all are refused",
                effect.subject,
                times.len()
            )
        })?;
    }
    Ok(())
}
