//! What a replacement of the original has to do beyond the original's own tests (reference, section 15), as far as no other
//! suite shows it.
#![allow(missing_docs)]

use std::collections::{BTreeMap, BTreeSet};

use pilotage_core::effect::{Action, Effect};
use pilotage_core::event::{Event, Source};
use pilotage_core::kubernetes::{Key, Kind};
use pilotage_core::name::Uid;
use pilotage_core::outcome::{Outcome, Refusal, Reply};
use pilotage_core::state::{ApplicationCommand, Command, Word};
use pilotage_sim::explore::life::Run;
use pilotage_sim::fault::{self, Fault};
use pilotage_sim::schedule::{Planned, Schedule, When};
use pilotage_sim::world::{Choice, Mishap, World};

/// Lets a world come to rest; `between` is called after every choice.
fn rest(world: &mut World, mut between: impl FnMut(&mut World, &Choice)) {
    for _ in 0..20_000 {
        let Some(choice) = world.choices().first().cloned() else {
            return;
        };
        world.take(&choice);
        between(world, &choice);
    }
    panic!("it does not come to rest");
}

fn deployed(scale: u32) -> (World, Uid) {
    let mut world = World::new();
    let model = world.add_model("shop");
    let application = world.deploy_private(model, "ledger", scale);
    (world, application)
}

/// The pods that run, and the units that the record has.
fn pods_and_units(world: &World) -> (usize, usize) {
    let resource = pilotage_sim::cluster::resource::Resource::Pod;
    let pods = world.cluster.objects(resource, Some("shop")).count();
    let record = world.application("ledger").expect("the record");
    (pods, record.status.units.len())
}

fn pods_of(world: &World, application: &str) -> usize {
    let resource = pilotage_sim::cluster::resource::Resource::Pod;
    let pods = world.cluster.objects(resource, Some("shop"));
    pods.filter(|pod| pod.name().starts_with(application))
        .count()
}

#[test]
fn a_wish_that_comes_at_any_moment_is_met() {
    let (mut world, application) = deployed(2);
    let mut moments = 0;
    while let Some(choice) = world.choices().first().cloned() {
        for scale in [0, 1, 4] {
            let mut fork = world.clone();
            fork.command(application, ApplicationCommand::SetScale { scale });
            rest(&mut fork, |_, _| ());
            let all = (scale as usize, scale as usize);
            assert_eq!(pods_and_units(&fork), all, "{scale} wished at {moments}");
        }
        world.take(&choice);
        moments += 1;
    }
    assert!(moments > 100, "{moments}");
}

#[test]
fn a_removal_that_comes_at_any_moment_of_a_scaling_ends_in_nothing() {
    let (mut world, application) = deployed(2);
    rest(&mut world, |_, _| ());
    for scale in [4, 1] {
        world.command(application, ApplicationCommand::SetScale { scale });
        while let Some(choice) = world.choices().first().cloned() {
            let mut fork = world.clone();
            fork.remove(application, true, false);
            rest(&mut fork, |_, _| ());
            assert!(fork.application("ledger").is_none());
            let left = fork.cluster.all_objects();
            let left = left.filter(|one| one.label("pilotage.dev/application-uid").is_some());
            assert_eq!(left.count(), 0);
            world.take(&choice);
        }
    }
}

#[test]
fn a_worker_whose_commands_change_nothing_stops_says_so_and_goes_on_when_they_do() {
    let (mut world, application) = deployed(1);
    let model = world.store.models().next().expect("the model").uid;
    world.deploy(model, "other", 1);
    rest(&mut world, |_, _| ());
    world.command(application, ApplicationCommand::SetScale { scale: 2 });
    let mut lies: BTreeMap<_, usize> = BTreeMap::new();
    rest(&mut world, |world, _| {
        // Thirty times the state says that a command of this application was taken, and changes nothing.
        let Some(batch) = world.batches.get(&application) else {
            return;
        };
        let Some(effect) = batch
            .front()
            .filter(|one| matches!(one.action, Action::Store(_)))
            .cloned()
        else {
            return;
        };
        if lies.values().sum::<usize>() == 30 {
            return;
        }
        *lies.entry(world.now).or_default() += 1;
        world.batches.remove(&application);
        let version = world.application("ledger").expect("the record").version;
        let reply = Reply::Recorded {
            before: version,
            version,
            changes: Vec::new(),
            drawn: None,
        };
        world.step(Event::EffectCompleted {
            id: effect.id,
            outcome: Outcome::Done(reply),
        });
    });
    assert_eq!(lies.values().sum::<usize>(), 30);
    assert!(lies.values().all(|at_once| *at_once < 8), "{lies:?}");
    assert_eq!(pods_of(&world, "ledger"), 2);
    for name in ["ledger", "other"] {
        let status = &world.application(name).expect("the record").status;
        assert_eq!(status.settled.report.word, Word::Active, "{name}");
    }
}

