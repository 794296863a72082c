//! The fleet: takes events, hands each to the worker that it concerns, and gathers what is to be done.

mod index;
mod route;
mod sources;
mod table;

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::effect::Effect;
use crate::event::{Event, Source};
use crate::kubernetes::{Key, Kind};
use crate::life::Life;
use crate::model::{self, Member, ModelWorker};
use crate::name::{Uid, Version};
use crate::time::Timestamp;
use crate::worker::Worker;
use crate::worker::view::Standing;

use index::Index;
use sources::Sources;

/// What a provisioner is told once, when it is made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Config {
    /// Distinguishes this process's workers from those of former ones, so that a late answer to a former one is
    /// recognised. The interpreter draws it; any number will do that differs from the last.
    pub incarnation: u32,
    /// Whether Kubernetes Events are recorded. Each is a request more, so they are for clusters where somebody reads them.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub events: bool,
    /// Whether trust ends at the namespace: a trusted application may do everything there, and in the whole cluster no
    /// more than others. For who may not grant more.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub trust_in_namespace_only: bool,
    /// Whether an application's record says when all that users want is there: for tools that wait for it. It is a
    /// command more for each wish that changes nothing else of the status.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub confirm: bool,
    /// The namespaces that the cluster's sources tell of; empty for all of them. Models of other namespaces are left
    /// alone, and say so.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub namespaces: Vec<Box<str>>,
}

impl Config {
    /// Whether the cluster's sources tell of a namespace.
    pub fn watches(&self, namespace: &str) -> bool {
        self.namespaces.is_empty() || self.namespaces.iter().any(|one| **one == *namespace)
    }
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
    sources: Sources,
    models: BTreeMap<Uid, Arc<ModelWorker>>,
    workers: BTreeMap<Uid, Arc<Worker>>,
    index: Index,
    /// Models whose records are there and cannot be read.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    unreadable: BTreeSet<Uid>,
    /// Objects that carry our label and belong to nobody that is known: told before their application, or of another
    /// state. Kept as they were told, never written.
    strangers: BTreeMap<Uid, Event>,
    deadlines: BTreeSet<(Timestamp, Uid)>,
    /// Objects that the watch said are gone while their owner waited for answers, as (owner, object, version of the
    /// end): an answer from before the end, told after it, must not bring them back.
    outrun: BTreeSet<(Uid, Uid, Version)>,
    /// Applications and models that the store has told in its present list.
    told: BTreeSet<Uid>,
    /// Applications that an answer of the store has ended before its watch told so: what the watch still tells of them
    /// is the past.
    ended: BTreeSet<Uid>,
}

/// The claims of an application that have records of their own.
fn kept(model: Option<&Arc<ModelWorker>>, application: Uid) -> Vec<Box<str>> {
    let storages = model.into_iter().flat_map(|model| model.storages.values());
    let of_it = storages.filter(|storage| storage.application == application);
    of_it
        .filter_map(|storage| storage.instance.claim.clone())
        .collect()
}

/// Whose turn it is to be looked at after an event.
#[derive(Default)]
struct Turn {
    workers: Vec<Uid>,
    models: Vec<Uid>,
    /// Whether the event said nothing new at all.
    idle: bool,
}

impl Turn {
    /// After an event that said nothing new.
    fn idle() -> Self {
        Turn {
            idle: true,
            ..Turn::default()
        }
    }

    fn add(&mut self, other: Turn) {
        self.workers.extend(other.workers);
        self.models.extend(other.models);
        self.idle &= other.idle;
    }

    fn worker(uid: Uid) -> Self {
        Turn {
            workers: Vec::from([uid]),
            ..Turn::default()
        }
    }

    fn model(uid: Uid) -> Self {
        Turn {
            models: Vec::from([uid]),
            ..Turn::default()
        }
    }
}

