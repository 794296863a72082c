//! Many applications, each told as one of a world at rest is told.

use std::collections::BTreeSet;

use pilotage_core::event::{Event, Source};
use pilotage_core::kubernetes::Kind;
use pilotage_core::name::Uid;
use pilotage_sim::world::{Choice, World};
use serde_json::Value;

/// The first lists of a world at rest with one application, and what is told of it in each.
pub fn first_lists() -> (World, Vec<(Source, Vec<Event>)>) {
    let mut world = World::new();
    let model = world.add_model("shop");
    world.deploy(model, "ledger", 3);
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
    serde_json::from_str(&text.replace("ledger", &format!("ledger{n}"))).unwrap()
}
