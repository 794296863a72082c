//! Another revision of the charm, or other resources.

use std::collections::BTreeMap;
use std::sync::Arc;

use pilotage_core::charm::{Charm, ConfigValue, OptionKind};
use pilotage_core::event::Event;
use pilotage_core::state::{
    ApplicationCommand, CharmOrigin, Denial, Refresh, ResourceValue, provisioning,
};
use pilotage_sim::workload::{claim, image, ledger, ledger_application};

use crate::MODEL;
use crate::record::Record;

fn nothing() -> Refresh {
    Refresh {
        charm: None,
        resources: BTreeMap::new(),
        config: BTreeMap::new(),
        settings: BTreeMap::new(),
        storage: BTreeMap::new(),
        filesystems: vec![],
        trust: None,
        base: None,
    }
}

fn to(revision: u32, charm: Charm) -> Refresh {
    Refresh {
        charm: Some((
            Arc::new(charm),
            CharmOrigin {
                revision,
                version: None,
            },
        )),
        filesystems: ledger_application(MODEL, "ledger", 1).filesystems,
        ..nothing()
    }
}

fn give(name: &str, path: &str) -> BTreeMap<String, ResourceValue> {
    let value = ResourceValue::Image {
        path: path.into(),
        login: None,
    };
    [(name.into(), value)].into()
}

fn refresh(record: &mut Record, refresh: Refresh) -> Result<Vec<Event>, Denial> {
    record.try_user(ApplicationCommand::Refresh(Box::new(refresh)))
}

fn image_of(record: &Record) -> String {
    let made = provisioning(&record.application).expect("provisioned");
    made.containers[0].image.clone()
}

#[test]
fn another_revision_rolls_the_pods_and_the_same_one_again_does_nothing() {
    let mut record = Record::of_scale(1);
    let changes = refresh(&mut record, to(1, ledger())).expect("refreshed");
    assert!(
        matches!(changes[..], [Event::ProvisioningChanged { .. }]),
        "{changes:?}"
    );
    assert_eq!(record.application.spec.modified, 1);
    assert_eq!(refresh(&mut record, to(1, ledger())), Ok(vec![]));
}

#[test]
fn b71_trust_comes_in_the_same_change_and_stays_when_it_is_not_named() {
    let mut record = Record::of_scale(1);
    let trusted = Refresh {
        trust: Some(true),
        ..to(1, ledger())
    };
    let changes = refresh(&mut record, trusted).expect("refreshed");
    assert!(
        matches!(
            changes[..],
            [
                Event::TrustChanged { trust: true, .. },
                Event::ProvisioningChanged { .. }
            ]
        ),
        "{changes:?}"
    );
    refresh(&mut record, to(2, ledger())).expect("refreshed");
    assert!(record.application.spec.trust);
}

#[test]
fn what_a_user_gave_stays_and_what_the_charm_names_follows_the_charm() {
    let mut newer = ledger();
    newer.resources = vec![image("ledger-image", Some("registry.example/ledger:2"))];
    let mut record = Record::of_scale(1);
    refresh(&mut record, to(1, newer.clone())).expect("refreshed");
    assert_eq!(image_of(&record), "registry.example/ledger:2");

    let mut record = Record::of_scale(1);
    let own = Refresh {
        resources: give("ledger-image", "own:1"),
        ..nothing()
    };
    refresh(&mut record, own).expect("refreshed");
    assert_eq!(record.application.spec.modified, 1);
    assert_eq!(
        record.application.spec.resources["ledger-image"].revision,
        1
    );
    refresh(&mut record, to(1, newer)).expect("refreshed");
    assert_eq!(image_of(&record), "own:1");
}

#[test]
fn a_resource_new_in_the_revision_comes_from_the_charm_or_is_asked_for_by_name() {
    let mut newer = ledger();
    newer.resources.push(image("x", None));
    let mut record = Record::of_scale(1);
    let denial = refresh(&mut record, to(1, newer.clone())).expect_err("missing");
    assert_eq!(
        denial.to_string(),
        "new resource \"x\" was missing, please provide it via --resource"
    );
    assert_eq!(record.application.spec.origin.revision, 0, "all or nothing");
    let given = Refresh {
        resources: give("x", "own:1"),
        ..to(1, newer)
    };
    assert!(refresh(&mut record, given).is_ok());
}

#[test]
fn options_stay_as_far_as_the_revision_has_them() {
    let mut record = Record::of_scale(1);
    let config = [("port".into(), ConfigValue::Int(1))].into();
    refresh(
        &mut record,
        Refresh {
            config,
            ..nothing()
        },
    )
    .expect("refreshed");
    assert_eq!(
        record.application.spec.modified, 0,
        "no pod reads an option"
    );
    refresh(&mut record, to(1, ledger())).expect("refreshed");
    assert_eq!(record.application.spec.config["port"], ConfigValue::Int(1));
    let mut other = ledger();
    other.options[0].kind = OptionKind::String;
    refresh(&mut record, to(2, other)).expect("refreshed");
    assert!(record.application.spec.config.is_empty());
}

#[test]
fn b47_other_claims_are_refused_before_anything_is_written() {
    let mut record = Record::of_scale(1);
    let before = record.application.clone();
    for filesystems in [
        vec![claim("data", 2048)],
        vec![],
        vec![claim("data", 1024), claim("t", 1)],
    ] {
        let other = Refresh {
            filesystems,
            ..to(1, ledger())
        };
        let denial = refresh(&mut record, other).expect_err("other claims");
        assert!(matches!(denial, Denial::ClaimsChange { .. }), "{denial}");
    }
    assert_eq!(record.application, before);
    let mut moved = claim("data", 1024);
    moved.mounts.clear();
    let other_mounts = Refresh {
        filesystems: vec![moved],
        ..to(1, ledger())
    };
    assert!(
        refresh(&mut record, other_mounts).is_ok(),
        "mounts are no claims"
    );
}
