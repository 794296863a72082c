//! What etcd and the watch cache do: objects by name, one counter of versions, and the history that watches read.

use alloc::borrow::Borrow;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::sync::Arc;
use core::cmp::Ordering;
use core::ops::Bound;

use super::object::Stored;
use super::resource::Resource;

/// Where an object is kept.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// The kind.
    pub resource: Resource,
    /// The namespace, empty for cluster-scoped kinds.
    pub namespace: Arc<str>,
    /// The name.
    pub name: Arc<str>,
}

/// A [`Key`] or its parts, so that a look-up allocates nothing.
trait Place {
    fn parts(&self) -> (Resource, &str, &str);
}

impl Place for Key {
    fn parts(&self) -> (Resource, &str, &str) {
        (self.resource, &self.namespace, &self.name)
    }
}

impl Place for (Resource, &str, &str) {
    fn parts(&self) -> (Resource, &str, &str) {
        *self
    }
}

impl<'a> Borrow<dyn Place + 'a> for Key {
    fn borrow(&self) -> &(dyn Place + 'a) {
        self
    }
}

impl PartialEq for dyn Place + '_ {
    fn eq(&self, other: &Self) -> bool {
        self.parts() == other.parts()
    }
}
impl Eq for dyn Place + '_ {}
impl PartialOrd for dyn Place + '_ {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for dyn Place + '_ {
    fn cmp(&self, other: &Self) -> Ordering {
        self.parts().cmp(&other.parts())
    }
}

/// A write: what was there before, and what is there now.
#[derive(Clone, Debug)]
pub struct Change {
    /// The version that the write made.
    pub version: u64,
    /// The object before; none if it was made.
    pub before: Option<Arc<Stored>>,
    /// The object after, or its last state under the version of its end.
    pub after: Arc<Stored>,
    /// Whether the object is gone.
    pub gone: bool,
}

/// The objects and their history.
#[derive(Clone, Debug, Default)]
pub(crate) struct Store {
    objects: BTreeMap<Key, Arc<Stored>>,
    /// By uid of an owner: what names it in its owner references.
    dependents: BTreeMap<Arc<str>, BTreeSet<Key>>,
    version: u64,
    history: VecDeque<Change>,
    /// Watches may begin at this version or later.
    oldest: u64,
}

impl Store {
    /// The objects as they were at a version, without the writes that led there.
    pub(crate) fn restore(objects: impl IntoIterator<Item = Arc<Stored>>, version: u64) -> Self {
        let mut store = Store::default();
        for object in objects {
            store.put(object);
        }
        store.history.clear();
        store.version = version;
        store.oldest = version;
        store
    }

    /// The newest version.
    pub(crate) fn version(&self) -> u64 {
        self.version
    }

    /// The version that the next write gets.
    pub(crate) fn next_version(&self) -> u64 {
        self.version + 1
    }

    /// The oldest version that a watch may begin at.
    pub(crate) fn oldest(&self) -> u64 {
        self.oldest
    }

    /// The object of that name.
    pub(crate) fn get(
        &self,
        resource: Resource,
        namespace: &str,
        name: &str,
    ) -> Option<&Arc<Stored>> {
        self.objects.get(&(resource, namespace, name) as &dyn Place)
    }

    /// The objects of a kind, in one namespace or in all, by namespace and name.
    pub(crate) fn iter(
        &self,
        resource: Resource,
        namespace: Option<&str>,
    ) -> impl Iterator<Item = &Arc<Stored>> {
        let from = (resource, namespace.unwrap_or(""), "");
        self.objects
            .range::<dyn Place, _>((Bound::Included(&from as &dyn Place), Bound::Unbounded))
            .take_while(move |(key, _)| {
                key.resource == resource && namespace.is_none_or(|wanted| *key.namespace == *wanted)
            })
            .map(|(_, stored)| stored)
    }

    /// Every object.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Arc<Stored>> {
        self.objects.values()
    }

    /// The objects that name the owner in their owner references.
    pub(crate) fn dependents(&self, owner_uid: &str) -> impl Iterator<Item = &Arc<Stored>> {
        self.dependents
            .get(owner_uid)
            .into_iter()
            .flatten()
            .filter_map(|key| self.objects.get(key))
    }

    /// Keeps a new state of an object; its version must be [`Store::next_version`].
    pub(crate) fn put(&mut self, after: Arc<Stored>) {
        let key = Key {
            resource: after.resource,
            namespace: after.namespace().into(),
            name: after.name().into(),
        };
        self.version = after.version;
        let before = self.objects.insert(key.clone(), after.clone());
        if let Some(before) = &before {
            self.unlink(&key, before);
        }
        for owner in after.owners() {
            self.dependents
                .entry(owner.uid.into())
                .or_default()
                .insert(key.clone());
        }
        self.history.push_back(Change {
            version: after.version,
            before,
            after,
            gone: false,
        });
    }

    /// Takes an object away; `last` is its last state under the version of its end.
    pub(crate) fn remove(&mut self, last: Arc<Stored>) {
        let place = (last.resource, last.namespace(), last.name());
        let Some((key, before)) = self.objects.remove_entry(&place as &dyn Place) else {
            return;
        };
        self.version = last.version;
        self.unlink(&key, &before);
        self.history.push_back(Change {
            version: last.version,
            before: Some(before),
            after: last,
            gone: true,
        });
    }

    fn unlink(&mut self, key: &Key, stored: &Stored) {
        for owner in stored.owners() {
            if let Some(keys) = self.dependents.get_mut(owner.uid) {
                keys.remove(key);
                if keys.is_empty() {
                    self.dependents.remove(owner.uid);
                }
            }
        }
    }

    /// The writes after a version, in order.
    pub(crate) fn since(&self, version: u64) -> impl Iterator<Item = &Change> {
        let from = self
            .history
            .partition_point(|change| change.version <= version);
        self.history.iter().skip(from)
    }

    /// Forgets all but the last `keep` writes.
    pub(crate) fn compact(&mut self, keep: usize) {
        while self.history.len() > keep {
            if let Some(change) = self.history.pop_front() {
                self.oldest = change.version;
            }
        }
    }
}
