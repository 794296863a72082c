//! Asking the code at hand what a trace was told.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::fmt;

use serde::Serialize;

use crate::digest::Digest;
use crate::event::{Event, RecordName};
use crate::name::Uid;
use crate::provisioner::{Config, Provisioner, Step};

use super::{Damage, FORMAT, Header, Line, Recorded, unseal};

/// Why a replay stopped.
#[derive(Debug, thiserror::Error)]
pub enum Stop {
    /// A line is not as it was written.
    #[error("line {line}: {damage}")]
    Damaged {
        /// Which, counted from 1.
        line: u64,
        /// What is wrong with it.
        #[source]
        damage: Damage,
    },
    /// The trace has a format of another release.
    #[error(
        "line {line}: the trace has format {theirs} (written by {program}), this release reads format {FORMAT}"
    )]
    Format {
        /// Which line.
        line: u64,
        /// The trace's format.
        theirs: u32,
        /// What wrote it.
        program: Box<str>,
    },
    /// A line stands where another belongs: lines were taken out, or put in.
    #[error("line {line}: expected {expected}, found {found}; lines are missing or out of place")]
    Misplaced {
        /// Which line.
        line: u64,
        /// What belongs there.
        expected: Box<str>,
        /// What stands there.
        found: Box<str>,
    },
    /// The core as it was written down is not what the steps before lead to.
    #[error("line {line}: the checkpoint is not the state that the steps before it lead to")]
    OtherState {
        /// Which line.
        line: u64,
    },
    /// The code at hand says something else.
    #[error("{0}")]
    Differs(Box<Difference>),
}

/// The first step at which the code at hand said something else than was recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The line, counted from 1.
    pub line: u64,
    /// What was recorded.
    pub recorded: Recorded,
    /// What the code says now: effects, wake, and the digest if one was recorded.
    pub replayed: Recorded,
    /// The last steps before it that concern the same application, oldest first, with their lines.
    pub led: Vec<(u64, Recorded)>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (recorded, replayed) = (&self.recorded, &self.replayed);
        writeln!(
            f,
            "line {}: step {} at {} differs from what was recorded",
            self.line, recorded.sequence, recorded.at
        )?;
        if !self.led.is_empty() {
            writeln!(f, "what led there:")?;
        }
        for (line, step) in &self.led {
            writeln!(f, "  line {line}: {}", Text(&step.event))?;
            for effect in &step.effects {
                writeln!(f, "    {}", Text(effect))?;
            }
        }
        writeln!(f, "event: {}", Text(&recorded.event))?;
        let mut sides = [recorded, replayed].map(|side| side.effects.iter());
        for at in 1_usize.. {
            let [before, now] = sides.each_mut().map(Iterator::next);
            if before.is_none() && now.is_none() {
                break;
            }
            if before != now {
                writeln!(f, "effect {at}:")?;
                side(f, "recorded", before)?;
                side(f, "now", now)?;
            }
        }
        if recorded.wake_at != replayed.wake_at {
            writeln!(f, "wake:")?;
            side(f, "recorded", recorded.wake_at.as_ref())?;
            side(f, "now", replayed.wake_at.as_ref())?;
        }
        if recorded.digest != replayed.digest {
            writeln!(f, "state after the step:")?;
            side(f, "recorded", recorded.digest.as_ref())?;
            side(f, "now", replayed.digest.as_ref())?;
        }
        Ok(())
    }
}

/// One side of a difference.
fn side(f: &mut fmt::Formatter<'_>, name: &str, what: Option<&impl Serialize>) -> fmt::Result {
    match what {
        Some(what) => writeln!(f, "  {name}: {}", Text(what)),
        None => writeln!(f, "  {name}: nothing"),
    }
}

/// Anything as it stands in the trace.
struct Text<'a, T>(&'a T);

impl<T: Serialize> fmt::Display for Text<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self.0).unwrap_or_default())
    }
}

/// How many steps a replay remembers, to show what led to a difference.
const REMEMBERED: usize = 512;
/// How many of them it shows.
const SHOWN: usize = 8;

/// Feeds a trace to the code at hand, line by line.
#[derive(Clone, Debug, Default)]
pub struct Replay {
    provisioner: Option<Provisioner>,
    line: u64,
    /// A header whose checkpoint is still to come.
    header: Option<Header>,
    /// Of the segment at hand.
    config: Option<Config>,
    next: u64,
    steps: u64,
    recent: VecDeque<(u64, Recorded)>,
}

impl Replay {
    /// A replay that was told nothing yet.
    pub fn new() -> Self {
        Replay::default()
    }

    /// The next line is the first of another file.
    pub fn next_file(&mut self) {
        self.line = 0;
    }

    /// How many lines of the file were taken.
    pub fn lines(&self) -> u64 {
        self.line
    }

    /// How many steps were replayed and found equal.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// The core as it now is.
    pub fn provisioner(&self) -> Option<&Provisioner> {
        self.provisioner.as_ref()
    }

    /// Takes the next line of a trace.
    ///
    /// # Errors
    /// Why the replay stops here.
    pub fn line(&mut self, text: &str) -> Result<(), Stop> {
        self.line = self.line.saturating_add(1);
        let line = self.line;
        match unseal(text).map_err(|damage| Stop::Damaged { line, damage })? {
            Line::Header(header) if header.format != FORMAT => Err(Stop::Format {
                line,
                theirs: header.format,
                program: header.program,
            }),
            Line::Header(header) => {
                self.header = Some(header);
                Ok(())
            }
            Line::Checkpoint(provisioner) => match self.header.take() {
                Some(header) => self.checkpoint(header, *provisioner),
                None => Err(self.misplaced("a header or a step", "a checkpoint")),
            },
            Line::Step(_) if self.header.is_some() => Err(self.misplaced("a checkpoint", "a step")),
            Line::Step(recorded) => self.step(*recorded),
        }
    }

