//! A cluster that was written down and damaged: what counts in it is refused, or the cluster goes on.

use pilotage_core::state::ApplicationCommand;
use pilotage_core::time::Span;
use pilotage_sim::cluster::Cluster;
use pilotage_sim::cluster::controllers::settings::Settings;
use pilotage_sim::world::World;
use serde_json::{Value, json};

/// The fields that count writes.
const COUNTING: [&str; 6] = [
    "generation",
    "observedGeneration",
    "resourceVersion",
    "revision",
    "count",
    "restartCount",
];

/// As far as an `int64` counts, and beyond.
const LARGE: [u64; 4] = [i64::MAX as u64, i64::MAX as u64 + 1, u64::MAX - 1, u64::MAX];

/// The places of everything that counts.
fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                let place = format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
                match field {
                    Value::Object(_) | Value::Array(_) => places(field, &place, found),
                    _ if COUNTING.contains(&name.as_str()) => found.push(place),
                    _ => {}
                }
            }
        }
        Value::Array(items) => {
            for (number, item) in items.iter().enumerate() {
                places(item, &format!("{at}/{number}"), found);
            }
        }
        _ => {}
    }
}

/// Lives on with another cluster in the place of its own.
fn go_on(world: &World, mut cluster: Cluster) {
    let mut world = world.clone();
    cluster.start_controllers(world.now, Settings::default());
    world.cluster = cluster;
    world.restart();
    let uid = world.application("ledger").expect("its record").uid;
    world.command(uid, ApplicationCommand::SetScale { scale: 3 });
    world.command(uid, ApplicationCommand::SetTrust { trust: true });
    world.refresh(uid, 7);
    let end = world.now.after(Span::seconds(600));
    world.drive_until(3_000, |world| world.now > end);
}

#[test]
fn a_counter_that_no_cluster_reaches_is_refused_or_does_no_harm() {
    let mut world = World::new();
    world.remember = false;
    let model = world.add_model("shop");
    world.deploy(model, "ledger", 1);
    world.drive_until(5_000, |world| {
        let units = |one: &pilotage_core::state::Application| {
            one.status.units.iter().all(|unit| unit.started)
        };
        world.application("ledger").is_some_and(|one| units(one))
    });
    let settings = world.cluster.settings().clone();
    let objects: Vec<Value> = world.cluster.all_objects().map(|one| one.whole()).collect();
    let counters = serde_json::to_value(world.cluster.counters()).expect("counters");
    let (mut refused, mut tried) = (0, 0);
    for large in LARGE {
        for name in ["version", "drawn"] {
            let mut counters = counters.clone();
            counters[name] = json!(large);
            let counters = serde_json::from_value(counters).expect("counters");
            let restored = Cluster::restore(settings.clone(), counters, objects.clone());
            let Err(error) = restored else {
                panic!("no cluster counts to {large}");
            };
            assert!(error.to_string().contains("counter"), "{error}");
        }
        for (number, object) in objects.iter().enumerate() {
            let mut found = Vec::new();
            places(object, "", &mut found);
            for place in found {
                let mut objects = objects.clone();
                let field = objects[number].pointer_mut(&place).expect("there");
                *field = match field {
                    Value::String(_) => json!(large.to_string()),
                    _ => json!(large),
                };
                tried += 1;
                match Cluster::restore(settings.clone(), world.cluster.counters(), objects) {
                    Ok(cluster) => go_on(&world, cluster),
                    Err(error) => {
                        let name = object["metadata"]["name"].as_str().expect("a name");
                        assert!(error.to_string().contains(name), "{error}");
                        refused += 1;
                    }
                }
            }
        }
    }
    assert!(0 < refused && refused <= tried, "{refused} of {tried}");
}
