//! A deterministic world for the core of Pilotage: a cluster, a store, people and faults, all without IO.
#![no_std]

extern crate alloc;
pub mod cluster;
pub mod explore;
pub mod fault;
pub mod invariant;
pub mod schedule;
pub mod shrink;
pub mod store;
pub mod story;
pub mod workload;
pub mod world;
