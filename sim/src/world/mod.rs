//! A world: one provisioner, a store, a cluster, and a clock that somebody turns.
//!
//! Everything that happens is one [`Choice`]; [`World::choices`] are those that are ready now. A driver takes one after
//! the other, so the same choices give the same world.

mod people;

use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::ToString;
use alloc::sync::Arc;
use alloc::vec::Vec;

use pilotage_core::digest::DigestKey;
use pilotage_core::effect::{Action, Effect};
use pilotage_core::event::{Event, Source};
use pilotage_core::kubernetes::Kind;
use pilotage_core::name::Uid;
use pilotage_core::outcome::Outcome;
use pilotage_core::provisioner::{Config, Provisioner, Step};
use pilotage_core::secret::SecretRef;
use pilotage_core::time::Timestamp;

use crate::cluster::controllers::ActionId;
use crate::cluster::controllers::settings::Settings as ControllerSettings;
use crate::cluster::settings::Settings;
use crate::cluster::{Cluster, effects};
use crate::store::Store;

/// One thing that can happen next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// A source tells the provisioner its next event.
    Tell(Source),
    /// The next effect of an application's batch is run and answered.
    Run(Uid),
    /// A controller does its next work.
    Control(ActionId),
    /// The provisioner is woken.
    Wake,
    /// Nothing is ready: time goes on to the next moment at which something is.
    Wait(Timestamp),
}

/// One provisioner, a store, a cluster, and a clock.
#[derive(Clone, Debug)]
pub struct World {
    /// The moment.
    pub now: Timestamp,
    /// The state.
    pub store: Store,
    /// The API server, with its controllers and kubelets.
    pub cluster: Cluster,
    /// The core.
    pub provisioner: Provisioner,
    /// Effects that were asked for and not run yet, by owner, in order.
    pub batches: BTreeMap<Uid, VecDeque<Effect>>,
    /// Every step that was taken, oldest first.
    pub steps: Vec<(Timestamp, Event, Step)>,
    wake_at: Option<Timestamp>,
    told: BTreeMap<Source, Told>,
    key: DigestKey,
    lives: u32,
}

/// How far a source has been told.
#[derive(Clone, Debug, Default)]
struct Told {
    pending: VecDeque<Event>,
    position: u64,
}

impl World {
    /// A world in which nothing has happened yet.
    pub fn new() -> Self {
        Self::with(Settings::default(), ControllerSettings::default())
    }

    /// A world with these settings.
    pub fn with(settings: Settings, controllers: ControllerSettings) -> Self {
        let now = Timestamp(1_772_600_000_000);
        let mut cluster = Cluster::new(settings);
        cluster.start_controllers(now, controllers);
        let mut world = World {
            now,
            store: Store::new(),
            cluster,
            provisioner: Provisioner::new(Config::default()),
            batches: BTreeMap::new(),
            steps: Vec::new(),
            wake_at: None,
            told: BTreeMap::new(),
            key: DigestKey::default(),
            lives: 0,
        };
        world.restart();
        world
    }

    /// The provisioner dies and another begins: it knows nothing, and what was in flight is lost.
    pub fn restart(&mut self) {
        self.lives = self.lives.wrapping_add(1);
        self.provisioner = Provisioner::new(Config {
            incarnation: self.lives,
        });
        self.batches.clear();
        self.wake_at = None;
        self.told.clear();
        self.list(Source::Store);
        for kind in Kind::ALL {
            self.list(Source::Cluster(kind));
        }
    }

    /// A source begins to tell everything again.
    pub fn list(&mut self, source: Source) {
        let told = match source {
            Source::Store => Told {
                pending: self.store.list().into(),
                position: self.store.head(),
            },
            Source::Cluster(kind) => {
                let resource = effects::resource(kind);
                let ours = effects::ours();
                let objects = self.cluster.objects(resource, None);
                let seen = objects.filter(|object| object.has_labels(&ours));
                let seen = seen.filter_map(|object| effects::seen(kind, object, self.key).ok());
                let mut pending = VecDeque::from([Event::Listing { source }]);
                pending.extend(seen);
                pending.push_back(Event::Synced { source });
                Told {
                    pending,
                    position: self.cluster.version(),
                }
            }
        };
        self.told.insert(source, told);
    }

