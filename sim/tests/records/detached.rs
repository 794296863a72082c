//! Storages that outlive their application.

use pilotage_core::event::Event;
use pilotage_core::name::{Uid, Version};
use pilotage_core::outcome::Reply;
use pilotage_core::state::{
    Caller, Denial, Given, Storage, StorageCommand, StorageReport, StorageWord,
};
use pilotage_core::time::Timestamp;

use crate::record::Record;
use crate::{APPLICATION, MODEL};

fn left_behind() -> Storage {
    let mut record = Record::of_scale(1);
    record.add_data(3);
    Storage {
        model: MODEL,
        version: Version::default(),
        created: Timestamp(0),
        application: APPLICATION,
        application_name: "ledger".into(),
        instance: record.application.storage(3).expect("just added").clone(),
        destroy: false,
    }
}

fn kept() -> Storage {
    let (storage, _) =
        Storage::keep(Timestamp(5), Caller::Provisioner, &left_behind()).expect("kept");
    storage
}

fn give(storage: &Storage, body: &StorageCommand) -> (Option<Storage>, Vec<Event>) {
    let version = Some(storage.version);
    let (after, reply) = storage
        .apply(Timestamp(6), Caller::Provisioner, version, body)
        .expect("carried out");
    match reply {
        Reply::Recorded { changes, .. } => (after, changes),
        other => panic!("not an answer of the state: {other:?}"),
    }
}

#[test]
fn a_storage_that_is_kept_is_detached_and_again_is_the_same() {
    let storage = kept();
    assert_eq!(storage.instance.word, StorageWord::Detached);
    assert_eq!(storage.version, Version(1));
    let again = StorageCommand::Keep {
        storage: Box::new(left_behind()),
    };
    assert_eq!(give(&storage, &again), (Some(storage.clone()), vec![]));
}

#[test]
fn a_storage_that_is_destroyed_says_so_until_its_claim_is_gone() {
    let (destroyed, changes) = give(&kept(), &StorageCommand::Destroy);
    let destroyed = destroyed.expect("its claim is still there");
    assert!(destroyed.destroy);
    assert_eq!(destroyed.instance.word, StorageWord::Destroying);
    assert!(
        matches!(changes[..], [Event::DetachedStorageChanged { .. }]),
        "{changes:?}"
    );
    let (gone, changes) = give(&destroyed, &StorageCommand::Clear);
    assert_eq!(gone, None);
    assert_eq!(
        changes,
        [Event::DetachedStorageGone {
            model: MODEL,
            number: 3
        }]
    );
}

#[test]
fn the_record_of_a_storage_that_is_kept_follows_its_claim() {
    let given = Given {
        claim: Uid(77),
        volume: "pvc-77".into(),
        size_mib: 64,
    };
    let bound = StorageCommand::Report(StorageReport {
        number: 3,
        word: StorageWord::Attached,
        message: "".into(),
        given: Some(given.clone()),
    });
    let (after, changes) = give(&kept(), &bound);
    let after = after.expect("its record");
    assert_eq!(after.instance.given, Some(given));
    assert_eq!(after.instance.word, StorageWord::Detached, "by nobody");
    assert_eq!(changes.len(), 1);
    assert_eq!(give(&after, &bound), (Some(after.clone()), vec![]));
    // What is to be destroyed stays so, whatever is said of it.
    let (destroyed, _) = give(&after, &StorageCommand::Destroy);
    let (after, _) = give(&destroyed.expect("its record"), &bound);
    let word = after.expect("its record").instance.word;
    assert_eq!(word, StorageWord::Destroying);
}

#[test]
fn only_the_provisioner_keeps_and_only_what_has_a_claim() {
    let denial = Storage::keep(Timestamp(0), Caller::User, &left_behind());
    assert_eq!(denial, Err(Denial::NotPermitted { command: "keep" }));
    let mut directory = left_behind();
    directory.instance.claim = None;
    let denial = Storage::keep(Timestamp(0), Caller::Provisioner, &directory);
    assert!(
        matches!(denial, Err(Denial::Contradiction(_))),
        "{denial:?}"
    );
}
