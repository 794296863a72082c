//! The typical life of one application, from its first command to nothing.
#![allow(missing_docs)]

use pilotage_core::life::Life;
use pilotage_core::name::Uid;
use pilotage_core::state::{ApplicationCommand, Word};
use pilotage_sim::world::World;

const BOUND: usize = 5_000;

/// Drives the world until nothing can happen any more.
fn settle(world: &mut World, what: &str) {
    let from = world.steps.len();
    let mut rest = false;
    for _ in 0..BOUND {
        let choices = world.choices();
        let Some(choice) = choices.first().cloned() else {
            rest = true;
            break;
        };
        world.take(&choice);
    }
    if std::env::var_os("STORY").is_some() {
        println!("==== {what}");
        story(world, from);
    }
    assert!(rest, "{what}: the world does not come to rest");
}

fn story(world: &World, from: usize) {
    for (at, event, step) in &world.steps[from..] {
        if step.effects.is_empty() {
            continue;
        }
        let event = format!("{event:?}");
        println!("{at} {}", &event[..event.len().min(110)]);
        for effect in &step.effects {
            let action = format!("{:?}", effect.action);
            println!(
                "      {:?} -> {}",
                effect.because,
                &action[..action.len().min(250)]
            );
        }
    }
}

fn assert_active(world: &World, name: &str, units: usize) {
    let status = &world.application(name).expect("the record").status;
    let words: Vec<_> = status
        .units
        .iter()
        .map(|unit| unit.workload.report.clone())
        .collect();
    assert_eq!(status.units.len(), units, "{words:?}");
    assert!(
        words.iter().all(|status| status.word == Word::Active),
        "{words:?}"
    );
    assert_eq!(
        status.provisioner.report.word,
        Word::Active,
        "{:?}",
        status.provisioner
    );
    assert_eq!(status.scaling, None);
    assert!(status.units.iter().all(|unit| unit.life == Life::Alive));
}

fn world() -> (World, Uid, Uid) {
    let mut world = World::new();
    let model = world.add_model("shop");
    let application = world.deploy(model, "ledger", 2);
    settle(&mut world, "deploy");
    (world, model, application)
}

#[test]
fn an_application_lives_and_goes_and_leaves_nothing() {
    let (mut world, model, app) = world();
    assert_active(&world, "ledger", 2);
    world.command(app, ApplicationCommand::SetScale { scale: 4 });
    settle(&mut world, "up");
    assert_active(&world, "ledger", 4);
    world.command(app, ApplicationCommand::SetScale { scale: 1 });
    settle(&mut world, "down");
    assert_active(&world, "ledger", 1);
    world.command(app, ApplicationCommand::SetTrust { trust: true });
    settle(&mut world, "trust");
    world.refresh(app, 1);
    settle(&mut world, "refresh");
    assert_active(&world, "ledger", 1);
    world.remove(app, true, false);
    settle(&mut world, "remove");
    assert!(world.application("ledger").is_none());
    let left: Vec<String> = world
        .cluster
        .all_objects()
        .filter(|object| object.value["metadata"]["labels"]["app.kubernetes.io/name"] == "ledger")
        .map(|object| format!("{:?} {}", object.resource, object.name()))
        .collect();
    assert_eq!(left, Vec::<String>::new());
    let _ = model;
}

#[test]
fn a_removal_that_keeps_its_storage_ends_and_leaves_the_claims_with_records_of_their_own() {
    let (mut world, model, app) = world();
    world.remove(app, false, false);
    settle(&mut world, "remove");
    assert!(world.application("ledger").is_none());
    let left = |world: &World| -> Vec<String> {
        let objects = world.cluster.all_objects();
        let ours = objects.filter(|object| {
            object.value["metadata"]["labels"]["app.kubernetes.io/name"] == "ledger"
        });
        ours.map(|object| format!("{:?}", object.resource))
            .collect()
    };
    assert_eq!(
        left(&world),
        ["PersistentVolumeClaim", "PersistentVolumeClaim"]
    );
    let kept = world
        .store
        .storages()
        .filter(|storage| storage.instance.claim.is_some());
    assert_eq!(kept.count(), 2);

    // The name is free at once, and the new life has claims of its own (B43).
    let again = world.deploy(model, "ledger", 1);
    settle(&mut world, "deploy again");
    assert_active(&world, "ledger", 1);
    world.remove(again, true, false);
    settle(&mut world, "remove again");
    assert_eq!(
        left(&world),
        ["PersistentVolumeClaim", "PersistentVolumeClaim"]
    );
}

#[test]
fn units_that_go_before_their_storage_is_seen_leave_it_with_a_record() {
    let mut world = World::new();
    let model = world.add_model("shop");
    let app = world.deploy(model, "ledger", 5);
    // The user changes their mind as soon as the StatefulSet is there.
    let made = |world: &World| {
        let objects = world.cluster.all_objects();
        objects
            .filter(|object| format!("{:?}", object.resource) == "StatefulSet")
            .count()
            == 1
    };
    assert!(world.drive_until(BOUND, made));
    world.command(app, ApplicationCommand::SetScale { scale: 2 });
    settle(&mut world, "down at once");
    assert_active(&world, "ledger", 2);
    let claims = |world: &World| {
        let objects = world.cluster.all_objects();
        objects
            .filter(|o| format!("{:?}", o.resource) == "PersistentVolumeClaim")
            .count()
    };
    let recorded = |world: &World| {
        let storage = &world
            .application("ledger")
            .expect("the record")
            .status
            .storage;
        storage
            .iter()
            .filter(|storage| storage.claim.is_some())
            .count()
    };
    assert!(
        recorded(&world) >= claims(&world),
        "{} {}",
        recorded(&world),
        claims(&world)
    );
    world.remove(app, true, false);
    settle(&mut world, "remove");
    assert_eq!(claims(&world), 0);
}

#[test]
fn a_restart_at_rest_writes_nothing() {
    let (mut world, ..) = world();
    let before = world.cluster.version();
    let from = world.steps.len();
    world.restart();
    settle(&mut world, "restart");
    let effects: Vec<_> = world.steps[from..]
        .iter()
        .flat_map(|(_, _, step)| &step.effects)
        .collect();
    assert_eq!(effects, Vec::<&pilotage_core::effect::Effect>::new());
    assert_eq!(world.cluster.version(), before);
}
