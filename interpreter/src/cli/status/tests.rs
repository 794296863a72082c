//! The worked example of the page, from records made by hand.

use std::sync::Arc;

use jiff::tz::TimeZone;
use pilotage_core::charm::{
    Base, Charm, CharmUser, Container, Format, ResourceDeclaration, ResourceKind,
};
use pilotage_core::event::RecordName;
use pilotage_core::life::Life;
use pilotage_core::name::{Uid, Version};
use pilotage_core::state::{
    Application, ApplicationSpec, ApplicationState, CharmOrigin, Given, Model, ModelState,
    PodFacts, Resource, ResourceValue, ServiceReport, Status, StatusReport, StorageInstance,
    StorageWord, Unit, Word,
};
use pilotage_core::time::Timestamp;

use super::super::output::times::Clock;
use super::super::output::{json, yaml};
use super::select::select;
use super::tabular::{Paint, Sections, tabular};
use super::view::StatusView;
use super::{Source, lines, status_view};
use crate::store::Damaged;

/// A time of day of 4 March 2026.
fn at(hours: u64, minutes: u64, seconds: u64) -> Timestamp {
    const DAY: u64 = 1_772_582_400;
    Timestamp((DAY + hours * 3_600 + minutes * 60 + seconds) * 1_000)
}

fn status(word: Word, message: &str, since: Timestamp) -> Status {
    Status {
        report: StatusReport::new(word, message),
        since,
    }
}

fn ledger_charm() -> Charm {
    Charm {
        name: "ledger-k8s".into(),
        summary: "Keeps books".into(),
        description: String::new(),
        format: Format::Sidecar,
        user: CharmUser::Default,
        bases: vec![Base {
            name: "ubuntu".into(),
            channel: "22.04/stable".into(),
        }],
        assumes: vec![],
        containers: vec![Container {
            name: "ledger".into(),
            resource: "ledger-image".into(),
            mounts: vec![],
            uid: None,
            gid: None,
        }],
        storages: vec![],
        resources: vec![ResourceDeclaration {
            name: "ledger-image".into(),
            kind: ResourceKind::OciImage,
            description: String::new(),
            upstream_source: None,
            filename: None,
        }],
        devices: vec![],
        options: vec![],
    }
}

fn storage(
    number: u32,
    word: StorageWord,
    since: Timestamp,
    given: Option<Given>,
) -> StorageInstance {
    StorageInstance {
        number,
        storage: "data".into(),
        index: None,
        unit: number,
        claim: Some(format!("ledger-data-deadbeef-ledger-{number}").into()),
        mount_point: "/var/lib/ledger".into(),
        read_only: false,
        pool: "kubernetes".into(),
        given,
        word,
        status: status(Word::Unknown, "", since),
    }
}

fn ledger() -> Application {
    let volume = "9b7f2c64-70f5-4b0e-8f5e-2f1f0b7f6d21";
    let waiting = status(Word::Waiting, "waiting for container", at(9, 12, 31));
    Application {
        uid: Uid(1),
        name: "ledger".into(),
        model: Uid(7),
        version: Version(9),
        created: at(9, 0, 0),
        spec: ApplicationSpec {
            charm: Arc::new(ledger_charm()),
            origin: CharmOrigin {
                revision: 0,
                version: None,
            },
            modified: 1,
            resources: [(
                "ledger-image".to_owned(),
                Resource {
                    value: ResourceValue::Image {
                        path: "registry.example/shop/ledger:2.4".into(),
                        login: None,
                    },
                    given: true,
                    revision: 1,
                    since: at(9, 0, 0),
                },
            )]
            .into(),
            scale: 2,
            trust: false,
            config: Default::default(),
            settings: Default::default(),
            constraints: Default::default(),
            storage: Default::default(),
            filesystems: vec![],
            devices: Default::default(),
            base: None,
            template: 1,
            removal: None,
        },
        status: ApplicationState {
            life: Life::Alive,
            scaling: None,
            at_rest: false,
            former_units: 0,
            units: vec![
                Unit {
                    number: 0,
                    life: Life::Alive,
                    pod: Some(PodFacts {
                        name: "ledger-0".into(),
                        address: Some("10.1.0.7".into()),
                        ports: vec![],
                    }),
                    started: true,
                    workload: status(Word::Active, "", at(9, 1, 20)),
                    agent: status(Word::Idle, "", at(9, 1, 20)),
                },
                Unit {
                    number: 1,
                    workload: waiting.clone(),
                    agent: status(Word::Allocating, "", at(9, 12, 31)),
                    ..Unit::default()
                },
            ],
            storage: vec![
                storage(
                    0,
                    StorageWord::Attached,
                    at(9, 1, 12),
                    Some(Given {
                        claim: volume.parse().unwrap(),
                        volume: format!("pvc-{volume}").into(),
                        size_mib: 1024,
                    }),
                ),
                storage(1, StorageWord::Pending, at(9, 12, 31), None),
            ],
            service: Some(ServiceReport {
                uid: Some("5c1d6f0e-3a52-4d0a-9d0b-0d7a6a1f2b11".parse().unwrap()),
                addresses: vec!["10.152.183.40".into()],
            }),
            provisioner: status(Word::Unknown, "", at(9, 0, 0)),
            settled: waiting,
        },
    }
}

