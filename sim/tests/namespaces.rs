//! A provisioner that watches some namespaces leaves everything in the others alone, and says so.
#![allow(missing_docs)]

use pilotage_core::effect::Action;
use pilotage_core::name::Uid;
use pilotage_core::state::{ApplicationCommand, ModelCommand, RemovalWish, Word};
use pilotage_sim::world::World;

/// Two models with an application each, both active; then a provisioner that watches one of them alone.
fn world() -> (World, [(Uid, Uid); 2]) {
    let mut world = World::new();
    let [shop, bank] = ["shop", "bank"].map(|name| {
        let model = world.add_model(name);
        (model, world.deploy(model, &format!("{name}-ledger"), 2))
    });
    settle(&mut world);
    world.namespaces = vec!["shop".into()];
    world.restart();
    (world, [shop, bank])
}

/// Lets a world come to rest; returns what it was asked for beside the state.
fn settle(world: &mut World) -> Vec<String> {
    let mut asked = Vec::new();
    for _ in 0..100_000 {
        let Some(choice) = world.choices().first().cloned() else {
            return asked;
        };
        world.take(&choice);
        let ran = world.ran.iter().map(|(effect, _)| effect);
        let requests = ran.filter(|effect| !matches!(effect.action, Action::Store(_)));
        asked.extend(requests.map(|effect| format!("{}: {}", effect.subject, effect.action)));
    }
    panic!("no rest");
}

#[test]
fn what_is_not_watched_is_left_alone_whatever_its_record_says_and_named() {
    let (mut world, [(_, ours), (model, theirs)]) = world();
    let before = world
        .application("bank-ledger")
        .expect("there")
        .status
        .units
        .clone();
    assert_eq!(settle(&mut world), Vec::<String>::new());
    let status = &world.application("bank-ledger").expect("there").status;
    assert_eq!(status.units, before, "what is said of units stays");
    assert_eq!(status.provisioner.report.word, Word::Blocked);
    assert!(status.provisioner.report.message.contains("--namespaces"));
    let own = &world.application("shop-ledger").expect("there").status;
    assert_eq!(own.provisioner.report.word, Word::Active);

    // Wishes there wait; wishes here are fulfilled.
    world.command(ours, ApplicationCommand::SetScale { scale: 3 });
    world.command(theirs, ApplicationCommand::SetScale { scale: 1 });
    let asked = settle(&mut world);
    assert!(!asked.is_empty());
    assert!(
        asked.iter().all(|line| line.starts_with("shop-ledger")),
        "{asked:?}"
    );
    let wish = RemovalWish {
        destroy_storage: true,
        force: true,
    };
    world.command(theirs, ApplicationCommand::Remove { wish });
    world.model_command(model, ModelCommand::Destroy { wish });
    assert_eq!(settle(&mut world), Vec::<String>::new());
    assert!(world.application("bank-ledger").is_some());
}

#[test]
fn a_provisioner_that_watches_it_again_goes_on_where_it_was() {
    let (mut world, [_, (_, theirs)]) = world();
    settle(&mut world);
    world.command(theirs, ApplicationCommand::SetScale { scale: 1 });
    settle(&mut world);
    world.namespaces = Vec::new();
    world.restart();
    settle(&mut world);
    let status = &world.application("bank-ledger").expect("there").status;
    assert_eq!(status.provisioner.report.word, Word::Active);
    assert_eq!(status.units.len(), 1);
    world.remove(theirs, true, false);
    settle(&mut world);
    assert!(world.application("bank-ledger").is_none());
}
