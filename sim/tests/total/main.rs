//! `step` is total: whatever it is told, in whatever order, however untrue, it answers, and its promises hold.
#![allow(missing_docs)]

mod history;
mod kinds;
mod lies;
mod lists;
mod numbers;

use std::collections::BTreeMap;

use pilotage_core::event::Event;
use pilotage_core::provisioner::Provisioner;
use pilotage_core::time::Timestamp;
use pilotage_core::worker::phase::Phase;

use history::{History, Moment, history};
use kinds::EventKind;
use numbers::Numbers;

/// Enough that every pair of event kind and phase is met several times.
const SEEDS: u64 = 500;
/// Events told to each core.
const EVENTS: usize = 24;

/// Says how to run a seed again, should it end in a panic.
struct Rerun(u64);

impl Drop for Rerun {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!(
                "run it again: SEED={} cargo test -p pilotage-sim --test total any_event",
                self.0
            );
        }
    }
}

#[test]
fn any_event_at_any_moment_is_answered() {
    let history = history();
    let by_phase = by_phase(&history);
    let mut met = BTreeMap::new();
    let seeds = match std::env::var("SEED") {
        Ok(seed) => {
            let seed: u64 = seed.parse().expect("SEED is a number");
            seed..seed + 1
        }
        Err(_) => 0..SEEDS,
    };
    let all = seeds.end - seeds.start == SEEDS;
    for seed in seeds {
        let _rerun = Rerun(seed);
        run(&history, &by_phase, seed, &mut met);
    }
    if !all {
        return;
    }
    let missed: Vec<_> = (EventKind::ALL.iter())
        .flat_map(|kind| Phase::ALL.map(|phase| (*kind, phase)))
        .filter(|pair| !met.contains_key(pair))
        .collect();
    assert_eq!(missed, [], "pairs of event kind and phase that no seed met");
}

/// The moments at which some application is in a phase; all phases alike likely, however short they are.
fn by_phase(history: &History) -> BTreeMap<Phase, Vec<&Moment>> {
    let mut moments: BTreeMap<Phase, Vec<&Moment>> = BTreeMap::new();
    for moment in &history.moments {
        for application in &history.applications {
            let phase = kinds::phase(&moment.core, *application);
            moments.entry(phase).or_default().push(moment);
        }
    }
    moments
}

fn run(
    history: &History,
    by_phase: &BTreeMap<Phase, Vec<&Moment>>,
    seed: u64,
    met: &mut BTreeMap<(EventKind, Phase), u32>,
) {
    let mut numbers = Numbers::new(seed);
    let phases: Vec<Phase> = by_phase.keys().copied().collect();
    let phase = *numbers.one_of(&phases);
    let moment = *numbers.one_of(&by_phase[&phase]);
    let in_phase: Vec<_> = (history.applications.iter().copied())
        .filter(|application| kinds::phase(&moment.core, *application) == phase)
        .collect();
    let (mut core, mut at) = (moment.core.clone(), moment.at);
    for _ in 0..EVENTS {
        let whom = if numbers.percent(70) {
            *numbers.one_of(&in_phase)
        } else {
            *numbers.one_of(&history.applications)
        };
        let kind = *numbers.one_of(EventKind::ALL);
        let event = lies::event(&mut numbers, history, moment, kind, whom);
        for phase in kinds::meets(history, &core, &event) {
            *met.entry((kind, phase)).or_default() += 1;
        }
        at = lies::when(&mut numbers, at);
        tell(&mut core, at, &event);
        if numbers.percent(30) {
            tell(&mut core, at, &event);
        }
        if numbers.percent(20) {
            wake(&mut core);
        }
    }
    wake(&mut core);
    let written = serde_json::to_string(&core).expect("a core is written");
    let read: Provisioner = serde_json::from_str(&written).expect("a core is read");
    assert!(read == core, "a core is read as it was written");
}

/// Tells the core and its twin: both say the same.
fn tell(core: &mut Provisioner, at: Timestamp, event: &Event) {
    let mut twin = core.clone();
    let (step, again) = (core.step(at, event.clone()), twin.step(at, event.clone()));
    assert_eq!(step, again, "the same core, asked the same: {event:?}");
    assert!(*core == twin, "the same core, told the same: {event:?}");
    let mut owners: BTreeMap<_, Vec<u32>> = BTreeMap::new();
    for effect in &step.effects {
        owners
            .entry(effect.id.owner)
            .or_default()
            .push(effect.id.sequence);
    }
    for (owner, sequence) in owners {
        let follow = sequence
            .windows(2)
            .all(|pair| pair[0].wrapping_add(1) == pair[1]);
        assert!(follow, "the effects of {owner} are one batch: {sequence:?}");
    }
}

/// After the timer at the moment that was asked for there are effects, or a later moment, or none.
fn wake(core: &mut Provisioner) {
    let Some(at) = core
        .clone()
        .step(
            Timestamp(0),
            Event::SourceFailed {
                source: pilotage_core::event::Source::Store,
                reason: "".into(),
            },
        )
        .wake_at
    else {
        return;
    };
    let step = core.step(at, Event::Timer);
    let later = step.wake_at.is_none_or(|next| next > at);
    assert!(
        !step.effects.is_empty() || later,
        "woken at {at} as asked, it does nothing and asks for {:?}",
        step.wake_at
    );
}