fn shop() -> Model {
    Model {
        uid: Uid(7),
        name: "shop".into(),
        version: Version(3),
        created: at(8, 59, 58),
        spec: Default::default(),
        status: ModelState {
            status: status(Word::Active, "", at(8, 59, 58)),
            ..ModelState::default()
        },
    }
}

fn clock(zone: &str, utc: bool) -> Clock {
    Clock {
        now: at(9, 12, 40),
        zone: TimeZone::get(zone).unwrap(),
        utc,
    }
}

fn view_with(applications: &[&Application], clock: &Clock, provisioned: bool) -> StatusView {
    view_of(applications, &[], clock, provisioned)
}

fn view_of(
    applications: &[&Application],
    damaged: &[&Damaged],
    clock: &Clock,
    provisioned: bool,
) -> StatusView {
    status_view(
        &Source {
            name: "shop",
            model: Some(&shop()),
            applications,
            storages: &[],
            damaged,
            controller: "pilotage",
            cloud: "embedded",
            provisioned,
        },
        clock,
    )
}

fn view(clock: &Clock) -> StatusView {
    view_with(&[&ledger()], clock, true)
}

/// The JSON of the page, word for word, blanks aside.
const WORKED_EXAMPLE: &str = r#"
{"model": {"name": "shop", "type": "caas", "controller": "pilotage", "cloud": "embedded", "version": "3.6.11",
           "model-status": {"current": "available", "since": "04 Mar 2026 08:59:58Z"}},
 "machines": {},
 "applications": {"ledger": {
   "charm": "local:ledger-k8s-0", "base": {"name": "ubuntu", "channel": "22.04"}, "charm-origin": "local", "charm-name": "ledger-k8s", "charm-rev": 0,
   "scale": 2, "provider-id": "5c1d6f0e-3a52-4d0a-9d0b-0d7a6a1f2b11", "address": "10.152.183.40", "exposed": false,
   "application-status": {"current": "waiting", "message": "waiting for container", "since": "04 Mar 2026 09:12:31Z"},
   "units": {
    "ledger/0": {"workload-status": {"current": "active", "since": "04 Mar 2026 09:01:20Z"}, "juju-status": {"current": "idle", "since": "04 Mar 2026 09:01:20Z"},
                 "leader": true, "address": "10.1.0.7", "provider-id": "ledger-0"},
    "ledger/1": {"workload-status": {"current": "waiting", "message": "waiting for container", "since": "04 Mar 2026 09:12:31Z"},
                 "juju-status": {"current": "allocating", "since": "04 Mar 2026 09:12:31Z"}}},
   "version": "registry.example/shop/ledger:2.4"}},
 "storage": {
  "storage": {
   "data/0": {"kind": "filesystem", "life": "alive", "status": {"current": "attached", "since": "04 Mar 2026 09:01:12Z"},
              "persistent": false, "attachments": {"units": {"ledger/0": {"life": "alive"}}}},
   "data/1": {"kind": "filesystem", "life": "alive", "status": {"current": "pending", "since": "04 Mar 2026 09:12:31Z"},
              "persistent": false, "attachments": {"units": {"ledger/1": {"life": "alive"}}}}},
  "filesystems": {
   "0": {"provider-id": "9b7f2c64-70f5-4b0e-8f5e-2f1f0b7f6d21", "volume": "0", "storage": "data/0",
         "attachments": {"containers": {"ledger/0": {"mount-point": "/var/lib/ledger", "read-only": false, "life": "alive"}}, "units": {"ledger/0": {"life": "alive"}}},
         "pool": "kubernetes", "size": 1024, "life": "alive", "status": {"current": "attached", "since": "04 Mar 2026 09:01:12Z"}},
   "1": {"volume": "1", "storage": "data/1",
         "attachments": {"containers": {"ledger/1": {"mount-point": "", "read-only": false, "life": "alive"}}, "units": {"ledger/1": {"life": "alive"}}},
         "size": 0, "life": "alive", "status": {"current": "pending", "since": "04 Mar 2026 09:12:31Z"}}},
  "volumes": {
   "0": {"provider-id": "pvc-9b7f2c64-70f5-4b0e-8f5e-2f1f0b7f6d21", "storage": "data/0",
         "attachments": {"containers": {"ledger/0": {"read-only": false, "life": "alive"}}, "units": {"ledger/0": {"life": "alive"}}},
         "pool": "kubernetes", "size": 1024, "persistent": true, "life": "alive", "status": {"current": "attached", "since": "04 Mar 2026 09:01:12Z"}},
   "1": {"storage": "data/1",
         "attachments": {"containers": {"ledger/1": {"read-only": false, "life": "alive"}}, "units": {"ledger/1": {"life": "alive"}}},
         "size": 0, "persistent": false, "life": "alive", "status": {"current": "pending", "since": "04 Mar 2026 09:12:31Z"}}}},
 "controller": {"timestamp": "09:12:40Z"}}
