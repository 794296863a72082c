//! Traces of a process: replayed in another one, whole and from any segment; and altered.

use std::fs;
use std::path::{Path, PathBuf};

use pilotage_core::trace::Stop;
use pilotage_interpreter::trace::{ReplayError, Replayed, replay};

use super::life::House;

fn folder(state: &Path) -> PathBuf {
    state.with_extension("db.trace")
}

/// What a replay of the trace beside a state says.
pub fn replayed(state: &Path) -> Replayed {
    replay(&folder(state)).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_life_that_was_killed_once_replays_from_its_first_and_from_its_later_segment() {
    let mut house = House::new(&[("PILOTAGE_FAIL_AT", "40")]);
    house.live(&mut |_| {});
    house.end();
    assert_eq!(house.kills, 1);
    let whole = replayed(&house.path);
    assert_eq!(whole.segments, 2);
    assert!(whole.steps > 60, "{whole:?}");
    let mut steps = 0;
    for segment in fs::read_dir(folder(&house.path)).unwrap() {
        let part = replay(&segment.unwrap().path()).unwrap();
        assert_eq!(part.segments, 1);
        steps += part.steps;
    }
    assert_eq!(steps, whole.steps);
}

#[test]
fn a_byte_that_was_changed_is_reported_at_its_line() {
    let mut house = House::new(&[]);
    house.live(&mut |_| {});
    house.end();
    let segment = folder(&house.path).join("trace-00000001.jsonl");
    let trace = fs::read(&segment).unwrap();
    let altered = house.path.with_file_name("altered.jsonl");
    assert!(replay(&segment).is_ok());
    // Two hundred places from the first byte to the last, that one included.
    for place in 0..200 {
        let at = place * (trace.len() - 1) / 199;
        let mut bytes = trace.clone();
        bytes[at] ^= 1;
        fs::write(&altered, &bytes).unwrap();
        let line = 1 + trace[..at].iter().filter(|byte| **byte == b'\n').count() as u64;
        let ReplayError::Stopped { stop, .. } = replay(&altered).unwrap_err() else {
            panic!("byte {at}");
        };
        let (Stop::Damaged { line: reported, .. } | Stop::Misplaced { line: reported, .. }) = stop
        else {
            panic!("byte {at}: {stop}");
        };
        assert_eq!(reported, line, "byte {at}");
    }
}

#[test]
fn a_line_that_was_taken_out_is_missed_and_a_cut_end_is_told() {
    let mut house = House::new(&[]);
    house.live(&mut |_| {});
    house.end();
    let segment = folder(&house.path).join("trace-00000001.jsonl");
    let text = fs::read_to_string(&segment).unwrap();
    let altered = house.path.with_file_name("altered.jsonl");
    let lines: Vec<&str> = text.lines().collect();
    let without: Vec<&str> = [&lines[..10], &lines[11..]].concat();
    fs::write(&altered, without.join("\n") + "\n").unwrap();
    let error = replay(&altered).unwrap_err();
    assert!(
        matches!(
            &error,
            ReplayError::Stopped {
                stop: Stop::Misplaced { line: 11, .. },
                ..
            }
        ),
        "{error}"
    );
    fs::write(&altered, &text[..text.len() - 20]).unwrap();
    let replayed = replay(&altered).unwrap();
    assert_eq!((replayed.cut, replayed.lines), (1, lines.len() as u64 - 1));
}

#[test]
fn other_code_is_found_at_the_first_step_where_it_differs_with_what_led_there() {
    use pilotage_core::trace::{Line, seal, unseal};
    let mut house = House::new(&[]);
    house.live(&mut |_| {});
    house.end();
    let segment = folder(&house.path).join("trace-00000001.jsonl");
    let text = fs::read_to_string(&segment).unwrap();
    let mut changed = None;
    let mut lines = Vec::new();
    for (number, line) in (1_u64..).zip(text.lines()) {
        let mut read = unseal(line).unwrap();
        // As code would have written it that asks for one effect less, late in the life.
        if let Line::Step(step) = &mut read
            && changed.is_none()
            && number > 40
            && step.effects.pop().is_some()
        {
            changed = Some(number);
        }
        lines.push(seal(&read).unwrap());
    }
    let altered = house.path.with_file_name("altered.jsonl");
    fs::write(&altered, lines.join("\n") + "\n").unwrap();
    let error = replay(&altered).unwrap_err();
    let ReplayError::Stopped {
        stop: Stop::Differs(difference),
        ..
    } = &error
    else {
        panic!("{error}");
    };
    assert_eq!(Some(difference.line), changed);
    assert_eq!(
        difference.replayed.effects.len(),
        difference.recorded.effects.len() + 1
    );
    assert!(!difference.led.is_empty());
    let text = error.to_string();
    assert!(
        text.contains("recorded: nothing") && text.contains("what led there"),
        "{text}"
    );
}
