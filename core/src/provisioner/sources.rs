//! Which sources have told everything, and which are telling it again.

use alloc::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::event::Source;
use crate::kubernetes::Kind;
use crate::name::Uid;

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
}

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
