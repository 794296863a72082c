//! Random commands, in any order, from anybody.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;

use pilotage_core::charm::ConfigValue;
use pilotage_core::event::{Event, RecordId};
use pilotage_core::life::Life;
use pilotage_core::name::{Uid, Version};
use pilotage_core::outcome::{Outcome, Reply};
use pilotage_core::state::{
    Application, ApplicationCommand, Caller, CharmOrigin, Command, Given, ModelCommand, NewStorage,
    Records, Refresh, RemovalWish, Report, StatusReport, Storage, StorageCommand, StorageReport,
    StorageWord, UnitReport, Word, changes, check, check_change,
};
use pilotage_core::time::Timestamp;
use pilotage_sim::store::{Store, Told};
use pilotage_sim::workload::{claim, ledger, ledger_application};

use crate::{APPLICATION, MODEL};

/// A command, and whether the version that it names is the record's.
#[derive(Clone, Debug)]
pub struct Try {
    pub caller: Caller,
    version: Named,
    pub body: ApplicationCommand,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    Now,
    Former,
    None,
}

fn word() -> impl Strategy<Value = Word> {
    prop_oneof![
        Just(Word::Active),
        Just(Word::Error),
        Just(Word::Maintenance),
        Just(Word::Terminated),
        Just(Word::Idle),
    ]
}

fn status() -> impl Strategy<Value = StatusReport> {
    (word(), prop_oneof![Just(""), Just("because")])
        .prop_map(|(word, message)| StatusReport::new(word, message))
}

fn report() -> impl Strategy<Value = ApplicationCommand> {
    let unit = (0_u32..6, any::<bool>(), status()).prop_map(|(number, ready, status)| UnitReport {
        number,
        pod: None,
        ready,
        workload: status.clone(),
        agent: status,
    });
    let storage_word = prop_oneof![
        Just(StorageWord::Attached),
        Just(StorageWord::Pending),
        Just(StorageWord::Error)
    ];
    let storage =
        (0_u32..8, storage_word, any::<bool>()).prop_map(|(number, word, given)| StorageReport {
            number,
            word,
            message: "".into(),
            given: given.then(|| Given {
                claim: Uid(number.into()),
                volume: "pv".into(),
                size_mib: 1024,
            }),
        });
    (
        prop::collection::vec(unit, 0..3),
        prop::collection::vec(storage, 0..3),
        prop::option::of(status()),
    )
        .prop_map(|(units, storage, provisioner)| {
            ApplicationCommand::Report(Report {
                service: None,
                units,
                storage,
                provisioner,
                at_rest: None,
            })
        })
}

fn wish() -> impl Strategy<Value = RemovalWish> {
    // Force ends most stories at once, so it is rare.
    (any::<bool>(), prop::bool::weighted(0.1)).prop_map(|(destroy_storage, force)| RemovalWish {
        destroy_storage,
        force,
    })
}

fn refresh() -> impl Strategy<Value = ApplicationCommand> {
    (
        prop::option::of(0_u32..4),
        prop::option::of(any::<bool>()),
        any::<bool>(),
    )
        .prop_map(|(revision, trust, same_claims)| {
            let mut scratchless = vec![claim("data", 1024)];
            if !same_claims {
                scratchless.push(claim("extra", 1));
            }
            let origin = |revision| CharmOrigin {
                revision,
                version: None,
            };
            ApplicationCommand::Refresh(Box::new(Refresh {
                charm: revision.map(|revision| (Arc::new(ledger()), origin(revision))),
                resources: BTreeMap::new(),
                config: BTreeMap::new(),
                settings: BTreeMap::new(),
                storage: BTreeMap::new(),
                filesystems: scratchless,
                trust,
                base: None,
            }))
        })
}

fn desire() -> impl Strategy<Value = ApplicationCommand> {
    (
        0_u32..6,
        any::<bool>(),
        prop::option::of(0_i64..3),
        0_u32..3,
        prop::option::weighted(0.1, wish()),
    )
        .prop_map(|(scale, trust, port, revision, removal)| {
            let mut desire = start(scale).spec.desire();
            desire.trust = trust;
            desire.config = port
                .map(|port| ("port".into(), ConfigValue::Int(port)))
                .into_iter()
                .collect();
            desire.origin.revision = revision;
            desire.removal = removal;
            ApplicationCommand::Desire(desire)
        })
}

