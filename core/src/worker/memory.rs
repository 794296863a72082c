//! What a worker remembers of its own doing: attempts, deadlines, what is in flight. Losing it costs time, never
//! correctness.

use alloc::boxed::Box;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::effect::Action;
use crate::kubernetes::read::Fetched;
use crate::kubernetes::{Key, Kind};
use crate::name::{Uid, Version};
use crate::outcome::Refusal;
use crate::reason::Reason;
use crate::state::{Command, ModelCommand};
use crate::time::{Span, Timestamp};

use super::verdict::Aspect;

/// The first delay after a refusal (reference, 0.1: worker retry delay).
const FIRST_DELAY: Span = Span::seconds(3);
/// The longest delay.
const LONGEST_DELAY: Span = Span::seconds(300);
/// How long pods may take to appear before it is asked why they do not.
const FIRST_LOOK: Span = Span::seconds(5);
/// How long a version of the record that a reply told of is waited for before deciding without it.
const PATIENCE_WITH_STORE: Span = Span::seconds(3);
/// How far the moments lie apart at which aspects try again, once the delays are that long: an attempt is two requests at
/// most, and four a minute are enough.
const APART: Span = Span::seconds(30);
/// How often a conflict is followed at once by a fresh read and a new decision.
const PROMPT_CONFLICTS: u8 = 3;

/// What a worker remembers of its own doing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Memory {
    /// What was asked and not yet answered.
    pub in_flight: Option<Box<InFlight>>,
    /// Attempts that failed, and when the next may be made.
    pub backoff: Backoff,
    /// Fresh reads, for the next decision about their objects.
    pub fetched: Vec<Fetched>,
    /// Objects of which we do not know whether they are there: a fresh read comes before the next act on them.
    pub suspects: Vec<Suspect>,
    /// Objects of which a fresh read said that they are not there; sorted.
    pub absent: Vec<(Kind, Box<str>)>,
    /// Corrections of fields that others changed.
    pub corrections: Vec<Correction>,
    /// Numbers that the model drew for storages: the first and how many.
    pub drawn: Option<(u32, u32)>,
    /// A version of the record that a reply told of and the watch has not reached yet.
    pub awaited: Option<Awaited>,
    /// Since when pods of dead units are ending.
    pub ending_since: Option<Timestamp>,
    /// How a rollout goes.
    pub rollout: Option<Rollout>,
    /// Pods that do not come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<Box<Missing>>,
    /// One more than the highest ordinal of a pod that was ever seen.
    pub pods_seen: u32,
    /// Conflicts since something was done.
    pub conflicts: u8,
    /// Commands in a row that were taken and changed nothing.
    pub no_ops: u8,
}

/// A version of a record that a reply told of, and since when the watch is waited for to tell it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Awaited(pub Version, pub Timestamp);

impl Awaited {
    /// Until when nothing is to be decided, as the record is known by its version alone; none if it was told, or is
    /// waited for no longer.
    pub fn until(self, known: Version, at: Timestamp) -> Option<Timestamp> {
        let Awaited(version, since) = self;
        let until = since.after(PATIENCE_WITH_STORE);
        (known < version && at < until).then_some(until)
    }
}

/// An object of which we do not know whether it is there.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Suspect {
    /// Its kind.
    pub kind: Kind,
    /// Its name.
    pub name: Box<str>,
    /// The uid that was ours when the watch last spoke of it. It may have lost its labels only (fact K32).
    pub was: Option<Uid>,
}

/// How often we put back a field of an object.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Correction {
    /// The object.
    pub uid: Uid,
    /// The field.
    pub field: Box<str>,
    /// How often.
    pub times: u8,
    /// When last.
    pub last: Timestamp,
}

/// How far a rollout is, and since when.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Rollout {
    /// Where it leads.
    pub revision: u64,
    /// Pods of the new revision, and those of them that are ready.
    pub progress: (u32, u32),
    /// Since when it is that far.
    pub since: Timestamp,
}

/// Pods that the workload asks for and that are not there.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Missing {
    /// How often it was asked why.
    pub looks: u32,
    /// When to ask again.
    pub look_at: Timestamp,
    /// What the workload's controller said last.
    pub warning: Option<Box<str>>,
}

impl Missing {
    /// Pods are missing from now on.
    pub fn since(at: Timestamp) -> Self {
        Missing {
            looks: 0,
            look_at: at.after(FIRST_LOOK),
            warning: None,
        }
    }

    /// It was asked why: again only after twice the time.
    pub fn looked(&mut self, at: Timestamp) {
        self.looks = self.looks.saturating_add(1);
        let doubled = FIRST_LOOK.0.saturating_mul(1_u64 << self.looks.min(10));
        self.look_at = at.after(Span(doubled.min(LONGEST_DELAY.0)));
    }
}

