//! Which sources have told everything, and which are telling it again.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::event::Source;
use crate::kubernetes::Kind;
use crate::name::Uid;
use crate::time::{Span, Timestamp};

/// How many sources there are.
const EVERY: usize = Kind::ALL.len() + 1;

/// The state of every source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Sources {
    /// Sources that have told everything at least once.
    synced: BTreeSet<Source>,
    /// Sources that are telling everything again, and the number of that list.
    #[serde(with = "crate::pairs")]
    listing: BTreeMap<Source, Listing>,
    lists: u32,
    /// Kinds of the cluster that cannot be read.
    #[serde(default, skip_serializing_if = "Failing::is_nothing")]
    failing: Failing,
}

/// Kinds of the cluster that cannot be read. What passes by itself is not worth a word: a failure is named once it has
/// lasted for [`PATIENCE`]. Then it is named as it was at that moment, until that kind is read again, so that a failure
/// costs each model one write when it is named and one when it is over, whatever else fails meanwhile.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Failing {
    /// Since when, and what was said last.
    #[serde(with = "crate::pairs")]
    kinds: BTreeMap<Kind, (Timestamp, Box<str>)>,
    /// The one that is named, and how.
    named: Option<(Kind, Arc<str>)>,
}

impl Failing {
    fn is_nothing(&self) -> bool {
        self.kinds.is_empty() && self.named.is_none()
    }
}

/// After so long a failure is named.
const PATIENCE: Span = Span::seconds(60);

/// A list that is being told.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Listing {
    /// Distinguishes it from all lists before.
    pub number: u32,
    /// Objects that an answer to a write touched meanwhile: the list may be older than that.
    pub touched: BTreeSet<Uid>,
}

impl Sources {
    /// A list begins.
    pub fn begin(&mut self, source: Source) {
        self.lists = self.lists.wrapping_add(1);
        let listing = Listing {
            number: self.lists,
            touched: BTreeSet::new(),
        };
        self.listing.insert(source, listing);
    }

    /// A list ends. None if none had begun.
    pub fn end(&mut self, source: Source) -> Option<Listing> {
        let listing = self.listing.remove(&source)?;
        self.synced.insert(source);
        Some(listing)
    }

    /// A source cannot be read. The state is not watched over: what cannot be read cannot be told either.
    pub fn fail(&mut self, at: Timestamp, source: Source, reason: Box<str>) {
        if let Source::Cluster(kind) = source {
            let known = self.failing.kinds.entry(kind);
            known.or_insert((at, Box::default())).1 = reason;
        }
    }

    /// A source can be read again. Returns whether a failure is no longer named.
    pub fn recover(&mut self, at: Timestamp, source: Source) -> bool {
        let Source::Cluster(kind) = source else {
            return false;
        };
        self.failing.kinds.remove(&kind);
        let over = matches!(&self.failing.named, Some((named, _)) if *named == kind);
        if over {
            self.failing.named = None;
            // What was not worth a second word is given its time again.
            for (since, _) in self.failing.kinds.values_mut() {
                *since = at;
            }
        }
        over
    }

    /// Names a failure that has lasted. Returns whether one is named that was not.
    pub fn name_failure(&mut self, at: Timestamp) -> bool {
        if self.failing.kinds.is_empty() || self.failing.named.is_some() {
            return false;
        }
        let lasting = |since: Timestamp| since.after(PATIENCE) <= at;
        let mut kinds = self.failing.kinds.iter();
        let named = kinds.find(|(_, (since, _))| lasting(*since));
        let known = |kind| self.synced.contains(&Source::Cluster(kind));
        self.failing.named = named.map(|(kind, (_, reason))| {
            let follows = match known(*kind) {
                true => "what is shown may be out of date",
                false => "nothing is done until they can",
            };
            let text =
                alloc::format!("objects of kind {kind} cannot be watched: {reason}; {follows}");
            (*kind, text.into())
        });
        self.failing.named.is_some()
    }

    /// The failure that is named.
    pub fn named_failure(&self) -> Option<&Arc<str>> {
        self.failing.named.as_ref().map(|(_, text)| text)
    }

    /// When there may be a failure to be named.
    pub fn failure_due(&self) -> Option<Timestamp> {
        if self.failing.named.is_some() {
            return None;
        }
        let kinds = self.failing.kinds.values();
        kinds.map(|(since, _)| since.after(PATIENCE)).min()
    }

    /// The list of a source that is being told.
    pub fn listing(&self, source: Source) -> Option<&Listing> {
        self.listing.get(&source)
    }

    /// Notes that an answer to a write of ours told of an object.
    pub fn touch(&mut self, kind: Kind, uid: Uid) {
        if let Some(listing) = self.listing.get_mut(&Source::Cluster(kind)) {
            listing.touched.insert(uid);
        }
    }

    /// Whether workers may decide: everything that they use has been told, and the state is not half told.
    pub fn ready(&self) -> bool {
        // Asked at every step: all of them is as many as there are.
        self.synced.len() == EVERY && !self.listing.contains_key(&Source::Store)
    }

    /// Whether the state has been told at least once.
    pub fn store_told(&self) -> bool {
        self.synced.contains(&Source::Store)
    }

    /// Whether the state has been told, and is not being told again.
    pub fn store_synced(&self) -> bool {
        self.synced.contains(&Source::Store) && !self.listing.contains_key(&Source::Store)
    }
}
