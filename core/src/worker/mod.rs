//! One application's worker: folds what it is told into its view, and asks its aspects what is to be done.
//!
//! # Guarantees
//! * At most one batch is in flight, and a batch is what one aspect asked for. What happens meanwhile is folded into
//!   the view; the next decision is taken when the batch has ended.
//! * No decision rests on a view older than the worker's own last write: an answer is folded before anything else.
//! * A worker is looked at when its view changed, its batch ended, or its deadline came: there is no wake-up to lose.
//!
//! # Assumptions
//! Whoever runs effects owes exactly one outcome per effect, in the order of the batch.

mod announcement;
mod answer;
pub mod aspect;
pub mod memory;
pub mod phase;
pub mod verdict;
pub mod view;
pub mod wanted;

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::effect::{Action, Effect, EffectId};
use crate::event::Event;
use crate::kubernetes::Kind;
use crate::kubernetes::names;
use crate::kubernetes::read::{Object, Pod};
use crate::life::Life;
use crate::name::Uid;
use crate::provisioner::Config;
use crate::reason::Reason;
use crate::state::ModelView;
use crate::time::Timestamp;

use aspect::{access, removal, report, scale, secrets, services, storage, workload};
use memory::{Asked, InFlight, Memory, Missing};
use phase::Phase;
use verdict::{Aspect, Verdict, Verdicts};
use view::{Standing, View};

/// One application's worker.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Worker {
    /// What it knows.
    pub view: View,
    /// What it remembers of its own doing.
    pub memory: Memory,
    /// Where it is in the life of its application.
    pub phase: Phase,
    /// When it wants to be looked at, even if nothing happens.
    pub deadline: Option<Timestamp>,
    incarnation: u32,
    /// Whether it announces what it does.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    events: bool,
    /// Whether it says when all that users want is there.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    confirm: bool,
    next: u32,
}

impl Worker {
    /// A worker for an application that was just heard of.
    pub fn new(uid: Uid, name: Box<str>, model: Uid, config: &Config) -> Self {
        Worker {
            view: View {
                trust_in_namespace_only: config.trust_in_namespace_only,
                ..View::new(uid, name, model)
            },
            memory: Memory::default(),
            phase: Phase::Listing,
            deadline: None,
            incarnation: config.incarnation,
            events: config.events,
            confirm: config.confirm,
            next: 0,
        }
    }

    /// Takes an event about the record. Returns whether it changed anything.
    pub fn tell(&mut self, at: Timestamp, event: &Event) -> bool {
        let wish = |view: &View| {
            let record = &view.record;
            (
                record.life,
                record.removal,
                record.scale,
                record.trust,
                record.provisioning.clone(),
            )
        };
        let before = wish(&self.view);
        let changed = self.view.tell(event);
        if changed && wish(&self.view) != before {
            // A new wish may be what a refusal was waiting for.
            self.memory.backoff.relent(at);
            if self.view.record.life != before.0 {
                self.memory.absent.clear();
            }
        }
        changed
    }

    /// Takes the model as it now is. Returns whether that changed anything.
    pub fn tell_model(&mut self, model: &Arc<ModelView>, standing: Standing) -> bool {
        self.view.tell_model(model, standing)
    }

    /// Takes an object of ours as it now is.
    pub fn observe(&mut self, object: &Object) {
        if let Object::Pod(pod) = object {
            return self.observe_pod(pod);
        }
        self.memory
            .settle(object.kind(), &object.metadata().name, true);
        self.view.observe(object);
    }

    /// Takes a pod of ours as it now is.
    pub fn observe_pod(&mut self, pod: &Pod) {
        let name = &pod.metadata.name;
        self.memory.settle(Kind::Pod, name, true);
        if let Some(ordinal) = names::ordinal(&self.view.name, name) {
            self.memory.pods_seen = self.memory.pods_seen.max(ordinal.saturating_add(1));
        }
        self.view.observe_pod(pod);
    }

    /// Takes that the watch no longer has an object: it is gone, or it has lost our label (fact K32).
    pub fn vanish(&mut self, uid: Uid) {
        if let Some((kind, name)) = self.view.vanish(uid)
            && !matches!(kind, Kind::Pod | Kind::PersistentVolumeClaim)
        {
            self.memory.suspect(kind, &name, Some(uid));
        }
    }

    /// Whether effects of it are not answered yet.
    pub fn is_busy(&self) -> bool {
        self.memory.in_flight.is_some()
    }

