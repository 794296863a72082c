//! The pure half of Pilotage: everything that decides, and nothing that touches the world.
//!
//! # The contract, on one page
//!
//! A [`Provisioner`] is a value. It takes one [`Event`] at one moment and says everything that is to be done about it:
//!
//! ```text
//! step(at, event) -> Step { effects, wake_at, .. }
//! ```
//!
//! * **Events** are what happened: the state changed, a watched object changed, a source listed everything again, an
//!   effect was done, it is late. They may come late, twice and, over several sources, in any order.
//! * **Effects** are plain data, one request each: a call to the Kubernetes API or a transaction on the state. Whoever
//!   runs them owes exactly one [`Outcome`] per effect, as an [`Event::EffectCompleted`].
//! * **Batches**: the effects of one owner in one step are a batch. They are run in order; after one that was not
//!   [`Outcome::Done`] the rest is answered [`Outcome::NotAttempted`].
//! * **Time** is an argument. `wake_at` asks for an [`Event::Timer`] at or after that moment; one that comes for
//!   nothing is harmless.
//! * **Total**: `step` never fails and never panics, whatever it is fed, in whatever order. What is wrong becomes a
//!   status that the user can see.
//! * **Crash-only**: a provisioner is rebuilt by feeding a new one the first lists again. What must survive is in the
//!   state before its first side effect.
//! * **Deterministic**: the same events give the same effects, byte for byte, on any machine.
//!
//! # Policy
//!
//! What the world does wrong (a refusal, a lie, silence) is a [`Reason`](reason::Reason) to wait, named in a status,
//! tried again with growing delay. What a user says wrong is refused where it is said, in [`state`] or [`charm`], with
//! what to do. What we do wrong is a test that is missing: there is no code path for it here, and nothing that panics.
//!
//! # Embedding it: a plain blocking loop
//!
//! No runtime, no thread, no callback. Here the simulator's store and cluster stand for yours.
//!
//! ```
//! use std::collections::VecDeque;
//! use pilotage_core::{effect::Action, event::{Event, Source}, kubernetes::Kind, outcome::Outcome};
//! use pilotage_core::provisioner::{Config, Provisioner};
//! use pilotage_sim::cluster::effects;
//! use pilotage_sim::world::World;
//!
//! // Your world: here with one model and one application that somebody has asked for.
//! let mut world = World::new();
//! let model = world.add_model("shop");
//! world.deploy(model, "ledger", 1);
//!
//! let mut provisioner = Provisioner::new(Config { incarnation: 1, ..Config::default() });
//! let mut events: VecDeque<Event> = world.store.list().into();
//! for kind in Kind::ALL {
//!     events.push_back(Event::Listing { source: Source::Cluster(kind) });
//!     events.push_back(Event::Synced { source: Source::Cluster(kind) });
//! }
//! let mut requests = 0;
//! while let Some(event) = events.pop_front() {
//!     let step = provisioner.step(world.now, event);
//!     let mut stopped = None;
//!     for effect in step.effects {
//!         // One request at a time; the rest of a batch is not attempted after one that was not done.
//!         let outcome = match (stopped == Some(effect.id.owner), &effect.action) {
//!             (true, _) => Outcome::NotAttempted,
//!             (false, Action::Store(command)) => world.store.execute(world.now, command, &[]),
//!             (false, action) => {
//!                 requests += 1;
//!                 let request = effects::request(action, world.now, &|_| None).unwrap();
//!                 let response = world.cluster.request(world.now, request);
//!                 effects::outcome(action, response, Default::default())
//!             }
//!         };
//!         if !matches!(outcome, Outcome::Done(_)) {
//!             stopped = Some(effect.id.owner);
//!         }
//!         events.push_back(Event::EffectCompleted { id: effect.id, outcome });
//!     }
//!     // A loop that goes on would now wait for the next watch event, or until `step.wake_at`.
//! }
//! // Namespace, account, two roles and their bindings, two services, the StatefulSet.
//! assert_eq!(requests, 9);
//! # assert!(world.application("ledger").is_some());
//! ```
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
mod pairs;
pub mod provisioner;
pub mod reason;
pub mod secret;
pub mod state;
pub mod time;
pub mod trace;
mod words;
pub mod worker;

pub use effect::Effect;
pub use event::Event;
pub use outcome::Outcome;
pub use provisioner::{Config, Provisioner, Step};
