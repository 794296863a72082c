//! Everything in a run that could go otherwise: which ready thing goes first, and what goes wrong when.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::fault::Fault;

/// When something goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum When {
    /// Just before the effect of this number is run; the first is 0.
    Effect(u32),
    /// Just before the choice of this number is made; the first is 0.
    Choice(u32),
}

/// One thing that goes wrong at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Planned {
    /// When.
    pub at: When,
    /// What.
    pub fault: Fault,
}

/// What the user does in a run.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Plot {
    /// Deploys, scales up, down, and up again while units leave, trusts, refreshes, and removes with storage.
    #[default]
    Whole,
    /// Deploys, scales down, and removes; storage is kept. Kubernetes Events are recorded.
    Kept,
    /// Deploys, scales down, and removes by force, with storage, while a unit leaves. Kubernetes
    /// Events are recorded.
    Forced,
    /// Deploys, removes by force as soon as there is a claim, and destroys the model with the storage that was kept.
    Early,
}

impl Plot {
    /// Whether Kubernetes Events are recorded in it.
    pub const fn announces(self) -> bool {
        matches!(self, Plot::Kept | Plot::Forced)
    }
}

/// A whole run: the same schedule, the same world, byte for byte.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Schedule {
    /// What the user does.
    #[serde(skip_serializing_if = "is_whole")]
    pub plot: Plot,
    /// What the order of ready things is drawn from; without it the first goes first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// What goes wrong.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<Planned>,
}

fn is_whole(plot: &Plot) -> bool {
    *plot == Plot::Whole
}

impl Schedule {
    /// Nothing goes wrong.
    pub fn of(plot: Plot) -> Self {
        Schedule {
            plot,
            ..Schedule::default()
        }
    }

    /// One fault.
    pub fn single(plot: Plot, at: When, fault: Fault) -> Self {
        Schedule {
            plot,
            seed: None,
            faults: [Planned { at, fault }].into(),
        }
    }
}

/// Numbers from a seed: SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draw(u64);

impl Draw {
    /// Begins with a seed.
    pub const fn new(seed: u64) -> Self {
        Draw(seed)
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below a bound; 0 if the bound is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.number() % bound).unwrap_or(0)
    }

    /// One of several.
    pub fn one_of<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        from.get(self.below(from.len()))
    }
}
