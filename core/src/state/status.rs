//! Status words (command line, section 5).

use alloc::boxed::Box;

use serde::{Deserialize, Serialize};

use crate::time::Timestamp;

/// What a unit says that has no pod yet, if nothing better is known.
pub const NO_POD_YET: &str = "waiting for container";
/// What the provisioner says while fewer units are ready than are wanted, if nothing better is known (OPS-34).
pub const SETTLING: &str = "waiting for units to settle down";

/// A status word of a unit's workload, of its agent, or of an application.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Word {
    /// Nothing is known.
    #[default]
    Unknown,
    /// Ended.
    Terminated,
    /// Works.
    Active,
    /// Waits for something that will come by itself.
    Waiting,
    /// Busy with itself.
    Maintenance,
    /// Waits for a person.
    Blocked,
    /// Something is wrong.
    Error,
    /// Agent: not started yet.
    Allocating,
    /// Agent: runs a hook.
    Executing,
    /// Agent: has nothing to do.
    Idle,
    /// Agent: starts its machine again.
    Rebooting,
    /// Agent: broken.
    Failed,
    /// Agent: not heard of.
    Lost,
}

impl Word {
    /// How severe an application or workload word is; the most severe of several wins. The agent's own words have no
    /// severity.
    pub const fn severity(self) -> u8 {
        match self {
            Word::Error => 100,
            Word::Blocked => 90,
            Word::Maintenance => 80,
            Word::Waiting => 70,
            Word::Active => 60,
            Word::Terminated => 50,
            Word::Unknown => 40,
            _ => 0,
        }
    }

    /// The word as users read it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Word::Unknown => "unknown",
            Word::Terminated => "terminated",
            Word::Active => "active",
            Word::Waiting => "waiting",
            Word::Maintenance => "maintenance",
            Word::Blocked => "blocked",
            Word::Error => "error",
            Word::Allocating => "allocating",
            Word::Executing => "executing",
            Word::Idle => "idle",
            Word::Rebooting => "rebooting",
            Word::Failed => "failed",
            Word::Lost => "lost",
        }
    }
}

/// A status as it is reported: without a time, so that equal reports are equal (reference, ODD-04).
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct StatusReport {
    /// The word.
    pub word: Word,
    /// For people; empty if there is nothing to say.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub message: Box<str>,
}

impl StatusReport {
    /// A status with a message.
    pub fn new(word: Word, message: impl Into<Box<str>>) -> Self {
        StatusReport {
            word,
            message: message.into(),
        }
    }
}

/// A status as it is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Status {
    /// Word and message.
    #[serde(flatten)]
    pub report: StatusReport,
    /// Since when; changes only when word or message do.
    pub since: Timestamp,
}

impl Status {
    /// Takes a report; says whether it changed anything.
    pub fn update(&mut self, at: Timestamp, report: StatusReport) -> bool {
        let changed = self.report != report;
        if changed {
            *self = Status { report, since: at };
        }
        changed
    }
}