"#;

/// Leaves out blanks between the parts of a JSON text, not those in its strings.
fn without_blanks(text: &str) -> String {
    let mut inside = false;
    text.chars()
        .filter(|letter| {
            inside ^= *letter == '"';
            inside || !letter.is_whitespace()
        })
        .collect()
}

#[test]
fn the_json_is_that_of_the_worked_example_in_the_same_order() {
    let shown = json(&view(&clock("UTC", false)));
    assert_eq!(shown.trim_end(), without_blanks(WORKED_EXAMPLE));
}

#[test]
fn the_table_is_that_of_the_worked_example() {
    let sections = Sections { storage: true };
    let table = tabular(&view(&clock("UTC", false)), sections, Paint(false));
    insta::assert_snapshot!("table", table.replace(" \n", "·\n"));
}

#[test]
fn yaml_has_the_same_data() {
    insta::assert_snapshot!("yaml", yaml(&view(&clock("Europe/Paris", false))));
}

#[test]
fn lines_and_summary_are_short() {
    let view = view(&clock("UTC", false));
    insta::assert_snapshot!("lines", lines::lines(&view));
    insta::assert_snapshot!("summary", lines::summary(&view));
}

#[test]
fn utc_changes_since_but_not_that_of_storage() {
    let view = view(&clock("Europe/Paris", true));
    let ledger = view.applications["ledger"].read().unwrap();
    assert_eq!(ledger.application_status.since, "2026-03-04 09:12:31Z");
    let storage = &view.storage.storage["data/0"];
    assert_eq!(storage.status.since, "04 Mar 2026 10:01:12+01:00");
    assert_eq!(view.controller.timestamp, "09:12:40");
}

#[test]
fn without_a_provisioner_waiting_units_say_so() {
    let view = view_with(&[&ledger()], &clock("UTC", false), false);
    let units = &view.applications["ledger"].read().unwrap().units;
    assert_eq!(
        units["ledger/1"].workload_status.message,
        super::build::NO_PROVISIONER
    );
    assert_eq!(units["ledger/0"].workload_status.message, "");
}

#[test]
fn b06_units_without_a_pod_say_what_the_provisioner_knows_to_stand_in_their_way() {
    let mut waiting = ledger();
    waiting.status.units[0].pod = None;
    waiting.status.units[0].workload = status(Word::Waiting, "waiting for container", at(9, 0, 0));
    waiting.status.settled = status(Word::Waiting, "waiting for container", at(9, 0, 0));
    let said = |why: &str| {
        let mut application = waiting.clone();
        application.status.provisioner = status(Word::Waiting, why, at(9, 12, 31));
        let view = view_with(&[&application], &clock("UTC", false), true);
        let ledger = view.applications["ledger"].read().unwrap();
        let unit = &ledger.units["ledger/0"].workload_status;
        (
            ledger.application_status.message.clone(),
            unit.message.clone(),
        )
    };
    let former = "waiting for objects of a former \"ledger\" to go";
    assert_eq!(said(former), (former.into(), former.into()));
    let nothing = "waiting for container";
    for why in ["waiting for units to settle down", ""] {
        assert_eq!(said(why), (nothing.into(), nothing.into()), "{why}");
    }
}

