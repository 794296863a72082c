//! The phase: the only sequence in a worker.
//!
//! Generated from the code, so it cannot drift:
//!
#![doc = include_str!("phase.md")]

use alloc::boxed::Box;

use serde::{Deserialize, Serialize};

use crate::life::Life;

use super::verdict::Aspect;
use super::view::{Standing, View};

/// Where a worker is in the life of its application.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// The state or a kind that it uses has not been read yet: nothing is decided.
    #[default]
    Listing,
    /// The cluster's sources do not tell of the model's namespace: it is left alone, whatever its record says.
    Unwatched,
    /// Its model's record is not there, or cannot be read: it is left alone, whatever its record says.
    WithoutModel,
    /// The model's namespace is not there.
    NotReady,
    /// Objects of a former application of this name are still going.
    PredecessorLeaving,
    /// Everything is brought to what is wanted.
    Alive,
    /// Units end.
    Dying,
    /// Everything is taken away.
    Removing,
    /// The record is gone, and with it the worker.
    Gone,
}

impl Phase {
    /// Every phase.
    pub const ALL: [Phase; 9] = [
        Phase::Listing,
        Phase::Unwatched,
        Phase::WithoutModel,
        Phase::NotReady,
        Phase::PredecessorLeaving,
        Phase::Alive,
        Phase::Dying,
        Phase::Removing,
        Phase::Gone,
    ];

    /// The phase that a view puts a worker in, once everything that it uses is read.
    ///
    /// Life comes first: an application that is to go needs no namespace that is ready (B24).
    pub fn of(view: &View) -> Self {
        match view.record.life {
            Life::Gone => Phase::Gone,
            _ if view.standing == Standing::Unwatched => Phase::Unwatched,
            _ if matches!(view.standing, Standing::Unreadable | Standing::Unrecorded) => {
                Phase::WithoutModel
            }
            Life::Dead => Phase::Removing,
            Life::Dying => Phase::Dying,
            Life::Alive if view.standing == Standing::Missing => Phase::NotReady,
            // A workload of ours that is there already has nothing to wait for.
            Life::Alive if view.predecessors > 0 && view.stateful_set().is_none() => {
                Phase::PredecessorLeaving
            }
            Life::Alive => Phase::Alive,
        }
    }

    /// The aspects that are asked, in their order.
    pub fn aspects(self) -> &'static [Aspect] {
        match self {
            Phase::Listing | Phase::Gone => &[],
            Phase::Unwatched
            | Phase::WithoutModel
            | Phase::NotReady
            | Phase::PredecessorLeaving => &[Aspect::Report],
            Phase::Alive => &[
                Aspect::Access,
                Aspect::Secrets,
                Aspect::Services,
                Aspect::Workload,
                // Before any unit goes: its claim is not to be left without a record.
                Aspect::Storage,
                Aspect::Scale,
                Aspect::Report,
            ],
            Phase::Dying => &[
                Aspect::Storage,
                Aspect::Scale,
                Aspect::Removal,
                Aspect::Report,
            ],
            Phase::Removing => &[Aspect::Storage, Aspect::Removal, Aspect::Report],
        }
    }
}

impl Aspect {
    /// The aspects that have to be settled before this one acts.
    pub fn follows(self) -> &'static [Aspect] {
        match self {
            // A pod needs its account (fact K18) and its rights (B02, B71), its pull secrets, and the service that
            // names it.
            Aspect::Workload => &[Aspect::Access, Aspect::Secrets, Aspect::Services],
            _ => &[],
        }
    }

    /// The aspect's name, for people.
    pub fn name(self) -> Box<str> {
        alloc::format!("{self:?}").to_lowercase().into()
    }
}
