//! The number of pods, and the units that come and go (design, section 3, "Scaling").
//!
//! The record's units are the memory of a scale-down: units at or above the target are made dead, then replicas fall in
//! one step, then a fresh read shows that the pods are gone, then the units go. Every step is decided from the record
//! and the cluster alone, so a crash anywhere resumes it.

use alloc::vec::Vec;

use crate::effect::Action;
use crate::kubernetes::{Key, Kind, Propagation, names};
use crate::life::Life;
use crate::reason::Reason;
use crate::state::ApplicationCommand;
use crate::time::{Span, Timestamp};
use crate::worker::memory::Memory;
use crate::worker::verdict::Verdict;
use crate::worker::view::View;

use super::command;

/// How long pods of dead units may take before they are looked for with a fresh read, whatever the watch says.
const PATIENCE: Span = Span::seconds(60);

/// Units that the user wants: none of an application that is to go (B25).
pub fn units_wanted(view: &View) -> u32 {
    if view.record.life == Life::Alive {
        view.record.scale
    } else {
        0
    }
}

/// The number that the scaling in progress leads to: derived, so that no stale flag can mislead.
fn target(view: &View) -> u32 {
    let units = view.record.units.iter();
    let leaving = units
        .filter(|unit| unit.life != Life::Alive)
        .map(|unit| unit.number)
        .min();
    leaving.map_or(units_wanted(view), |lowest| lowest.min(units_wanted(view)))
}

/// The number of pods that there must be: a unit that is not dead keeps its pod.
pub fn pods_wanted(view: &View) -> u32 {
    let units = view
        .record
        .units
        .iter()
        .filter(|unit| unit.life < Life::Dead);
    let highest = units
        .map(|unit| unit.number.saturating_add(1))
        .max()
        .unwrap_or(0);
    highest.max(target(view))
}

/// Brings the number of pods and the units to what is wanted.
pub fn scale(view: &View, memory: &Memory, at: Timestamp) -> Verdict {
    let record = &view.record;
    let (wanted, target, pods) = (units_wanted(view), target(view), pods_wanted(view));
    let begin = |reason| {
        Verdict::act(
            command(view, true, ApplicationCommand::BeginScaling { target }),
            reason,
        )
    };

    let mut units = record.units.iter();
    let excess = units.any(|unit| unit.number >= wanted && unit.life == Life::Alive);
    if excess {
        // From the lowest living unit at or above what is wanted the target is at most that number.
        let reason = Reason::EndUnits { from: wanted };
        if record.scaling != Some(target) {
            return begin(reason);
        }
        return Verdict::act(
            command(
                view,
                true,
                ApplicationCommand::DestroyUnits { from: wanted },
            ),
            reason,
        );
    }

    // Whatever else waits: as long as the workload is in doubt, nothing about pods is decided, so it is read here too.
    let key = Key::new(Kind::StatefulSet, view.namespace(), &view.name);
    if memory.is_suspect(Kind::StatefulSet, &view.name) {
        return Verdict::act(Action::Get { key: key.clone() }, Reason::ReadAgain { key });
    }
    if let (Some(seen), Some(workload)) = (view.stateful_set(), &view.workload)
        && !seen.deleting
        && workload.replicas != pods
    {
        let (from, to) = (workload.replicas, pods);
        let reason = if from < to {
            Reason::ScaleUp { from, to }
        } else {
            Reason::ScaleDown { from, to }
        };
        if record.scaling != Some(target) {
            return begin(reason);
        }
        return Verdict::act(
            Action::Scale {
                key,
                uid: seen.uid,
                version: seen.version,
                replicas: pods,
            },
            reason,
        );
    }

    let dead: Vec<u32> = (record.units.iter())
        .filter(|unit| unit.life == Life::Dead && unit.number >= pods)
        .map(|unit| unit.number)
        .collect();
    if !dead.is_empty() {
        return confirm_gone(view, memory, at, dead);
    }

    let leaving = record.units.iter().any(|unit| unit.life != Life::Alive);
    if record.scaling.is_some() && !leaving && record.life == Life::Alive {
        return Verdict::act(
            command(view, true, ApplicationCommand::EndScaling),
            Reason::Scaled { to: wanted },
        );
    }
    Verdict::Settled
}

/// Removes dead units once a fresh read has shown that their pods are gone.
fn confirm_gone(view: &View, memory: &Memory, at: Timestamp, dead: Vec<u32>) -> Verdict {
    let name = |number: u32| names::pod(&view.name, number);
    // A pod that nothing owns any more, its workload being gone, would run for ever (B24).
    let orphans = view.pods.iter().filter(|pod| {
        dead.contains(&pod.ordinal)
            && pod.owner.is_none()
            && !pod.deleting
            && view.workload.is_none()
    });
    let deletes: Vec<(Action, Reason)> = orphans
        .map(|pod| {
            let key = Key::new(Kind::Pod, view.namespace(), &name(pod.ordinal));
            let delete = Action::Delete {
                key,
                uid: pod.uid,
                propagation: Propagation::Background,
            };
            (delete, Reason::EndUnits { from: pod.ordinal })
        })
        .collect();
    if !deletes.is_empty() {
        return Verdict::Act(deletes);
    }
    let seen = |number: &&u32| view.pods.iter().any(|pod| pod.ordinal == **number);
    if dead.iter().any(|number| seen(&number)) {
        let until = memory.ending_since.map(|since| since.after(PATIENCE));
        if until.is_none_or(|until| at < until) {
            return Verdict::Wait {
                until,
                reason: Reason::PodsEnding,
            };
        }
    }
    let mut unread = dead
        .iter()
        .filter(|number| !memory.is_absent(Kind::Pod, &name(**number)));
    // One at a time: that a pod is not there is an answer that ends a batch.
    if let Some(number) = unread.next() {
        let key = Key::new(Kind::Pod, view.namespace(), &name(*number));
        return Verdict::act(
            Action::Get { key: key.clone() },
            Reason::ConfirmGone { key },
        );
    }
    Verdict::act(
        command(
            view,
            true,
            ApplicationCommand::RemoveUnits { numbers: dead },
        ),
        Reason::ScaleDown {
            from: view.record.scale,
            to: pods_wanted(view),
        },
    )
}