    /// Takes that an object changed in a way that the watch may not have told: it is read before the next act on it.
    pub fn doubt(&mut self, uid: Uid) {
        let seen = self.view.objects.iter().find(|seen| seen.uid == uid);
        if let Some((kind, name)) = seen.map(|seen| (seen.kind, seen.name.clone())) {
            self.memory.suspect(kind, &name, Some(uid));
        }
    }

    /// Decides what is to be done now, if anything, and when to look again.
    pub fn look(&mut self, at: Timestamp) -> Vec<Effect> {
        if self.memory.in_flight.is_some() || self.view.record.incomplete {
            self.deadline = None;
            return Vec::new();
        }
        if let Some(awaited) = self.memory.awaited {
            if let Some(until) = awaited.until(self.view.record.version, at) {
                self.deadline = Some(until);
                return Vec::new();
            }
            self.memory.awaited = None;
        }
        self.phase = Phase::of(&self.view);
        self.keep_time(at);
        let mut verdicts = Verdicts::default();
        let mut deadline: Option<Timestamp> = None;
        for &aspect in self.phase.aspects() {
            if !aspect
                .follows()
                .iter()
                .all(|first| verdicts.settled(*first))
            {
                continue;
            }
            let verdict = match self.memory.backoff.holds(aspect, at) {
                Some(held) => Verdict::Wait {
                    until: Some(held.until),
                    reason: held.reason.clone(),
                },
                None => self.ask(aspect, at, &verdicts),
            };
            match verdict {
                // What failed is no longer to be done, however it came about.
                Verdict::Settled => self.memory.backoff.succeed(aspect),
                Verdict::Act(steps) => {
                    self.deadline = None;
                    return self.issue(aspect, steps);
                }
                Verdict::Wait {
                    until: Some(until), ..
                } if until > at => {
                    deadline = Some(deadline.map_or(until, |known| known.min(until)));
                }
                _ => {}
            }
            verdicts.0.push((aspect, verdict));
        }
        self.deadline = deadline;
        self.view.compact();
        Vec::new()
    }

    fn ask(&self, aspect: Aspect, at: Timestamp, verdicts: &Verdicts) -> Verdict {
        let (view, memory) = (&self.view, &self.memory);
        match aspect {
            Aspect::Access => access::access(view, memory, at),
            Aspect::Secrets => secrets::secrets(view, memory, at),
            Aspect::Services => services::services(view, memory, at),
            Aspect::Workload => workload::workload(view, memory, at),
            Aspect::Scale => scale::scale(view, memory, at),
            Aspect::Storage => storage::storage(view, memory),
            Aspect::Removal => removal::removal(view, memory, at),
            Aspect::Report => report::report(view, self.phase, verdicts, self.confirm),
        }
    }

    /// Notes since when something goes on that may go on for some time only.
    fn keep_time(&mut self, at: Timestamp) {
        let ending = self
            .view
            .record
            .units
            .iter()
            .any(|unit| unit.life == Life::Dead);
        self.memory.ending_since = match (ending, self.memory.ending_since) {
            (true, None) => Some(at),
            (true, since) => since,
            (false, _) => None,
        };
        self.memory.missing = match (workload::lacks_pods(&self.view), self.memory.missing.take()) {
            (true, None) => Some(Box::new(Missing::since(at))),
            (true, known) => known,
            (false, _) => None,
        };
        let now = workload::progress(&self.view);
        self.memory.rollout = match (now, self.memory.rollout) {
            (Some(now), Some(before))
                if (now.revision, now.progress) == (before.revision, before.progress) =>
            {
                Some(before)
            }
            (Some(now), _) => Some(memory::Rollout { since: at, ..now }),
            (None, _) => None,
        };
    }

    fn issue(&mut self, aspect: Aspect, mut steps: Vec<(Action, Reason)>) -> Vec<Effect> {
        if self.events {
            steps.extend(announcement::announcement(&self.view, &steps));
        }
        let first = self.next;
        self.memory.in_flight = Some(Box::new(InFlight {
            aspect,
            first,
            asked: steps
                .iter()
                .map(|(action, because)| Asked::of(action, because))
                .collect(),
            trouble: None,
            obstructed: false,
        }));
        let effects = steps
            .into_iter()
            .zip(first..)
            .map(|((action, because), sequence)| Effect {
                id: EffectId {
                    owner: self.view.uid,
                    incarnation: self.incarnation,
                    sequence,
                },
                subject: self.view.name.clone(),
                because,
                action,
            });
        let effects: Vec<Effect> = effects.collect();
        self.next = first.wrapping_add(u32::try_from(effects.len()).unwrap_or(u32::MAX));
        effects
    }
}
