//! Commands as transactions, and what others see of them.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::thread;

use pilotage_core::name::Uid;
use pilotage_core::outcome::{Outcome, Refusal, Reply};
use pilotage_core::secret::SecretRef;
use pilotage_core::state::ModelCommand;
use pilotage_core::time::Timestamp;
use pilotage_interpreter::store::{self, Changes, Store};
use proptest::prelude::*;
use tempfile::tempdir;

use super::{add, command, done, execute};

fn draw(model: u128, count: u32) -> pilotage_core::state::Command {
    command(model, ModelCommand::DrawStorage { count })
}

#[test]
fn a_refusal_is_told_and_changes_nothing() {
    let folder = tempdir().unwrap();
    let store = store::open(&folder.path().join("state.db"));
    done(&*store, &add(1));
    let before = store.snapshot().unwrap();
    let Outcome::Refused { reason, message } = execute(&*store, &add(1)) else {
        panic!("the name is taken");
    };
    assert_eq!(reason, Refusal::AlreadyExists);
    assert!(message.contains("m1"), "{message}");
    assert_eq!(store.snapshot().unwrap(), before);
}

#[test]
fn what_one_process_commits_another_sees_in_order_from_where_it_was() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("state.db");
    let (ours, theirs) = (store::open(&path), store::open(&path));
    done(&*ours, &add(1));
    let seen = theirs.snapshot().unwrap();
    assert_eq!(seen.models.len(), 1);
    let mut expected = Vec::new();
    for model in 2..5 {
        let Outcome::Done(Reply::Recorded { changes, .. }) = execute(&*ours, &add(model)) else {
            panic!("model {model} can be added");
        };
        expected.extend(changes);
    }
    let Changes::Events(events, position) = theirs.changes_since(seen.position).unwrap() else {
        panic!("the log reaches back so far");
    };
    assert_eq!(events, expected);
    assert_eq!(position, theirs.snapshot().unwrap().position);
    assert_eq!(
        theirs.changes_since(position).unwrap(),
        Changes::Events(vec![], position)
    );
}

#[test]
fn a_position_that_never_was_and_one_that_is_forgotten_are_lost() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("state.db");
    let store = store::open(&path);
    let nothing = store.snapshot().unwrap().position;
    for model in 1..4 {
        done(&*store, &add(model));
    }
    let position = store.snapshot().unwrap().position;
    let ahead = store::Position(position.0 + 1);
    assert_eq!(store.changes_since(ahead).unwrap(), Changes::Lost);
    assert!(
        matches!(store.changes_since(nothing).unwrap(), Changes::Events(events, _) if events.len() == 3)
    );
    rusqlite::Connection::open(&path)
        .unwrap()
        .execute("DELETE FROM changes WHERE position = 1", [])
        .unwrap();
    assert_eq!(store.changes_since(nothing).unwrap(), Changes::Lost);
    // Positions go on where they were, also when every change is forgotten.
    rusqlite::Connection::open(&path)
        .unwrap()
        .execute("DELETE FROM changes", [])
        .unwrap();
    assert_eq!(store.snapshot().unwrap().position, position);
    assert_eq!(
        store.changes_since(position).unwrap(),
        Changes::Events(vec![], position)
    );
}

#[test]
fn a_write_that_another_process_holds_up_is_to_be_tried_again() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("state.db");
    let store = store::open(&path);
    done(&*store, &add(1));
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let Outcome::Refused { reason, .. } = execute(&*store, &add(2)) else {
        panic!("another process writes");
    };
    assert_eq!(reason, Refusal::TryAgain);
    // Reads do not wait for it.
    assert_eq!(store.snapshot().unwrap().models.len(), 1);
    other.execute_batch("ROLLBACK").unwrap();
    done(&*store, &add(2));
}

