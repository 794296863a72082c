//! How a pod ends: asked to, or thrown out by its node.

use alloc::boxed::Box;
use alloc::sync::Arc;

use pilotage_core::time::Span;
use serde_json::{Value, json};

use super::super::client::{Address, KUBELET};
use super::super::conditions::{Condition, set_condition, status_of};
use super::super::instruction::Behaviour;
use super::super::{Next, Turn};
use super::container::{Container, Exit, State};
use super::status::{Report, place};
use super::{Run, subject};
use crate::cluster::object::{Stored, items_at, number_at, set_at};
use crate::cluster::request::Propagation;

/// Ends a pod that is being deleted: its containers get their time, then the pod is taken off the server.
pub(super) fn end(turn: &mut Turn<'_>, pod: &Arc<Stored>, run: &mut Run, ended: bool) -> Next {
    let started = *run.ending.get_or_insert(turn.at);
    let runs = run
        .containers
        .iter()
        .chain(&run.init)
        .any(|container| container.running_since().is_some());
    let asked = items_at(&pod.value, &["spec", "containers"])
        .iter()
        .find_map(|spec| {
            turn.rules
                .of(subject(pod, spec))
                .find_map(|behaviour| match behaviour {
                    Behaviour::TerminationTakes(span) => Some(*span),
                    _ => None,
                })
        });
    let grace = Span::seconds(
        number_at(&pod.value, &["metadata", "deletionGracePeriodSeconds"]).unwrap_or(30),
    );
    let takes = asked.unwrap_or(turn.settings.terminate);
    // Who does not end in time is killed.
    let (takes, code) = if takes > grace {
        (grace, 137)
    } else {
        (takes, 0)
    };
    if runs && !ended && turn.at < started.after(takes) {
        return Next::At(started.after(takes));
    }
    if !ended {
        let status = over(turn, pod, run, code);
        let mut client = turn.client(KUBELET);
        if let Err(failure) = client.set_status(pod, &status) {
            return if failure.code == 404 {
                Next::Settled
            } else {
                Next::Retry
            };
        }
    }
    let mut client = turn.client(KUBELET);
    let Some(pod) = client.peek(Address::of(pod)) else {
        return Next::Settled;
    };
    if number_at(&pod.value, &["metadata", "deletionGracePeriodSeconds"]) == Some(0) {
        // The kubelet's part is done; finalizers hold the rest.
        return Next::Settled;
    }
    Next::after(client.delete(&pod, Propagation::Background, Some(0)))
}

/// Throws a pod out: it fails, and stays so until somebody deletes it.
pub(super) fn evict(turn: &mut Turn<'_>, pod: &Arc<Stored>, run: &mut Run) -> Next {
    let mut status = over(turn, pod, run, 137);
    set_at(&mut status, &["phase"], json!("Failed"));
    set_at(&mut status, &["reason"], json!("Evicted"));
    let message = "The node was low on resource: memory. ";
    set_at(&mut status, &["message"], json!(message));
    set_condition(
        &mut status,
        turn.at,
        Condition {
            kind: "DisruptionTarget",
            state: true,
            reason: "TerminationByKubelet",
            message,
        },
    );
    Next::after(turn.client(KUBELET).set_status(pod, &status))
}

/// The last status of a pod: every container that ran has ended.
fn over(turn: &mut Turn<'_>, pod: &Stored, run: &mut Run, code: i32) -> Value {
    let at = turn.at;
    let mut failed = code != 0;
    for container in run.containers.iter_mut().chain(&mut run.init) {
        match &container.state {
            State::Running { since, .. } => {
                let reason: Box<str> = if code == 0 { "Completed" } else { "Error" }.into();
                container.state = State::Finished {
                    exit: Exit {
                        started: *since,
                        ended: at,
                        code,
                        reason,
                    },
                };
            }
            State::Exited { exit, .. } => {
                container.state = State::Finished { exit: exit.clone() };
            }
            State::Finished { .. } => {}
            // It never ran.
            _ => failed = true,
        }
        failed |= !container.completed();
    }
    let mut status = status_of(&pod.value);
    place(turn, pod, run, &mut status);
    let report = Report { at, pod, run };
    let idle = "ContainerCreating";
    if !run.init.is_empty() {
        let statuses = report.containers("initContainers", &run.init, idle);
        set_at(&mut status, &["initContainerStatuses"], statuses);
    }
    let statuses = report.containers("containers", &run.containers, idle);
    set_at(&mut status, &["containerStatuses"], statuses);
    let (phase, reason) = if failed {
        ("Failed", "PodFailed")
    } else {
        ("Succeeded", "PodCompleted")
    };
    set_at(&mut status, &["phase"], json!(phase));
    let initialized = run.init.iter().all(Container::completed);
    let conditions = [
        ("PodReadyToStartContainers", false, ""),
        ("Initialized", initialized, if failed { "" } else { reason }),
        ("Ready", false, reason),
        ("ContainersReady", false, reason),
    ];
    for (kind, state, reason) in conditions {
        set_condition(
            &mut status,
            at,
            Condition {
                kind,
                state,
                reason,
                message: "",
            },
        );
    }
    status
}