/// A batch that was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct InFlight {
    /// Which aspect asked.
    pub aspect: Aspect,
    /// The number of its first effect.
    pub first: u32,
    /// What each effect does to what, and whether it was answered.
    pub asked: Vec<Asked>,
    /// The first answer that was not `Done`.
    pub trouble: Option<Trouble>,
    /// Whether an answer showed that something else stands where an object of ours should: then the batch was done, and
    /// its aspect still did not get its way.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub obstructed: bool,
}

/// What one effect of a batch does, as far as its answer needs it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Asked {
    /// The object, for a request to the cluster.
    pub key: Option<Key>,
    /// What kind of request.
    pub verb: Verb,
    /// Whether it was answered.
    pub answered: bool,
}

/// A kind of request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs)] // The actions of the same names.
pub enum Verb {
    Create,
    TakeOver,
    Apply {
        correction: bool,
    },
    Scale,
    Delete,
    Read,
    Warnings,
    Event,
    /// `draws`: numbers that the model is asked for.
    Store {
        record: RecordKind,
        draws: u32,
    },
}

/// A kind of record in the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs)] // The records of the same names.
pub enum RecordKind {
    Application,
    Model,
    Storage,
}

/// An answer that was not `Done`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Trouble {
    /// The object, for a request to the cluster.
    pub key: Option<Key>,
    /// What kind of request.
    pub verb: Verb,
    /// The refusal; none if there was no answer.
    pub refusal: Option<(Refusal, Box<str>)>,
}

/// One backoff per application: its delays grow with every attempt that failed, whichever aspect made it. Each aspect
/// waits for its own moment, so that one which fails again and again does not keep the others from their turn.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Backoff {
    /// Attempts that failed since all was well.
    pub attempts: u32,
    /// Who waits.
    pub held: Vec<Held>,
}

/// An aspect that failed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Held {
    /// Which.
    pub aspect: Aspect,
    /// When it may try again.
    pub until: Timestamp,
    /// What stood in its way.
    pub reason: Reason,
}

impl Asked {
    /// What is to be remembered of an action.
    pub fn of(action: &Action, because: &Reason) -> Self {
        let correction = matches!(because, Reason::Drift { .. });
        let (verb, key) = match action {
            Action::Create { manifest } => (Verb::Create, Some(&manifest.key)),
            Action::TakeOver { key, .. } => (Verb::TakeOver, Some(key)),
            Action::Apply { manifest, .. } => (Verb::Apply { correction }, Some(&manifest.key)),
            Action::Scale { key, .. } => (Verb::Scale, Some(key)),
            Action::Delete { key, .. } => (Verb::Delete, Some(key)),
            Action::Get { key } => (Verb::Read, Some(key)),
            Action::List { .. } => (Verb::Read, None),
            Action::Warnings { .. } => (Verb::Warnings, None),
            Action::RecordEvent { .. } => (Verb::Event, None),
            Action::Store(command) => {
                let (record, draws) = match &**command {
                    Command::Application { .. } => (RecordKind::Application, 0),
                    Command::Model {
                        body: ModelCommand::DrawStorage { count },
                        ..
                    } => (RecordKind::Model, *count),
                    Command::Model { .. } => (RecordKind::Model, 0),
                    Command::Storage { .. } => (RecordKind::Storage, 0),
                };
                (Verb::Store { record, draws }, None)
            }
        };
        Asked {
            key: key.cloned(),
            verb,
            answered: false,
        }
    }
}

impl Backoff {
    /// Notes a failed attempt. Delays double from 3 s to 5 min, spread by the application's uid so that many
    /// applications do not come back together.
    pub fn fail(
        &mut self,
        at: Timestamp,
        uid: Uid,
        aspect: Aspect,
        why: Reason,
        not_before: Option<Span>,
    ) {
        let doubled = FIRST_DELAY.0.saturating_mul(1_u64 << self.attempts.min(10));
        let delay = doubled.min(LONGEST_DELAY.0);
        let spread = u64::try_from(uid.0 & 0xff).unwrap_or_default();
        // Up to an eighth more.
        let delay = delay.saturating_add(delay.saturating_mul(spread) / (8 * 256));
        let delay = Span(delay.max(not_before.unwrap_or_default().0));
        self.attempts = self.attempts.saturating_add(1);
        self.held.retain(|held| held.aspect != aspect);
        self.held.push(Held {
            aspect,
            until: self.free_moment(at.after(delay), delay.min(APART)),
            reason: why,
        });
    }

