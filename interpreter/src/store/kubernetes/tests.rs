//! What is known of objects that are told late, twice, or again; and what is said of them.

use std::sync::Arc;

use pilotage_core::event::Event;
use pilotage_core::life::Life;
use pilotage_core::name::{Uid, Version};
use pilotage_core::state::{
    Application, ApplicationCommand, Caller, Given, NewApplication, PodFacts, RemovalWish, Report,
    StatusReport, StorageInstance, StorageWord, UnitReport, Word, most_units,
};
use pilotage_core::time::Timestamp;
use pilotage_sim::workload::{claim, ledger_application};
use serde_json::{Value, json};

use super::cache::Cache;
use super::kind::Kind;
use super::object::{FINALIZER, Object};
use super::record::Record;
use super::size::LARGEST_STATUS;
use super::spec::write_application;
use super::status::{Condition, rfc3339, status};
use crate::store::{Changes, Position};

fn object(kind: Kind, uid: u32, version: u64, generation: u64, spec: Value) -> Value {
    let mut metadata = json!({
        "name": if kind == Kind::Model { "shop" } else { "ledger" },
        "uid": Uid(uid.into()),
        "resourceVersion": version.to_string(),
        "generation": generation,
        "creationTimestamp": "2026-01-01T00:00:00Z",
        "finalizers": [FINALIZER],
    });
    if kind.is_namespaced() {
        metadata["namespace"] = json!("shop");
    }
    json!({ "metadata": metadata, "spec": spec })
}

fn model(uid: u32, version: u64, mode: &str) -> Object {
    let spec = json!({ "settings": { "mode": mode } });
    read(
        Kind::Model,
        object(Kind::Model, uid, version, version, spec),
    )
}

fn read(kind: Kind, value: Value) -> Object {
    Object::read(kind, value).expect("an object")
}

fn application_spec(scale: u32) -> Value {
    let new = ledger_application(Uid(1), "ledger", scale);
    let (application, _) = Application::add(Uid(2), Timestamp(1), &new).expect("a good one");
    let mut spec = write_application(Uid(2), &application.spec.desire());
    spec.remove("uid");
    Value::Object(spec)
}

fn heard(cache: &Cache, since: Position) -> Vec<Event> {
    match cache.since(since) {
        Changes::Events(events, _) => events,
        Changes::Lost => panic!("nothing is forgotten"),
    }
}

#[test]
fn what_is_older_than_what_is_known_is_passed_over_and_what_is_gone_stays_gone() {
    let mut cache = Cache::new(7);
    let begin = cache.position();
    cache.see(model(1, 5, "loud"));
    let known = heard(&cache, begin);
    assert_eq!(known.len(), 1);
    cache.see(model(1, 4, "quiet"));
    cache.see(model(1, 5, "loud"));
    assert_eq!(heard(&cache, begin), known, "a late word and a second one");

    cache.lose(&model(1, 5, "loud").key, Uid(1));
    cache.see(model(1, 6, "quiet"));
    let all = heard(&cache, begin);
    assert!(
        matches!(all[..], [_, Event::ModelGone { .. }]),
        "a late word of what is gone: {all:?}"
    );
    // Another object of the name is another life of it.
    cache.see(model(3, 9, "quiet"));
    assert_eq!(heard(&cache, begin).len(), 3);
    assert_eq!(cache.since(Position(3)), Changes::Lost);
}

#[test]
fn a_list_takes_away_what_it_does_not_have_and_leaves_what_is_newer() {
    let mut cache = Cache::new(0);
    cache.see(model(1, 5, "loud"));
    cache.see_all(Kind::Model, Vec::new(), Version(4));
    assert_eq!(
        cache.told(Kind::Model).count(),
        1,
        "it was made after the list"
    );
    cache.see_all(Kind::Model, Vec::new(), Version(6));
    assert_eq!(cache.told(Kind::Model).count(), 0);
}

#[test]
fn an_application_waits_for_its_model_and_is_told_when_it_comes() {
    let mut cache = Cache::new(0);
    let value = object(Kind::Application, 2, 3, 1, application_spec(2));
    cache.see(read(Kind::Application, value));
    assert_eq!(cache.told(Kind::Application).count(), 0);
    cache.see(model(1, 5, "loud"));
    let told: Vec<&Record> = cache.told(Kind::Application).collect();
    assert!(
        matches!(told[..], [Record::Application(one)] if one.model == Uid(1)),
        "{told:?}"
    );
}

