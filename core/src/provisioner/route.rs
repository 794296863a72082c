//! Who an event is for.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::effect::EffectId;
use crate::event::{Event, RecordName, Source};
use crate::kubernetes::Kind;
use crate::kubernetes::labels::Labels;
use crate::kubernetes::read::{Metadata, Object, Pod};
use crate::life::Life;
use crate::model::ModelWorker;
use crate::name::{Uid, Version};
use crate::outcome::{Outcome, Reply};
use crate::state::ModelView;

use super::index::NOBODY;
use super::{Provisioner, Turn};

/// An object as an event or an answer carries it.
#[derive(Clone, Copy)]
enum Carried<'a> {
    Pod(&'a Arc<Pod>),
    Other(&'a Arc<Object>),
}

impl Carried<'_> {
    fn metadata(&self) -> &Metadata {
        match self {
            Carried::Pod(pod) => &pod.metadata,
            Carried::Other(object) => object.metadata(),
        }
    }

    fn kind(&self) -> Kind {
        match self {
            Carried::Pod(_) => Kind::Pod,
            Carried::Other(object) => object.kind(),
        }
    }
}

/// Whether the labels say that an object is of the application that has it.
fn is_still_of(labels: &Labels, holder: Uid) -> bool {
    let application = labels.ownership().and_then(|whose| whose.application);
    holder != NOBODY && application == Some(holder)
}

impl Provisioner {
    pub(super) fn model_changed(&mut self, view: Arc<ModelView>) -> Turn {
        let uid = view.uid;
        self.told.insert(uid);
        self.unreadable.remove(&uid);
        let worker = self
            .models
            .entry(uid)
            .or_insert_with(|| Arc::new(ModelWorker::new(view.clone(), &self.config)));
        let failure = self.sources.named_failure();
        if worker.failure.as_ref() != failure {
            Arc::make_mut(worker).failure = failure.cloned();
        }
        Arc::make_mut(worker).tell(self.now, &view);
        if self.sources.store_synced() {
            self.place_strangers();
        }
        self.model_told(uid)
    }

    /// Takes that a record is there and cannot be read: whoever it is of is kept as it is, and decides nothing.
    pub(super) fn unreadable(&mut self, record: RecordName) -> Turn {
        match record {
            RecordName::Application {
                application,
                name,
                model,
            } => {
                if !self.ended.contains(&application) {
                    self.told.insert(application);
                    self.meet(application, &name, model);
                    if let Some(worker) = self.workers.get_mut(&application) {
                        Arc::make_mut(worker).view.cannot_be_read();
                    }
                }
                Turn::default()
            }
            RecordName::Model { model, .. } => {
                self.told.insert(model);
                self.unreadable.insert(model);
                self.note_models();
                self.with_model(model, |worker| worker.unreadable.record = true)
            }
            RecordName::Storage { model, number } => self.with_model(model, |worker| {
                worker.unreadable.storages.insert(number);
            }),
        }
    }

    /// Makes the worker of an application that is heard of for the first time.
    fn meet(&mut self, uid: Uid, name: &str, model: Uid) {
        if !self.workers.contains_key(&uid) {
            let worker = self.new_worker(uid, name.into(), model);
            self.workers.insert(uid, Arc::new(worker));
            if self.sources.store_synced() {
                self.place_strangers();
            }
        }
    }

    /// Hands a model to its applications.
    fn model_told(&mut self, uid: Uid) -> Turn {
        let Some(model) = self.models.get(&uid).cloned() else {
            return Turn::default();
        };
        let standing = self.standing(uid);
        let mut turn = Turn::model(uid);
        for worker in self
            .workers
            .values_mut()
            .filter(|w| w.view.model_uid == uid)
        {
            let same = worker
                .view
                .model
                .as_ref()
                .is_some_and(|known| Arc::ptr_eq(known, &model.view))
                && worker.view.standing == standing;
            if !same && Arc::make_mut(worker).tell_model(&model.view, standing) {
                turn.workers.push(worker.view.uid);
            }
        }
        turn
    }

