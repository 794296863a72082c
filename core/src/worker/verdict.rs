//! What an aspect says about what it compares.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::effect::Action;
use crate::reason::Reason;
use crate::time::Timestamp;

/// The comparers of what is wanted with what is there, in the order in which they are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Aspect {
    /// Account, roles, bindings.
    Access,
    /// Secrets with which images are pulled.
    Secrets,
    /// Services.
    Services,
    /// The workload and its rollout.
    Workload,
    /// The number of pods, and units that come and go.
    Scale,
    /// Numbers of storages.
    Storage,
    /// Taking everything away.
    Removal,
    /// What users see.
    Report,
}

/// What an aspect says.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Verdict {
    /// What is wanted is there.
    Settled,
    /// This is to be done, in this order.
    Act(Vec<(Action, Reason)>),
    /// Nothing can be done now.
    Wait {
        /// Look again then, even if nothing happens. None: an event ends it.
        until: Option<Timestamp>,
        /// What is waited for.
        reason: Reason,
    },
}

impl Verdict {
    /// A wait that an event ends.
    pub fn wait(reason: Reason) -> Self {
        Verdict::Wait {
            until: None,
            reason,
        }
    }

    /// One thing to be done.
    pub fn act(action: Action, because: Reason) -> Self {
        Verdict::Act(Vec::from([(action, because)]))
    }
}

/// What the aspects asked so far said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Verdicts(pub Vec<(Aspect, Verdict)>);

impl Verdicts {
    /// Whether an aspect was asked and has what it wants.
    pub fn settled(&self, aspect: Aspect) -> bool {
        self.0
            .iter()
            .any(|(asked, verdict)| *asked == aspect && *verdict == Verdict::Settled)
    }

    /// Everything that is waited for.
    pub fn waits(&self) -> impl Iterator<Item = (Aspect, &Reason)> {
        self.0.iter().filter_map(|(aspect, verdict)| match verdict {
            Verdict::Wait { reason, .. } => Some((*aspect, reason)),
            _ => None,
        })
    }
}
