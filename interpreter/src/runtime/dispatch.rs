//! From effects to outcomes: a queue per application, a bound on requests in flight.

use std::collections::{HashMap, VecDeque};
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use pilotage_core::effect::{Action, Effect};
use pilotage_core::event::Event;
use pilotage_core::name::Uid;
use pilotage_core::outcome::{Outcome, Refusal};
use pilotage_core::secret::SecretRef;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::{AbortHandle, JoinSet, spawn_blocking};

use super::{Observer, Settings};
use crate::clock;
use crate::cluster::{Cluster, Values};
use crate::failpoint::{Point, hit};
use crate::leader::Authority;
use crate::monitor::Monitor;
use crate::store::Store;

/// Runs batches. Dropping it gives up on all that are in flight.
pub(super) struct Dispatcher {
    shared: Arc<Shared>,
    /// By owner: batches that wait for the one that runs.
    waiting: HashMap<Uid, VecDeque<Vec<Effect>>>,
    running: JoinSet<Uid>,
    /// How many batches wait.
    behind: u64,
}

struct Shared {
    store: Arc<dyn Store>,
    cluster: Arc<dyn Cluster>,
    values: Values,
    observer: Arc<dyn Observer>,
    authority: Authority,
    monitor: Arc<Monitor>,
    deadline: Duration,
    /// Whoever waits longest is next, and each application waits for one request at a time: that is what makes it fair.
    requests: Arc<Semaphore>,
    /// The state takes one writer at a time.
    transactions: Arc<Semaphore>,
    events: mpsc::Sender<Event>,
}

impl Dispatcher {
    pub(super) fn new(
        store: Arc<dyn Store>,
        cluster: Arc<dyn Cluster>,
        settings: &Settings,
        events: mpsc::Sender<Event>,
    ) -> Self {
        let vault = store.clone();
        let observer = settings.observer.clone();
        let values: Values = Arc::new(move |secret: &SecretRef| match vault.secret(secret) {
            Ok(value) => value,
            Err(error) => {
                observer.warning(&error.to_string());
                None
            }
        });
        Dispatcher {
            shared: Arc::new(Shared {
                store,
                cluster,
                values,
                observer: settings.observer.clone(),
                authority: settings.authority.clone(),
                monitor: settings.monitor.clone(),
                deadline: settings.deadline,
                requests: Arc::new(Semaphore::new(settings.in_flight.max(1))),
                transactions: Arc::new(Semaphore::new(1)),
                events,
            }),
            waiting: HashMap::new(),
            running: JoinSet::new(),
            behind: 0,
        }
    }

    /// Takes the effects of one step. Those of one owner are a batch, in their order.
    pub(super) fn submit(&mut self, effects: Vec<Effect>) {
        let mut batches: Vec<(Uid, Vec<Effect>)> = Vec::new();
        for effect in effects {
            let owner = effect.id.owner;
            match batches.iter_mut().find(|(of, _)| *of == owner) {
                Some((_, batch)) => batch.push(effect),
                None => batches.push((owner, vec![effect])),
            }
        }
        for (owner, batch) in batches {
            match self.waiting.get_mut(&owner) {
                Some(queue) => {
                    queue.push_back(batch);
                    self.behind += 1;
                    self.shared.monitor.batches_wait(self.behind);
                }
                None => {
                    self.waiting.insert(owner, VecDeque::new());
                    self.begin(owner, batch);
                }
            }
        }
    }

    fn begin(&mut self, owner: Uid, batch: Vec<Effect>) {
        let shared = self.shared.clone();
        self.running.spawn(async move {
            shared.batch(batch).await;
            owner
        });
    }

