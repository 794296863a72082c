//! A provisioner that starts among a thousand applications at rest asks for nothing, and mends what is not as it was.
#![allow(missing_docs)]

mod fleet;

use std::sync::LazyLock;

use pilotage_core::effect::{Action, Effect};
use pilotage_core::event::{Event, Source};
use pilotage_core::kubernetes::{Key, Kind};
use pilotage_core::provisioner::{Config, Provisioner};
use pilotage_core::time::Timestamp;
use pilotage_sim::world::Edit;
use serde_json::{Value, json};

use fleet::{first_lists, of_nth};

const APPLICATIONS: u16 = 1_000;

/// What is told of a thousand such applications, and of which of them; told once for all tests.
static TOLD: LazyLock<(Timestamp, Vec<(u16, Event)>)> = LazyLock::new(|| {
    let (world, lists) = first_lists();
    let model = (lists.iter().flat_map(|(_, list)| list))
        .find_map(|event| match event {
            Event::ModelChanged(model) => Some(model.uid),
            _ => None,
        })
        .expect("a model");
    let mut events = Vec::new();
    for (source, list) in lists {
        let [begin, inner @ .., end] = &list[..] else {
            panic!("a list begins and ends");
        };
        events.push((0, begin.clone()));
        let of_model = |event: &&Event| {
            matches!(event, Event::ModelChanged(_)) || source == Source::Cluster(Kind::Namespace)
        };
        events.extend((inner.iter().filter(of_model)).map(|event| (0, event.clone())));
        for n in 0..APPLICATIONS {
            let of_application = inner.iter().filter(|event| !of_model(event));
            events.extend(of_application.map(|event| (n, of_nth(event, &model, n))));
        }
        events.push((0, end.clone()));
    }
    (world.now, events)
});

/// Starts a provisioner on it; `change` may tell of an object what it likes, or nothing. What is asked for?
fn start(change: impl Fn(u16, &Key, Event) -> Option<Event>) -> Vec<Effect> {
    started(change).1
}

/// As [`start`], with the provisioner, which goes on.
fn started(change: impl Fn(u16, &Key, Event) -> Option<Event>) -> (Provisioner, Vec<Effect>) {
    let (now, told) = &*TOLD;
    assert!(told.len() > 20_000, "{}", told.len());
    let mut core = Provisioner::new(Config {
        incarnation: 9,
        ..Config::default()
    });
    let mut effects = Vec::new();
    for (n, event) in told {
        let event = match event {
            Event::ObjectUpdated(object) => change(*n, &object.key(), event.clone()),
            event => Some(event.clone()),
        };
        if let Some(event) = event {
            effects.extend(core.step(*now, event).effects);
        }
    }
    assert_eq!(core.workers().count(), usize::from(APPLICATIONS));
    (core, effects)
}

/// Tells of one object of one application something else.
fn drifted(kind: Kind, change: impl Fn(&mut Value)) -> impl Fn(u16, &Key, Event) -> Option<Event> {
    move |n, key, event| {
        if n != 400 || key.kind != kind || &*key.name != "ledger400" {
            return Some(event);
        }
        let mut value = serde_json::to_value(&event).unwrap();
        change(&mut value["object-updated"]);
        serde_json::from_value(value).ok()
    }
}

#[test]
fn a_thousand_applications_at_rest_are_asked_nothing() {
    assert_eq!(start(|_, _, event| Some(event)), []);
}

#[test]
fn what_was_edited_by_hand_is_read_and_nothing_else_is() {
    let image = drifted(Kind::StatefulSet, |set| {
        set["spec"]["template"]["spec"]["containers"][0]["image"] =
            json!("registry.example/other:1");
    });
    let rules = drifted(Kind::Role, |role| role["rules"][0]["verbs"] = json!(["*"]));
    for (kind, effects) in [
        (Kind::StatefulSet, start(image)),
        (Kind::Role, start(rules)),
    ] {
        // The first of its chain: a fresh read, with managed fields, then take-over and apply.
        assert_eq!(effects.len(), 1, "{effects:?}");
        let Action::Get { key } = &effects[0].action else {
            panic!("{effects:?}");
        };
        assert_eq!((key.kind, &*key.name), (kind, "ledger400"));
    }
}

#[test]
fn what_has_lost_its_label_is_tried_to_be_made_and_nothing_else_is() {
    // The lists are selected by label: it is not in them.
    let unlabelled =
        |n: u16, key: &Key, event: Event| (n != 400 || key.kind != Kind::Role).then_some(event);
    let effects = start(unlabelled);
    assert_eq!(effects.len(), 1, "{effects:?}");
    let Action::Create { manifest } = &effects[0].action else {
        panic!("{effects:?}");
    };
    assert_eq!(
        (manifest.key.kind, &*manifest.key.name),
        (Kind::Role, "ledger400")
    );
}

/// An effect in two words, and the name of its object.
fn deed(effect: &Effect) -> String {
    match &effect.action {
        Action::Get { key } => format!("get {:?} {}", key.kind, key.name),
        Action::TakeOver { key, .. } => format!("take over {:?} {}", key.kind, key.name),
        Action::Apply { manifest, .. } => {
            format!("apply {:?} {}", manifest.key.kind, manifest.key.name)
        }
        other => format!("{other:?}"),
    }
}

#[test]
fn the_one_that_was_edited_is_read_taken_over_and_applied_once_and_no_other_is_touched() {
    // What the server answers to each request of the chain is learned in a world with that one application.
    let (mut world, lists) = first_lists();
    let model = fleet::model(&lists);
    world.edit("shop", "ledger", &Edit::Rights);
    let (mut edited, mut answers) = (None, Vec::new());
    let from = world.steps.len();
    while let Some(choice) = world.choices().first().cloned() {
        world.take(&choice);
        answers.extend(world.ran.iter().cloned());
        assert!(answers.len() < 20, "{answers:?}");
    }
    for (_, event, _) in &world.steps[from..] {
        if let Event::ObjectUpdated(object) = event
            && object.key().kind == Kind::Role
        {
            edited.get_or_insert_with(|| of_nth(event, &model, 400));
        }
    }
    let edited = edited.expect("the edit is told");

    let (mut core, mut asked) = started(|n, key, event| {
        let it = n == 400 && key.kind == Kind::Role;
        Some(if it { edited.clone() } else { event })
    });
    let mut chain = Vec::new();
    let mut answers = answers.into_iter();
    while !asked.is_empty() {
        let effect = asked.remove(0);
        let (_, outcome) = answers.next().expect("no more is asked than of one alone");
        chain.push(deed(&effect));
        let id = effect.id;
        let answer = of_nth(&Event::EffectCompleted { id, outcome }, &model, 400);
        let Event::EffectCompleted { outcome, .. } = answer else {
            panic!("{answer:?}");
        };
        let step = core.step(TOLD.0, Event::EffectCompleted { id, outcome });
        asked.extend(step.effects);
    }
    assert_eq!(answers.next(), None, "one alone is asked more");
    assert_eq!(
        chain,
        [
            "get Role ledger400",
            "take over Role ledger400",
            "apply Role ledger400"
        ]
    );
}
