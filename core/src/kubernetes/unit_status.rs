//! What a pod says about its unit: a table, first row that fits (command line, section 5; KSTAT, with ODD-07 and ODD-21
//! mended: total, and every container is looked at).

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::state::{NO_POD_YET, StatusReport, Word};

use super::read::{Condition, ContainerStatus, Pod, PodPhase};

/// Workload and agent words of a unit.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct UnitStatus {
    /// What its workload does.
    pub workload: StatusReport,
    /// What its agent does; in a plain pod there is none, so the pod speaks for it.
    pub agent: StatusReport,
    /// Whether the pod is ready.
    pub ready: bool,
}

fn status(workload: Word, agent: Word, message: impl Into<Box<str>>) -> UnitStatus {
    UnitStatus {
        workload: StatusReport::new(workload, message),
        agent: StatusReport {
            word: agent,
            message: Box::default(),
        },
        ready: false,
    }
}

/// A unit that has no pod. `why` is the message while it never had one.
pub fn without_pod(started: bool, had_pod: bool, why: &str) -> UnitStatus {
    if started || had_pod {
        status(Word::Terminated, Word::Idle, "unit stopped by the cloud")
    } else {
        status(Word::Waiting, Word::Allocating, why)
    }
}

/// A unit by its pod. `started`: whether a pod of the unit was ready once.
pub fn of_pod(pod: &Pod, started: bool) -> UnitStatus {
    let conditions = &pod.status;
    if pod.metadata.is_deleting() {
        return status(Word::Terminated, Word::Idle, "unit stopped by the cloud");
    }
    let ready = conditions.condition("Ready");
    if let Some(unknown) = ready.filter(|ready| &*ready.status == "Unknown") {
        return status(Word::Unknown, Word::Lost, text(unknown));
    }
    if matches!(pod.status.phase, PodPhase::Failed | PodPhase::Succeeded) {
        return status(Word::Error, Word::Idle, ended(pod));
    }
    let scheduled = conditions.condition("PodScheduled");
    if let Some(no) = scheduled.filter(|scheduled| &*scheduled.status != "True") {
        return if no.reason.as_deref() == Some("Unschedulable") {
            status(Word::Blocked, Word::Idle, text(no))
        } else {
            status(Word::Waiting, Word::Allocating, text(no))
        };
    }
    if scheduled.is_none() && pod.spec.node_name.is_none() {
        return status(Word::Waiting, Word::Allocating, NO_POD_YET);
    }
    let containers = pod
        .status
        .init_container_statuses
        .iter()
        .chain(&pod.status.container_statuses);
    if let Some(error) = containers.filter_map(cannot_start).next() {
        return status(Word::Error, Word::Idle, error);
    }
    let agent = if started {
        Word::Idle
    } else {
        Word::Allocating
    };
    if !pod.status.is_ready() {
        return status(Word::Maintenance, agent, starting(pod));
    }
    UnitStatus {
        ready: true,
        ..status(Word::Active, Word::Idle, "")
    }
}

fn text(condition: &Condition) -> Box<str> {
    let parts = [condition.reason.as_deref(), condition.message.as_deref()];
    match parts.map(|part| part.filter(|part| !part.is_empty())) {
        [_, Some(message)] => message.into(),
        [Some(reason), None] => reason.into(),
        [None, None] => NO_POD_YET.into(),
    }
}

fn joined(reason: Option<&str>, message: Option<&str>) -> String {
    match (
        reason.filter(|r| !r.is_empty()),
        message.filter(|m| !m.is_empty()),
    ) {
        (Some(reason), Some(message)) => format!("{reason}: {message}"),
        (Some(one), None) | (None, Some(one)) => one.into(),
        (None, None) => String::new(),
    }
}

/// Why a pod that ended for good did.
fn ended(pod: &Pod) -> String {
    let own = joined(pod.status.reason.as_deref(), pod.status.message.as_deref());
    if !own.is_empty() {
        return own;
    }
    let ended = pod.status.container_statuses.iter().find_map(|container| {
        let why = container.state.terminated.as_ref()?;
        let reason = why.reason.as_deref().unwrap_or("ended");
        Some(match why.exit_code {
            Some(code) => format!("container {}: {reason}: exit code {code}", container.name),
            None => format!("container {}: {reason}", container.name),
        })
    });
    ended.unwrap_or_else(|| "the pod ended".into())
}

/// Why a container cannot start, if it cannot.
fn cannot_start(container: &ContainerStatus) -> Option<String> {
    if let Some(why) = &container.state.waiting {
        return match why.reason.as_deref().unwrap_or_default() {
            "" | "ContainerCreating" | "PodInitializing" => None,
            reason => Some(format!(
                "container {}: {}",
                container.name,
                joined(Some(reason), why.message.as_deref())
            )),
        };
    }
    let why = container.state.terminated.as_ref()?;
    let reason = why.reason.as_deref().unwrap_or_default();
    // An init container that is done, and one that ended well between two restarts, are on their way.
    if reason == "Completed" || why.exit_code == Some(0) {
        return None;
    }
    Some(format!(
        "container {}: {}",
        container.name,
        joined(Some(reason), why.message.as_deref())
    ))
}

fn starting(pod: &Pod) -> String {
    let waiting = pod
        .status
        .container_statuses
        .iter()
        .filter(|container| !container.ready);
    let names: Vec<&str> = waiting.map(|container| &*container.name).collect();
    if names.is_empty() {
        "starting".into()
    } else {
        format!("starting: {}", names.join(", "))
    }
}

/// Ports of a pod's containers, in their order, as `5432/TCP` (KAPP-34).
pub fn ports(pod: &Pod) -> Vec<Box<str>> {
    let ports = pod
        .spec
        .containers
        .iter()
        .flat_map(|container| &container.ports);
    ports
        .map(|port| format!("{}/{}", port.container_port, port.protocol).into())
        .collect()
}
