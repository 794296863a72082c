//! The status of a pod, as its kubelet reports it.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use pilotage_core::time::Timestamp;
use serde_json::{Value, json};

use super::super::Turn;
use super::super::conditions::{Condition, set_condition, status_of};
use super::container::{Container, Exit, State};
use super::{Run, digest};
use crate::cluster::moment;
use crate::cluster::object::{Stored, items_at, set_at, text_at};

/// What is to be reported at this moment.
pub(super) fn of(turn: &Turn<'_>, pod: &Stored, run: &Run) -> Value {
    let at = turn.at;
    let mut status = status_of(&pod.value);
    place(turn, pod, run, &mut status);
    let initialized = run.init.iter().all(Container::completed);
    let idle = if run.init.is_empty() {
        "ContainerCreating"
    } else {
        "PodInitializing"
    };
    let report = Report { at, pod, run };
    if !run.init.is_empty() {
        let statuses = report.containers("initContainers", &run.init, idle);
        set_at(&mut status, &["initContainerStatuses"], statuses);
    }
    let statuses = report.containers("containers", &run.containers, idle);
    set_at(&mut status, &["containerStatuses"], statuses);
    set_at(&mut status, &["phase"], json!(phase(pod, run, initialized)));
    let unready = names(&run.containers, |container| !container.ready());
    let incomplete = names(&run.init, |container| !container.completed());
    let unready = match unready.as_str() {
        "" => (true, "", String::new()),
        names => (
            false,
            "ContainersNotReady",
            format!("containers with unready status: [{names}]"),
        ),
    };
    let initialized = match incomplete.as_str() {
        "" => (true, "", String::new()),
        names => (
            false,
            "ContainersNotInitialized",
            format!("containers with incomplete status: [{names}]"),
        ),
    };
    let sandbox = (run.address.is_some(), "", String::new());
    let conditions = [
        ("PodReadyToStartContainers", &sandbox),
        ("Initialized", &initialized),
        ("Ready", &unready),
        ("ContainersReady", &unready),
    ];
    for (kind, (state, reason, message)) in conditions {
        set_condition(
            &mut status,
            at,
            Condition {
                kind,
                state: *state,
                reason,
                message,
            },
        );
    }
    status
}

/// Where the pod runs, and since when.
pub(super) fn place(turn: &Turn<'_>, pod: &Stored, run: &Run, status: &mut Value) {
    let node = text_at(&pod.value, &["spec", "nodeName"]);
    let host = turn
        .settings
        .nodes
        .iter()
        .find(|known| *known.name == *node)
        .map_or("192.168.0.1", |known| &known.address);
    set_at(status, &["hostIP"], json!(host));
    set_at(status, &["hostIPs"], json!([{ "ip": host }]));
    if let Some(address) = &run.address {
        set_at(status, &["podIP"], json!(address));
        set_at(status, &["podIPs"], json!([{ "ip": address }]));
    }
    if status.get("startTime").is_none() {
        set_at(status, &["startTime"], json!(moment::text(turn.at)));
    }
}

fn names(containers: &[Container], select: impl Fn(&Container) -> bool) -> String {
    containers
        .iter()
        .filter(|container| select(container))
        .map(|container| &*container.name)
        .collect::<Vec<_>>()
        .join(" ")
}

/// Pending until every container has been started once; then as the containers end.
fn phase(pod: &Stored, run: &Run, initialized: bool) -> &'static str {
    let never = text_at(&pod.value, &["spec", "restartPolicy"]) == "Never";
    let failed = |container: &Container| matches!(&container.state, State::Finished { exit } if exit.code != 0);
    if !initialized {
        return if never && run.init.iter().any(failed) {
            "Failed"
        } else {
            "Pending"
        };
    }
    let unborn = |container: &Container| match &container.state {
        State::Running { .. }
        | State::Exited { .. }
        | State::Finished { .. }
        | State::Starting { again: Some(_), .. } => false,
        _ => container.last.is_none(),
    };
    if run.containers.iter().any(unborn) {
        return "Pending";
    }
    let over = |container: &Container| matches!(container.state, State::Finished { .. });
    if !run.containers.iter().all(over) {
        "Running"
    } else if run.containers.iter().any(failed) {
        "Failed"
    } else {
        "Succeeded"
    }
}

