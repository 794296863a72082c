//! Where events come from: the store, and every kind of the cluster.

use std::io;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use pilotage_core::event::{Event, RecordName, Source};
use pilotage_core::kubernetes::Kind;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::{Observer, Settings};
use crate::cluster::Cluster;
use crate::leader::Authority;
use crate::store::{Changes, Damaged, Position, Store, StoreError};

/// How often the store is asked what is new: what other processes commit is to be noticed within 100 ms.
const POLL: Duration = Duration::from_millis(40);
/// The longest wait after a failed read of the store.
const PATIENCE: Duration = Duration::from_secs(10);

/// Starts all sources; they end when the answer is dropped, or nobody listens.
pub(super) fn start(
    store: &Arc<dyn Store>,
    cluster: &Arc<dyn Cluster>,
    events: &mpsc::Sender<Event>,
    settings: &Settings,
) -> io::Result<JoinSet<()>> {
    let watch = Watch {
        store: store.clone(),
        events: events.clone(),
        observer: settings.observer.clone(),
        authority: settings.authority.clone(),
        damaged: Vec::new(),
    };
    thread::Builder::new()
        .name("store-watch".into())
        .spawn(move || watch.run())?;
    let mut kinds = JoinSet::new();
    for kind in Kind::ALL {
        kinds.spawn(cluster.watch(kind, events.clone()));
    }
    Ok(kinds)
}

/// Nobody listens any more.
struct Deaf;

/// Tells everything that the store has, and then what changes; from the start again where that cannot be resumed.
struct Watch {
    store: Arc<dyn Store>,
    events: mpsc::Sender<Event>,
    observer: Arc<dyn Observer>,
    authority: Authority,
    /// What was told as unreadable.
    damaged: Vec<Damaged>,
}

impl Watch {
    fn run(mut self) {
        let mut wait = POLL;
        let mut position = None;
        while !self.events.is_closed() {
            // A state in a cluster keeps, when its provisioner reads it, what users wrote: that is to act, too.
            if !self.authority.holds() {
                thread::sleep(POLL);
                continue;
            }
            let told = match position {
                None => self.list(),
                Some(from) => self.follow(from),
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
                    if self.tell(failed).is_err() {
                        return;
                    }
                    wait = (wait * 2).min(PATIENCE);
                }
            }
            thread::sleep(wait);
        }
    }

    fn list(&mut self) -> Result<Result<Option<Position>, Deaf>, StoreError> {
        // Before it is read: an answer that came between would be newer than what is told after it.
        let source = Source::Store;
        if self.tell(Event::Listing { source }).is_err() {
            return Ok(Err(Deaf));
        }
        let snapshot = self.store.snapshot()?;
        self.warn(&snapshot.damaged);
        self.damaged.clone_from(&snapshot.damaged);
        let told = self.tell_all(snapshot.events().skip(1));
        Ok(told.map(|()| Some(snapshot.position)))
    }

    /// Says once of each record that it cannot be read, and that it can again.
    fn warn(&self, damaged: &[Damaged]) {
        for one in damaged.iter().filter(|one| !self.damaged.contains(one)) {
            self.observer.warning(&one.to_string());
        }
        let still = |record: &RecordName| damaged.iter().any(|one| one.record == *record);
        for one in self.damaged.iter().filter(|one| !still(&one.record)) {
            let record = &one.record;
            self.observer
                .warning(&format!("the record of {record} can be read again"));
        }
    }

    fn follow(&self, from: Position) -> Result<Result<Option<Position>, Deaf>, StoreError> {
        if self.store.damaged()? != self.damaged {
            return Ok(Ok(None));
        }
        Ok(match self.store.changes_since(from)? {
            Changes::Events(changes, next) => self.tell_all(changes).map(|()| Some(next)),
            Changes::Lost => Ok(None),
        })
    }

    fn tell_all(&self, all: impl IntoIterator<Item = Event>) -> Result<(), Deaf> {
        all.into_iter().try_for_each(|event| self.tell(event))
    }

    fn tell(&self, event: Event) -> Result<(), Deaf> {
        self.events.blocking_send(event).map_err(|_| Deaf)
    }
}