    /// The first moment from then on that is so far from every moment at which an aspect may try again: many that fail
    /// together are not to come back together.
    fn free_moment(&self, earliest: Timestamp, apart: Span) -> Timestamp {
        let mut taken: Vec<Timestamp> = self.held.iter().map(|held| held.until).collect();
        taken.sort_unstable();
        taken.into_iter().fold(earliest, |moment, taken| {
            let near = moment < taken.after(apart) && taken < moment.after(apart);
            if near { taken.after(apart) } else { moment }
        })
    }

    /// Notes that an aspect got its way.
    pub fn succeed(&mut self, aspect: Aspect) {
        self.held.retain(|held| held.aspect != aspect);
        if self.held.is_empty() {
            *self = Backoff::default();
        }
    }

    /// Nobody has to wait any longer: what failed may go well now.
    pub fn relent(&mut self, at: Timestamp) {
        for held in &mut self.held {
            held.until = held.until.min(at);
        }
    }

    /// What an aspect has to wait for, if it has to.
    pub fn holds(&self, aspect: Aspect, at: Timestamp) -> Option<&Held> {
        let mut held = self.held.iter();
        held.find(|held| held.aspect == aspect && at < held.until)
    }
}

impl Memory {
    /// Whether a conflict is to be followed at once by a fresh read.
    pub fn conflict_is_prompt(&mut self) -> bool {
        self.conflicts = self.conflicts.saturating_add(1);
        self.conflicts <= PROMPT_CONFLICTS
    }

    /// Notes that an object has to be read before the next act on it.
    pub fn suspect(&mut self, kind: Kind, name: &str, was: Option<Uid>) {
        self.forget_fetched(kind, name);
        self.absent.retain(|(k, n)| !(*k == kind && **n == *name));
        if !self.is_suspect(kind, name) {
            self.suspects.push(Suspect {
                kind,
                name: name.into(),
                was,
            });
        }
    }

    fn forget_fetched(&mut self, kind: Kind, name: &str) {
        self.fetched.retain(|fetched| {
            !(fetched.object.kind() == kind && *fetched.object.metadata().name == *name)
        });
    }

    /// Whether an object has to be read before the next act on it.
    pub fn is_suspect(&self, kind: Kind, name: &str) -> bool {
        self.suspects
            .iter()
            .any(|suspect| suspect.kind == kind && *suspect.name == *name)
    }

    /// Whether a fresh read said that an object is not there.
    pub fn is_absent(&self, kind: Kind, name: &str) -> bool {
        self.place_of_absent(kind, name).is_ok()
    }

    fn place_of_absent(&self, kind: Kind, name: &str) -> Result<usize, usize> {
        self.absent
            .binary_search_by(|(known, one)| (*known, &**one).cmp(&(kind, name)))
    }

    /// Notes that an object was read, or seen.
    pub fn settle(&mut self, kind: Kind, name: &str, there: bool) {
        self.suspects
            .retain(|suspect| !(suspect.kind == kind && *suspect.name == *name));
        match (self.place_of_absent(kind, name), there) {
            (Ok(at), true) => {
                self.absent.remove(at);
            }
            (Err(at), false) => self.absent.insert(at, (kind, name.into())),
            _ => {}
        }
        if !there {
            self.forget_fetched(kind, name);
        }
    }

    /// A fresh read of an object, if it is of the version that is known.
    pub fn fetched(&self, uid: Uid, version: Version) -> Option<&Fetched> {
        self.fetched.iter().find(|fetched| {
            let metadata = fetched.object.metadata();
            metadata.uid == uid && metadata.version == version
        })
    }

    /// Notes that we put a field back; says how often that was within ten minutes.
    pub fn correct(&mut self, at: Timestamp, uid: Uid, field: &str) -> u8 {
        self.corrections
            .retain(|known| at.since(known.last) < Span::seconds(600));
        match self
            .corrections
            .iter_mut()
            .find(|known| known.uid == uid && *known.field == *field)
        {
            Some(known) => {
                known.times = known.times.saturating_add(1);
                known.last = at;
                known.times
            }
            None => {
                self.corrections.push(Correction {
                    uid,
                    field: field.into(),
                    times: 1,
                    last: at,
                });
                1
            }
        }
    }

    /// Until when a field that others keep changing is left alone, if it is.
    pub fn contested(&self, at: Timestamp, uid: Uid, field: &str) -> Option<Timestamp> {
        let known = self
            .corrections
            .iter()
            .find(|known| known.uid == uid && *known.field == *field)?;
        let beyond = known.times.checked_sub(3)?;
        let delay = FIRST_DELAY
            .0
            .saturating_mul(1_u64 << beyond.min(6))
            .min(LONGEST_DELAY.0);
        let until = known.last.after(Span(delay));
        (at < until).then_some(until)
    }
}