#[test]
fn selectors_leave_what_any_of_them_matches() {
    let shown = |selectors: &[&str]| {
        let mut view = view(&clock("UTC", false));
        let selectors: Vec<String> = selectors.iter().map(ToString::to_string).collect();
        select(&mut view, &selectors);
        let units: Vec<String> = view.units().map(|(name, _)| name.clone()).collect();
        let storage: Vec<String> = view.storage.filesystems.keys().cloned().collect();
        (units.join(" "), storage.join(" "))
    };
    let both = ("ledger/0 ledger/1".to_owned(), "0 1".to_owned());
    let first = ("ledger/0".to_owned(), "0".to_owned());
    let second = ("ledger/1".to_owned(), "1".to_owned());
    let none = (String::new(), String::new());
    assert_eq!(shown(&["ledger"]), both);
    assert_eq!(shown(&["led*"]), both);
    assert_eq!(shown(&["ledger/*"]), both);
    assert_eq!(shown(&["not exposed"]), both);
    assert_eq!(shown(&["ledger/leader"]), first);
    assert_eq!(shown(&["active"]), first);
    assert_eq!(shown(&["allocating"]), second);
    assert_eq!(shown(&["ledger/0", "waiting"]), both);
    assert_eq!(shown(&["exposed"]), none);
    assert_eq!(shown(&["5432/tcp"]), none);
    assert_eq!(shown(&["nothing"]), none);
}

#[test]
fn an_application_on_its_way_out_shows_its_life_and_no_leader() {
    let mut application = ledger();
    application.status.life = Life::Dying;
    for unit in &mut application.status.units {
        unit.life = Life::Dying;
    }
    let view = view_with(&[&application], &clock("UTC", false), true);
    let ledger = view.applications["ledger"].read().unwrap();
    assert_eq!(ledger.life, Some("dying"));
    assert!(ledger.units.values().all(|unit| !unit.leader));
    assert_eq!(ledger.units["ledger/0"].juju_status.life, Some("dying"));
}

#[test]
fn a_storage_whose_unit_is_gone_is_detached() {
    let mut application = ledger();
    application.status.units.truncate(1);
    application.status.storage[1].word = StorageWord::Attached;
    let view = view_with(&[&application], &clock("UTC", false), true);
    let detached = &view.storage.storage["data/1"];
    assert_eq!(detached.attachments, None);
    assert_eq!(detached.status.current, "detached");
    assert_eq!(view.storage.filesystems["1"].attachments, None);
}

/// What cannot be read of the shop: its own record, an application and a storage.
fn damaged() -> [Damaged; 3] {
    let model = Uid(7);
    let records = [
        RecordName::Model {
            model,
            name: "shop".into(),
        },
        RecordName::Application {
            application: Uid(2),
            name: "audit".into(),
            model,
        },
        RecordName::Storage { model, number: 5 },
    ];
    records.map(|record| Damaged {
        record,
        reason: "missing field `spec` at line 1 column 17".into(),
        place: "state file /home/me/state.db".into(),
    })
}

#[test]
fn what_cannot_be_read_is_an_entry_that_says_so_beside_all_others() {
    let (ledger, damaged) = (ledger(), damaged());
    let damaged: Vec<&Damaged> = damaged.iter().collect();
    let view = view_of(&[&ledger], &damaged, &clock("UTC", false), true);
    let sections = Sections { storage: true };
    let table = tabular(&view, sections, Paint(false));
    insta::assert_snapshot!("damaged_table", table.replace(" \n", "·\n"));
    let shown: serde_json::Value = serde_json::from_str(&json(&view)).unwrap();
    let parts = [
        &shown["model"],
        &shown["applications"]["audit"],
        &shown["storage"]["storage"]["unknown/5"],
    ];
    let parts = serde_json::to_string_pretty(&parts).unwrap();
    insta::assert_snapshot!("damaged_json", parts);
    assert!(view.applications["ledger"].read().is_some());
}

#[test]
fn a_selector_finds_an_application_that_cannot_be_read_by_its_name() {
    let damaged = damaged();
    let damaged: Vec<&Damaged> = damaged.iter().collect();
    for (selector, found) in [("audit", true), ("not exposed", false), ("active", false)] {
        let mut view = view_of(&[], &damaged, &clock("UTC", false), true);
        select(&mut view, &[selector.to_owned()]);
        assert_eq!(view.applications.contains_key("audit"), found, "{selector}");
    }
}