    pub(super) fn model_gone(&mut self, uid: Uid) -> Turn {
        if let Some(model) = self.models.remove(&uid) {
            self.deadline_moved(uid, model.deadline, None);
            for object in model.leftovers.keys() {
                self.index.give(*object, NOBODY);
            }
        }
        // A model goes last: whoever is still of it has lost its record to somebody's hand.
        self.note_models();
        self.everybody_of(Some(uid))
    }

    pub(super) fn record_changed(&mut self, event: &Event) -> Turn {
        let Some(record) = event.record() else {
            return Turn::default();
        };
        if self.ended.contains(&record.uid) {
            if let Event::LifeChanged {
                life: Life::Gone, ..
            } = event
            {
                self.ended.remove(&record.uid);
            }
            return Turn::default();
        }
        let listing = self.sources.listing(Source::Store).is_some();
        if let Event::LifeChanged {
            life: Life::Gone, ..
        } = event
        {
            let model = self
                .workers
                .get(&record.uid)
                .map(|worker| worker.view.model_uid);
            self.retire(record.uid);
            let mut turn = self.everybody_of(model);
            turn.models.extend(model);
            return turn;
        }
        if let Event::LifeChanged { name, model, .. } = event {
            self.meet(record.uid, name, *model);
            if listing
                && let Some(worker) = self.workers.get_mut(&record.uid)
                && worker.view.record.unreadable
            {
                Arc::make_mut(worker).view.record.unreadable = false;
            }
            if listing
                && self.told.insert(record.uid)
                && let Some(worker) = self.workers.get_mut(&record.uid)
                // Of a list that is older than what an answer told already nothing is taken, so nothing is forgotten.
                && record.version >= worker.view.record.version
            {
                Arc::make_mut(worker).view.forget_parts();
            }
        }
        let Some(worker) = self.workers.get_mut(&record.uid) else {
            return Turn::default();
        };
        let changed = Arc::make_mut(worker).tell(self.now, event);
        let model = worker.view.model_uid;
        let ending = self
            .models
            .get(&model)
            .is_some_and(|model| model.view.life != Life::Alive);
        Turn {
            workers: if changed {
                Vec::from([record.uid])
            } else {
                Vec::new()
            },
            models: if ending {
                Vec::from([model])
            } else {
                Vec::new()
            },
            idle: false,
        }
    }

    fn everybody_of(&self, model: Option<Uid>) -> Turn {
        let workers = self
            .workers
            .values()
            .filter(|worker| Some(worker.view.model_uid) == model);
        Turn {
            workers: workers.map(|worker| worker.view.uid).collect(),
            ..Turn::default()
        }
    }

    pub(super) fn observed(&mut self, event: Event) -> Turn {
        let (uid, turn) = {
            let carried = match &event {
                Event::PodUpdated(pod) => Carried::Pod(pod),
                Event::ObjectUpdated(object) => Carried::Other(object),
                _ => return Turn::default(),
            };
            let (kind, metadata) = (carried.kind(), carried.metadata());
            let list = self.sources.listing(Source::Cluster(kind));
            if list.is_some_and(|list| list.touched.contains(&metadata.uid)) {
                // Our own write is newer than the list may be: it is read again when the list has ended.
                let number = list.map(|list| list.number);
                self.index.note(metadata.uid, kind, Version(0), number);
                return Turn::default();
            }
            let number = list.map(|list| list.number);
            let noted = self
                .index
                .note(metadata.uid, kind, metadata.version, number);
            let Some(holder) = noted else {
                // In a list, that it was told again is news.
                return if number.is_some() {
                    Turn::default()
                } else {
                    Turn::idle()
                };
            };
            let holder = match self.holder(&metadata.labels, metadata.namespace.as_deref(), kind) {
                // Its model's record is gone, and its application's is not.
                NOBODY if is_still_of(&metadata.labels, holder) => holder,
                // It has lost its labels between two events of a watch that was not selected by them.
                NOBODY if holder != NOBODY => {
                    let uid = metadata.uid;
                    return self.forget(uid);
                }
                holder => holder,
            };
            self.index.give(metadata.uid, holder);
            (
                metadata.uid,
                (holder != NOBODY).then(|| self.deliver(holder, carried)),
            )
        };
        match turn {
            Some(turn) => {
                self.strangers.remove(&uid);
                turn
            }
            None => {
                self.strangers.insert(uid, event);
                // Whoever's namespace it is in shows it.
                Turn {
                    models: self.models.keys().copied().collect(),
                    ..Turn::default()
                }
            }
        }
    }

