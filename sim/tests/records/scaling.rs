//! Units come and go (design, section 3, "Scaling"; AFAC-28 and 29).

use pilotage_core::event::Event;
use pilotage_core::life::Life;
use pilotage_core::outcome::Refusal;
use pilotage_core::state::{ApplicationCommand, Caller, Denial, LARGEST_SCALE, most_units};

use crate::record::Record;

#[test]
fn more_units_are_made_at_once_while_none_is_leaving() {
    let mut record = Record::of_scale(1);
    record.set_scale(3);
    assert_eq!(record.numbers(), [0, 1, 2]);
}

#[test]
fn b15_a_changed_scale_is_told_also_when_no_unit_changes() {
    let mut record = Record::of_scale(3);
    let changes = record.set_scale(1);
    assert_eq!(record.numbers(), [0, 1, 2]);
    assert!(
        matches!(
            changes[..],
            [Event::ScaleChanged {
                scale: 1,
                scaling: None,
                ..
            }]
        ),
        "{changes:?}"
    );
}

#[test]
fn raised_while_units_are_leaving_the_removal_of_the_last_of_them_makes_the_missing() {
    let mut record = Record::of_scale(3);
    record.set_scale(1);
    record.worker(ApplicationCommand::BeginScaling { target: 1 });
    record.worker(ApplicationCommand::DestroyUnits { from: 1 });
    record.set_scale(4);
    assert_eq!(record.numbers_of(Life::Alive), [0]);
    assert_eq!(record.application.target(), 1, "finish what was begun");
    record.worker(ApplicationCommand::RemoveUnits { numbers: vec![2] });
    assert_eq!(record.numbers(), [0, 1]);
    record.worker(ApplicationCommand::RemoveUnits { numbers: vec![1] });
    assert_eq!(record.numbers_of(Life::Alive), [0, 1, 2, 3]);
    let unit = record.application.unit(1).expect("made anew");
    assert!(!unit.started && unit.pod.is_none());
}

#[test]
fn b09_no_unit_below_what_is_wanted_is_destroyed_and_none_that_lives_is_removed() {
    let mut record = Record::of_scale(3);
    record.set_scale(2);
    record.worker(ApplicationCommand::BeginScaling { target: 2 });
    let denial = record.try_worker(ApplicationCommand::DestroyUnits { from: 1 });
    assert!(matches!(denial, Err(Denial::Untimely { .. })), "{denial:?}");
    let denial = record.try_worker(ApplicationCommand::RemoveUnits { numbers: vec![2] });
    assert!(matches!(denial, Err(Denial::Untimely { .. })), "{denial:?}");
    assert_eq!(record.numbers_of(Life::Alive), [0, 1, 2]);
}

#[test]
fn b10_a_new_application_starts_at_unit_0_whatever_was_before() {
    let mut record = Record::of_scale(2);
    record.set_scale(0);
    record.scale_down();
    assert_eq!(record.numbers(), [0_u32; 0]);
    record.set_scale(1);
    assert_eq!(record.numbers(), [0]);
}

#[test]
fn b22_units_leave_only_after_the_scaling_is_noted_and_the_note_goes_only_after_they_have_left() {
    let mut record = Record::of_scale(2);
    record.set_scale(0);
    let denial = record.try_worker(ApplicationCommand::DestroyUnits { from: 0 });
    assert!(matches!(denial, Err(Denial::Untimely { .. })), "{denial:?}");
    record.worker(ApplicationCommand::BeginScaling { target: 0 });
    record.worker(ApplicationCommand::DestroyUnits { from: 0 });
    let denial = record.try_worker(ApplicationCommand::EndScaling);
    assert!(matches!(denial, Err(Denial::Untimely { .. })), "{denial:?}");
    record.worker(ApplicationCommand::RemoveUnits {
        numbers: vec![0, 1],
    });
    record.worker(ApplicationCommand::EndScaling);
    assert_eq!(record.application.status.scaling, None);
}

#[test]
fn afac_28_a_scaling_begins_only_to_what_is_wanted_at_the_version_that_was_seen() {
    let mut record = Record::of_scale(3);
    record.set_scale(1);
    let seen = record.application.version;
    record.set_scale(2);
    let late = record.give_at(
        Caller::Provisioner,
        Some(seen),
        ApplicationCommand::BeginScaling { target: 1 },
    );
    let denial = late.expect_err("another version");
    assert_eq!(denial.refusal(), Refusal::TryAgain);
    let wrong = record.try_worker(ApplicationCommand::BeginScaling { target: 1 });
    assert_eq!(
        wrong.expect_err("another target").refusal(),
        Refusal::TryAgain
    );
    let blind = record.give_at(
        Caller::Provisioner,
        None,
        ApplicationCommand::BeginScaling { target: 2 },
    );
    assert_eq!(
        blind,
        Err(Denial::VersionMissing {
            command: "begin-scaling"
        })
    );
}

#[test]
fn without_agents_units_that_are_to_go_are_dead_at_once() {
    let mut record = Record::of_scale(3);
    record.set_scale(1);
    record.worker(ApplicationCommand::BeginScaling { target: 1 });
    record.worker(ApplicationCommand::DestroyUnits { from: 1 });
    assert_eq!(record.numbers_of(Life::Dead), [1, 2]);
    assert_eq!(record.numbers_of(Life::Dying), [0_u32; 0]);
}

#[test]
fn fewer_than_no_units_and_too_many_are_refused() {
    let mut record = Record::of_scale(2);
    let denial = record.try_user(ApplicationCommand::ChangeScale { by: -3 });
    let text = denial.expect_err("fewer than none").to_string();
    assert_eq!(
        text,
        "cannot remove more units than currently exist not valid"
    );
    for by in [i64::from(LARGEST_SCALE), i64::MAX] {
        let denial = record.try_user(ApplicationCommand::ChangeScale { by });
        assert!(
            matches!(denial, Err(Denial::TooManyUnits { .. })),
            "{denial:?}"
        );
    }
    // What the record has room for, and not one more.
    let most = most_units(record.application.spec.filesystems.len());
    let over = ApplicationCommand::SetScale { scale: most + 1 };
    let text = record.try_user(over).expect_err("no room").to_string();
    assert!(
        text.contains(&format!("{} units", most + 1)) && text.ends_with(&format!("{most} units")),
        "{text}"
    );
    assert_eq!(
        (most_units(0), most_units(1)),
        (3_508, 1_000),
        "as the README says"
    );
    record.user(ApplicationCommand::ChangeScale { by: -2 });
    assert_eq!(record.application.spec.scale, 0);
}

#[test]
fn the_same_scale_again_writes_nothing() {
    let mut record = Record::of_scale(2);
    let version = record.application.version;
    assert_eq!(record.set_scale(2), []);
    assert_eq!(record.application.version, version);
}