fn body() -> impl Strategy<Value = ApplicationCommand> {
    use ApplicationCommand as Body;
    let numbers = || prop::collection::vec(0_u32..6, 0..4);
    let new_storage = (0_u32..8, 0_u32..6, any::<bool>()).prop_map(|(number, unit, data)| {
        let name = if data { "data" } else { "scratch" };
        NewStorage {
            number,
            unit,
            storage: name.into(),
            index: None,
            claim: data.then(|| "claim".into()),
        }
    });
    prop_oneof![
        4 => (0_u32..6).prop_map(|scale| Body::SetScale { scale }),
        2 => (-2_i64..3).prop_map(|by| Body::ChangeScale { by }),
        1 => any::<bool>().prop_map(|trust| Body::SetTrust { trust }),
        1 => prop::option::of(0_i64..3).prop_map(|port| Body::Configure {
            config: [("port".into(), port.map(ConfigValue::Int))].into(),
            settings: BTreeMap::new(),
        }),
        1 => refresh(),
        1 => Just(Body::Upgrade),
        2 => desire(),
        1 => wish().prop_map(|wish| Body::Remove { wish }),
        4 => (0_u32..6).prop_map(|target| Body::BeginScaling { target }),
        2 => Just(Body::EndScaling),
        4 => (0_u32..6).prop_map(|from| Body::DestroyUnits { from }),
        4 => numbers().prop_map(|numbers| Body::RemoveUnits { numbers }),
        4 => prop::collection::vec(new_storage, 0..4)
            .prop_map(|storages| Body::AddStorage { storages }),
        4 => report(),
        1 => Just(Body::MarkDead),
        2 => prop::collection::vec(0_u32..8, 0..4).prop_map(|numbers| Body::RemoveStorage { numbers }),
        1 => Just(Body::Clear),
    ]
}

fn one_try() -> impl Strategy<Value = Try> {
    let caller = prop_oneof![
        6 => Just(Caller::Provisioner),
        6 => Just(Caller::User),
        1 => (0_u32..3).prop_map(|unit| Caller::Agent { unit }),
    ];
    let version =
        prop_oneof![8 => Just(Named::Now), 1 => Just(Named::Former), 1 => Just(Named::None)];
    (caller, version, body()).prop_map(|(caller, version, body)| Try {
        caller,
        version,
        body,
    })
}

/// As likely as not a caller who may give the command, so that sequences get somewhere.
pub fn attempt(
    application: &Application,
    one: &Try,
    at: u64,
) -> Option<(Option<Application>, Reply)> {
    let expect = match one.version {
        Named::Now => Some(application.version),
        Named::Former => Some(Version(application.version.0 - 1)),
        Named::None => None,
    };
    application
        .apply(Timestamp(at), one.caller, expect, &one.body)
        .ok()
}

fn permitted(body: &ApplicationCommand) -> Caller {
    use ApplicationCommand as Body;
    match body {
        Body::Add(_)
        | Body::SetScale { .. }
        | Body::ChangeScale { .. }
        | Body::SetTrust { .. }
        | Body::Configure { .. }
        | Body::SetConstraints { .. }
        | Body::Refresh(_)
        | Body::Upgrade
        | Body::Desire(_)
        | Body::Remove { .. } => Caller::User,
        _ => Caller::Provisioner,
    }
}

pub fn tries() -> impl Strategy<Value = Vec<Try>> {
    let mostly_permitted = (one_try(), prop::bool::weighted(0.8)).prop_map(|(one, permit)| {
        let caller = if permit {
            permitted(&one.body)
        } else {
            one.caller
        };
        Try { caller, ..one }
    });
    prop::collection::vec(mostly_permitted, 0..60)
}

pub fn start(scale: u32) -> Application {
    let (application, _) = Application::add(
        APPLICATION,
        Timestamp(0),
        &ledger_application(MODEL, "ledger", scale),
    )
    .expect("a good one");
    application
}