    fn misplaced(&self, expected: impl Into<Box<str>>, found: impl Into<Box<str>>) -> Stop {
        Stop::Misplaced {
            line: self.line,
            expected: expected.into(),
            found: found.into(),
        }
    }

    /// A checkpoint is where a replay can begin. One that goes on with the same process must be the state that the
    /// steps before it led to; any other begins another life.
    fn checkpoint(&mut self, header: Header, written: Provisioner) -> Result<(), Stop> {
        let goes_on = header.first > 0
            && self.next == header.first
            && self.config.as_ref() == Some(&header.config);
        match &self.provisioner {
            Some(replayed) if goes_on => {
                if *replayed != written {
                    return Err(Stop::OtherState { line: self.line });
                }
            }
            _ => self.recent.clear(),
        }
        self.provisioner = Some(written);
        self.config = Some(header.config);
        self.next = header.first;
        Ok(())
    }

    /// Takes the next step.
    ///
    /// # Errors
    /// Why the replay stops here.
    pub fn step(&mut self, recorded: Recorded) -> Result<(), Stop> {
        let Some(provisioner) = &mut self.provisioner else {
            return Err(self.misplaced("a header", "a step"));
        };
        if self.next != recorded.sequence {
            let expected = alloc::format!("step {}", self.next);
            return Err(self.misplaced(expected, alloc::format!("step {}", recorded.sequence)));
        }
        let Step {
            effects, wake_at, ..
        } = provisioner.step(recorded.at, recorded.event.clone());
        let digest = recorded
            .digest
            .and_then(|_| digest(provisioner, &recorded.event));
        if effects != recorded.effects || wake_at != recorded.wake_at || digest != recorded.digest {
            let replayed = Recorded {
                effects,
                wake_at,
                digest,
                ..recorded.clone()
            };
            return Err(Stop::Differs(Box::new(Difference {
                line: self.line,
                led: self.led(&recorded, &replayed),
                recorded,
                replayed,
            })));
        }
        self.steps = self.steps.saturating_add(1);
        self.next = self.next.saturating_add(1);
        if self.recent.len() >= REMEMBERED {
            self.recent.pop_front();
        }
        self.recent.push_back((self.line, recorded));
        Ok(())
    }

    /// The last steps that concern whom the difference concerns.
    fn led(&self, recorded: &Recorded, replayed: &Recorded) -> Vec<(u64, Recorded)> {
        let owners = |step: &Recorded| -> Vec<Uid> {
            let effects = step.effects.iter().map(|effect| effect.id.owner);
            effects.chain(owner(&step.event)).collect()
        };
        let mut concerned = owners(recorded);
        concerned.extend(owners(replayed));
        let mut led: Vec<(u64, Recorded)> = self
            .recent
            .iter()
            .rev()
            .filter(|(_, step)| {
                concerned.is_empty() || owners(step).iter().any(|owner| concerned.contains(owner))
            })
            .take(SHOWN)
            .cloned()
            .collect();
        led.reverse();
        led
    }
}

/// The digest of the worker that an event concerns, for a trace to carry now and then: what it will do next rests on
/// more than what it says now. None, if the event concerns no single worker.
pub fn digest(core: &Provisioner, event: &Event) -> Option<Digest> {
    let owner = owner(event)?;
    match core.worker(owner) {
        Some(worker) => Some(Digest::of(worker)),
        None => {
            let model = core.models().find(|model| model.view.uid == owner)?;
            Some(Digest::of(model))
        }
    }
}

/// The application or model that an event concerns, as far as the event itself says so.
fn owner(event: &Event) -> Option<Uid> {
    match event {
        Event::Listing { .. }
        | Event::Synced { .. }
        | Event::SourceFailed { .. }
        | Event::SourceResumed { .. }
        | Event::Timer
        | Event::PodDeleted { .. }
        | Event::ObjectDeleted { .. } => None,
        Event::ModelChanged(model) => Some(model.uid),
        Event::ModelGone { model } | Event::DetachedStorageGone { model, .. } => Some(*model),
        Event::DetachedStorageChanged { storage } => Some(storage.model),
        Event::RecordUnreadable(RecordName::Application { application, .. }) => Some(*application),
        Event::RecordUnreadable(record) => Some(record.model()),
        Event::LifeChanged { record, .. }
        | Event::ScaleChanged { record, .. }
        | Event::TrustChanged { record, .. }
        | Event::ProvisioningChanged { record, .. }
        | Event::UnitChanged { record, .. }
        | Event::UnitRemoved { record, .. }
        | Event::StorageChanged { record, .. }
        | Event::StorageRemoved { record, .. }
        | Event::Reported { record, .. } => Some(record.uid),
        Event::PodUpdated(pod) => pod.metadata.labels.ownership()?.application,
        Event::ObjectUpdated(object) => {
            let ownership = object.metadata().labels.ownership()?;
            Some(ownership.application.unwrap_or(ownership.model))
        }
        Event::EffectCompleted { id, .. } => Some(id.owner),
    }
}