    /// Whose an object is, by its labels and where it is.
    fn holder(&self, labels: &Labels, namespace: Option<&str>, kind: Kind) -> Uid {
        // Before the state is told, nobody knows what is wanted of an object: it is held until then, so that it need not
        // be read again.
        if !self.sources.store_told() {
            return NOBODY;
        }
        let Some(whose) = labels.ownership() else {
            return NOBODY;
        };
        let Some(model) = self.models.get(&whose.model) else {
            return NOBODY;
        };
        if kind.namespaced() && namespace != Some(&*model.view.namespace) {
            return NOBODY;
        }
        match whose.application {
            None if kind == Kind::Namespace => whose.model,
            None => NOBODY,
            Some(uid)
                if self
                    .workers
                    .get(&uid)
                    .is_some_and(|w| w.view.model_uid == whose.model) =>
            {
                uid
            }
            Some(uid) if model.view.removed.contains(&uid) => whose.model,
            Some(_) => NOBODY,
        }
    }

    fn deliver(&mut self, holder: Uid, carried: Carried<'_>) -> Turn {
        if let Some(worker) = self.workers.get_mut(&holder) {
            let worker = Arc::make_mut(worker);
            match carried {
                Carried::Pod(pod) => worker.observe_pod(pod),
                Carried::Other(object) => worker.observe(object),
            }
            return Turn::worker(holder);
        }
        if let Some(model) = self.models.get_mut(&holder) {
            let model = Arc::make_mut(model);
            match carried {
                Carried::Pod(pod) => model.observe_pod(pod),
                Carried::Other(object) => model.observe(object),
            }
            return self.model_moved(holder);
        }
        Turn::default()
    }

    /// After a change of a model's namespace or leftovers: its applications may go on, or have to wait.
    fn model_moved(&mut self, model: Uid) -> Turn {
        self.predecessors_changed(model);
        self.model_told(model);
        let mut turn = self.everybody_of(Some(model));
        turn.models.push(model);
        turn
    }

    /// Hands out what was told before it was known whose it is.
    pub(super) fn place_strangers(&mut self) {
        let strangers = core::mem::take(&mut self.strangers);
        for (uid, event) in strangers {
            let carried = match &event {
                Event::PodUpdated(pod) => Carried::Pod(pod),
                Event::ObjectUpdated(object) => Carried::Other(object),
                _ => continue,
            };
            let metadata = carried.metadata();
            let holder = self.holder(
                &metadata.labels,
                metadata.namespace.as_deref(),
                carried.kind(),
            );
            if holder == NOBODY {
                self.strangers.insert(uid, event);
            } else {
                self.index.give(uid, holder);
                self.deliver(holder, carried);
            }
        }
    }

    pub(super) fn deleted(&mut self, uid: Uid, version: Version) -> Turn {
        match self.index.get(uid) {
            Some((holder, known)) if version >= known => {
                if self.is_busy(holder) {
                    self.outrun.insert((holder, uid, version));
                }
                self.forget(uid)
            }
            _ => Turn::default(),
        }
    }

    /// Takes that an object is no longer told.
    pub(super) fn forget(&mut self, uid: Uid) -> Turn {
        let Some(holder) = self.index.remove(uid) else {
            return Turn::default();
        };
        self.strangers.remove(&uid);
        if let Some(worker) = self.workers.get_mut(&holder) {
            Arc::make_mut(worker).vanish(uid);
            return Turn::worker(holder);
        }
        if let Some(model) = self.models.get_mut(&holder) {
            Arc::make_mut(model).vanish(uid);
            return self.model_moved(holder);
        }
        Turn::default()
    }

