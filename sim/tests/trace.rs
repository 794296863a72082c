//! The life of an application in a world, written down as a trace and asked again.
#![allow(missing_docs)]

use pilotage_core::provisioner::{Config, Provisioner};
use pilotage_core::state::ApplicationCommand;
use pilotage_core::trace::{FORMAT, Header, Line, Recorded, Replay, Stop, seal};
use pilotage_sim::world::World;

fn settle(world: &mut World) {
    for _ in 0..4_000 {
        let Some(choice) = world.choices().first().cloned() else {
            return;
        };
        world.take(&choice);
    }
    panic!("the world does not come to rest");
}

fn life() -> World {
    let mut world = World::new();
    let model = world.add_model("shop");
    let ledger = world.deploy(model, "ledger", 2);
    settle(&mut world);
    world.command(ledger, ApplicationCommand::SetScale { scale: 3 });
    settle(&mut world);
    world.command(ledger, ApplicationCommand::SetScale { scale: 1 });
    settle(&mut world);
    world.command(ledger, ApplicationCommand::SetTrust { trust: true });
    settle(&mut world);
    world.refresh(ledger, 1);
    settle(&mut world);
    world.remove(ledger, true, false);
    settle(&mut world);
    world
}

/// The trace of a life: a header, a checkpoint, a line per step.
fn lines(world: &World) -> Vec<String> {
    let config = Config {
        incarnation: 1,
        ..Config::default()
    };
    let (begun, ..) = world.steps[0];
    let mut core = Provisioner::new(config.clone());
    let header = Header {
        format: FORMAT,
        program: "a world".into(),
        begun,
        config,
        first: 0,
    };
    let mut lines = vec![
        seal(&Line::Header(header)).unwrap(),
        seal(&Line::Checkpoint(Box::new(core.clone()))).unwrap(),
    ];
    for ((at, event, step), sequence) in world.steps.iter().zip(0..) {
        core.step(*at, event.clone());
        let recorded = Recorded {
            sequence,
            at: *at,
            event: event.clone(),
            effects: step.effects.clone(),
            wake_at: step.wake_at,
            digest: pilotage_core::trace::digest(&core, event),
        };
        lines.push(seal(&Line::Step(Box::new(recorded))).unwrap());
    }
    lines
}

#[test]
fn a_life_replays_without_difference_and_a_changed_byte_is_named_by_its_line() {
    let lines = lines(&life());
    assert!(lines.len() > 150, "{}", lines.len());
    let mut replay = Replay::new();
    for line in &lines {
        replay.line(line).unwrap();
    }
    assert_eq!(replay.steps() + 2, u64::try_from(lines.len()).unwrap());
    for at in [0, 1, 2, 40, lines.len() - 1] {
        let mut replay = Replay::new();
        for line in &lines[..at] {
            replay.line(line).unwrap();
        }
        let middle = lines[at].len() / 2;
        let mut bytes = lines[at].clone().into_bytes();
        bytes[middle] = if bytes[middle] == b'7' { b'8' } else { b'7' };
        let altered = String::from_utf8(bytes).unwrap();
        match replay.line(&altered) {
            Err(Stop::Damaged { line, .. }) => assert_eq!(line, u64::try_from(at).unwrap() + 1),
            other => panic!("line {}: {other:?}", at + 1),
        }
    }
}

#[test]
fn a_core_that_is_written_and_read_at_any_moment_goes_on_as_if_nothing_had_been() {
    let world = life();
    let mut core = Provisioner::new(Config {
        incarnation: 1,
        ..Config::default()
    });
    for (number, (at, event, step)) in world.steps.iter().enumerate() {
        if number % 7 == 3 {
            let written = serde_json::to_string(&core).unwrap();
            let read: Provisioner = serde_json::from_str(&written).unwrap();
            assert!(read == core, "before step {number}");
            core = read;
        }
        assert_eq!(core.step(*at, event.clone()), *step, "step {number}");
    }
    assert!(core == world.provisioner);
}