#[test]
fn no_two_writers_draw_the_same_number() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("state.db");
    done(&*store::open(&path), &add(1));
    // Two processes' handles, two threads on each.
    let stores: [Arc<dyn Store>; 2] = [store::open(&path), store::open(&path)];
    let writers: Vec<_> = (0..4)
        .map(|writer| {
            let store = stores[writer % 2].clone();
            thread::spawn(move || {
                let mut drawn = Vec::new();
                while drawn.len() < 10 {
                    match execute(&*store, &draw(1, 1)) {
                        Outcome::Done(Reply::Recorded {
                            drawn: Some(number),
                            ..
                        }) => drawn.push(number),
                        Outcome::Refused {
                            reason: Refusal::TryAgain,
                            ..
                        } => {}
                        other => panic!("{other:?}"),
                    }
                }
                drawn
            })
        })
        .collect();
    let drawn: Vec<u32> = writers
        .into_iter()
        .flat_map(|writer| writer.join().unwrap())
        .collect();
    let numbers: BTreeSet<u32> = drawn.iter().copied().collect();
    assert_eq!((drawn.len(), numbers.len()), (40, 40), "{drawn:?}");
    assert_eq!(numbers.last(), Some(&39), "no gap without a crash");
}

#[test]
fn a_secret_comes_with_its_command_or_not_at_all_and_the_first_value_stays() {
    let folder = tempdir().unwrap();
    let store = store::open(&folder.path().join("state.db"));
    let secret = SecretRef {
        application: Uid(1),
        name: "web".into(),
        generation: 1,
    };
    let with = |value: &str| vec![(secret.clone(), value.to_owned())];
    let execute = |command: pilotage_core::state::Command, value| {
        store.execute(Timestamp(1), &command, &with(value)).unwrap()
    };
    assert!(matches!(execute(add(1), "first"), Outcome::Done(_)));
    assert_eq!(store.secret(&secret).unwrap().as_deref(), Some("first"));
    assert!(matches!(execute(add(1), "denied"), Outcome::Refused { .. }));
    assert!(matches!(execute(add(2), "second"), Outcome::Done(_)));
    assert_eq!(store.secret(&secret).unwrap().as_deref(), Some("first"));
    let later = SecretRef {
        generation: 2,
        ..secret.clone()
    };
    assert_eq!(store.secret(&later).unwrap(), None);
    let shown = format!("{:?}", store.snapshot().unwrap());
    assert!(!shown.contains("first"), "{shown}");
}

/// Commands on a small pool of models, by whoever may or may not give them.
fn commands() -> impl Strategy<Value = Vec<pilotage_core::state::Command>> {
    let one = (1_u128..4, 0_u8..6, 0_u32..3).prop_map(|(model, what, number)| {
        let body = match what {
            0 | 1 => return add(model),
            2 => ModelCommand::DrawStorage { count: number },
            3 => ModelCommand::DrawRevision {
                charm: format!("c{number}"),
                floor: number,
            },
            4 => ModelCommand::Destroy {
                wish: Default::default(),
            },
            _ => ModelCommand::Clear,
        };
        command(model, body)
    });
    prop::collection::vec(one, 0..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn the_file_and_the_memory_store_say_and_keep_the_same(commands in commands()) {
        let folder = tempdir().unwrap();
        let file = store::open(&folder.path().join("state.db"));
        let mut memory = pilotage_sim::store::Store::new();
        for command in &commands {
            let kept = execute(&*file, command);
            prop_assert_eq!(kept, memory.execute(Timestamp(1), command, &[]));
        }
        let snapshot = file.snapshot().unwrap();
        prop_assert_eq!(snapshot.position.0, memory.head());
        let Changes::Events(events, _) = file.changes_since(Default::default()).unwrap() else {
            panic!("nothing is forgotten so early");
        };
        let told: Vec<_> = memory.changes_since(0).unwrap().flatten().cloned().collect();
        prop_assert_eq!(events, told);
        let remembered: Vec<_> = memory.models().map(|model| (**model).clone()).collect();
        prop_assert_eq!(snapshot.models, remembered);
    }
}
