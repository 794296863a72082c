//! The typical life as a story: what was told, what was done about it and why, and what came of it.
#![allow(missing_docs)]

use pilotage_sim::explore::life::{Progress, Run};
use pilotage_sim::schedule::{Plot, Schedule};

#[test]
fn the_typical_life_reads_like_a_story() {
    let mut run = Run::new(Schedule::of(Plot::Whole));
    run.story = Some(Vec::new());
    while !matches!(run.step(), Ok(Progress::Ended(_))) {}
    let lines = run.story.unwrap_or_default();
    // What controllers look at, and what is told and leads to nothing, is left out: the rest is the plot.
    let tells = |line: &&String| {
        let (_, rest) = line.split_once(' ').expect("a time");
        !rest.starts_with("..") && (!rest.starts_with("<-") || rest.ends_with('*'))
    };
    let plot: Vec<&str> = lines.iter().filter(tells).map(String::as_str).collect();
    insta::assert_snapshot!(plot.join("\n"));
}
