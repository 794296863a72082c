//! Records whose specs users write directly.

use std::sync::Arc;

use pilotage_core::life::Life;
use pilotage_core::name::{Uid, Version};
use pilotage_core::state::{
    Application, Desire, Kept, Model, ModelSpec, Observed, RemovalWish, Storage, StorageInstance,
    StorageWord, Written, check,
};
use pilotage_core::time::Timestamp;
use pilotage_sim::workload::ledger_application;

use crate::record::Record;
use crate::{APPLICATION, MODEL};

fn wanted(scale: u32) -> Box<Desire> {
    Record::add(&ledger_application(MODEL, "ledger", scale))
        .expect("a good one")
        .application
        .spec
        .desire()
}

fn written(generation: u64, desire: Box<Desire>) -> Written<Box<Desire>> {
    Written {
        uid: APPLICATION,
        name: "ledger".into(),
        generation,
        at: Timestamp(10 * generation),
        desire: Ok(desire),
        leaving: false,
    }
}

fn record(observed: &Observed<Application>) -> &Application {
    assert_eq!(observed.refused, None);
    let record = observed.record.as_ref().expect("a record");
    assert_eq!(check(record), Ok(()));
    record
}

fn kept(observed: &Observed<Application>, generation: u64) -> Kept<Application> {
    Kept {
        record: observed.record.clone().expect("a record"),
        observed: generation,
    }
}

#[test]
fn a_first_spec_is_a_new_application() {
    let first = written(1, wanted(2)).application(None, Some(MODEL));
    assert_eq!(record(&first).version, Version(1));
    assert_eq!(record(&first).status.units.len(), 2);
    assert_eq!(record(&first).created, Timestamp(10));
}

#[test]
fn a_spec_that_moved_on_is_one_desire_and_a_version_for_each_generation() {
    let first = written(1, wanted(1)).application(None, Some(MODEL));
    let kept = kept(&first, 1);
    let later = written(4, wanted(3)).application(Some(&kept), Some(MODEL));
    assert_eq!(record(&later).status.units.len(), 3);
    assert_eq!(record(&later).version, Version(4));
    let seen = written(1, wanted(3)).application(Some(&kept), Some(MODEL));
    assert_eq!(
        record(&seen),
        &*kept.record,
        "what was seen is not looked at again"
    );
}

#[test]
fn a_spec_that_says_the_same_or_is_refused_has_a_version_of_its_own_too() {
    let first = written(1, wanted(1)).application(None, Some(MODEL));
    let kept = kept(&first, 1);
    let same = written(3, wanted(1)).application(Some(&kept), Some(MODEL));
    assert_eq!(record(&same).version, Version(3));
    let refused = written(4, wanted(0));
    let refused = Written {
        desire: Ok(Box::new(Desire {
            scale: 1_000_000,
            ..*wanted(1)
        })),
        ..refused
    };
    let refused = refused.application(Some(&kept), Some(MODEL));
    let words = refused.refused.expect("refused");
    assert!(words.starts_with("1000000 units are too many"), "{words}");
    let record = refused.record.expect("a record");
    assert_eq!(record.version, Version(4));
    assert_eq!(record.spec, kept.record.spec);
}

#[test]
fn a_first_spec_that_is_refused_is_no_record() {
    let nowhere = written(1, wanted(1)).application(None, None);
    assert_eq!(nowhere.record, None);
    let words = nowhere.refused.expect("refused");
    assert!(words.contains("no model"), "{words}");
    let unreadable = Written {
        desire: Err("spec.charm: missing".into()),
        ..written(1, wanted(1))
    };
    let unreadable = unreadable.application(None, Some(MODEL));
    assert_eq!(unreadable.refused.as_deref(), Some("spec.charm: missing"));
}

#[test]
fn what_is_to_go_is_dying_as_its_spec_wishes_and_whatever_else_it_says() {
    let first = written(1, wanted(2)).application(None, Some(MODEL));
    let kept = kept(&first, 1);
    let mut desire = wanted(7);
    desire.removal = Some(RemovalWish {
        destroy_storage: true,
        force: false,
    });
    let leaving = Written {
        leaving: true,
        ..written(2, desire)
    };
    let dying = leaving.application(Some(&kept), Some(MODEL));
    let dying = record(&dying);
    assert_eq!(dying.status.life, Life::Dying);
    assert_eq!(dying.status.units.len(), 2);
    let removal = dying.spec.removal.expect("a wish");
    assert!(removal.destroy_storage && !removal.force);
    let unreadable = Written {
        desire: Err("?".into()),
        ..leaving
    };
    let dying = unreadable.application(Some(&kept), None);
    assert_eq!(record(&dying).status.life, Life::Dying);
}

#[test]
fn models_and_storages_are_written_too() {
    let spec = |mode: &str| ModelSpec {
        settings: [("mode".into(), mode.into())].into(),
        ..ModelSpec::default()
    };
    let model = |generation, spec| Written {
        uid: MODEL,
        name: "shop".into(),
        generation,
        at: Timestamp(generation),
        desire: Ok(Box::new(spec)),
        leaving: false,
    };
    let first = model(1, spec("quiet")).model(None);
    let first: Arc<Model> = first.record.expect("a record");
    assert_eq!(first.version, Version(1));
    let kept = Kept {
        record: first,
        observed: 1,
    };
    let louder = model(2, spec("loud")).model(Some(&kept));
    let louder = louder.record.expect("a record");
    assert_eq!(louder.spec, spec("loud"));
    assert_eq!(louder.version, Version(2));
    let bad = model(1, spec("quiet"));
    let bad = Written {
        name: "Shop".into(),
        ..bad
    };
    assert!(bad.model(None).refused.is_some());

    let instance = StorageInstance {
        number: 3,
        storage: "data".into(),
        index: None,
        unit: 0,
        claim: Some("claim".into()),
        mount_point: "/data".into(),
        read_only: false,
        pool: "kubernetes".into(),
        given: None,
        word: StorageWord::Detached,
        status: Default::default(),
    };
    let storage = Storage {
        model: MODEL,
        version: Version(1),
        created: Timestamp(0),
        application: APPLICATION,
        application_name: "ledger".into(),
        instance,
        destroy: false,
    };
    let kept = Kept {
        record: Arc::new(storage),
        observed: 1,
    };
    let written = |destroy, leaving| Written {
        uid: Uid(9),
        name: "shop-3".into(),
        generation: 2,
        at: Timestamp(5),
        desire: Ok(destroy),
        leaving,
    };
    for (destroy, leaving, expected) in [
        (false, false, false),
        (true, false, true),
        (false, true, true),
    ] {
        let observed = written(destroy, leaving).storage(&kept);
        let record = observed.record.expect("a record");
        assert_eq!(record.destroy, expected);
        assert_eq!(record.version, Version(2));
    }
}
