//! What is known of the custom resources: each as it was last seen, the record that it is, and what changed.
//!
//! Answers and watches come in any order; of one object, what is older than what is known is passed over, and what is
//! gone does not come back.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use pilotage_core::event::{Event, RecordName};
use pilotage_core::name::{Uid, Version};
use pilotage_core::state::{Application, Model, Records, Storage};

use super::kind::{Key, Kind};
use super::object::{Content, Object};
use super::record::{Record, differences};
use crate::store::{Changes, Damaged, Position};

/// How many changes are remembered for whoever watches. Who lags further behind takes a snapshot.
const REMEMBERED: usize = 10_000;
/// How many objects are remembered that are gone, so that a late word of them is not believed.
const GONE: usize = 10_000;

/// One object, and the record that it is.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) object: Arc<Object>,
    /// Its record as its spec and what was kept make it.
    pub(super) record: Option<Record>,
    /// Why its spec is not followed, if so.
    pub(super) refused: Option<Box<str>>,
    /// The record as it was told.
    told: Option<Record>,
    /// That its record cannot be read.
    damaged: Option<Damaged>,
}

impl Entry {
    fn readable(&self) -> Result<Option<&Record>, Damaged> {
        match &self.damaged {
            Some(damaged) => Err(damaged.clone()),
            None => Ok(self.record.as_ref()),
        }
    }
}

/// Everything that is known.
#[derive(Debug)]
pub(super) struct Cache {
    entries: BTreeMap<Key, Entry>,
    /// Where the record of an identity is: of models and applications.
    by_uid: BTreeMap<(Kind, Uid), Key>,
    gone: BTreeSet<Uid>,
    gone_order: VecDeque<Uid>,
    log: VecDeque<Vec<Event>>,
    head: u64,
    /// Objects whose kept records have not seen their specs.
    unsettled: BTreeSet<Key>,
    /// Whether records are told only once they are kept as they are: of the one who acts on them.
    only_settled: bool,
    /// Rises with everything that is learnt.
    news: u64,
}

impl Cache {
    /// Nothing is known yet. Positions begin after `epoch`, which no two caches share.
    pub(super) fn new(epoch: u64) -> Self {
        Cache {
            entries: BTreeMap::new(),
            by_uid: BTreeMap::new(),
            gone: BTreeSet::new(),
            gone_order: VecDeque::new(),
            log: VecDeque::new(),
            head: epoch,
            unsettled: BTreeSet::new(),
            only_settled: false,
            news: 0,
        }
    }

    /// From now on records are told once they are kept as they are: whoever acts on a record must find it again after a
    /// crash, whatever its spec says by then.
    pub(super) fn tell_only_settled(&mut self) {
        self.only_settled = true;
    }

    /// Rises with everything that is learnt.
    pub(super) fn news(&self) -> u64 {
        self.news
    }

    /// What is known at an address.
    pub(super) fn entry(&self, key: &Key) -> Option<&Entry> {
        self.entries.get(key)
    }

    /// Objects whose kept records have not seen their specs; models first.
    pub(super) fn unsettled(&self) -> Vec<Key> {
        self.unsettled.iter().cloned().collect()
    }

    /// Where a model's or an application's record is.
    pub(super) fn place(&self, kind: Kind, uid: Uid) -> Option<Key> {
        self.by_uid.get(&(kind, uid)).cloned()
    }

    /// Where a storage's record is.
    pub(super) fn storage_place(&self, model: Uid, number: u32) -> Option<Key> {
        let of = |entry: &Entry| match (&entry.damaged, &entry.record) {
            (Some(damaged), _) => match &damaged.record {
                RecordName::Storage { model, number } => Some((*model, *number)),
                _ => None,
            },
            (None, Some(Record::Storage(storage))) => {
                Some((storage.model, storage.instance.number))
            }
            _ => None,
        };
        let mut all = self.of_kind(Kind::Storage);
        let found = all.find(|(_, entry)| of(entry) == Some((model, number)));
        found.map(|(key, _)| key.clone())
    }

    fn of_kind(&self, kind: Kind) -> impl Iterator<Item = (&Key, &Entry)> {
        let first = Key {
            kind,
            namespace: "".into(),
            name: "".into(),
        };
        let from = self.entries.range(first..);
        from.take_while(move |(key, _)| key.kind == kind)
    }

    /// Every record of a kind, as it was told, that can be read.
    pub(super) fn told(&self, kind: Kind) -> impl Iterator<Item = &Record> {
        self.of_kind(kind)
            .filter(|(_, entry)| entry.damaged.is_none())
            .filter_map(|(_, entry)| entry.told.as_ref())
    }

    /// Every record that cannot be read.
    pub(super) fn damaged(&self) -> Vec<Damaged> {
        let all = self.entries.values();
        all.filter_map(|entry| entry.damaged.clone()).collect()
    }

