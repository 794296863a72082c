//! What is worth a Kubernetes Event: whatever somebody would ask about who sees that something has changed.
//!
//! It is the last effect of the batch that does the thing, so what was not done is not announced. Nothing waits for it
//! and nothing follows from its outcome.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::effect::{Action, Severity};
use crate::kubernetes::Kind;
use crate::reason::Reason;
use crate::state::{ApplicationCommand, Command, StatusReport, Word};

use super::aspect::scale::pods_wanted;
use super::view::View;

/// How many things of one batch are named: an Event is a line, not a list.
const TOLD: usize = 5;

/// The Event about a batch, with its reason, if the batch does something worth one.
pub fn announcement(view: &View, steps: &[(Action, Reason)]) -> Option<(Action, Reason)> {
    let mut told = steps.iter().filter_map(|(action, because)| {
        let told = of_step(view, action, because)?;
        Some((told, because))
    });
    let ((severity, reason, first), because) = told.next()?;
    let mut texts = Vec::from([first]);
    let alike = told.filter(|((_, other, _), _)| *other == reason);
    texts.extend(alike.map(|((_, _, text), _)| text));
    let more = texts.len().saturating_sub(TOLD);
    if more > 0 {
        texts.truncate(TOLD);
        texts.push(format!("and {more} more"));
    }
    let event = Action::RecordEvent {
        namespace: view.namespace().into(),
        application: view.name.clone(),
        uid: view.uid,
        severity,
        reason: reason.into(),
        message: texts.join("; ").into(),
    };
    Some((event, because.clone()))
}

type Told = (Severity, &'static str, String);

fn of_step(view: &View, action: &Action, because: &Reason) -> Option<Told> {
    use Severity::{Normal, Warning};
    Some(match (action, because) {
        (Action::Create { .. }, Reason::Missing { key }) => match view.stateful_set() {
            // The workload is the last of the objects that an application needs.
            None if key.kind == Kind::StatefulSet => {
                let pods = pods_wanted(view);
                (
                    Normal,
                    "Deployed",
                    format!("{key} is made, for {pods} units"),
                )
            }
            None => return None,
            Some(_) => (Normal, "Created", format!("{key} is made")),
        },
        (Action::Apply { .. }, Reason::Changed { key }) => {
            (Normal, "Updated", format!("{key} is changed as asked"))
        }
        (Action::Apply { .. }, Reason::Drift { key, field }) => {
            let text = format!("something else changed {field} of {key}: it is put back");
            (Warning, "DriftCorrected", text)
        }
        (Action::Scale { .. }, Reason::ScaleUp { from, to }) => {
            (Normal, "ScaledUp", format!("from {from} to {to} pods"))
        }
        (Action::Scale { .. }, Reason::ScaleDown { from, to }) => {
            (Normal, "ScaledDown", format!("from {from} to {to} pods"))
        }
        (Action::Delete { .. }, Reason::StuckRollout { pod }) => {
            let text = format!("pod {pod} of an old revision holds up the rollout: it is deleted");
            (Warning, "StuckPodDeleted", text)
        }
        (Action::Delete { key, .. }, Reason::DestroyStorage { storage }) => {
            let text = format!("storage {storage} is destroyed with {key}");
            (Normal, "StorageDestroyed", text)
        }
        (Action::Delete { key, .. }, Reason::Removal) if key.kind == Kind::StatefulSet => {
            (Normal, "Removing", "units have ended, objects go".into())
        }
        (Action::Store(command), Reason::Report) => of_status(view, command)?,
        _ => return None,
    })
}

/// A status that needs somebody, and its end.
fn of_status(view: &View, command: &Command) -> Option<Told> {
    let Command::Application {
        body: ApplicationCommand::Report(report),
        ..
    } = command
    else {
        return None;
    };
    let status = report.provisioner.as_ref()?;
    let text = |status: &StatusReport| -> Box<str> { status.message.clone() };
    match (view.record.report.provisioner.word, status.word) {
        (_, Word::Error) => Some((Severity::Warning, "Failed", text(status).into())),
        (_, Word::Blocked) => Some((Severity::Warning, "Blocked", text(status).into())),
        (Word::Error | Word::Blocked, _) => {
            let former = text(&view.record.report.provisioner);
            Some((Severity::Normal, "Resolved", format!("no longer: {former}")))
        }
        _ => None,
    }
}