    /// Waits until a batch has ended, and begins the next of its owner. For ever, if none runs.
    pub(super) async fn ended(&mut self) {
        match self.running.join_next().await {
            Some(Ok(owner)) => match self.waiting.get_mut(&owner).and_then(VecDeque::pop_front) {
                Some(next) => {
                    self.behind -= 1;
                    self.shared.monitor.batches_wait(self.behind);
                    self.begin(owner, next);
                }
                None => {
                    self.waiting.remove(&owner);
                }
            },
            // Batches do not panic: each request runs in a task of its own.
            Some(Err(error)) => self.shared.observer.warning(&error.to_string()),
            None => std::future::pending().await,
        }
    }
}

impl Shared {
    async fn batch(self: Arc<Self>, batch: Vec<Effect>) {
        let counted = self.monitor.batch();
        let mut going = true;
        let owner = batch.first().map(|effect| effect.id.owner);
        self.observer.batch(&batch);
        for effect in batch {
            let effect = Arc::new(effect);
            let outcome = if going {
                self.observer.effect(&effect);
                self.clone().effect(effect.clone()).await
            } else {
                Outcome::NotAttempted
            };
            going = matches!(outcome, Outcome::Done(_));
            self.observer.outcome(&effect, &outcome);
            let event = Event::EffectCompleted {
                id: effect.id,
                outcome,
            };
            if self.events.send(event).await.is_err() {
                return;
            }
        }
        if let Some(owner) = owner {
            self.observer.batch_ended(owner);
        }
        counted.ended(!going);
    }

    async fn effect(self: Arc<Self>, effect: Arc<Effect>) -> Outcome {
        let store = matches!(effect.action, Action::Store(_));
        let line = if store {
            &self.transactions
        } else {
            &self.requests
        };
        let Ok(permit) = line.clone().acquire_owned().await else {
            return not_sent("the runtime is ending");
        };
        // Asked here, and not only by the loop: whatever was delayed since then, nothing leaves without it.
        if !self.authority.holds() {
            return not_sent("another process may act by now");
        }
        hit(Point::EffectBefore);
        let outcome = if store {
            let shared = self.clone();
            // A transaction cannot be given up: its permit is free when it has ended, however long that takes.
            self.by_deadline(async move {
                let transaction = spawn_blocking(move || {
                    let _permit = permit;
                    shared.transaction(&effect)
                });
                transaction.await.unwrap_or(Outcome::Unknown)
            })
            .await
        } else {
            let request = self
                .cluster
                .run(self.addressed(effect), self.values.clone());
            self.by_deadline(async move {
                let task = tokio::spawn(request);
                let _given_up = Abort(task.abort_handle());
                let outcome = task.await.unwrap_or(Outcome::Unknown);
                drop(permit);
                outcome
            })
            .await
        };
        hit(Point::EffectExecuted);
        outcome
    }

    /// An Event is about the object that people look at: its uid is the state's to know, as values of secrets are.
    fn addressed(&self, mut effect: Arc<Effect>) -> Arc<Effect> {
        if let Action::RecordEvent { uid, .. } = &effect.action
            && let Some(shown) = self.store.shown_uid(*uid)
            && let Action::RecordEvent { uid, .. } = &mut Arc::make_mut(&mut effect).action
        {
            *uid = shown;
        }
        effect
    }

    async fn by_deadline(&self, work: impl Future<Output = Outcome>) -> Outcome {
        tokio::time::timeout(self.deadline, work)
            .await
            .unwrap_or(Outcome::Unknown)
    }

    fn transaction(&self, effect: &Effect) -> Outcome {
        let Action::Store(command) = &effect.action else {
            return not_sent("this is no command to the state");
        };
        match self.store.execute(clock::now(), command, &[]) {
            Ok(outcome) => outcome,
            Err(error) => not_sent(&error.to_string()),
        }
    }
}

fn not_sent(message: &str) -> Outcome {
    Outcome::Refused {
        reason: Refusal::NotSent,
        message: message.into(),
    }
}

/// Ends a task when nobody waits for it any more.
struct Abort(AbortHandle);

impl Drop for Abort {
    fn drop(&mut self) {
        self.0.abort();
    }
}