impl Provisioner {
    /// A provisioner that has been told nothing yet.
    pub fn new(config: Config) -> Self {
        Provisioner {
            config,
            now: Timestamp::default(),
            sources: Sources::default(),
            models: BTreeMap::new(),
            workers: BTreeMap::new(),
            unreadable: BTreeSet::new(),
            index: Index::default(),
            strangers: BTreeMap::new(),
            deadlines: BTreeSet::new(),
            outrun: BTreeSet::new(),
            told: BTreeSet::new(),
            ended: BTreeSet::new(),
        }
    }

    /// Takes one event at one moment, and says everything that is to be done about it.
    pub fn step(&mut self, at: Timestamp, event: Event) -> Step {
        self.now = self.now.max(at);
        let mut turn = self.take(event);
        if self.sources.name_failure(self.now) {
            turn.add(self.failure_changed());
        }
        let idle = turn.idle;
        let effects = self.look(turn);
        Step {
            changed: !idle || !effects.is_empty(),
            effects,
            wake_at: self.wake_at(),
        }
    }

    /// While a source is half told nobody decides, so there is nothing to be woken for: its end wakes everybody. But that
    /// it is not told at all, models say.
    fn wake_at(&self) -> Option<Timestamp> {
        let mut deadlines = self.deadlines.iter();
        let deadline = if self.sources.ready() {
            deadlines.next()
        } else if self.sources.named_failure().is_some() {
            deadlines.find(|(_, uid)| self.models.contains_key(uid))
        } else {
            None
        };
        let deadline = deadline.map(|(at, _)| *at);
        match self.sources.failure_due() {
            Some(due) if self.sources.store_synced() => {
                Some(deadline.map_or(due, |deadline| deadline.min(due)))
            }
            _ => deadline,
        }
    }

    /// Hands to all models what is to be said of a failure, if anything.
    fn failure_changed(&mut self) -> Turn {
        let failure = self.sources.named_failure().cloned();
        for model in self.models.values_mut() {
            Arc::make_mut(model).failure.clone_from(&failure);
        }
        Turn {
            models: self.models.keys().copied().collect(),
            ..Turn::default()
        }
    }

    fn recovered(&mut self, source: Source) -> Turn {
        match self.sources.recover(self.now, source) {
            true => self.failure_changed(),
            false => Turn::default(),
        }
    }

    /// The worker of an application, for whoever wants to see what it knows.
    pub fn worker(&self, application: Uid) -> Option<&Worker> {
        self.workers.get(&application).map(|worker| &**worker)
    }

    /// All workers, by their application's uid.
    pub fn workers(&self) -> impl Iterator<Item = &Worker> {
        self.workers.values().map(|worker| &**worker)
    }

    /// All models' workers, by their model's uid.
    pub fn models(&self) -> impl Iterator<Item = &ModelWorker> {
        self.models.values().map(|model| &**model)
    }

    /// Objects that carry our label and belong to nobody that is known.
    pub fn strangers(&self) -> impl Iterator<Item = &Event> {
        self.strangers.values()
    }

    fn take(&mut self, event: Event) -> Turn {
        match event {
            Event::Listing { source } => self.begin_list(source),
            Event::Synced { source } => self.end_list(source),
            Event::SourceFailed { source, reason } => {
                self.sources.fail(self.now, source, reason);
                Turn::default()
            }
            Event::SourceResumed { source } => self.recovered(source),
            Event::ModelChanged(view) => self.model_changed(view),
            Event::ModelGone { model } => self.model_gone(model),
            Event::DetachedStorageChanged { storage } => {
                let model = storage.model;
                self.with_model(model, |worker| worker.tell_storage(&storage))
            }
            Event::DetachedStorageGone { model, number } => self.with_model(model, |worker| {
                worker.storages.remove(&number);
            }),
            Event::RecordUnreadable(record) => self.unreadable(record),
            event @ (Event::LifeChanged { .. }
            | Event::ScaleChanged { .. }
            | Event::TrustChanged { .. }
            | Event::ProvisioningChanged { .. }
            | Event::UnitChanged { .. }
            | Event::UnitRemoved { .. }
            | Event::StorageChanged { .. }
            | Event::StorageRemoved { .. }
            | Event::Reported { .. }) => self.record_changed(&event),
            event @ (Event::PodUpdated(_) | Event::ObjectUpdated(_)) => self.observed(event),
            Event::PodDeleted { uid, version, .. } | Event::ObjectDeleted { uid, version, .. } => {
                self.deleted(uid, version)
            }
            Event::Timer => self.due(),
            Event::EffectCompleted { id, outcome } => self.completed(id, &outcome),
        }
    }

