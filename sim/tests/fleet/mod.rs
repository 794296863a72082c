//! Many applications, each told as one of a world at rest is told.
// Each of the tests and benchmarks that read this takes a part of it.
#![allow(dead_code)]

use std::collections::BTreeSet;
use std::sync::Arc;

use pilotage_core::event::{Event, Source};
use pilotage_core::kubernetes::Kind;
use pilotage_core::name::Uid;
use pilotage_core::provisioner::{Config, Provisioner};
use pilotage_core::state::{ApplicationCommand, NewApplication, Provisioning};
use pilotage_core::time::Timestamp;
use pilotage_sim::workload;
use pilotage_sim::world::{Choice, World};
use serde_json::Value;

/// What each source tells first.
pub type Lists = Vec<(Source, Vec<Event>)>;

/// The first lists of a world at rest with one application, and what is told of it in each.
pub fn first_lists() -> (World, Lists) {
    first_lists_of(|model| workload::ledger_application(model, "ledger", 3))
}

/// As [`first_lists`], of an application that is given; its name has to be `ledger`.
pub fn first_lists_of(new: impl FnOnce(Uid) -> NewApplication) -> (World, Lists) {
    let mut world = World::new();
    let model = world.add_model("shop");
    let application = world.store.draw_uid();
    let add = ApplicationCommand::Add(Box::new(new(model)));
    world.command(application, add);
    while let Some(choice) = world.choices().first().cloned() {
        world.take(&choice);
        assert!(world.steps.len() < 2_000, "the world does not come to rest");
    }
    world.restart();
    let sources = std::iter::once(Source::Store).chain(Kind::ALL.map(Source::Cluster));
    let mut lists = Vec::new();
    for source in sources {
        let from = world.steps.len();
        while world.choices().contains(&Choice::Tell(source)) {
            world.take(&Choice::Tell(source));
        }
        let told = (world.steps[from..].iter()).map(|(_, event, _)| event.clone());
        lists.push((source, told.collect()));
    }
    (world, lists)
}

/// Every uid that a telling names.
fn uids(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => fields.values().for_each(|field| uids(field, found)),
        Value::Array(items) => items.iter().for_each(|item| uids(item, found)),
        Value::String(text) if text.parse::<Uid>().is_ok() => {
            found.insert(text.clone());
        }
        _ => {}
    }
}

/// The same telling of the n-th application: another name, other uids, the same model.
pub fn of_nth(event: &Event, model: &Uid, n: u16) -> Event {
    let mut found = BTreeSet::new();
    uids(&serde_json::to_value(event).unwrap(), &mut found);
    let mut text = serde_json::to_string(event).unwrap();
    for uid in found {
        let uid: Uid = uid.parse().unwrap();
        if uid != *model {
            let other = Uid(uid.0 ^ (u128::from(n) << 64));
            text = text.replace(&uid.to_string(), &other.to_string());
        }
    }
    let mut event = serde_json::from_str(&text.replace("ledger", &format!("ledger{n}"))).unwrap();
    if let Event::ProvisioningChanged {
        provisioning: Ok(provisioning),
        ..
    } = &mut event
    {
        // As a store makes it: reading JSON leaves room in its lists that a copy does not have.
        *provisioning = Arc::new(Provisioning::clone(provisioning));
    }
    event
}

/// The model that the lists tell of.
pub fn model(lists: &Lists) -> Uid {
    let mut events = lists.iter().flat_map(|(_, list)| list);
    let model = events.find_map(|event| match event {
        Event::ModelChanged(model) => Some(model.uid),
        _ => None,
    });
    model.expect("a model")
}

/// A core that was told of so many applications, all at rest. `after` is called when a source has told everything but
/// the end of its list.
pub fn provisioner(
    lists: &Lists,
    now: Timestamp,
    applications: u16,
    mut after: impl FnMut(Source),
) -> Provisioner {
    let model = model(lists);
    let mut core = Provisioner::new(Config {
        incarnation: 9,
        ..Config::default()
    });
    for (source, list) in lists {
        let ends = |event: &&Event| matches!(event, Event::Synced { .. });
        let once = |event: &&Event| {
            matches!(event, Event::Listing { .. } | Event::ModelChanged(_))
                || *source == Source::Cluster(Kind::Namespace)
        };
        let all = || list.iter().filter(|event| !ends(event));
        for event in all().filter(once) {
            core.step(now, event.clone());
        }
        for n in 0..applications {
            for event in all().filter(|event| !once(event)) {
                core.step(now, of_nth(event, &model, n));
            }
        }
        after(*source);
        for event in list.iter().filter(ends) {
            let step = core.step(now, event.clone());
            assert!(step.effects.is_empty(), "at rest");
        }
    }
    core
}
