//! Where events come from: the store, and every kind of the cluster.

use std::io;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use pilotage_core::event::{Event, Source};
use pilotage_core::kubernetes::Kind;
use pilotage_core::state::{changes, model_changes, storage_changes};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::cluster::Cluster;
use crate::store::{Changes, Position, Snapshot, Store, StoreError};

/// How often the store is asked what is new: what other processes commit is to be noticed within 100 ms.
const POLL: Duration = Duration::from_millis(40);
/// The longest wait after a failed read of the store.
const PATIENCE: Duration = Duration::from_secs(10);

/// Starts all sources; they end when the answer is dropped, or nobody listens.
pub(super) fn start(
    store: &Arc<dyn Store>,
    cluster: &Arc<dyn Cluster>,
    events: &mpsc::Sender<Event>,
) -> io::Result<JoinSet<()>> {
    let (watched, sender) = (store.clone(), events.clone());
    thread::Builder::new()
        .name("store-watch".into())
        .spawn(move || watch(&*watched, &sender))?;
    let mut kinds = JoinSet::new();
    for kind in Kind::ALL {
        kinds.spawn(cluster.watch(kind, events.clone()));
    }
    Ok(kinds)
}

/// Nobody listens any more.
struct Deaf;

/// Tells everything that the store has, and then what changes; from the start again where that cannot be resumed.
fn watch(store: &dyn Store, events: &mpsc::Sender<Event>) {
    let mut wait = POLL;
    let mut position = None;
    while !events.is_closed() {
        let told = match position {
            None => list(store, events),
            Some(from) => follow(store, from, events),
        };
        match told {
            Ok(Ok(next)) => {
                position = next;
                wait = POLL;
            }
            Ok(Err(Deaf)) => return,
            Err(error) => {
                let failed = Event::SourceFailed {
                    source: Source::Store,
                    reason: error.to_string().into(),
                };
                if events.blocking_send(failed).is_err() {
                    return;
                }
                wait = (wait * 2).min(PATIENCE);
            }
        }
        thread::sleep(wait);
    }
}

fn list(
    store: &dyn Store,
    events: &mpsc::Sender<Event>,
) -> Result<Result<Option<Position>, Deaf>, StoreError> {
    // Before it is read: an answer that came between would be newer than what is told after it.
    let source = Source::Store;
    if tell(events, Event::Listing { source }).is_err() {
        return Ok(Err(Deaf));
    }
    let snapshot = store.snapshot()?;
    Ok(tell_snapshot(snapshot, events))
}

fn tell_snapshot(
    snapshot: Snapshot,
    events: &mpsc::Sender<Event>,
) -> Result<Option<Position>, Deaf> {
    let source = Source::Store;
    for model in &snapshot.models {
        tell_all(events, model_changes(None, Some(model)))?;
    }
    for application in &snapshot.applications {
        tell_all(events, changes(None, Some(application)))?;
    }
    for storage in &snapshot.storages {
        tell_all(events, storage_changes(None, Some(storage)))?;
    }
    tell(events, Event::Synced { source })?;
    Ok(Some(snapshot.position))
}

fn follow(
    store: &dyn Store,
    from: Position,
    events: &mpsc::Sender<Event>,
) -> Result<Result<Option<Position>, Deaf>, StoreError> {
    Ok(match store.changes_since(from)? {
        Changes::Events(changes, next) => tell_all(events, changes).map(|()| Some(next)),
        Changes::Lost => Ok(None),
    })
}

fn tell_all(events: &mpsc::Sender<Event>, all: Vec<Event>) -> Result<(), Deaf> {
    all.into_iter().try_for_each(|event| tell(events, event))
}

fn tell(events: &mpsc::Sender<Event>, event: Event) -> Result<(), Deaf> {
    events.blocking_send(event).map_err(|_| Deaf)
}
