//! The order of what is told at first does not matter, and what is told again does not either.

use std::collections::BTreeMap;

use pilotage_core::event::{Event, Source};
use pilotage_core::kubernetes::Kind;
use pilotage_core::name::Uid;
use pilotage_core::provisioner::{Config, Provisioner};
use pilotage_core::state::ApplicationCommand;
use pilotage_sim::world::{Choice, World};

use crate::history::rest;
use crate::numbers::Numbers;

/// The first lists of every source, by source, as a world that starts again tells them.
fn first_lists(world: &World) -> BTreeMap<Source, Vec<Event>> {
    let mut world = world.clone();
    world.steps.clear();
    world.restart();
    let sources: Vec<Source> = [Source::Store]
        .into_iter()
        .chain(Kind::ALL.map(Source::Cluster))
        .collect();
    let mut lists = BTreeMap::new();
    for source in sources {
        let from = world.steps.len();
        // One at a time, so that nothing else happens meanwhile.
        while world.choices().contains(&Choice::Tell(source)) {
            world.take(&Choice::Tell(source));
        }
        let told = world.steps[from..]
            .iter()
            .map(|(_, event, _)| event.clone());
        lists.insert(source, told.collect());
    }
    lists
}

/// Shuffles what a list tells, but for its begin and its end, and keeps together what is told of one record.
fn shuffle_list(numbers: &mut Numbers, list: &[Event]) -> Vec<Event> {
    let [begin, inner @ .., end] = list else {
        panic!("a list begins and ends");
    };
    assert!(matches!(
        (begin, end),
        (Event::Listing { .. }, Event::Synced { .. })
    ));
    let mut groups: Vec<(Option<Uid>, Vec<Event>)> = Vec::new();
    for event in inner {
        let record = event.record().map(|record| record.uid);
        match groups.last_mut() {
            Some((known, events)) if record.is_some() && *known == record => {
                events.push(event.clone())
            }
            _ => groups.push((record, vec![event.clone()])),
        }
    }
    numbers.shuffle(&mut groups);
    let mut list = vec![begin.clone()];
    list.extend(groups.into_iter().flat_map(|(_, events)| events));
    list.push(end.clone());
    list
}

/// All lists at once: each in its own order, but whose turn it is nobody knows.
fn interleave(numbers: &mut Numbers, lists: &BTreeMap<Source, Vec<Event>>) -> Vec<Event> {
    let mut lists: Vec<Vec<Event>> = (lists.values())
        .map(|list| shuffle_list(numbers, list).into_iter().rev().collect())
        .collect();
    let mut all = Vec::new();
    while !lists.is_empty() {
        let at = numbers.below(lists.len());
        all.extend(lists[at].pop());
        if lists[at].is_empty() {
            lists.swap_remove(at);
        }
    }
    all
}

/// What a new core says to these events, as bytes, and what its workers then are.
fn answer(world: &World, events: &[Event]) -> (String, String) {
    let mut core = Provisioner::new(Config {
        incarnation: 7,
        ..Config::default()
    });
    let mut effects = Vec::new();
    for event in events {
        effects.extend(core.step(world.now, event.clone()).effects);
    }
    let workers: Vec<_> = core.workers().collect();
    (
        serde_json::to_string(&effects).unwrap(),
        serde_json::to_string(&workers).unwrap(),
    )
}

#[test]
fn first_lists_in_any_order_give_the_same_effects_to_the_byte() {
    let (mut world, ledger) = rest(3);
    let model = world.add_model("harbour");
    let quay = world.deploy(model, "quay", 2);
    world.drive_until(3_000, |world| {
        (world.application("quay")).is_some_and(|quay| quay.ready_units() == 2)
    });
    // Something is to be done everywhere.
    world.command(ledger, ApplicationCommand::SetTrust { trust: true });
    world.command(quay, ApplicationCommand::SetScale { scale: 1 });
    world.deploy(model, "pier", 1);
    let lists = first_lists(&world);
    let told: usize = lists.values().map(Vec::len).sum();
    assert!(told > 60, "{told} events");
    let in_order: Vec<Event> = lists.values().flatten().cloned().collect();
    let (effects, workers) = answer(&world, &in_order);
    assert!(effects.len() > 100, "{effects}");
    for seed in 0..200 {
        let events = interleave(&mut Numbers::new(seed), &lists);
        let (now_effects, now_workers) = answer(&world, &events);
        assert_eq!(now_effects, effects, "seed {seed}");
        assert_eq!(now_workers, workers, "seed {seed}");
    }
}

#[test]
fn at_rest_no_event_that_is_told_again_has_an_effect() {
    let (world, _) = rest(2);
    let before = world.provisioner.clone();
    let mut tried = 0;
    let mut told_again = |core: &mut Provisioner, event: &Event| {
        let step = core.step(world.now, event.clone());
        assert_eq!(step.effects, [], "told again: {event:?}");
        assert_eq!(step.wake_at, None, "told again: {event:?}");
        tried += 1;
    };
    // Each for itself, and all after one another.
    let mut all = before.clone();
    for (_, event, _) in &world.steps {
        if matches!(event, Event::Listing { .. } | Event::Synced { .. }) {
            continue;
        }
        told_again(&mut before.clone(), event);
        told_again(&mut all, event);
    }
    // Whole lists, begun and ended.
    for (source, list) in first_lists(&world) {
        for event in &list {
            told_again(&mut all, event);
        }
        assert!(list.len() >= 2, "{source:?}");
    }
    assert!(tried > 200, "{tried}");
}
