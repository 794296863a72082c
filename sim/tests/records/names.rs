//! Names of applications and of the objects that they derive.

use pilotage_core::name::Uid;
use pilotage_core::state::{
    ApplicationCommand, Caller, Command, Denial, ModelCommand, NewApplication, Stopped,
};
use pilotage_core::time::Timestamp;
use pilotage_sim::store::Store;
use pilotage_sim::workload::ledger_application;

use crate::MODEL;

fn store() -> Store {
    let mut store = Store::new();
    let model = Command::Model {
        model: MODEL,
        caller: Caller::User,
        expect: None,
        body: ModelCommand::Add {
            name: "shop".into(),
            settings: [].into(),
        },
    };
    store.transact(Timestamp(0), &model, &[]).expect("a model");
    store
}

fn deploy(store: &mut Store, name: &str) -> Result<(), Denial> {
    add(store, ledger_application(MODEL, name, 1))
}

fn add(store: &mut Store, new: NewApplication) -> Result<(), Denial> {
    let application: Uid = store.draw_uid();
    let command = Command::Application {
        application,
        caller: Caller::User,
        expect: None,
        body: ApplicationCommand::Add(Box::new(new)),
    };
    match store.transact(Timestamp(1), &command, &[]) {
        Ok(_) => Ok(()),
        Err(Stopped::Denied(denial)) => Err(denial),
        Err(Stopped::Failed(record)) => panic!("{record} cannot be read"),
    }
}

#[test]
fn names_are_refused_in_the_words_of_the_original() {
    let mut store = store();
    let texts = [
        ("Ledger", ", unexpected uppercase character"),
        ("ledger-1", ", unexpected number(s) found after last hyphen"),
        ("led_ger", ", unexpected character _"),
        ("", ""),
    ];
    for (name, because) in texts {
        let denial = deploy(&mut store, name).expect_err("no name").to_string();
        assert_eq!(
            denial,
            format!("invalid application name \"{name}\"{because}")
        );
    }
}

#[test]
fn b114_a_name_whose_longest_derived_name_is_too_long_is_refused_before_anything_is_stored() {
    let mut store = store();
    let before = store.clone();
    let denial = deploy(&mut store, &"a".repeat(60)).expect_err("too long");
    assert!(matches!(denial, Denial::Names(_)), "{denial}");
    assert!(denial.to_string().contains("is too long"), "{denial}");
    // The uid is drawn all the same; nothing else has changed.
    assert_eq!(before.list(), store.list());
}

#[test]
fn b116_a_name_derived_from_it_that_another_application_has_is_refused_in_either_order() {
    let clash = |first: &str, second: &str| {
        let mut store = store();
        deploy(&mut store, first).expect("the first");
        let denial = deploy(&mut store, second).expect_err("a clash").to_string();
        assert!(
            denial.contains(&format!("is the Service of application \"{first}\"")),
            "{denial}"
        );
    };
    clash("x", "x-endpoints");
    clash("x-endpoints", "x");
}

#[test]
fn names_that_only_begin_alike_are_no_clash() {
    let mut store = store();
    for name in ["x", "xendpoints", "x-other", "endpoints"] {
        deploy(&mut store, name).expect("a free name");
    }
    assert_eq!(
        deploy(&mut store, "x"),
        Err(Denial::ApplicationExists("x".into()))
    );
}
