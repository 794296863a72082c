use std::io;

use pilotage_core::provisioner::{Config, Provisioner};
use pilotage_core::trace::Recorded;
use pilotage_sim::explore::life::{Progress, Run};
use pilotage_sim::schedule::Schedule;

use super::*;

#[test]
fn the_option_names_a_folder_beside_the_state_another_or_none() {
    let on = |folder: &str, every_step| Tracing::On {
        folder: folder.into(),
        every_step,
    };
    let state = Path::new("/home/me/state.db");
    let beside = "/home/me/state.db.trace";
    assert_eq!(Tracing::read(None, state), on(beside, false));
    assert_eq!(Tracing::read(Some("all"), state), on(beside, true));
    assert_eq!(Tracing::read(Some("/tmp/t"), state), on("/tmp/t", false));
    assert_eq!(Tracing::read(Some("off"), state), Tracing::Off);
}

/// Writes the steps of a whole life, in segments as short as they can be.
fn write_a_life(folder: &Path, kept: usize) -> io::Result<()> {
    let mut run = Run::new(Schedule::default());
    run.world.remember = true;
    while !matches!(run.step(), Ok(Progress::Ended(_))) {}
    let config = Config {
        incarnation: 1,
        ..Config::default()
    };
    let mut core = Provisioner::new(config.clone());
    let limits = Limits { segment: 0, kept };
    let begun = run.world.steps[0].0;
    let mut writer = Writer::begin(folder.to_owned(), limits, config, &core, begun)?;
    for (at, event, seen) in run.world.steps {
        let step = core.step(at, event.clone());
        assert_eq!(step, seen, "the life of the world is the core's");
        let recorded = Recorded {
            sequence: 0,
            at,
            event,
            effects: step.effects,
            wake_at: step.wake_at,
            digest: None,
        };
        writer.step(recorded, &core)?;
    }
    Ok(())
}

#[test]
fn every_segment_of_a_long_trace_replays_from_its_own_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    write_a_life(folder.path(), usize::MAX).unwrap();
    let all = segments(folder.path()).unwrap();
    assert!(all.len() > 8, "{} segments", all.len());
    let mut steps = 0;
    for (_, segment) in &all {
        steps += replay(segment).unwrap().steps;
    }
    let whole = replay(folder.path()).unwrap();
    assert_eq!((whole.segments, whole.steps), (all.len() as u64, steps));
}

#[test]
fn the_oldest_segments_go_and_the_rest_is_replayed_without_them() {
    let folder = tempfile::tempdir().unwrap();
    write_a_life(folder.path(), 3).unwrap();
    let kept = segments(folder.path()).unwrap();
    assert_eq!(kept.len(), 3);
    assert!(kept[0].0 > 1, "{kept:?}");
    assert_eq!(replay(folder.path()).unwrap().segments, 3);
}
