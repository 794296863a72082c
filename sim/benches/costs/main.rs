//! What the core costs, as ratios to floors that are measured in the same run: `cargo bench -p pilotage-sim`.
#![allow(missing_docs)]

#[path = "../../tests/fleet/mod.rs"]
mod fleet;
mod memory;
mod recorded;
mod replay;
mod steps;

use std::alloc::System;
use std::hint::black_box;
use std::time::Instant;

use pilotage_core::kubernetes::read::Pod;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Steps that are timed at once.
const STEPS: usize = 20_000;

/// What one turn takes.
#[derive(Clone, Copy)]
struct Cost {
    nanoseconds: f64,
    allocations: f64,
}

/// The cost of one of `count` turns.
#[allow(clippy::cast_precision_loss)]
fn measure(count: usize, mut turn: impl FnMut(usize)) -> Cost {
    let region = Region::new(ALLOCATOR);
    let begin = Instant::now();
    (0..count).for_each(&mut turn);
    let taken = begin.elapsed();
    let allocations = region.change().allocations;
    Cost {
        nanoseconds: taken.as_nanos() as f64 / count as f64,
        allocations: allocations as f64 / count as f64,
    }
}

/// Bytes that are allocated now.
fn live() -> usize {
    let stats = ALLOCATOR.stats();
    stats.bytes_allocated - stats.bytes_deallocated
}

fn main() {
    let text = recorded::pod();
    let parse = measure(STEPS, |_| {
        black_box(serde_json::from_str::<Pod>(black_box(&text)).expect("a pod"));
    });
    println!(
        "floor: parsing a pod of a transcript, {} bytes, managedFields included: {:.0} ns, {:.0} allocations",
        text.len(),
        parse.nanoseconds,
        parse.allocations
    );
    let (world, lists) = fleet::first_lists();
    steps::print(&world, &lists, parse);
    replay::print(&world, &lists, parse);
    memory::print(&world, &lists);
}
