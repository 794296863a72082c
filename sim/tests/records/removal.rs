//! The way out.

use pilotage_core::event::Event;
use pilotage_core::life::Life;
use pilotage_core::state::{ApplicationCommand, Caller, Denial, RemovalWish};

use crate::record::Record;

#[test]
fn b25_nothing_is_wanted_of_what_is_dying() {
    let mut record = Record::of_scale(10);
    let changes = record.remove(false);
    assert!(
        matches!(
            changes[..],
            [
                Event::LifeChanged {
                    life: Life::Dying,
                    ..
                },
                Event::ScaleChanged { scale: 0, .. }
            ]
        ),
        "{changes:?}"
    );
    assert_eq!(record.application.spec.scale, 10, "users still see it");
    record.worker(ApplicationCommand::BeginScaling { target: 0 });
    assert_eq!(record.application.spec.scale, 0, "AFAC-28");
}

#[test]
fn b04_units_that_never_had_a_pod_go_and_the_application_with_them() {
    let mut record = Record::of_scale(1);
    record.add_data(0);
    record.remove(false);
    record.scale_down();
    record.worker(ApplicationCommand::MarkDead);
    record.worker(ApplicationCommand::RemoveStorage { numbers: vec![0] });
    assert_eq!(record.try_worker(ApplicationCommand::Clear), Ok(None));
}

#[test]
fn b33_an_application_without_units_is_dead_as_soon_as_the_worker_says_so() {
    let mut record = Record::of_scale(0);
    record.remove(false);
    record.worker(ApplicationCommand::MarkDead);
    assert_eq!(record.try_worker(ApplicationCommand::Clear), Ok(None));
}

#[test]
fn b35_force_takes_the_units_at_once_and_leaves_a_tombstone() {
    let mut record = Record::of_scale(9);
    record.add_data(0);
    record.remove(true);
    assert_eq!(record.application.status.life, Life::Dead);
    assert_eq!(record.numbers(), [0_u32; 0]);
    let early = record.try_worker(ApplicationCommand::Clear);
    assert!(
        matches!(early, Err(Denial::Untimely { .. })),
        "storages remain"
    );
    record.worker(ApplicationCommand::RemoveStorage {
        numbers: (0..9).collect(),
    });
    assert_eq!(record.try_worker(ApplicationCommand::Clear), Ok(None));
}

#[test]
fn a_second_removal_succeeds_and_a_later_force_is_heard() {
    let mut record = Record::of_scale(2);
    record.remove(false);
    assert_eq!(record.remove(false), []);
    record.remove(true);
    assert_eq!(record.application.status.life, Life::Dead);
    assert_eq!(
        record.remove(false),
        [],
        "no wish takes back an earlier one"
    );
}

#[test]
fn storage_is_destroyed_if_any_removal_asked_for_it() {
    let mut record = Record::of_scale(1);
    record.remove(false);
    let wish = RemovalWish {
        destroy_storage: true,
        force: false,
    };
    record.user(ApplicationCommand::Remove { wish });
    assert_eq!(record.application.spec.removal, Some(wish));
    assert_eq!(record.remove(false), []);
}

#[test]
fn b26_the_record_stays_until_it_is_dead_without_units_and_storages() {
    let mut record = Record::of_scale(1);
    for early in [ApplicationCommand::MarkDead, ApplicationCommand::Clear] {
        let denial = record.try_worker(early);
        assert!(matches!(denial, Err(Denial::Untimely { .. })), "{denial:?}");
    }
    record.remove(false);
    let denial = record.try_worker(ApplicationCommand::MarkDead);
    assert!(matches!(denial, Err(Denial::Untimely { .. })), "{denial:?}");
    record.scale_down();
    let denial = record.try_worker(ApplicationCommand::Clear);
    assert!(matches!(denial, Err(Denial::Untimely { .. })), "{denial:?}");
}

#[test]
fn users_change_nothing_of_what_is_dying() {
    let mut record = Record::of_scale(1);
    record.remove(false);
    for body in [
        ApplicationCommand::SetScale { scale: 2 },
        ApplicationCommand::ChangeScale { by: 1 },
        ApplicationCommand::SetTrust { trust: true },
        ApplicationCommand::Upgrade,
    ] {
        let denial = record.try_user(body).expect_err("dying");
        assert_eq!(denial.to_string(), "application \"ledger\" is dying");
    }
}

#[test]
fn a_removal_is_also_the_command_of_a_model_that_goes() {
    let mut record = Record::of_scale(1);
    let wish = RemovalWish::default();
    let changes = record.give_at(
        Caller::Provisioner,
        None,
        ApplicationCommand::Remove { wish },
    );
    assert!(changes.is_ok());
    assert_eq!(record.application.status.life, Life::Dying);
}

#[test]
fn commands_are_for_those_whom_they_are_for() {
    let mut record = Record::of_scale(1);
    let version = Some(record.application.version);
    let clear = record.give_at(Caller::User, version, ApplicationCommand::Clear);
    assert_eq!(clear, Err(Denial::NotPermitted { command: "clear" }));
    let scale = ApplicationCommand::SetScale { scale: 2 };
    for caller in [Caller::Provisioner, Caller::Agent { unit: 0 }] {
        let denial = record.give_at(caller, version, scale.clone());
        let expected = Denial::NotPermitted {
            command: "set-scale",
        };
        assert_eq!(denial, Err(expected));
    }
}
