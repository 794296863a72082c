//! What it takes to converge, in requests: the formula of the README, counted.
#![allow(missing_docs)]

use pilotage_core::effect::Action;
use pilotage_core::outcome::Outcome;
use pilotage_core::state::ApplicationCommand;
use pilotage_sim::workload;
use pilotage_sim::world::World;

/// Requests by what they ask.
#[derive(Debug, Default, PartialEq, Eq)]
struct Count {
    posts: u32,
    state: u32,
    others: u32,
}

/// Lets a world come to rest, and counts what the provisioner asks for.
fn converge(world: &mut World) -> Count {
    let mut count = Count::default();
    while let Some(choice) = world.choices().first().cloned() {
        world.take(&choice);
        for (effect, outcome) in &world.ran {
            assert!(matches!(outcome, Outcome::Done(_)), "{outcome:?}");
            match effect.action {
                Action::Create { .. } => count.posts += 1,
                Action::Store(_) => count.state += 1,
                _ => count.others += 1,
            }
        }
    }
    count
}

/// The README's formula, for an application of `n` units with `m` claims each that is the first of its model.
fn formula(n: u32, m: u32) -> Count {
    let (model, draws) = (1, if n * m > 0 { 2 } else { 0 });
    Count {
        posts: 8 + 1,
        state: model + draws + 2 + 5 * n + n * m,
        others: 0,
    }
}

#[test]
fn to_converge_takes_a_post_for_each_object_and_the_records_writes() {
    for (n, m) in [(0, 0), (1, 0), (1, 1), (3, 0), (3, 1), (3, 3), (8, 2)] {
        let mut world = World::new();
        let model = world.add_model("shop");
        let application = world.store.draw_uid();
        let mut new = workload::ledger_application(model, "ledger", n);
        new.filesystems = (0..m)
            .map(|number| workload::claim(&format!("data{number}"), 64))
            .collect();
        world.command(application, ApplicationCommand::Add(Box::new(new)));
        assert_eq!(
            converge(&mut world),
            formula(n, m),
            "{n} units, {m} claims each"
        );
    }
}

#[test]
fn an_image_with_a_login_takes_one_post_more() {
    let mut world = World::new();
    let model = world.add_model("shop");
    world.deploy_private(model, "ledger", 2);
    let count = converge(&mut world);
    assert_eq!((count.posts, count.others), (8 + 1 + 1, 0));
}

#[test]
fn at_rest_a_world_asks_for_nothing_however_long_it_goes_on() {
    let mut world = World::new();
    let model = world.add_model("shop");
    world.deploy(model, "ledger", 3);
    converge(&mut world);
    world.restart();
    assert_eq!(converge(&mut world), Count::default());
}
