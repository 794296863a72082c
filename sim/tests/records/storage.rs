//! Storages in an application's record.

use pilotage_core::name::Uid;
use pilotage_core::state::{
    ApplicationCommand, Denial, Given, NewStorage, Report, StorageReport, StorageWord,
};

use crate::record::{Record, data};

fn shows(number: u32, word: StorageWord, size_mib: Option<u64>) -> ApplicationCommand {
    ApplicationCommand::Report(Report {
        storage: vec![StorageReport {
            number,
            word,
            message: "".into(),
            given: size_mib.map(|size_mib| Given {
                claim: Uid(7),
                volume: "pv".into(),
                size_mib,
            }),
        }],
        ..Report::default()
    })
}

fn word(record: &Record, number: u32) -> StorageWord {
    record.application.storage(number).expect("a storage").word
}

#[test]
fn b42_the_next_unit_of_a_number_gets_the_storage_of_the_last() {
    let mut record = Record::of_scale(1);
    record.add_data(5);
    record.worker(shows(5, StorageWord::Attached, Some(1024)));
    record.set_scale(0);
    record.scale_down();
    assert_eq!(word(&record, 5), StorageWord::Detached);
    record.set_scale(1);
    assert_eq!(word(&record, 5), StorageWord::Attaching);
    let version = record.application.version;
    record.add_data(6);
    assert_eq!(
        record.application.version, version,
        "it has its storage already"
    );
    let storage = record.application.storage(5).expect("the same");
    assert_eq!(
        storage.given.as_ref().map(|given| given.claim),
        Some(Uid(7))
    );
}

#[test]
fn a_directory_that_ends_with_its_pod_ends_with_its_unit() {
    let mut record = Record::of_scale(1);
    let scratch = NewStorage {
        storage: "scratch".into(),
        claim: None,
        ..data(1, 0)
    };
    record.worker(ApplicationCommand::AddStorage {
        storages: vec![data(0, 0), scratch],
    });
    record.set_scale(0);
    record.scale_down();
    let numbers = record.application.status.storage.iter();
    assert_eq!(
        numbers.map(|storage| storage.number).collect::<Vec<_>>(),
        [0]
    );
}

#[test]
fn b53_size_and_volume_follow_the_claim() {
    let mut record = Record::of_scale(1);
    record.add_data(0);
    record.worker(shows(0, StorageWord::Attached, Some(1024)));
    record.worker(shows(0, StorageWord::Attached, Some(2048)));
    let given = record
        .application
        .storage(0)
        .and_then(|one| one.given.clone());
    assert_eq!(given.map(|given| given.size_mib), Some(2048));
}

#[test]
fn a_late_report_does_not_attach_what_a_gone_unit_left_behind() {
    let mut record = Record::of_scale(1);
    record.add_data(0);
    record.set_scale(0);
    record.scale_down();
    record.worker(shows(0, StorageWord::Attached, Some(1024)));
    assert_eq!(word(&record, 0), StorageWord::Detached);
    record.worker(shows(0, StorageWord::Error, None));
    assert_eq!(word(&record, 0), StorageWord::Error, "that is news");
}

#[test]
fn numbers_for_what_is_not_there_any_more_are_gaps_and_a_number_is_never_given_twice() {
    let mut record = Record::of_scale(1);
    let unknown = NewStorage {
        storage: "gone".into(),
        ..data(0, 0)
    };
    let directory = NewStorage {
        storage: "scratch".into(),
        claim: None,
        ..data(1, 9)
    };
    record.worker(ApplicationCommand::AddStorage {
        storages: vec![unknown, directory, data(2, 0)],
    });
    let storages = record.application.status.storage.iter();
    let ids: Vec<String> = storages.map(|storage| storage.id()).collect();
    assert_eq!(ids, ["data/2"]);
    record.set_scale(2);
    let denial = record.try_worker(ApplicationCommand::AddStorage {
        storages: vec![data(2, 1)],
    });
    assert_eq!(denial, Err(Denial::StorageExists(2)));
}

#[test]
fn a_claim_that_was_seen_after_its_unit_went_is_a_detached_storage() {
    let mut record = Record::of_scale(1);
    record.worker(ApplicationCommand::AddStorage {
        storages: vec![data(4, 2)],
    });
    assert_eq!(word(&record, 4), StorageWord::Detached);
    record.set_scale(3);
    assert_eq!(
        word(&record, 4),
        StorageWord::Pending,
        "the next unit has it"
    );
    // Removed by force, its units gone at once.
    let mut record = Record::of_scale(3);
    record.remove(true);
    assert_eq!(record.application.status.former_units, 3);
    record.worker(ApplicationCommand::AddStorage {
        storages: vec![data(5, 1)],
    });
    assert_eq!(word(&record, 5), StorageWord::Detached);
}

#[test]
fn a_storage_that_a_unit_has_is_not_removed() {
    let mut record = Record::of_scale(1);
    record.add_data(0);
    let denial = record.try_worker(ApplicationCommand::RemoveStorage { numbers: vec![0] });
    assert!(matches!(denial, Err(Denial::Untimely { .. })), "{denial:?}");
}

#[test]
fn people_find_a_storage_where_the_first_workload_container_sees_it() {
    let mut record = Record::of_scale(1);
    record.add_data(0);
    let storage = record.application.storage(0).expect("a storage");
    assert_eq!(storage.mount_point, "/var/lib/data");
    assert_eq!(storage.pool, "kubernetes");
}