    /// Takes an object as it was seen.
    pub(super) fn see(&mut self, object: Object) {
        if self.gone.contains(&object.uid) {
            return;
        }
        if object.deleting && !object.has_finalizer() {
            // Nothing of ours holds it any more: whatever does, the record is no more.
            self.lose(&object.key, object.uid);
            self.remember_gone(object.uid);
            return;
        }
        let key = object.key.clone();
        if self
            .entries
            .get(&key)
            .is_some_and(|known| known.object.version >= object.version)
        {
            return;
        }
        let is_model = key.kind == Kind::Model;
        self.put(Arc::new(object));
        if is_model {
            // Applications that were there before their model have one now.
            let orphans: Vec<Arc<Object>> = self
                .of_kind(Kind::Application)
                .filter(|(other, entry)| *other.namespace == *key.name && !entry.object.is_kept())
                .map(|(_, entry)| entry.object.clone())
                .collect();
            for orphan in orphans {
                self.put(orphan);
            }
        }
    }

    fn put(&mut self, object: Arc<Object>) {
        self.news += 1;
        let key = object.key.clone();
        let model = Key::new(Kind::Model, "", &key.namespace);
        let model = self.entries.get(&model);
        let model = model.map(|model| model.object.record_uid());
        let damaged = object.damage.as_ref().map(|reason| Damaged {
            record: self.name(&object, model),
            reason: reason.to_string(),
            place: format!("the status of {key}"),
        });
        let (mut record, mut refused) = match damaged {
            Some(_) => (None, None),
            None => object.record(model),
        };
        if let Some(other) = self.rival(&object) {
            record = None;
            refused = Some(format!("its uid is that of {other}: leave spec.uid out").into());
        }
        let settled = object.is_settled();
        if settled && refused.is_none() {
            refused = object.said().map(Into::into);
        }
        let former = self.forget(&key);
        let same = former
            .as_ref()
            .is_some_and(|former| former.object.uid == object.uid);
        let before = former.and_then(|former| former.told);
        let known = damaged.is_none() && (settled || !self.only_settled);
        let told = match (known, same) {
            (true, _) => record.clone(),
            (false, true) => before.clone(),
            (false, false) => None,
        };
        if same {
            self.append(differences(before.as_ref(), told.as_ref()));
        } else {
            self.append(differences(before.as_ref(), None));
            self.append(differences(None, told.as_ref()));
        }
        if !settled && damaged.is_none() {
            self.unsettled.insert(key.clone());
        }
        if (record.is_some() || damaged.is_some()) && key.kind != Kind::Storage {
            self.by_uid
                .insert((key.kind, object.record_uid()), key.clone());
        }
        let entry = Entry {
            object,
            record,
            refused,
            told,
            damaged,
        };
        self.entries.insert(key, entry);
    }

    /// Another object that has the identity of this one. Who has a record that was kept has the identity; else who was
    /// first.
    fn rival(&mut self, object: &Object) -> Option<Key> {
        let key = &object.key;
        if key.kind == Kind::Storage {
            return None;
        }
        let identity = (key.kind, object.record_uid());
        let other = self.by_uid.get(&identity)?.clone();
        if other == *key {
            return None;
        }
        let Some(theirs) = self.entries.get(&other).map(|entry| entry.object.clone()) else {
            // It is just being taken in, and has the better claim.
            return Some(other);
        };
        if theirs.is_kept() || !object.is_kept() {
            return Some(other);
        }
        self.by_uid.insert(identity, key.clone());
        self.put(theirs);
        None
    }

    /// What can be known of a record without reading it.
    fn name(&self, object: &Object, model: Option<Uid>) -> RecordName {
        let key = &object.key;
        match &object.content {
            Content::Model { written, .. } => RecordName::Model {
                model: written.uid,
                name: key.name.clone(),
            },
            Content::Application { written, .. } => RecordName::Application {
                application: written.uid,
                name: key.name.clone(),
                model: model.unwrap_or(Uid(0)),
            },
            Content::Storage { number, .. } => {
                let model = key.name.rsplit_once('-').map(|(model, _)| model);
                let model = Key::new(Kind::Model, "", model.unwrap_or_default());
                let model = self.entries.get(&model);
                RecordName::Storage {
                    model: model.map_or(Uid(0), |model| model.object.record_uid()),
                    number: *number,
                }
            }
        }
    }

    /// Takes what is known at an address out, and tells nobody.
    fn forget(&mut self, key: &Key) -> Option<Entry> {
        let entry = self.entries.remove(key)?;
        self.unsettled.remove(key);
        let identity = (key.kind, entry.object.record_uid());
        if self.by_uid.get(&identity) == Some(key) {
            self.by_uid.remove(&identity);
        }
        Some(entry)
    }

    /// An object is gone.
    pub(super) fn lose(&mut self, key: &Key, uid: Uid) {
        self.remember_gone(uid);
        if self
            .entries
            .get(key)
            .is_some_and(|known| known.object.uid == uid)
            && let Some(entry) = self.forget(key)
        {
            self.news += 1;
            self.append(differences(entry.told.as_ref(), None));
        }
    }

    fn remember_gone(&mut self, uid: Uid) {
        if self.gone.insert(uid) {
            self.gone_order.push_back(uid);
        }
        if self.gone_order.len() > GONE
            && let Some(oldest) = self.gone_order.pop_front()
        {
            self.gone.remove(&oldest);
        }
    }

