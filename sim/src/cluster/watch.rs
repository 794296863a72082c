//! What a watch sees of the writes after a version.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

use serde_json::Value;

use super::Cluster;
use super::object::{Stored, set_at};
use super::request::Failure;
use super::resource::Resource;

/// What happened to an object, as the watch that asked sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WatchKind {
    /// It appeared, or came to carry the labels that the watch selects.
    Added,
    /// It changed.
    Modified,
    /// It is gone, or no longer carries the labels that the watch selects (fact K32).
    Deleted,
}

/// One event of a watch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchEvent {
    /// What happened.
    pub kind: WatchKind,
    /// The object after it; of a deleted one the last state, under the version of its end.
    pub object: Arc<Stored>,
}

impl Cluster {
    /// The events of a kind after a version, in one namespace or in all, of the objects that carry all of these labels.
    /// The next call asks from the version of the last event, or from [`Cluster::version`].
    ///
    /// # Errors
    /// 410 `Expired` if the version is older than what [`Cluster::compact`] left.
    pub fn watch_since(
        &self,
        resource: Resource,
        namespace: Option<&str>,
        labels: &[(Box<str>, Box<str>)],
        version: u64,
    ) -> Result<Vec<WatchEvent>, Failure> {
        if version < self.store.oldest() {
            return Err(Failure::expired(version, self.store.oldest()));
        }
        let selected = |stored: &Arc<Stored>| stored.has_labels(labels);
        let mut events = Vec::new();
        for change in self.store.since(version) {
            if change.after.resource != resource
                || namespace.is_some_and(|wanted| change.after.namespace() != wanted)
            {
                continue;
            }
            let was = change.before.as_ref().filter(|before| selected(before));
            let is = !change.gone && selected(&change.after);
            let (kind, object) = match (was, is) {
                (None, true) => (WatchKind::Added, change.after.clone()),
                (Some(_), true) => (WatchKind::Modified, change.after.clone()),
                (Some(_), false) if change.gone => (WatchKind::Deleted, change.after.clone()),
                (Some(before), false) => {
                    (WatchKind::Deleted, at_version(before, change.after.version))
                }
                (None, false) => continue,
            };
            events.push(WatchEvent { kind, object });
        }
        Ok(events)
    }

    /// Forgets all but the last `keep` writes: a watch from an older version then answers 410.
    pub fn compact(&mut self, keep: usize) {
        self.store.compact(keep);
    }
}

/// The same state under another version.
pub(super) fn at_version(stored: &Stored, version: u64) -> Arc<Stored> {
    let mut last = stored.clone();
    last.version = version;
    stamp(&mut last.value, version);
    Arc::new(last)
}

/// Writes the version into the metadata.
pub(super) fn stamp(value: &mut Value, version: u64) {
    use alloc::string::ToString;
    set_at(
        value,
        &["metadata", "resourceVersion"],
        Value::String(version.to_string()),
    );
}
