//! How the provisioner is told: lists, watches, and what may happen to them on the way.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::sync::Arc;
use alloc::vec::Vec;

use pilotage_core::event::{Event, Source};
use pilotage_core::kubernetes::Kind;
use pilotage_core::name::Uid;
use pilotage_core::time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::cluster::effects;
use crate::cluster::object::Stored;
use crate::cluster::resource::Resource;

use super::{Choice, World};

/// How far a source has been told.
#[derive(Clone, Debug, Default)]
pub(super) struct Telling {
    pending: VecDeque<Event>,
    position: u64,
    /// Whether a list is to be read once it is told that it begins.
    lists: bool,
    held: Option<(Timestamp, Then)>,
    last: Option<Event>,
}

/// What becomes of the events of a source that was held for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Then {
    /// They are told late.
    Tell,
    /// Of each object only the last is told.
    Coalesce,
    /// They are lost, and the source tells everything again.
    List,
}

impl World {
    /// A source begins to tell everything again. That it does is told before anything is read, so that no answer to an
    /// effect can come between: such an answer would be older than the beginning of the list, and newer than what is in
    /// it.
    pub fn list(&mut self, source: Source) {
        let telling = Telling {
            pending: [Event::Listing { source }].into(),
            lists: true,
            ..Telling::default()
        };
        self.telling.insert(source, telling);
    }

    pub(super) fn list_all(&mut self, version: u64) {
        self.telling.clear();
        self.list_at(Source::Store, version);
        for kind in Kind::ALL {
            self.list_at(Source::Cluster(kind), version);
        }
    }

    /// A source begins to tell everything as of a version of the cluster, as far as that is remembered.
    fn list_at(&mut self, source: Source, version: u64) {
        let telling = match source {
            Source::Store => Telling {
                pending: self.store.list().into(),
                position: self.store.head(),
                ..Telling::default()
            },
            Source::Cluster(kind) => {
                let ours = effects::ours();
                let (objects, position) = self.objects_at(kind, version);
                let seen = objects.iter().filter(|object| object.has_labels(&ours));
                let seen = seen.filter(|object| told_of(&self.namespaces, object));
                let seen = seen.filter_map(|object| effects::seen(kind, object, self.key).ok());
                let mut pending = VecDeque::from([Event::Listing { source }]);
                pending.extend(seen);
                pending.push_back(Event::Synced { source });
                Telling {
                    pending,
                    position,
                    ..Telling::default()
                }
            }
        };
        self.telling.insert(source, telling);
    }

    /// The objects of a kind as they were at a version: the writes since are undone.
    fn objects_at(&self, kind: Kind, version: u64) -> (Vec<Arc<Stored>>, u64) {
        let resource = effects::resource(kind);
        let mut objects: BTreeMap<(&str, &str), &Arc<Stored>> = self
            .cluster
            .objects(resource, None)
            .map(|object| ((object.namespace(), object.name()), object))
            .collect();
        let since: Vec<_> = self.cluster.changes_since(version).collect();
        let oldest = since
            .first()
            .map_or(self.cluster.version(), |change| change.version - 1);
        for change in since.into_iter().rev() {
            if change.after.resource != resource {
                continue;
            }
            let place = (change.after.namespace(), change.after.name());
            match &change.before {
                Some(before) => objects.insert(place, before),
                None => objects.remove(&place),
            };
        }
        (objects.into_values().cloned().collect(), oldest)
    }

    /// The next event of a source.
    pub(super) fn next_event(&mut self, source: Source) -> Option<Event> {
        let telling = self.telling.get(&source)?;
        if telling.lists {
            self.list_at(source, self.cluster.version());
        }
        let telling = self.telling.get_mut(&source)?;
        let event = telling.pending.pop_front()?;
        let lists = matches!(event, Event::Listing { .. } | Event::Synced { .. });
        telling.last = (!lists).then(|| event.clone());
        Some(event)
    }

    /// From now on until then a source says nothing.
    pub fn hold(&mut self, source: Source, until: Timestamp, then: Then) {
        if let Some(telling) = self.telling.get_mut(&source) {
            telling.held = Some((until, then));
        }
    }

