//! Schedules a second, each counted from its fork, and what one costs beside parsing a pod: `cargo bench -p pilotage-sim`.
#![allow(missing_docs)]

#[path = "costs/recorded.rs"]
mod recorded;

use std::hint::black_box;
use std::time::Instant;

use pilotage_core::kubernetes::read::Pod;
use pilotage_sim::explore::{self, Depth, Tally};
use pilotage_sim::schedule::Plot;

/// Parses that the floor is measured by.
const PARSES: u32 = 20_000;

fn main() {
    let text = recorded::pod();
    let begin = Instant::now();
    for _ in 0..PARSES {
        black_box(serde_json::from_str::<Pod>(black_box(&text)).expect("a pod"));
    }
    let parse = begin.elapsed().as_secs_f64() / f64::from(PARSES);
    let base = explore::undisturbed(Plot::Whole).expect("the undisturbed life");
    println!(
        "| exploration | schedules | a second | choices in each | a choice, in parsings of a pod |"
    );
    println!("|---|---|---|---|---|");
    let every = |stride: u32| move |number: u32| number.is_multiple_of(stride);
    let explore = |what: &str, explore: &dyn Fn() -> Tally| {
        let begin = Instant::now();
        let tally = explore();
        let taken = begin.elapsed().as_secs_f64();
        #[allow(clippy::cast_precision_loss)]
        let (schedules, choices) = (tally.schedules as f64, tally.choices as f64);
        println!(
            "| {what} | {} | {:.0} | {:.0} | {:.1} |",
            tally.schedules,
            schedules / taken,
            choices / schedules,
            taken / choices / parse
        );
    };
    explore("single mishaps of effects", &|| {
        explore::every_mishap(&base, Depth::Rest, every(1))
    });
    explore("pairs of crashes, every 29th first", &|| {
        explore::every_pair(&base, Depth::Rest, every(29))
    });
    explore("disturbances, every 53rd moment", &|| {
        explore::every_disturbance(&base, Depth::Rest, every(53))
    });
}