fn changes_of(reply: &Reply) -> &[Event] {
    match reply {
        Reply::Recorded { changes, .. } => changes,
        other => panic!("not an answer of the state: {other:?}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Invariant 12; B09, B10, B13, B19, B22, B33.
    #[test]
    fn every_command_leaves_a_sound_record(scale in 0_u32..4, tries in tries()) {
        let mut application = start(scale);
        prop_assert_eq!(check(&application), Ok(()));
        for (at, one) in (1..).zip(&tries) {
            let Some((after, reply)) = attempt(&application, one, at) else { continue };
            let Some(after) = after else {
                prop_assert_eq!(application.status.life, Life::Dead);
                prop_assert!(application.status.storage.is_empty());
                break;
            };
            prop_assert_eq!(check_change(&application, &after), Ok(()), "{:?}", one);
            // What the log says of a status is what `status` shows.
            let said = StatusReport::shown(after.status.units.iter(), &after.status.provisioner.report);
            prop_assert_eq!(said, after.shown_status().report);
            let told = !changes_of(&reply).is_empty();
            prop_assert_eq!(told, application != after);
            let records: Vec<RecordId> = changes_of(&reply).iter().filter_map(Event::record).collect();
            prop_assert_eq!(records.len(), changes_of(&reply).len());
            prop_assert!(records.iter().all(|record| record.version == after.version));
            // Nothing is decided on half a change: all but the last event say that more follow.
            let last = records.len().saturating_sub(1);
            prop_assert!((0..).zip(&records).all(|(at, record)| record.more == (at < last)));
            application = after;
        }
    }

    #[test]
    fn while_nothing_leaves_units_are_numbered_from_0_without_a_gap(scale in 0_u32..4, tries in tries()) {
        let mut application = start(scale);
        for (at, one) in (1..).zip(&tries) {
            let Some((Some(after), _)) = attempt(&application, one, at) else { continue };
            application = after;
            let units = &application.status.units;
            if units.iter().all(|unit| unit.life == Life::Alive) {
                let numbers: Vec<u32> = units.iter().map(|unit| unit.number).collect();
                let expected: Vec<u32> = (0..).take(numbers.len()).collect();
                prop_assert_eq!(numbers, expected);
                if application.status.life == Life::Alive {
                    prop_assert!(units.len() >= application.spec.scale as usize);
                }
            }
        }
    }

    /// A listener that hears every change knows what one knows who lists afresh.
    #[test]
    fn changes_add_up_to_what_a_fresh_list_tells(scale in 0_u32..4, tries in tries()) {
        let mut application = start(scale);
        let mut listener = Told::of(&changes(None, Some(&application))).expect("a list");
        for (at, one) in (1..).zip(&tries) {
            let Some((after, reply)) = attempt(&application, one, at) else { continue };
            for event in changes_of(&reply) {
                listener.hear(event).expect("an event of the store");
            }
            let fresh = Told::of(&changes(None, after.as_ref())).expect("a list");
            prop_assert_eq!(&listener, &fresh);
            let Some(after) = after else { break };
            application = after;
        }
    }

    #[test]
    fn a_command_that_is_carried_out_twice_changes_nothing_the_second_time(
        scale in 0_u32..4,
        tries in tries(),
    ) {
        let mut application = start(scale);
        for (at, one) in (1..).zip(&tries) {
            let Some((Some(after), _)) = attempt(&application, one, at) else { continue };
            // The removal of the last leaving unit makes units of the same numbers anew, if they are wanted again.
            let made_anew = match &one.body {
                ApplicationCommand::RemoveUnits { numbers } => {
                    numbers.iter().any(|number| after.unit(*number).is_some())
                }
                _ => false,
            };
            if !made_anew && !matches!(one.body, ApplicationCommand::ChangeScale { .. }) {
                let again = Try { version: Named::Now, ..one.clone() };
                let second = attempt(&after, &again, at + 1_000);
                let second = second.map(|(record, reply)| (record, changes_of(&reply).to_vec()));
                prop_assert_eq!(second, Some((Some(after.clone()), vec![])), "{:?}", one);
            }
            application = after;
        }
    }

    /// Reference, section 15, items 2 and 3: a worker that only knows the record, and forgets everything else at every
    /// step, brings any scale-down to its end, and no unit below the target is ever taken.
    #[test]
    fn a_forgetful_worker_reaches_exactly_the_units_wanted(scale in 0_u32..6, tries in tries()) {
        let mut application = start(scale);
        for (at, one) in (1..).zip(&tries) {
            if let Some((Some(after), _)) = attempt(&application, one, at) {
                application = after;
            }
        }
        for step in 0.. {
            prop_assert!(step < 20, "it does not end: {:?}", application.status);
            let Some(body) = next_step(&application) else { break };
            let at = Timestamp(10_000 + step);
            let version = Some(application.version);
            let (after, _) = application
                .apply(at, Caller::Provisioner, version, &body)
                .expect("a step that the record asks for");
            let after = after.expect("no step clears the record");
            let below = |one: &Application| {
                one.status.units.iter().filter(|unit| unit.life == Life::Alive && unit.number < application.target()).count()
            };
            prop_assert_eq!(below(&application), below(&after).min(below(&application)));
            application = after;
        }
        let numbers: Vec<u32> = application.status.units.iter().map(|unit| unit.number).collect();
        let expected: Vec<u32> = (0..application.desired_scale()).collect();
        prop_assert_eq!(numbers, expected);
        prop_assert_eq!(application.status.scaling, None);
    }

    #[test]
    fn a_record_is_read_as_it_was_written(scale in 0_u32..4, tries in tries()) {
        let mut application = start(scale);
        for (at, one) in (1..).zip(&tries) {
            if let Some((Some(after), _)) = attempt(&application, one, at) {
                application = after;
            }
        }
        let json = serde_json::to_string(&application).expect("JSON");
        let read: Application = serde_json::from_str(&json).expect("a record");
        prop_assert_eq!(read, application);
    }

    /// The log, the list and the replies of a whole store tell the same.
    #[test]
    fn a_store_tells_live_what_it_lists(tries in prop::collection::vec(store_try(), 0..60)) {
        let mut store = Store::new();
        let mut listener = Told::of(&store.list()).expect("a list");
        for (at, one) in (1..).zip(&tries) {
            let command = one.command(&store);
            let before = store.clone();
            let head = store.head();
            let outcome = store.execute(Timestamp(at), &command, &[]);
            let told: Vec<Event> =
                store.changes_since(head).expect("all of it is kept").flatten().cloned().collect();
            match outcome {
                Outcome::Done(reply) => prop_assert_eq!(changes_of(&reply), &told[..]),
                _ => prop_assert_eq!(&before, &store, "a denied command changed something"),
            }
            for event in &told {
                listener.hear(event).expect("an event of the store");
            }
            prop_assert_eq!(&listener, &Told::of(&store.list()).expect("a list"));
            for application in store.applications() {
                prop_assert_eq!(check(application), Ok(()));
                prop_assert!(
                    Records::model(&store, application.model).expect("memory").is_some(),
                    "an application outlived its model"
                );
            }
        }
    }
}

/// What a worker that looks only at the record would do next about units.
fn next_step(application: &Application) -> Option<ApplicationCommand> {
    use ApplicationCommand as Body;
    let target = application.target();
    let units = &application.status.units;
    let dead: Vec<u32> = units
        .iter()
        .filter(|unit| unit.life == Life::Dead)
        .map(|unit| unit.number)
        .collect();
    let excess = units
        .iter()
        .any(|unit| unit.number >= target && unit.life == Life::Alive);
    if excess && application.status.scaling != Some(target) {
        Some(Body::BeginScaling { target })
    } else if excess {
        Some(Body::DestroyUnits { from: target })
    } else if !dead.is_empty() {
        Some(Body::RemoveUnits { numbers: dead })
    } else {
        application.status.scaling.map(|_| Body::EndScaling)
    }
}

/// A command for a store with few models, applications and storages.
#[derive(Clone, Debug)]
enum StoreTry {
    Application(Uid, Try),
    Add(Uid, bool),
    Model(Uid, ModelCommand),
    Storage(u32, Caller, StorageCommand),
}

fn store_try() -> impl Strategy<Value = StoreTry> {
    let uid = || (2_u128..5).prop_map(Uid);
    let model = || prop_oneof![3 => Just(MODEL), 1 => Just(Uid(9))];
    let model_body = prop_oneof![
        3 => prop_oneof![Just("shop"), Just("other"), Just("Bad")].prop_map(|name| ModelCommand::Add {
            name: name.into(),
            settings: BTreeMap::new(),
        }),
        1 => Just(ModelCommand::Configure {
            settings: [("mode".into(), Some("quiet".into()))].into(),
        }),
        1 => wish().prop_map(|wish| ModelCommand::Destroy { wish }),
        1 => (0_u32..3).prop_map(|count| ModelCommand::DrawStorage { count }),
        1 => (0_u32..3).prop_map(|floor| ModelCommand::DrawRevision { charm: "c".into(), floor }),
        1 => (uid(), any::<bool>()).prop_map(|(application, destroyed)| ModelCommand::RememberRemoved {
            application,
            destroyed,
        }),
        1 => status().prop_map(|status| ModelCommand::Report { status }),
        1 => Just(ModelCommand::Clear),
    ];
    let caller = prop_oneof![Just(Caller::User), Just(Caller::Provisioner)];
    let storage_body = prop_oneof![
        Just(StorageCommand::Destroy),
        Just(StorageCommand::Clear),
        any::<bool>().prop_map(|lost| StorageCommand::Report(StorageReport {
            number: 7,
            word: if lost {
                StorageWord::Error
            } else {
                StorageWord::Detached
            },
            message: "".into(),
            given: None,
        })),
        any::<bool>().prop_map(|destroy| StorageCommand::Keep {
            storage: Box::new(kept(destroy)),
        }),
    ];
    prop_oneof![
        6 => (uid(), one_try()).prop_map(|(uid, one)| {
            StoreTry::Application(uid, Try { caller: permitted(&one.body), ..one })
        }),
        2 => (uid(), any::<bool>()).prop_map(|(uid, other_name)| StoreTry::Add(uid, other_name)),
        3 => (model(), model_body).prop_map(|(model, body)| StoreTry::Model(model, body)),
        1 => (6_u32..8, caller, storage_body)
            .prop_map(|(number, caller, body)| StoreTry::Storage(number, caller, body)),
    ]
}

fn kept(destroy: bool) -> Storage {
    let (application, _) = start(1)
        .apply(
            Timestamp(0),
            Caller::Provisioner,
            None,
            &ApplicationCommand::AddStorage {
                storages: vec![NewStorage {
                    number: 7,
                    unit: 0,
                    storage: "data".into(),
                    index: None,
                    claim: Some("claim".into()),
                }],
            },
        )
        .expect("a storage");
    let application = application.expect("a record");
    Storage {
        model: MODEL,
        version: Version::default(),
        created: Timestamp(0),
        application: APPLICATION,
        application_name: "ledger".into(),
        instance: application.storage(7).expect("just added").clone(),
        destroy,
    }
}

impl StoreTry {
    fn command(&self, store: &Store) -> Command {
        match self {
            StoreTry::Add(application, other_name) => {
                let mut new = ledger_application(MODEL, "ledger", 1);
                if *other_name {
                    new.name = "other".into();
                }
                Command::Application {
                    application: *application,
                    caller: Caller::User,
                    expect: None,
                    body: ApplicationCommand::Add(Box::new(new)),
                }
            }
            StoreTry::Application(application, one) => {
                let now = store
                    .applications()
                    .find(|record| record.uid == *application);
                Command::Application {
                    application: *application,
                    caller: one.caller,
                    expect: now
                        .filter(|_| one.version == Named::Now)
                        .map(|record| record.version),
                    body: one.body.clone(),
                }
            }
            StoreTry::Model(model, body) => {
                let now = store.models().find(|record| record.uid == *model);
                let user = !matches!(
                    body,
                    ModelCommand::RememberRemoved { .. }
                        | ModelCommand::Report { .. }
                        | ModelCommand::Clear
                );
                Command::Model {
                    model: *model,
                    caller: if user {
                        Caller::User
                    } else {
                        Caller::Provisioner
                    },
                    expect: now
                        .filter(|_| !matches!(body, ModelCommand::Add { .. }))
                        .map(|record| record.version),
                    body: body.clone(),
                }
            }
            StoreTry::Storage(number, caller, body) => {
                let mut storages = store.storages();
                let now = storages.find(|record| record.instance.number == *number);
                Command::Storage {
                    model: MODEL,
                    number: *number,
                    caller: *caller,
                    expect: now.map(|record| record.version),
                    body: body.clone(),
                }
            }
        }
    }
}