    /// Everybody whose deadline has come.
    fn due(&mut self) -> Turn {
        let mut turn = Turn::default();
        for (_, uid) in self.deadlines.iter().take_while(|(at, _)| *at <= self.now) {
            if self.workers.contains_key(uid) {
                turn.workers.push(*uid);
            } else {
                turn.models.push(*uid);
            }
        }
        turn
    }

    fn everybody(&self) -> Turn {
        Turn {
            workers: self.workers.keys().copied().collect(),
            models: self.models.keys().copied().collect(),
            idle: false,
        }
    }

    fn look(&mut self, turn: Turn) -> Vec<Effect> {
        let mut effects = Vec::new();
        if !self.sources.ready() {
            if self.sources.store_synced() {
                for uid in turn.models {
                    let Some(model) = self.models.get_mut(&uid) else {
                        continue;
                    };
                    let model = Arc::make_mut(model);
                    let before = model.deadline;
                    effects.extend(model.look_at_failure(self.now));
                    let after = model.deadline;
                    self.deadline_moved(uid, before, after);
                }
            }
            return effects;
        }
        for uid in turn.workers {
            let Some(worker) = self.workers.get_mut(&uid) else {
                continue;
            };
            let worker = Arc::make_mut(worker);
            if worker.view.record.life == Life::Dead {
                worker.view.kept = kept(self.models.get(&worker.view.model_uid), uid);
            }
            let before = worker.deadline;
            effects.extend(worker.look(self.now));
            let after = worker.deadline;
            self.deadline_moved(uid, before, after);
        }
        for uid in turn.models {
            let members = self.members(uid);
            let strangers = self.strangers_in(uid);
            let Some(model) = self.models.get_mut(&uid) else {
                continue;
            };
            let model = Arc::make_mut(model);
            model.strangers = strangers;
            let before = model.deadline;
            effects.extend(model.look(self.now, &members));
            let after = model.deadline;
            self.deadline_moved(uid, before, after);
        }
        effects
    }

    fn members(&self, model: Uid) -> Vec<Member> {
        // Only a model that is to go asks for its members.
        if self
            .models
            .get(&model)
            .is_none_or(|model| model.view.life == Life::Alive)
        {
            return Vec::new();
        }
        let workers = self
            .workers
            .values()
            .filter(|worker| worker.view.model_uid == model);
        workers
            .map(|worker| Member {
                uid: worker.view.uid,
                life: worker.view.record.life,
                removal: worker.view.record.removal,
            })
            .collect()
    }

    fn strangers_in(&self, model: Uid) -> Vec<Key> {
        let Some(model) = self.models.get(&model) else {
            return Vec::new();
        };
        let mut keys: Vec<Key> = (self.strangers.values())
            .filter_map(|event| match event {
                Event::PodUpdated(pod) => Some(Key {
                    kind: Kind::Pod,
                    namespace: pod.metadata.namespace.clone(),
                    name: pod.metadata.name.clone(),
                }),
                Event::ObjectUpdated(object) => Some(object.key()),
                _ => None,
            })
            .filter(|key| key.namespace.as_deref() == Some(&*model.view.namespace))
            .collect();
        keys.sort();
        keys
    }

    fn deadline_moved(&mut self, uid: Uid, before: Option<Timestamp>, after: Option<Timestamp>) {
        if before != after {
            if let Some(before) = before {
                self.deadlines.remove(&(before, uid));
            }
            if let Some(after) = after {
                self.deadlines.insert((after, uid));
            }
        }
    }

    fn with_model(&mut self, model: Uid, change: impl FnOnce(&mut ModelWorker)) -> Turn {
        let Some(worker) = self.models.get_mut(&model) else {
            return Turn::default();
        };
        change(Arc::make_mut(worker));
        Turn::model(model)
    }