    /// Takes that an object may be other than what was told.
    pub(super) fn doubt(&mut self, uid: Uid) {
        let holder = self.index.get(uid).map(|(holder, _)| holder);
        if let Some(worker) = holder.and_then(|holder| self.workers.get_mut(&holder)) {
            Arc::make_mut(worker).doubt(uid);
        }
    }

    pub(super) fn completed(&mut self, id: EffectId, outcome: &Outcome) -> Turn {
        let outrun = match outcome {
            Outcome::Done(Reply::Object(object)) => Some(object),
            Outcome::Done(Reply::Fetched(fetched)) => Some(&fetched.object),
            _ => None,
        };
        let outrun = outrun.is_some_and(|object| {
            let metadata = object.metadata();
            self.outrun.iter().any(|(owner, uid, end)| {
                (*owner, *uid) == (id.owner, metadata.uid) && metadata.version < *end
            })
        });
        let turn = if outrun {
            self.answered(id, &Outcome::Done(Reply::Nothing))
        } else {
            self.answered(id, outcome)
        };
        if !self.is_busy(id.owner) {
            self.outrun.retain(|(owner, ..)| *owner != id.owner);
        }
        turn
    }

    /// Whether an application or a model waits for answers.
    fn is_busy(&self, owner: Uid) -> bool {
        let worker = self.workers.get(&owner).map(|worker| worker.is_busy());
        let model = || self.models.get(&owner).map(|model| model.is_busy());
        worker.or_else(model).unwrap_or(false)
    }

    fn answered(&mut self, id: EffectId, outcome: &Outcome) -> Turn {
        let mut overtaken = false;
        if let Outcome::Done(reply) = outcome {
            overtaken = self.is_overtaken(id.owner, reply);
            self.touch(id.owner, reply);
            self.storages_changed(reply);
        }
        if let Some(worker) = self.workers.get_mut(&id.owner) {
            let worker = Arc::make_mut(worker);
            if worker.complete(self.now, id, outcome, overtaken) {
                let gone = worker.view.record.life == Life::Gone;
                let model = worker.view.model_uid;
                if gone {
                    self.ended.insert(id.owner);
                    self.retire(id.owner);
                    let mut turn = self.everybody_of(Some(model));
                    turn.models.push(model);
                    return turn;
                }
                return Turn::worker(id.owner);
            }
        } else if let Some(model) = self.models.get_mut(&id.owner)
            && Arc::make_mut(model).complete(self.now, id, outcome)
        {
            return self.model_moved(id.owner);
        }
        Turn::default()
    }

    /// Hands the records of storages that an answer made, changed or ended to their models, whoever asked: nobody is to
    /// take their claims for claims without a record until the watch tells of them.
    fn storages_changed(&mut self, reply: &Reply) {
        let Reply::Recorded { changes, .. } = reply else {
            return;
        };
        for event in changes {
            match event {
                Event::DetachedStorageChanged { storage } => {
                    self.with_model(storage.model, |worker| worker.tell_storage(storage));
                }
                Event::DetachedStorageGone { model, number } => {
                    self.with_model(*model, |worker| {
                        worker.storages.remove(number);
                    });
                }
                _ => {}
            }
        }
    }

    /// Whether the watch has told a newer version of an object than an answer carries.
    fn is_overtaken(&self, owner: Uid, reply: &Reply) -> bool {
        let object = match reply {
            Reply::Object(object) => object,
            Reply::Fetched(fetched) => &fetched.object,
            _ => return false,
        };
        let metadata = object.metadata();
        self.index
            .get(metadata.uid)
            .is_some_and(|(holder, known)| holder == owner && known > metadata.version)
    }

    /// Notes the versions that an answer told, so that older events of the watch are dropped.
    fn touch(&mut self, owner: Uid, reply: &Reply) {
        let object = match reply {
            Reply::Object(object) => object,
            Reply::Fetched(fetched) => &fetched.object,
            _ => return,
        };
        let metadata = object.metadata();
        let ours = metadata
            .labels
            .ownership()
            .is_some_and(|whose| whose.application == Some(owner) || whose.model == owner);
        if ours {
            self.index
                .raise(metadata.uid, object.kind(), metadata.version, owner);
            self.sources.touch(object.kind(), metadata.uid);
        }
    }
}
