//! Replaying steps that changed nothing: from memory, and from the lines of a trace against parsing those lines.

use std::hint::black_box;

use pilotage_core::event::Event;
use pilotage_core::provisioner::{Config, Provisioner};
use pilotage_core::trace::{FORMAT, Header, Line, Recorded, Replay, seal};
use pilotage_sim::world::World;

use crate::fleet::{self, Lists};
use crate::{Cost, STEPS, measure, steps};

const APPLICATIONS: u16 = 100;

fn begun(core: &Provisioner, world: &World) -> Replay {
    let header = Header {
        format: FORMAT,
        program: "a benchmark".into(),
        begun: world.now,
        config: Config {
            incarnation: 9,
            ..Config::default()
        },
        first: 0,
    };
    let mut replay = Replay::new();
    for line in [
        Line::Header(header),
        Line::Checkpoint(Box::new(core.clone())),
    ] {
        replay
            .line(&seal(&line).expect("a line"))
            .expect("the begin of a segment");
    }
    replay
}

pub fn print(world: &World, lists: &Lists, parse: Cost) {
    let mut core = fleet::provisioner(lists, world.now, APPLICATIONS, |_| {});
    let pods = steps::pods(lists, APPLICATIONS);
    let steps: Vec<Recorded> = (0..STEPS)
        .map(|n| {
            let event = Event::PodUpdated(pods[n % pods.len()].clone());
            let step = core.step(world.now, event.clone());
            Recorded {
                sequence: n as u64,
                at: world.now,
                event,
                effects: step.effects,
                wake_at: step.wake_at,
                digest: None,
            }
        })
        .collect();
    let lines: Vec<String> = steps
        .iter()
        .map(|step| seal(&Line::Step(Box::new(step.clone()))).expect("a line"))
        .collect();
    let mut replay = begun(&core, world);
    let mut left = steps.clone().into_iter();
    let memory = measure(STEPS, |_| {
        let step = left.next().expect("a step");
        replay.step(step).expect("no difference");
    });
    let mut replay = begun(&core, world);
    let file = measure(STEPS, |n| {
        replay.line(&lines[n]).expect("no difference");
    });
    let bare: Vec<String> = steps
        .into_iter()
        .map(|step| serde_json::to_string(&Line::Step(Box::new(step))).expect("a line"))
        .collect();
    let floor = measure(STEPS, |n| {
        black_box(serde_json::from_str::<Line>(black_box(&bare[n])).expect("a line"));
    });
    println!(
        "replay of no-op steps from memory: {:.0} steps a second, {:.1} % of parsing a pod, {:.1} allocations",
        1e9 / memory.nanoseconds,
        100.0 * memory.nanoseconds / parse.nanoseconds,
        memory.allocations
    );
    println!(
        "replay of no-op steps from lines of {} bytes: {:.0} ns, {:.2} times parsing them ({:.0} ns)",
        lines[0].len(),
        file.nanoseconds,
        file.nanoseconds / floor.nanoseconds,
        floor.nanoseconds
    );
}
