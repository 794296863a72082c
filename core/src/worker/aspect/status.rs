//! The application's own status: the most severe of what its aspects wait for. One writer, and every wait is named.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;

use crate::life::Life;
use crate::outcome::Refusal;
use crate::reason::Reason;
use crate::state::{SETTLING, StatusReport, Word};
use crate::worker::phase::Phase;
use crate::worker::verdict::Verdicts;
use crate::worker::view::{Standing, View};

use super::scale;

/// The status that the verdicts make.
pub fn status(view: &View, phase: Phase, verdicts: &Verdicts) -> StatusReport {
    // Scaling down keeps `active` (B59): that pods of units that go are ending is no news of those that stay.
    let ends = |reason: &Reason| phase == Phase::Alive && *reason == Reason::PodsEnding;
    let waits = verdicts.waits().filter(|(_, reason)| !ends(reason));
    let waits = waits.map(|(_, reason)| (is_obstacle(reason), of_reason(reason)));
    let own = own(view, phase).map(|status| (false, status));
    let most = waits.chain(own).max_by_key(|(obstacle, status)| {
        (
            status.word.severity(),
            *obstacle,
            !status.message.is_empty(),
        )
    });
    most.map(|(_, status)| status).unwrap_or(StatusReport {
        word: Word::Active,
        message: Box::default(),
    })
}

/// Whether it is why units do not come, where all else that is known is that they have not come yet.
fn is_obstacle(reason: &Reason) -> bool {
    match reason {
        // The record is not asked to say that it could not be written.
        Reason::Refused { key, refusal, .. } => {
            key.is_some() && matches!(refusal, Refusal::Busy { .. })
        }
        Reason::NoAnswer { key } => key.is_some(),
        _ => false,
    }
}

/// What the phase and the units say by themselves.
fn own(view: &View, phase: Phase) -> Option<StatusReport> {
    match phase {
        Phase::Unwatched => Some(StatusReport::new(
            Word::Blocked,
            unwatched(view.namespace()),
        )),
        Phase::WithoutModel => Some(StatusReport::new(
            Word::Error,
            match view.standing {
                Standing::Unreadable => {
                    "the record of its model cannot be read: it is left as it is until a good copy is put back"
                }
                _ => {
                    "its model has no record in the state: it is left as it is until the record is put back"
                }
            },
        )),
        Phase::NotReady => Some(StatusReport::new(
            Word::Waiting,
            "waiting for the model's namespace",
        )),
        Phase::PredecessorLeaving => Some(StatusReport::new(
            Word::Waiting,
            format!("waiting for objects of a former \"{}\" to go", view.name),
        )),
        Phase::Dying => Some(StatusReport::new(Word::Waiting, "stopping units")),
        Phase::Removing => Some(StatusReport::new(Word::Waiting, "removing objects")),
        Phase::Alive => {
            let ready = view.record.units.iter().filter(|unit| {
                unit.life == Life::Alive
                    && view
                        .pod(unit.number)
                        .is_some_and(|pod| pod.ready && !pod.deleting)
            });
            let ready = u32::try_from(ready.count()).unwrap_or(u32::MAX);
            (ready < scale::units_wanted(view)).then(|| StatusReport::new(Word::Waiting, SETTLING))
        }
        Phase::Listing | Phase::Gone => None,
    }
}

/// What is said of what is in a namespace that the cluster's sources do not tell of.
pub fn unwatched(namespace: &str) -> String {
    format!(
        "the provisioner does not watch the namespace \"{namespace}\": name it in --namespaces of run"
    )
}

fn of_reason(reason: &Reason) -> StatusReport {
    let (word, message): (Word, String) = match reason {
        Reason::Refused {
            key,
            refusal,
            message,
        } => {
            let what = match key {
                Some(key) => format!("{key}"),
                None => "the record".into(),
            };
            let word = match refusal {
                Refusal::Busy { .. } | Refusal::TryAgain | Refusal::Conflict | Refusal::NotSent => {
                    Word::Waiting
                }
                _ => Word::Error,
            };
            (word, format!("{what}: {message}"))
        }
        Reason::Foreign { key } => (
            Word::Error,
            format!("{key} exists and is not Pilotage's: remove it, or deploy under another name"),
        ),
        Reason::Contested { key, field } => (
            Word::Error,
            format!("{key}: something else keeps changing {field}"),
        ),
        Reason::PodsRefused { message } => (Word::Error, message.as_ref().into()),
        Reason::NoAnswer { .. } => (Word::Waiting, "the cluster does not answer".into()),
        Reason::NotProvisioned { text } => (Word::Blocked, text.as_ref().into()),
        Reason::PredecessorLeaving { key } => {
            (Word::Waiting, format!("waiting for a former {key} to go"))
        }
        Reason::PodsEnding => (Word::Waiting, "waiting for pods to end".into()),
        Reason::ObjectsEnding => (Word::Waiting, "waiting for objects to go".into()),
        Reason::PartitionHeld { partition } => (
            Word::Waiting,
            format!(
                "the rollout is held: units below {partition} keep the old revision while a partition is set"
            ),
        ),
        Reason::Broken { text } => (
            Word::Error,
            format!("internal error: {text}; starting again"),
        ),
        // What is being done needs no word of its own; that units are not ready yet is said by the phase.
        _ => (Word::Active, String::new()),
    };
    StatusReport::new(word, message)
}