    /// A source tells its last event again, after everything that waits to be told; but of an object that is gone no
    /// watch tells again what was before, so such an event comes before the end.
    pub fn tell_again(&mut self, source: Source) {
        if let Some(telling) = self.telling.get_mut(&source)
            && let Some(again) = telling.last.clone()
        {
            let uid = uid_of(&again);
            let end = telling.pending.iter().position(|event| {
                uid.is_some()
                    && matches!(
                        event,
                        Event::PodDeleted { .. } | Event::ObjectDeleted { .. }
                    )
                    && uid_of(event) == uid
            });
            let place = end.unwrap_or(telling.pending.len());
            telling.pending.insert(place, again);
        }
    }

    /// Finds out who has something to tell; returns when the first of those that are held may speak again.
    pub(super) fn hear(&mut self, choices: &mut Vec<Choice>) -> Option<Timestamp> {
        let sources: Vec<Source> = self.telling.keys().copied().collect();
        let mut next: Option<Timestamp> = None;
        for source in sources {
            let held = self.telling.get(&source).and_then(|telling| telling.held);
            if let Some((until, then)) = held {
                if until > self.now {
                    next = Some(next.map_or(until, |known| known.min(until)));
                    continue;
                }
                self.release(source, then);
            }
            self.hear_one(source);
            let waits = self.telling.get(&source);
            if waits.is_some_and(|telling| !telling.pending.is_empty()) {
                choices.push(Choice::Tell(source));
            }
        }
        next
    }

    fn release(&mut self, source: Source, then: Then) {
        if then == Then::List {
            return self.list(source);
        }
        self.hear_one(source);
        if let Some(telling) = self.telling.get_mut(&source) {
            telling.held = None;
            if then == Then::Coalesce {
                coalesce(&mut telling.pending);
            }
        }
    }

    fn hear_one(&mut self, source: Source) {
        let telling = self.telling.get_mut(&source);
        let Some(telling) = telling.filter(|telling| !telling.lists) else {
            return;
        };
        match source {
            Source::Store => {
                let head = self.store.head();
                if telling.position == head {
                    return;
                }
                if let Some(changes) = self.store.changes_since(telling.position) {
                    telling.pending.extend(changes.flatten().cloned());
                }
                telling.position = head;
            }
            Source::Cluster(kind) => {
                let newest = self.cluster.version();
                if telling.position == newest {
                    return;
                }
                let resource = effects::resource(kind);
                let events =
                    self.cluster
                        .watch_since(resource, None, &effects::ours(), telling.position);
                match events {
                    Ok(events) => {
                        let events = events
                            .iter()
                            .filter(|event| told_of(&self.namespaces, &event.object));
                        telling.pending.extend(
                            events.filter_map(|event| effects::watched(kind, event, self.key).ok()),
                        );
                        telling.position = newest;
                    }
                    // 410: what happened since is forgotten.
                    Err(_) => self.list(source),
                }
            }
        }
    }
}

/// Whether an object is in a namespace that is told of, or is one; where none is named, all are.
fn told_of(namespaces: &[Box<str>], object: &Stored) -> bool {
    let namespace = match object.resource {
        Resource::Namespace => object.name(),
        _ => object.namespace(),
    };
    let all = namespaces.is_empty() || namespace.is_empty();
    all || namespaces.iter().any(|one| **one == *namespace)
}

/// Keeps the last event of each object. The marks of a list stay, and so does everything before them.
fn coalesce(pending: &mut VecDeque<Event>) {
    let from = pending
        .iter()
        .rposition(|event| uid_of(event).is_none())
        .map_or(0, |last| last + 1);
    let mut told: BTreeSet<Uid> = BTreeSet::new();
    let mut kept: Vec<Event> = Vec::new();
    for event in pending.drain(from..).rev() {
        if uid_of(&event).is_none_or(|uid| told.insert(uid)) {
            kept.push(event);
        }
    }
    pending.extend(kept.into_iter().rev());
}

fn uid_of(event: &Event) -> Option<Uid> {
    match event {
        Event::PodUpdated(pod) => Some(pod.metadata.uid),
        Event::ObjectUpdated(object) => Some(object.metadata().uid),
        Event::PodDeleted { uid, .. } | Event::ObjectDeleted { uid, .. } => Some(*uid),
        _ => None,
    }
}