/// What is common to the reports on the containers of a pod.
pub(super) struct Report<'a> {
    pub(super) at: Timestamp,
    pub(super) pod: &'a Stored,
    pub(super) run: &'a Run,
}

impl Report<'_> {
    pub(super) fn containers(&self, specs: &str, containers: &[Container], idle: &str) -> Value {
        let specs = items_at(&self.pod.value, &["spec", specs]);
        containers
            .iter()
            .zip(specs)
            .map(|(container, spec)| self.container(container, spec, idle))
            .collect()
    }

    fn container(&self, container: &Container, spec: &Value, idle: &str) -> Value {
        let image = text_at(spec, &["image"]);
        let state = self.state(container, image, idle);
        let born = container.last.is_some() || state.get("waiting").is_none();
        let started = matches!(container.state, State::Running { .. });
        let mut report = json!({
            "name": container.name,
            "image": image,
            "imageID": if born { format!("{image}@sha256:{}", digest(&[image])) } else { String::new() },
            "ready": container.ready() || (container.completed() && idle == "PodInitializing" && self.run.init.iter().any(|init| init.is(&container.name))),
            "restartCount": container.restarts,
            "started": started,
            "state": state,
            "lastState": {},
        });
        if born {
            report["containerID"] = json!(self.identifier(container, container.restarts));
        }
        if let Some(exit) = &container.last {
            let run = container.restarts.saturating_sub(1);
            report["lastState"] = json!({ "terminated": self.terminated(container, exit, run) });
        }
        report
    }

    fn identifier(&self, container: &Container, run: u32) -> String {
        let run = format!("{run}");
        let parts = [self.pod.uid(), &container.name, &run];
        format!("containerd://{}", digest(&parts))
    }

    fn terminated(&self, container: &Container, exit: &Exit, run: u32) -> Value {
        json!({
            "containerID": self.identifier(container, run),
            "exitCode": exit.code,
            "reason": exit.reason,
            "startedAt": moment::text(exit.started),
            "finishedAt": moment::text(exit.ended),
        })
    }

    fn state(&self, container: &Container, image: &str, idle: &str) -> Value {
        let waiting = |reason: &str, message: String| {
            if message.is_empty() {
                json!({ "waiting": { "reason": reason } })
            } else {
                json!({ "waiting": { "reason": reason, "message": message } })
            }
        };
        let not_found = format!(
            "failed to pull and unpack image \"{image}\": failed to resolve reference \"{image}\": {image}: not found"
        );
        match &container.state {
            State::PullFailed { since, .. } if Container::fresh(*since, self.at) => {
                waiting("ErrImagePull", not_found)
            }
            State::PullFailed { .. } => waiting(
                "ImagePullBackOff",
                format!("Back-off pulling image \"{image}\": ErrImagePull: {not_found}"),
            ),
            // The reason of a former failure stays until the next pull ends.
            State::Pulling { .. } if container.failed_pulls() => waiting(
                "ImagePullBackOff",
                format!("Back-off pulling image \"{image}\": ErrImagePull: {not_found}"),
            ),
            State::Misconfigured { problem } => {
                waiting("CreateContainerConfigError", String::from(&**problem))
            }
            State::Running { since, .. } => {
                json!({ "running": { "startedAt": moment::text(*since) } })
            }
            State::Exited { exit, .. } if Container::fresh(exit.ended, self.at) => {
                json!({ "terminated": self.terminated(container, exit, container.restarts) })
            }
            State::Exited { exit, until } => waiting(
                "CrashLoopBackOff",
                format!(
                    "back-off {} restarting failed container={} pod={}_{}({})",
                    duration(until.since(exit.ended).0 / 1_000),
                    container.name,
                    self.pod.name(),
                    self.pod.namespace(),
                    self.pod.uid()
                ),
            ),
            State::Finished { exit } => {
                json!({ "terminated": self.terminated(container, exit, container.restarts) })
            }
            State::Starting {
                again: Some(exit), ..
            } => json!({ "terminated": self.terminated(container, exit, container.restarts) }),
            State::Waiting | State::Pulling { .. } | State::Starting { .. } => {
                waiting(idle, String::new())
            }
        }
    }
}

/// `10s`, `1m20s`, `5m0s`, as Go writes durations.
fn duration(seconds: u64) -> String {
    match (seconds / 60, seconds % 60) {
        (0, seconds) => format!("{seconds}s"),
        (minutes, seconds) => format!("{minutes}m{seconds}s"),
    }
}
