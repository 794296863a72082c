//! Kubernetes Events: what is announced in a life, and that nothing else depends on them.
#![allow(missing_docs)]

use std::fmt::Write as _;

use pilotage_core::effect::Action;
use pilotage_core::kubernetes::Kind;
use pilotage_core::name::Uid;
use pilotage_core::outcome::Refusal;
use pilotage_core::state::ApplicationCommand;
use pilotage_core::time::Span;
use pilotage_sim::cluster::request::Failure;
use pilotage_sim::cluster::resource::Resource;
use pilotage_sim::cluster::settings::{Action as Verbs, Denial};
use pilotage_sim::world::{Choice, Edit, Mishap, World};

/// One application in a world that announces what it does, at rest.
fn world() -> (World, Uid) {
    let mut world = World::new();
    world.events = true;
    world.restart();
    let model = world.add_model("shop");
    let application = world.deploy(model, "ledger", 2);
    (world, application)
}

/// Lets a world come to rest, or go on for a while; returns what was announced, line by line.
fn settle(world: &mut World, during: Span) -> String {
    let until = world.now.after(during);
    let mut announced = String::new();
    while let Some(choice) = world.choices().first().cloned() {
        if matches!(choice, Choice::Wait(at) if at > until) {
            break;
        }
        world.take(&choice);
        for (effect, _) in &world.ran {
            if let Action::RecordEvent {
                severity,
                reason,
                message,
                ..
            } = &effect.action
            {
                let _ = writeln!(announced, "  {severity:?} {reason}: {message}");
            }
        }
    }
    announced
}

const A_DAY: Span = Span::seconds(86_400);

#[test]
fn a_life_announces_what_somebody_would_ask_about() {
    let (mut world, app) = world();
    let mut told = String::new();
    let mut chapter = |title: &str, world: &mut World, during: Span| {
        let announced = settle(world, during);
        let _ = write!(told, "{title}\n{announced}");
    };
    chapter("deploy", &mut world, A_DAY);
    world.command(app, ApplicationCommand::SetScale { scale: 3 });
    chapter("scale up", &mut world, A_DAY);
    world.command(app, ApplicationCommand::SetScale { scale: 1 });
    chapter("scale down", &mut world, A_DAY);
    world.command(app, ApplicationCommand::SetTrust { trust: true });
    chapter("trust", &mut world, A_DAY);
    world.refresh(app, 1);
    chapter("refresh", &mut world, A_DAY);
    world.edit("shop", "ledger", &Edit::Template);
    chapter("somebody else's image", &mut world, A_DAY);
    world.edit("shop", "ledger", &Edit::Scale(4));
    chapter("somebody else's scale", &mut world, A_DAY);
    world.edit("shop", "ledger", &Edit::Delete(Kind::Service));
    chapter("a service is deleted", &mut world, A_DAY);
    let refusal = Failure {
        code: 403,
        reason: "Forbidden".into(),
        message: "no policy allows it".into(),
        causes: Vec::new(),
    };
    let scaling = Denial::new(Resource::StatefulSet, Verbs::Update, refusal);
    world.cluster.deny(Denial {
        manager: Some("pilotage".into()),
        ..scaling
    });
    world.command(app, ApplicationCommand::SetScale { scale: 2 });
    chapter("forbidden", &mut world, Span::seconds(3_600));
    world.cluster.allow_all();
    chapter("allowed again", &mut world, A_DAY);
    world.remove(app, true, false);
    chapter("remove", &mut world, A_DAY);
    insta::assert_snapshot!(told);

    let events: Vec<_> = world
        .cluster
        .objects(Resource::Event, Some("shop"))
        .filter(|event| event.value["source"]["component"] == "pilotage")
        .collect();
    assert_eq!(
        events.len(),
        told.lines().filter(|line| line.starts_with(' ')).count()
    );
    for event in events {
        let about = &event.value["involvedObject"];
        assert_eq!(about["kind"], "Application");
        assert_eq!(about["name"], "ledger");
        assert_eq!(about["uid"], app.to_string());
    }
}

#[test]
fn to_converge_takes_one_event_and_at_rest_and_after_a_restart_there_is_none() {
    let (mut world, _) = world();
    assert_eq!(settle(&mut world, A_DAY).lines().count(), 1);
    assert_eq!(settle(&mut world, A_DAY), "");
    world.restart();
    assert_eq!(settle(&mut world, A_DAY), "");
}

#[test]
fn an_event_that_is_refused_or_not_answered_changes_nothing_and_is_not_repeated() {
    let lives = |mishap: Option<Mishap>| {
        let (mut world, app) = world();
        let mut effects = Vec::new();
        for scale in [2, 4, 1] {
            world.command(app, ApplicationCommand::SetScale { scale });
            while let Some(choice) = world.choices().first().cloned() {
                if let Choice::Run(owner) = &choice
                    && let Some(Action::RecordEvent { .. }) = (world.batches.get(owner))
                        .and_then(|batch| batch.front())
                        .map(|effect| &effect.action)
                {
                    world.mishap.clone_from(&mishap);
                }
                world.take(&choice);
                effects.extend(
                    world
                        .ran
                        .iter()
                        .map(|(effect, _)| effect.action.to_string()),
                );
            }
        }
        effects
    };
    let undisturbed = lives(None);
    assert!(
        undisturbed
            .iter()
            .any(|effect| effect.starts_with("announce ScaledUp"))
    );
    for mishap in [
        Mishap::Refused(Refusal::Forbidden),
        Mishap::LostRequest,
        Mishap::LostAnswer,
    ] {
        assert_eq!(lives(Some(mishap)), undisturbed);
    }
}
