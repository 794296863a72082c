//! The fleet: takes events, hands each to the worker that it concerns, and gathers what is to be done.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::effect::Effect;
use crate::event::Event;
use crate::time::Timestamp;

/// What a provisioner is told once, when it is made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Config {
    /// Distinguishes this process's workers from those of former ones, so that a late answer to a former one is
    /// recognised. The interpreter draws it; any number will do that differs from the last.
    pub incarnation: u32,
}

/// Everything that is to be done about one event.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// What to do. Effects of one owner are in order, and the rest of them is not attempted after one that was not
    /// done.
    pub effects: Vec<Effect>,
    /// When to come back with [`Event::Timer`], unless another event comes first and says otherwise.
    pub wake_at: Option<Timestamp>,
    /// Whether anything but the time is different now. A step that changed nothing, asks for nothing and wakes as the
    /// last one did is left out of a trace, so this must not be false too often.
    pub changed: bool,
}

/// The whole core: a state machine over events.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Provisioner {
    config: Config,
    now: Timestamp,
}

impl Provisioner {
    /// A provisioner that has been told nothing yet.
    pub fn new(config: Config) -> Self {
        Provisioner {
            config,
            now: Timestamp::default(),
        }
    }

    /// Takes one event at one moment, and says everything that is to be done about it.
    pub fn step(&mut self, at: Timestamp, _event: Event) -> Step {
        self.now = self.now.max(at);
        Step::default()
    }
}
