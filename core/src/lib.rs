//! The pure half of Pilotage: everything that decides.
#![no_std]
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )
)]

extern crate alloc;

pub mod charm;
pub mod digest;
pub mod effect;
pub mod event;
pub mod kubernetes;
pub mod life;
pub mod model;
pub mod name;
pub mod outcome;
pub mod provisioner;
pub mod reason;
pub mod secret;
pub mod state;
pub mod time;
pub mod trace;
pub mod worker;