    fn hear(&mut self, source: Source) {
        let Some(told) = self.told.get_mut(&source) else {
            return;
        };
        match source {
            Source::Store => {
                let head = self.store.head();
                if let Some(changes) = self.store.changes_since(told.position) {
                    told.pending.extend(changes.flatten().cloned());
                }
                told.position = head;
            }
            Source::Cluster(kind) => {
                let resource = effects::resource(kind);
                let events =
                    self.cluster
                        .watch_since(resource, None, &effects::ours(), told.position);
                let events = events.into_iter().flatten();
                told.pending.extend(
                    events.filter_map(|event| effects::watched(kind, &event, self.key).ok()),
                );
                told.position = self.cluster.version();
            }
        }
    }

    /// Everything that can happen next. Time goes on only when nothing else can.
    pub fn choices(&mut self) -> Vec<Choice> {
        let mut choices: Vec<Choice> = self
            .batches
            .keys()
            .map(|owner| Choice::Run(*owner))
            .collect();
        let sources: Vec<Source> = self.told.keys().copied().collect();
        for source in sources {
            self.hear(source);
            if self
                .told
                .get(&source)
                .is_some_and(|told| !told.pending.is_empty())
            {
                choices.push(Choice::Tell(source));
            }
        }
        choices.extend(
            self.cluster
                .pending(self.now)
                .into_iter()
                .map(Choice::Control),
        );
        if self.wake_at.is_some_and(|at| at <= self.now) {
            choices.push(Choice::Wake);
        }
        if choices.is_empty() {
            let next = [self.wake_at, self.cluster.wake_at()]
                .into_iter()
                .flatten()
                .min();
            choices.extend(next.map(Choice::Wait));
        }
        choices
    }

    /// Lets one thing happen.
    pub fn take(&mut self, choice: &Choice) {
        match choice {
            Choice::Tell(source) => {
                let told = self.told.get_mut(source);
                if let Some(event) = told.and_then(|told| told.pending.pop_front()) {
                    self.step(event);
                }
            }
            Choice::Run(owner) => self.run_next(*owner),
            Choice::Control(action) => self.cluster.run(self.now, action),
            Choice::Wake => self.step(Event::Timer),
            Choice::Wait(until) => self.now = self.now.max(*until),
        }
    }

    /// Hands one event to the provisioner.
    pub fn step(&mut self, event: Event) {
        let step = self.provisioner.step(self.now, event.clone());
        for effect in &step.effects {
            self.batches
                .entry(effect.id.owner)
                .or_default()
                .push_back(effect.clone());
        }
        self.wake_at = step.wake_at;
        self.steps.push((self.now, event, step));
    }

    fn run_next(&mut self, owner: Uid) {
        let Some(batch) = self.batches.get_mut(&owner) else {
            return;
        };
        let Some(effect) = batch.pop_front() else {
            return;
        };
        if batch.is_empty() {
            self.batches.remove(&owner);
        }
        let outcome = self.execute(&effect);
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

    /// Lets things happen, the first that is ready each time, until `done` or until nothing can happen any more.
    ///
    /// Returns whether `done` came true within so many steps.
    pub fn drive_until(&mut self, bound: usize, done: impl Fn(&World) -> bool) -> bool {
        for _ in 0..bound {
            if done(self) {
                return true;
            }
            let choices = self.choices();
            let Some(choice) = choices.first() else {
                return done(self);
            };
            let choice = choice.clone();
            self.take(&choice);
        }
        done(self)
    }

    /// The record of an application by its name.
    pub fn application(&self, name: &str) -> Option<&Arc<pilotage_core::state::Application>> {
        self.store
            .applications()
            .find(|application| &*application.name == name)
    }
}

impl Default for World {
    fn default() -> Self {
        Self::new()
    }
}
