//! Watching one kind of the embedded cluster.

use std::sync::Weak;

use pilotage_core::event::{Event, Source};
use pilotage_core::kubernetes::Kind;
use pilotage_sim::cluster::effects;
use pilotage_sim::cluster::request::Response;
use pilotage_sim::cluster::watch::WatchEvent;
use tokio::sync::mpsc;

use super::Shared;
use crate::clock;

/// Tells everything of ours of a kind, and then what changes, until the cluster is dropped or nobody listens.
pub(super) async fn watch(cluster: Weak<Shared>, kind: Kind, events: mpsc::Sender<Event>) {
    let source = Source::Cluster(kind);
    let Some(mut news) = cluster.upgrade().map(|shared| shared.written.subscribe()) else {
        return;
    };
    let mut position = None;
    loop {
        // Before it is read: an answer that came between would be newer than what is told after it.
        if position.is_none() && events.send(Event::Listing { source }).await.is_err() {
            return;
        }
        let told = {
            let Some(shared) = cluster.upgrade() else {
                return;
            };
            match position {
                None => shared.list(kind).map(|(mut told, version)| {
                    told.push(Event::Synced { source });
                    (told, version)
                }),
                Some(version) => shared.changes(kind, version),
            }
        };
        match told {
            Some((told, version)) => {
                for event in told {
                    if events.send(event).await.is_err() {
                        return;
                    }
                }
                position = Some(version);
            }
            // The watch is too old: again from the start.
            None if position.is_some() => {
                position = None;
                continue;
            }
            // What is there cannot be told yet: the file cannot be written.
            None => {}
        }
        tokio::select! {
            changed = news.changed() => if changed.is_err() { return },
            () = events.closed() => return,
        }
    }
}

impl Shared {
    /// What is in the cluster; none if that cannot be said now.
    fn list(&self, kind: Kind) -> Option<(Vec<Event>, u64)> {
        let mut machine = self.lock();
        if !self.keep(&mut machine) {
            return None;
        }
        let list = effects::list(kind, None);
        let response = machine.cluster.request(clock::now(), list);
        drop(machine);
        let Response::List { version, items } = response else {
            return None;
        };
        let events = items
            .iter()
            .map(|item| read(kind, effects::seen(kind, item, self.key)));
        Some((events.collect(), version))
    }

    /// What changed since a version, as far as it is written; none if that is too long ago.
    fn changes(&self, kind: Kind, since: u64) -> Option<(Vec<Event>, u64)> {
        let machine = self.lock();
        let resource = effects::resource(kind);
        let changes = machine
            .cluster
            .watch_since(resource, None, &effects::ours(), since);
        let written = machine.written;
        drop(machine);
        let told = |event: &&WatchEvent| event.object.version <= written;
        let events = changes.ok()?;
        let events = events
            .iter()
            .filter(told)
            .map(|event| read(kind, effects::watched(kind, event, self.key)));
        Some((events.collect(), written))
    }
}

/// The event, or that the object cannot be read.
fn read(kind: Kind, event: Result<Event, serde_json::Error>) -> Event {
    event.unwrap_or_else(|error| Event::SourceFailed {
        source: Source::Cluster(kind),
        reason: error.to_string().into(),
    })
}
