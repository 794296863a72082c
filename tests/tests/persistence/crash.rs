//! Processes that are ended at any moment: what was answered is there, and nothing is half there.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;

use pilotage_core::time::Timestamp;
use pilotage_interpreter::failpoint::Point;
use pilotage_interpreter::store::{self, StoreError};
use pilotage_tests::child::Worker;
use pilotage_tests::patience::until;
use tempfile::tempdir;

use super::CHILD;

fn models(path: &Path) -> u128 {
    let snapshot = store::open(path).snapshot().unwrap();
    for (number, model) in (1..).zip(&snapshot.models) {
        assert_eq!(model.uid.0, number, "models are made one after the other");
    }
    snapshot.models.len() as u128
}

#[test]
fn what_was_answered_before_a_kill_is_there_after_it() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("state.db");
    let mut least = 0;
    for round in 0..20 {
        let mut worker = Worker::start(CHILD, "execute", &path, &[]);
        let mut answered = 0;
        // Another moment of its work each time: it goes on while we kill it.
        for _ in 0..=round % 7 {
            answered = worker.line().expect("it works").parse().unwrap();
        }
        let last = worker
            .kill()
            .last()
            .map_or(answered, |line| line.parse().unwrap());
        let there = models(&path);
        assert!(
            there == last || there == last + 1,
            "round {round}: {last} were answered, {there} are there"
        );
        assert!(there > least, "round {round}");
        least = there;
    }
}

#[test]
fn a_kill_before_a_commit_loses_it_and_one_after_it_does_not() {
    for (point, kept) in [(Point::CommitBefore, 2), (Point::CommitAfter, 3)] {
        let folder = tempdir().unwrap();
        let path = folder.path().join("state.db");
        let at = format!("{}:3", point.name());
        let log = folder.path().join("points");
        let environment = [
            ("PILOTAGE_FAIL_AT", at.as_str()),
            ("PILOTAGE_FAIL_LOG", log.to_str().unwrap()),
        ];
        let mut worker = Worker::start(CHILD, "execute", &path, &environment);
        let (lines, status) = worker.rest();
        assert_eq!(status.signal(), Some(9), "{at}: {status}");
        assert_eq!(lines, ["1", "2"], "{at}");
        assert_eq!(models(&path), kept, "{at}");
        let seen = std::fs::read_to_string(&log).unwrap();
        let named = seen.lines().filter(|line| *line == point.name()).count();
        assert_eq!(named, 3, "{at}: {seen}");
    }
}

#[test]
fn the_holder_is_named_and_a_kill_frees_the_state() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("state.db");
    let mut worker = Worker::start(CHILD, "hold", &path, &[]);
    assert_eq!(worker.line().as_deref(), Some("held"));
    let store = store::open(&path);
    let holder = store.provisioner().unwrap().expect("somebody holds it");
    assert_eq!(holder.pid, worker.pid());
    let refused = store.hold(Timestamp(1)).unwrap_err();
    assert!(
        matches!(&refused, StoreError::Held { holder: named, .. } if *named == holder),
        "{refused}"
    );
    assert!(
        refused.to_string().contains(&worker.pid().to_string()),
        "{refused}"
    );
    worker.kill();
    until("the lock of a process that is gone is free", || {
        store.hold(Timestamp(2)).ok()
    });
    assert_eq!(store.provisioner().unwrap(), None);
}
