//! What the program costs, as ratios to floors that are measured in the same run: `cargo bench -p pilotage-tests`. With
//! `PILOTAGE_CHARMS` naming the folder of real charms, the memory of one of them too.
#![allow(missing_docs)]

#[path = "../../../sim/tests/fleet/mod.rs"]
mod fleet;
mod memory;
mod status;

use std::alloc::System;

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Bytes that are allocated now.
fn live() -> usize {
    let stats = ALLOCATOR.stats();
    stats.bytes_allocated - stats.bytes_deallocated
}

fn main() {
    status::print();
    memory::print();
}