#[test]
fn whoever_acts_is_told_what_was_kept_and_others_what_is_wanted() {
    for acts in [false, true] {
        let mut cache = Cache::new(0);
        if acts {
            cache.tell_only_settled();
        }
        cache.see(model(1, 5, "loud"));
        let told = cache.told(Kind::Model).count();
        assert_eq!(told, usize::from(!acts));
        assert_eq!(cache.unsettled().len(), 1);
        let mut kept = object(
            Kind::Model,
            1,
            6,
            5,
            json!({ "settings": { "mode": "loud" } }),
        );
        let entry = cache.entry(&model(1, 5, "loud").key).expect("it is known");
        kept["status"] = status(entry.record.as_ref(), None, 5, Timestamp(9), &[]);
        cache.see(read(Kind::Model, kept));
        assert_eq!(cache.told(Kind::Model).count(), 1);
        assert_eq!(cache.unsettled(), []);
        let events = heard(&cache, Position(0));
        assert_eq!(events.len(), 1, "it is told once: {events:?}");
    }
}

#[test]
fn two_objects_that_name_one_uid_are_not_one_record() {
    let mut cache = Cache::new(0);
    cache.see(model(1, 5, "loud"));
    let copy = |uid, name: &str| {
        let mut spec = application_spec(1);
        spec["uid"] = json!(Uid(2));
        let mut value = object(Kind::Application, uid, u64::from(uid), 1, spec);
        value["metadata"]["name"] = json!(name);
        read(Kind::Application, value)
    };
    let second = copy(8, "copy");
    let key = second.key.clone();
    cache.see(copy(7, "ledger"));
    cache.see(second);
    assert_eq!(cache.told(Kind::Application).count(), 1);
    let refused = cache.entry(&key).and_then(|entry| entry.refused.clone());
    let words = refused.expect("it is refused");
    // Whose record was kept has the uid, whoever was seen first.
    let mut original = object(Kind::Application, 9, 9, 1, application_spec(1));
    original["spec"]["uid"] = json!(Uid(2));
    original["metadata"]["name"] = json!("original");
    let record = Record::Application(Arc::new(at_rest(1)));
    original["status"] = status(Some(&record), None, 1, Timestamp(9), &[]);
    let original = read(Kind::Application, original);
    let place = original.key.clone();
    cache.see(original);
    assert_eq!(cache.place(Kind::Application, Uid(2)), Some(place));
    assert_eq!(cache.told(Kind::Application).count(), 1);
    assert!(
        words.contains("its uid is that of application \"ledger\""),
        "{words}"
    );
}

fn command(application: &Application, caller: Caller, body: ApplicationCommand) -> Application {
    let version = Some(application.version);
    let applied = application.apply(Timestamp(5_000), caller, version, &body);
    applied.expect("a good command").0.expect("a record")
}

fn at_rest(scale: u32) -> Application {
    at_rest_of(&ledger_application(Uid(1), "ledger", scale))
}

fn at_rest_of(new: &NewApplication) -> Application {
    let (application, _) = Application::add(Uid(2), Timestamp(1), new).expect("a good one");
    let units = (0..new.scale).map(|number| UnitReport {
        number,
        pod: Some(PodFacts {
            name: format!("ledger-{number}").into(),
            address: Some("10.111.222.133".into()),
            ports: Vec::new(),
        }),
        ready: true,
        workload: StatusReport::new(Word::Active, ""),
        agent: StatusReport::new(Word::Idle, ""),
    });
    let report = Report {
        units: units.collect(),
        provisioner: Some(StatusReport::new(Word::Active, "")),
        at_rest: Some(true),
        ..Report::default()
    };
    command(
        &application,
        Caller::Provisioner,
        ApplicationCommand::Report(report),
    )
}