    fn begin_list(&mut self, source: Source) -> Turn {
        self.sources.begin(source);
        if source == Source::Store {
            self.told.clear();
            self.ended.clear();
            self.unreadable.clear();
            for model in self.models.values_mut() {
                let model = Arc::make_mut(model);
                model.storages.clear();
                model.unreadable.storages.clear();
            }
        }
        Turn::default()
    }

    fn end_list(&mut self, source: Source) -> Turn {
        let Some(listing) = self.sources.end(source) else {
            return Turn::default();
        };
        // Whoever is told below is looked at with everybody.
        self.recovered(source);
        match source {
            Source::Store => {
                let gone = |uid: &&Uid| !self.told.contains(*uid);
                let workers: Vec<Uid> = self.workers.keys().filter(gone).copied().collect();
                let models: Vec<Uid> = self.models.keys().filter(gone).copied().collect();
                workers.into_iter().for_each(|uid| self.retire(uid));
                for uid in models {
                    self.model_gone(uid);
                }
                self.told.clear();
                self.place_strangers();
                self.note_models();
            }
            Source::Cluster(kind) => {
                for uid in self.index.untold(kind, listing.number) {
                    if listing.touched.contains(&uid) {
                        self.doubt(uid);
                    } else {
                        self.forget(uid);
                    }
                }
                for uid in listing.touched {
                    self.doubt(uid);
                }
            }
        }
        self.everybody()
    }

    /// Ends the worker of an application whose record is gone. What it leaves behind is the model's.
    fn retire(&mut self, uid: Uid) {
        let Some(worker) = self.workers.remove(&uid) else {
            return;
        };
        self.deadline_moved(uid, worker.deadline, None);
        let left = model::leftovers(&worker);
        let model = worker.view.model_uid;
        for (object, leftover) in left {
            self.index.give(object, model);
            if let Some(model) = self.models.get_mut(&model) {
                Arc::make_mut(model).inherit(object, leftover);
            }
        }
        self.predecessors_changed(model);
    }

    /// Tells applications how much of former ones of their names is left.
    fn predecessors_changed(&mut self, model: Uid) {
        let Some(model) = self.models.get(&model).cloned() else {
            return;
        };
        for worker in self.workers.values_mut() {
            if worker.view.model_uid == model.view.uid {
                let predecessors = model.predecessors(&worker.view.name);
                if worker.view.predecessors != predecessors {
                    Arc::make_mut(worker).view.predecessors = predecessors;
                }
            }
        }
    }

    fn new_worker(&self, uid: Uid, name: Box<str>, model: Uid) -> Worker {
        let mut worker = Worker::new(uid, name, model, &self.config);
        if let Some(model) = self.models.get(&model) {
            worker.tell_model(&model.view, model.standing());
            worker.view.predecessors = model.predecessors(&worker.view.name);
        }
        worker.view.standing = self.standing(model);
        worker
    }

    /// How a model stands to its applications.
    fn standing(&self, uid: Uid) -> Standing {
        match self.models.get(&uid) {
            _ if self.unreadable.contains(&uid) => Standing::Unreadable,
            Some(model) => model.standing(),
            // Until the list of the state has ended its record may still be told.
            None if self.sources.store_synced() => Standing::Unrecorded,
            None => Standing::Missing,
        }
    }

    /// Tells applications of models that are not there, or cannot be read.
    fn note_models(&mut self) {
        let changed: Vec<(Uid, Standing)> = (self.workers.values())
            .map(|worker| {
                (
                    worker.view.uid,
                    self.standing(worker.view.model_uid),
                    worker.view.standing,
                )
            })
            .filter(|(_, now, before)| now != before)
            .map(|(uid, now, _)| (uid, now))
            .collect();
        for (uid, standing) in changed {
            if let Some(worker) = self.workers.get_mut(&uid) {
                Arc::make_mut(worker).view.standing = standing;
            }
        }
    }
}
