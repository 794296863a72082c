//! What can be reached: a world driven through lives of applications, with the core as it was after every step.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use pilotage_core::effect::EffectId;
use pilotage_core::event::{Event, RecordName, Source};
use pilotage_core::kubernetes::Kind;
use pilotage_core::name::Uid;
use pilotage_core::outcome::Outcome;
use pilotage_core::provisioner::Provisioner;
use pilotage_core::state::{
    ApplicationCommand, Caller, Command, ModelCommand, RemovalWish, StorageCommand,
};
use pilotage_core::time::Timestamp;
use pilotage_sim::world::World;
use serde_json::{Value, json};

const BOUND: usize = 4_000;

/// The core after a step.
pub struct Moment {
    pub core: Provisioner,
    pub at: Timestamp,
}

/// Everything that happened in a world.
#[derive(Default)]
pub struct History {
    pub moments: Vec<Moment>,
    /// Every event that was told, once.
    pub events: Vec<Event>,
    pub ids: Vec<EffectId>,
    pub outcomes: Vec<Outcome>,
    pub applications: Vec<Uid>,
    pub models: Vec<Uid>,
    /// The application of each object that was told.
    pub owners: BTreeMap<Uid, Uid>,
}

/// Lets things happen, the first that is ready each time, keeping every moment.
fn settle(world: &mut World, history: &mut History) {
    for _ in 0..BOUND {
        let Some(choice) = world.choices().first().cloned() else {
            return;
        };
        let before = world.steps.len();
        world.take(&choice);
        if world.steps.len() > before {
            let (core, at) = (world.provisioner.clone(), world.now);
            history.moments.push(Moment { core, at });
        }
    }
    let last: Vec<_> = world.steps.iter().rev().take(12).collect();
    panic!("the world does not come to rest: {last:#?}");
}

/// A world at rest with a model and an application of `scale` units.
pub fn rest(scale: u32) -> (World, Uid) {
    let mut world = World::new();
    let model = world.add_model("shop");
    let application = world.deploy(model, "ledger", scale);
    settle(&mut world, &mut History::default());
    (world, application)
}

/// Two models, applications that come, change and go in every way, and a provisioner that is started again.
pub fn history() -> History {
    let mut history = History::default();
    let mut world = World::new();
    let h = &mut history;
    let shop = world.add_model("shop");
    let ledger = world.deploy(shop, "ledger", 2);
    let harbour = world.add_model("harbour");
    let quay = world.deploy_private(harbour, "quay", 2);
    world.command(quay, ApplicationCommand::SetTrust { trust: true });
    settle(&mut world, h);
    world.restart();
    settle(&mut world, h);
    world.command(ledger, ApplicationCommand::SetScale { scale: 4 });
    settle(&mut world, h);
    world.command(ledger, ApplicationCommand::SetScale { scale: 1 });
    settle(&mut world, h);
    world.command(ledger, ApplicationCommand::SetTrust { trust: true });
    settle(&mut world, h);
    world.refresh(ledger, 1);
    settle(&mut world, h);
    for namespaces in [vec!["harbour".into()], vec![]] {
        world.namespaces = namespaces;
        world.restart();
        settle(&mut world, h);
    }
    world.remove(quay, false, false);
    settle(&mut world, h);
    let detached: Vec<u32> = (world.steps.iter())
        .filter_map(|(_, event, _)| match event {
            Event::DetachedStorageChanged { storage } => Some(storage.instance.number),
            _ => None,
        })
        .collect();
    for number in detached {
        let command = Command::Storage {
            model: harbour,
            number,
            caller: Caller::User,
            expect: None,
            body: StorageCommand::Destroy,
        };
        world.store.execute(world.now, &command, &[]);
    }
    settle(&mut world, h);
    world.remove(ledger, true, false);
    settle(&mut world, h);
    // A former leader's late create, of an application that is gone: the next of that name waits for its end.
    let leftover = leftover(&world, ledger);
    world.step(leftover);
    // The request that deletes it takes its time.
    let late = world.batches.remove(&shop).expect("it is to be deleted");
    let again = world.deploy(shop, "ledger", 1);
    settle(&mut world, h);
    world.batches.insert(shop, late);
    settle(&mut world, h);
    let damaged = RecordName::Application {
        application: again,
        name: "ledger".into(),
        model: shop,
    };
    world.store.damage(damaged.clone());
    world.list(Source::Store);
    settle(&mut world, h);
    world.store.mend(&damaged);
    world.list(Source::Store);
    settle(&mut world, h);
    let wish = RemovalWish {
        destroy_storage: true,
        force: true,
    };
    world.command(again, ApplicationCommand::Remove { wish });
    world.model_command(harbour, ModelCommand::Destroy { wish });
    settle(&mut world, h);

    history.applications = vec![ledger, quay, again];
    history.models = vec![shop, harbour];
    let mut known = BTreeSet::new();
    for (_, event, step) in &world.steps {
        history
            .ids
            .extend(step.effects.iter().map(|effect| effect.id));
        if let Event::EffectCompleted { outcome, .. } = event {
            history.outcomes.push(outcome.clone());
        }
        let owner = match event {
            Event::PodUpdated(pod) => Some(&pod.metadata),
            Event::ObjectUpdated(object) => Some(object.metadata()),
            _ => None,
        };
        if let Some(metadata) = owner
            && let Some(application) = metadata.labels.ownership().and_then(|o| o.application)
        {
            history.owners.insert(metadata.uid, application);
        }
        if known.insert(serde_json::to_string(event).unwrap()) {
            history.events.push(event.clone());
        }
    }
    history
}

/// The last that was told of a service of an application, as if it had come again.
fn leftover(world: &World, application: Uid) -> Event {
    let told = world
        .steps
        .iter()
        .rev()
        .find_map(|(_, event, _)| match event {
            Event::ObjectUpdated(object) => {
                let whose = object.metadata().labels.ownership()?;
                (object.kind() == Kind::Service && whose.application == Some(application))
                    .then(|| object.clone())
            }
            _ => None,
        });
    let mut service: Value = serde_json::to_value(told.expect("a service")).unwrap();
    service["metadata"]["uid"] = json!("00000000-0000-4000-8000-00000000beef");
    service["metadata"]["resourceVersion"] = json!("999999");
    Event::ObjectUpdated(Arc::new(serde_json::from_value(service).unwrap()))
}