#[test]
fn no_event_of_the_state_that_is_told_again_loses_the_last_wish() {
    for times in 1..4 {
        let (mut world, application) = deployed(1);
        let mut scales = [3, 1, 2].into_iter();
        // After every third thing that the state tells another wish comes, while the one before is being met.
        let mut told = 0;
        rest(&mut world, |world, choice| {
            if *choice != Choice::Tell(Source::Store) || told > 60 {
                return;
            }
            told += 1;
            (0..times).for_each(|_| world.tell_again(Source::Store));
            if told % 3 == 0
                && let Some(scale) = scales.next()
            {
                world.command(application, ApplicationCommand::SetScale { scale });
            }
        });
        assert!(scales.next().is_none(), "not every wish was made");
        assert_eq!(
            pods_and_units(&world),
            (2, 2),
            "each told {times} times more"
        );
    }
}

#[test]
fn what_a_deployment_makes_a_removal_takes_away() {
    let (mut world, application) = deployed(2);
    let (mut made, mut deleted) = (BTreeSet::new(), BTreeSet::new());
    let mut note = |world: &mut World| {
        rest(world, |world, _| {
            for (effect, outcome) in &world.ran {
                assert!(!matches!(outcome, Outcome::Unknown));
                match &effect.action {
                    Action::Create { manifest } => made.insert(manifest.key.clone()),
                    Action::Delete { key, .. } => deleted.insert(key.clone()),
                    _ => false,
                };
            }
        });
    };
    note(&mut world);
    world.remove(application, true, false);
    note(&mut world);
    // The namespace is the model's; claims are made by the workload's controller.
    let kinds = |keys: &BTreeSet<Key>, not: Kind| -> BTreeSet<Key> {
        keys.iter().filter(|key| key.kind != not).cloned().collect()
    };
    let made = kinds(&made, Kind::Namespace);
    assert_eq!(made, kinds(&deleted, Kind::PersistentVolumeClaim));
    let of: BTreeSet<Kind> = made.iter().map(|key| key.kind).collect();
    let mut all = BTreeSet::from(Kind::ALL);
    for controllers in [Kind::Namespace, Kind::Pod, Kind::PersistentVolumeClaim] {
        all.remove(&controllers);
    }
    assert_eq!(of, all, "a kind that we write is not in this life");
}

/// What an effect asks for, without names.
fn deed(effect: &Effect) -> String {
    let of = |verb: &str, key: &Key| format!("{verb} {:?}", key.kind);
    match &effect.action {
        Action::Create { manifest } => of("Create", &manifest.key),
        Action::TakeOver { key, .. } => of("TakeOver", key),
        Action::Apply { manifest, .. } => of("Apply", &manifest.key),
        Action::Scale { key, .. } => of("Scale", key),
        Action::Delete { key, .. } => of("Delete", key),
        Action::Get { key } => of("Get", key),
        Action::Store(command) => {
            let (record, body) = match &**command {
                Command::Application { body, .. } => ("application", format!("{body:?}")),
                Command::Model { body, .. } => ("model", format!("{body:?}")),
                Command::Storage { body, .. } => ("storage", format!("{body:?}")),
            };
            let word: String = body.chars().take_while(|c| c.is_alphanumeric()).collect();
            format!("Store {record} {word}")
        }
        other => format!("{other:?}"),
    }
}

/// What the owner of the next effect does after that effect was refused.
fn follows(mut run: Run, refusal: &Refusal) -> String {
    let refused = run.next_effect().expect("an effect");
    run.plan(Planned {
        at: When::Effect(run.world.effects_run),
        fault: Fault::Effect(Mishap::Refused(refusal.clone())),
    });
    let since = run.world.now;
    let seen = run.world.effects_run;
    while run.world.effects_run == seen {
        run.step().expect("nothing is broken");
    }
    loop {
        if let Some(next) = run.next_effect()
            && next.id.owner == refused.id.owner
        {
            let after = run.world.now.since(since).0.div_ceil(1000);
            let what = match deed(&next) {
                same if next.action == refused.action => format!("again: {same}"),
                other => other,
            };
            return format!("after {after} s, {what}");
        }
        if run.step().is_err() || run.choices > 2_000 {
            return "nothing".into();
        }
    }
}

#[test]
fn what_follows_each_refusal_of_each_deed() {
    let mut run = Run::new(Schedule::default());
    let mut known = BTreeSet::new();
    let mut table = String::new();
    while run.rests < 6 {
        if let Some(effect) = run.next_effect()
            && known.insert(deed(&effect))
        {
            let mut answers: BTreeMap<String, Vec<String>> = BTreeMap::new();
            let mishaps = fault::mishaps(&effect).into_iter();
            for mishap in mishaps {
                if let Mishap::Refused(refusal) = mishap {
                    let what = follows(run.clone(), &refusal);
                    let word = format!("{refusal:?}");
                    let word = word.split(' ').next().unwrap_or_default().to_owned();
                    answers.entry(what).or_default().push(word);
                }
            }
            table.push_str(&format!("{}\n", deed(&effect)));
            for (what, refusals) in answers {
                table.push_str(&format!("    {}: {what}\n", refusals.join(", ")));
            }
        }
        run.step().expect("nothing is broken");
    }
    insta::assert_snapshot!(table);
}
