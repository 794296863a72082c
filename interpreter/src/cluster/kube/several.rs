//! One kind in several namespaces: a watch in each, told as one source.
//!
//! What is told is one list of everything, and then what changes. So the first lists of all places are parts of one, a
//! part is told when it is complete, and where one place has to be listed again, all are.

use std::collections::BTreeSet;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use pilotage_core::event::{Event, Source};
use pilotage_core::kubernetes::Kind;
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};

use super::Link;
use super::request::Place;
use super::watch::watch_place;

/// How many events of one place wait for the others'.
const EVENTS: usize = 64;

/// Tells everything of ours of a kind in these places, and then what changes, until nobody listens.
pub(super) async fn watch(
    link: Arc<Link>,
    kind: Kind,
    places: &[Place],
    events: mpsc::Sender<Event>,
) {
    let mut tasks = JoinSet::new();
    let mut begin = |place: &Place| {
        let (told, heard) = mpsc::channel(EVENTS);
        let task = watch_place(link.clone(), kind, place.clone(), told);
        (heard, tasks.spawn(task))
    };
    let parts = places.iter().map(&mut begin).map(Part::new).collect();
    let mut whole = Whole::new(Source::Cluster(kind), parts);
    let deaf = events.clone();
    let mut told = vec![Event::Listing {
        source: whole.source,
    }];
    loop {
        for event in told.drain(..) {
            if events.send(event).await.is_err() {
                return;
            }
        }
        let (number, event) = tokio::select! {
            () = deaf.closed() => return,
            next = whole.next() => next,
        };
        if matches!(event, Event::Listing { .. }) && whole.lists_again(number) {
            told.push(Event::Listing {
                source: whole.source,
            });
            for (other, place) in places.iter().enumerate() {
                if other != number {
                    whole.replace(other, Part::new(begin(place)));
                }
            }
        }
        told.extend(whole.take(number, event));
    }
}

/// The watch of one place.
struct Part {
    heard: mpsc::Receiver<Event>,
    task: AbortHandle,
    /// What its list has told so far.
    list: Vec<Event>,
}

impl Part {
    fn new((heard, task): (mpsc::Receiver<Event>, AbortHandle)) -> Self {
        Part {
            heard,
            task,
            list: Vec::new(),
        }
    }
}

/// The watches of all places.
struct Whole {
    source: Source,
    parts: Vec<Part>,
    /// Places whose part of the present list is not complete.
    pending: BTreeSet<usize>,
    /// Whose turn it is to be heard first.
    turn: usize,
}

impl Whole {
    fn new(source: Source, parts: Vec<Part>) -> Self {
        Whole {
            source,
            pending: (0..parts.len()).collect(),
            parts,
            turn: 0,
        }
    }

    /// The next that one of them says, in turns.
    async fn next(&mut self) -> (usize, Event) {
        let count = self.parts.len();
        poll_fn(|context| {
            for step in 0..count {
                let number = (self.turn + step) % count;
                if let Poll::Ready(Some(event)) = self.parts[number].heard.poll_recv(context) {
                    self.turn = number + 1;
                    return Poll::Ready((number, event));
                }
            }
            Poll::Pending
        })
        .await
    }

    /// A place lists. Whether its part of the present list was complete: then the next list of everything begins.
    fn lists_again(&mut self, number: usize) -> bool {
        let again = !self.pending.contains(&number);
        if again {
            self.pending = (0..self.parts.len()).collect();
        }
        again
    }

    /// Another watch in place of one.
    fn replace(&mut self, number: usize, part: Part) {
        let former = std::mem::replace(&mut self.parts[number], part);
        former.task.abort();
    }

    /// What an event of a place is to everybody.
    fn take(&mut self, number: usize, event: Event) -> Vec<Event> {
        let lists = self.pending.contains(&number);
        let list = &mut self.parts[number].list;
        match event {
            // What an unfinished list has told is told again.
            Event::Listing { .. } => {
                list.clear();
                Vec::new()
            }
            Event::Synced { source } => {
                let mut told = std::mem::take(list);
                self.pending.remove(&number);
                if self.pending.is_empty() {
                    told.push(Event::Synced { source });
                }
                told
            }
            failed @ Event::SourceFailed { .. } => vec![failed],
            event if lists => {
                list.push(event);
                Vec::new()
            }
            event => vec![event],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pilotage_core::kubernetes::Key;
    use pilotage_core::name::{Uid, Version};

    const SOURCE: Source = Source::Cluster(Kind::Pod);

    fn pod(name: &str) -> Event {
        Event::PodDeleted {
            key: Key::new(Kind::Pod, "shop", name),
            uid: Uid(1),
            version: Version(1),
        }
    }

    /// Two places that say nothing by themselves.
    fn whole() -> Whole {
        let mut tasks = JoinSet::<()>::new();
        let parts = (0..2).map(|_| {
            let (_, heard) = mpsc::channel(1);
            Part::new((heard, tasks.spawn(std::future::pending())))
        });
        Whole::new(SOURCE, parts.collect())
    }

    #[tokio::test]
    async fn lists_of_all_places_are_one_and_a_part_is_told_when_it_is_complete() {
        let mut whole = whole();
        let (listing, synced) = (
            Event::Listing { source: SOURCE },
            Event::Synced { source: SOURCE },
        );
        for number in [0, 1] {
            assert!(!whole.lists_again(number));
            assert_eq!(whole.take(number, listing.clone()), []);
        }
        assert_eq!(whole.take(0, pod("a")), []);
        // It breaks off and begins again: what was told is not to be believed.
        assert!(!whole.lists_again(0));
        assert_eq!(whole.take(0, listing.clone()), []);
        assert_eq!(whole.take(0, pod("b")), []);
        assert_eq!(whole.take(0, synced.clone()), [pod("b")]);
        assert_eq!(whole.take(0, pod("c")), [pod("c")]);
        assert_eq!(whole.take(1, pod("d")), []);
        assert_eq!(whole.take(1, synced.clone()), [pod("d"), synced.clone()]);
        assert_eq!(whole.take(1, pod("e")), [pod("e")]);

        // One lists again: everything is to be told again.
        assert!(whole.lists_again(1));
        assert_eq!(whole.take(1, listing), []);
        assert_eq!(whole.take(1, synced.clone()), []);
        assert_eq!(whole.take(0, pod("b")), []);
        assert_eq!(whole.take(0, synced.clone()), [pod("b"), synced]);
    }
}