    /// Takes everything of a kind, as of a version.
    pub(super) fn see_all(&mut self, kind: Kind, objects: Vec<Object>, version: Version) {
        let there: BTreeSet<Uid> = objects.iter().map(|object| object.uid).collect();
        let missing: Vec<(Key, Uid)> = self
            .of_kind(kind)
            .filter(|(_, entry)| {
                entry.object.version <= version && !there.contains(&entry.object.uid)
            })
            .map(|(key, entry)| (key.clone(), entry.object.uid))
            .collect();
        for (key, uid) in missing {
            self.lose(&key, uid);
        }
        for object in objects {
            self.see(object);
        }
    }

    fn append(&mut self, events: Vec<Event>) {
        if events.is_empty() {
            return;
        }
        self.head += 1;
        self.log.push_back(events);
        if self.log.len() > REMEMBERED {
            self.log.pop_front();
        }
    }

    /// Where the log ends.
    pub(super) fn position(&self) -> Position {
        Position(self.head)
    }

    /// What was told since a position.
    pub(super) fn since(&self, position: Position) -> Changes {
        let missed = self.head.checked_sub(position.0);
        let missed = missed.and_then(|missed| usize::try_from(missed).ok());
        let Some(first) = missed.and_then(|missed| self.log.len().checked_sub(missed)) else {
            return Changes::Lost;
        };
        let events = self.log.iter().skip(first).flatten().cloned().collect();
        Changes::Events(events, self.position())
    }
}

/// The records as a transaction finds them, all but one.
pub(super) struct View<'a> {
    pub(super) cache: &'a Cache,
    pub(super) without: Option<&'a Key>,
}

impl View<'_> {
    fn get(&self, key: &Key) -> Result<Option<&Record>, Damaged> {
        match self.cache.entry(key) {
            Some(entry) if self.without != Some(key) => entry.readable(),
            _ => Ok(None),
        }
    }

    fn model_at(&self, key: &Key) -> Result<Option<Arc<Model>>, Damaged> {
        Ok(match self.get(key)? {
            Some(Record::Model(model)) => Some(model.clone()),
            _ => None,
        })
    }

    fn application_at(&self, key: &Key) -> Result<Option<Arc<Application>>, Damaged> {
        Ok(match self.get(key)? {
            Some(Record::Application(application)) => Some(application.clone()),
            _ => None,
        })
    }

    /// Where the applications of a model are, whose names are in their addresses.
    fn applications_of(&self, model: Uid) -> impl Iterator<Item = &Key> {
        let all = self.cache.of_kind(Kind::Application);
        all.filter(move |(key, entry)| {
            let of = match (&entry.damaged, &entry.record) {
                (Some(damaged), _) => Some(damaged.record.model()),
                (None, Some(Record::Application(one))) => Some(one.model),
                _ => None,
            };
            of == Some(model) && self.without != Some(*key)
        })
        .map(|(key, _)| key)
    }
}

impl Records for View<'_> {
    type Failure = Damaged;

    fn model(&self, uid: Uid) -> Result<Option<Arc<Model>>, Damaged> {
        match self.cache.place(Kind::Model, uid) {
            Some(key) => self.model_at(&key),
            None => Ok(None),
        }
    }

    fn model_named(&self, name: &str) -> Result<Option<Arc<Model>>, Damaged> {
        self.model_at(&Key::new(Kind::Model, "", name))
    }

    fn application(&self, uid: Uid) -> Result<Option<Arc<Application>>, Damaged> {
        match self.cache.place(Kind::Application, uid) {
            Some(key) => self.application_at(&key),
            None => Ok(None),
        }
    }

    fn application_named(
        &self,
        model: Uid,
        name: &str,
    ) -> Result<Option<Arc<Application>>, Damaged> {
        let place = self.applications_of(model).find(|key| *key.name == *name);
        match place {
            Some(key) => self.application_at(key),
            None => Ok(None),
        }
    }

    fn application_names(&self, model: Uid) -> Result<Vec<Box<str>>, Damaged> {
        let all = self.applications_of(model);
        Ok(all.map(|key| key.name.clone()).collect())
    }

    fn storage(&self, model: Uid, number: u32) -> Result<Option<Arc<Storage>>, Damaged> {
        let Some(key) = self.cache.storage_place(model, number) else {
            return Ok(None);
        };
        Ok(match self.get(&key)? {
            Some(Record::Storage(storage)) => Some(storage.clone()),
            _ => None,
        })
    }

    fn is_empty(&self, model: Uid) -> Result<bool, Damaged> {
        let application = self.applications_of(model).next().is_some();
        let mut storages = self.cache.of_kind(Kind::Storage);
        let storage = storages.any(|(_, entry)| match (&entry.damaged, &entry.record) {
            (Some(damaged), _) => damaged.record.model() == model,
            (None, Some(record)) => record.uid() == model,
            (None, None) => false,
        });
        Ok(!application && !storage)
    }
}