fn says(application: &Application, refused: Option<&str>, name: &str) -> (String, String) {
    let record = Record::Application(Arc::new(application.clone()));
    let status = status(Some(&record), refused, 3, Timestamp(5_000), &[]);
    let conditions: Vec<Condition> =
        serde_json::from_value(status["conditions"].clone()).expect("conditions");
    let found = conditions.iter().find(|one| &*one.r#type == name);
    let found = found.expect("it is said");
    assert_eq!(found.observed_generation, 3);
    (found.status.to_string(), found.reason.to_string())
}

#[test]
fn ready_is_who_is_at_rest_and_progressing_who_gets_there() {
    let pair = |status: &str, reason: &str| (status.to_owned(), reason.to_owned());
    let rests = at_rest(2);
    assert_eq!(says(&rests, None, "Accepted"), pair("True", "Accepted"));
    assert_eq!(says(&rests, None, "Ready"), pair("True", "Active"));
    assert_eq!(says(&rests, None, "Progressing"), pair("False", "Active"));
    // Trust shows in no unit, and is not there yet.
    let trust = ApplicationCommand::SetTrust { trust: true };
    let trusted = command(&rests, Caller::User, trust);
    assert_eq!(says(&trusted, None, "Ready"), pair("False", "Updating"));
    assert_eq!(
        says(&trusted, None, "Progressing"),
        pair("True", "Updating")
    );
    let more = command(
        &rests,
        Caller::User,
        ApplicationCommand::SetScale { scale: 3 },
    );
    assert_eq!(says(&more, None, "Ready"), pair("False", "Waiting"));
    assert_eq!(
        says(&rests, Some("no"), "Accepted"),
        pair("False", "Refused")
    );
    assert_eq!(says(&rests, Some("no"), "Ready"), pair("False", "Refused"));
    assert_eq!(
        says(&rests, Some("no"), "Progressing"),
        pair("False", "Refused")
    );
    let wish = RemovalWish::default();
    let leaves = command(&rests, Caller::User, ApplicationCommand::Remove { wish });
    assert_eq!(leaves.status.life, Life::Dying);
    assert_eq!(says(&leaves, None, "Ready"), pair("False", "Leaving"));
    assert_eq!(says(&leaves, None, "Progressing"), pair("True", "Leaving"));
}

#[test]
fn a_condition_keeps_its_moment_until_it_turns() {
    let record = Record::Application(Arc::new(at_rest(1)));
    let first = status(Some(&record), None, 1, Timestamp(1_000), &[]);
    let former: Vec<Condition> =
        serde_json::from_value(first["conditions"].clone()).expect("conditions");
    let second = status(Some(&record), Some("no"), 2, Timestamp(9_000), &former);
    let moment = |name: &str| {
        let all = second["conditions"].as_array().expect("conditions");
        let found = all.iter().find(|one| one["type"] == name);
        found.expect("it is said")["lastTransitionTime"].clone()
    };
    assert_eq!(moment("Ready"), json!(rfc3339(Timestamp(9_000))));
    assert_eq!(moment("Progressing"), json!(rfc3339(Timestamp(1_000))));
}

/// What the rules of the records let in stays small enough for a cluster once all of it has reported.
#[test]
fn a_record_has_room_for_as_many_units_as_its_rules_let_in() {
    for filesystems in [0, 1, 2, 5] {
        let most = most_units(filesystems);
        let mut new = ledger_application(Uid(1), "ledger", most);
        new.filesystems = (0..filesystems)
            .map(|number| claim(&format!("data{number}"), 1024))
            .collect();
        let mut application = at_rest_of(&new);
        application.status.storage = (0..most)
            .flat_map(|unit| (0..filesystems).map(move |number| (unit, number)))
            .zip(0..)
            .map(|((unit, number), place)| StorageInstance {
                number: place,
                storage: format!("data{number}"),
                index: None,
                unit,
                claim: Some(format!("ledger-data{number}-00000000-ledger-{unit}").into()),
                mount_point: "/var/lib/ledger".into(),
                read_only: false,
                pool: "kubernetes".into(),
                given: Some(Given {
                    claim: Uid(u128::MAX),
                    volume: format!("pvc-{}", Uid(u128::MAX)).into(),
                    size_mib: 1024,
                }),
                word: StorageWord::Attached,
                status: Default::default(),
            })
            .collect();
        let record = Record::Application(Arc::new(application));
        let status = status(Some(&record), None, 1, Timestamp(1_772_600_000_000), &[]);
        let size = status.to_string().len();
        assert!(
            size < LARGEST_STATUS,
            "{most} units of {filesystems}: {size}"
        );
    }
}
