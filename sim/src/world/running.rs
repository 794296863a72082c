//! How effects are run, and what may happen to them.

use alloc::collections::VecDeque;
use alloc::string::ToString;
use core::mem;

use pilotage_core::effect::{Action, Effect};
use pilotage_core::event::Event;
use pilotage_core::name::Uid;
use pilotage_core::outcome::{Outcome, Refusal};
use pilotage_core::secret::SecretRef;
use serde::{Deserialize, Serialize};

use crate::cluster::effects;

use super::World;

/// What becomes of one effect, instead of what should.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mishap {
    /// The process dies before it is run.
    CrashBefore,
    /// It is run, and the process dies before the answer.
    CrashDuring,
    /// It is run and answered, and then the process dies.
    CrashAfter,
    /// There is no answer, and it was not run.
    LostRequest,
    /// There is no answer, but it was run.
    LostAnswer,
    /// It is refused.
    Refused(Refusal),
}

impl World {
    pub(super) fn run_next(&mut self, owner: Uid) {
        let Some(batch) = self.batches.get_mut(&owner) else {
            return;
        };
        let Some(effect) = batch.pop_front() else {
            return;
        };
        if batch.is_empty() {
            self.batches.remove(&owner);
        }
        self.effects_run = self.effects_run.wrapping_add(1);
        let mishap = self.mishap.take();
        let outcome = match &mishap {
            None | Some(Mishap::CrashAfter) => self.execute(&effect),
            Some(Mishap::CrashBefore | Mishap::LostRequest) => Outcome::Unknown,
            Some(Mishap::CrashDuring | Mishap::LostAnswer) => {
                self.execute(&effect);
                Outcome::Unknown
            }
            Some(Mishap::Refused(refusal)) => refused(refusal.clone()),
        };
        self.ran.push((effect.clone(), outcome.clone()));
        if matches!(mishap, Some(Mishap::CrashBefore | Mishap::CrashDuring)) {
            return self.restart();
        }
        self.answer(effect, outcome);
        if mishap == Some(Mishap::CrashAfter) {
            self.restart();
        }
    }

    /// What a deposed provisioner has sent arrives; nobody hears the answers.
    pub fn arrive(&mut self) {
        for batch in mem::take(&mut self.late) {
            for effect in batch {
                let outcome = self.execute(&effect);
                let done = matches!(outcome, Outcome::Done(_));
                self.ran.push((effect, outcome));
                if !done {
                    break;
                }
            }
        }
    }

    fn answer(&mut self, effect: Effect, outcome: Outcome) {
        let owner = effect.id.owner;
        let rest: VecDeque<Effect> = match outcome {
            Outcome::Done(_) => VecDeque::new(),
            _ => self.batches.remove(&owner).unwrap_or_default(),
        };
        self.step(Event::EffectCompleted {
            id: effect.id,
            outcome,
        });
        for effect in rest {
            self.step(Event::EffectCompleted {
                id: effect.id,
                outcome: Outcome::NotAttempted,
            });
        }
    }

    /// Runs one effect against the cluster or the store.
    pub fn execute(&mut self, effect: &Effect) -> Outcome {
        if let Some(refusal) = &self.refusing {
            return refused(refusal.clone());
        }
        if let Action::Store(command) = &effect.action {
            return self.store.execute(self.now, command, &[]);
        }
        let values = |secret: &SecretRef| self.store.secret(secret).map(ToString::to_string);
        match effects::request(&effect.action, self.now, &values) {
            Ok(request) => {
                let response = self.cluster.request(self.now, request);
                effects::outcome(&effect.action, response, self.key)
            }
            Err(outcome) => outcome,
        }
    }
}

fn refused(reason: Refusal) -> Outcome {
    Outcome::Refused {
        reason,
        message: "injected".into(),
    }
}
