//! Exploration: the same life with every fault at every moment, each in a fork of the undisturbed one.

pub mod life;
pub mod rest;

use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;

use pilotage_core::effect::Effect;
use pilotage_core::outcome::Refusal;

use crate::fault::{self, Fault};
use crate::invariant::Broken;
use crate::schedule::{Draw, Planned, Plot, Schedule, When};
use crate::world::Edit;

use life::{Progress, Run};
use rest::Rest;

/// A run that broke something.
#[derive(Clone, Debug)]
pub struct Failure {
    /// What was planned.
    pub schedule: Schedule,
    /// What does not hold.
    pub broken: Broken,
}

/// The undisturbed life.
#[derive(Clone, Debug, Default)]
pub struct Base {
    /// What the user does in it.
    pub plot: Plot,
    /// The world at each rest.
    pub rests: Vec<Arc<Rest>>,
    /// For each effect how many things can become of it.
    pub mishaps: Vec<usize>,
    /// How many choices were made.
    pub choices: u32,
}

/// What an exploration did.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Schedules that were run, each counted from its fork.
    pub schedules: u64,
    /// Choices made in them.
    pub choices: u64,
    /// What broke.
    pub failures: Vec<Failure>,
}

/// How far a disturbed life is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// To its end.
    End,
    /// To the first rest after the last fault. There it has to equal the undisturbed life, so what follows has been
    /// explored.
    Rest,
}

/// Lives the undisturbed life.
///
/// # Errors
/// What does not hold even so.
pub fn undisturbed(plot: Plot) -> Result<Base, Failure> {
    let mut run = Run::new(Schedule::of(plot)).thorough();
    let mut base = Base {
        plot,
        ..Base::default()
    };
    loop {
        let number = run.world.effects_run as usize;
        if let Some(effect) = run.next_effect()
            && base.mishaps.len() == number
        {
            base.mishaps.push(fault::mishaps(&effect).len());
        }
        let progress = run.step().map_err(|broken| Failure {
            schedule: Schedule::of(plot),
            broken,
        })?;
        match progress {
            Progress::Going => {}
            Progress::Rested(rest) => base.rests.push(rest),
            Progress::Ended(rest) => {
                base.rests.push(rest);
                base.choices = run.choices;
                return Ok(base);
            }
        }
    }
}

/// Lives a life to where it is to be followed, and compares it at every rest after its last fault.
///
/// # Errors
/// What does not hold.
pub fn finish(run: &mut Run, base: &Base, depth: Depth) -> Result<(), Broken> {
    loop {
        let number = run.rests;
        let quiet = run.is_undisturbed();
        let (rest, ended) = match run.step()? {
            Progress::Going => continue,
            Progress::Rested(rest) => (rest, false),
            Progress::Ended(rest) => (rest, true),
        };
        if quiet && !base.rests.is_empty() {
            compare(&rest, base, number, &run.schedule)?;
        }
        if ended || (quiet && depth == Depth::Rest) {
            return Ok(());
        }
    }
}

fn compare(rest: &Rest, base: &Base, number: usize, schedule: &Schedule) -> Result<(), Broken> {
    let Some(wanted) = base.rests.get(number) else {
        return Err(Broken::new(0, "it rests more often than it should"));
    };
    // What pods wrote that only a hand asked for is nobody's to delete while the application is there, or its storage
    // is kept.
    let mut planned = schedule.faults.iter();
    let asked = planned.any(|one| matches!(one.fault, Fault::Edit(Edit::Scale(1..))));
    let strays = asked && (rest.has_record() || base.plot == Plot::Kept);
    let storage =
        |text: &str| text.starts_with("PersistentVolumeClaim ") || text.starts_with("storage of ");
    let stray = |text: &str| storage(text) && text.ends_with("should not be there");
    // How many claims came before a removal depends on what went wrong; that each has its record is an invariant.
    let early = base.plot == Plot::Early && number == 0;
    // The namespace of a model that is destroyed is nobody's: what makes it too late leaves it.
    let mut planned = schedule.faults.iter();
    let late = planned.any(|one| one.fault == Fault::Arrival) && base.plot == Plot::Early;
    let nobodys =
        |text: &str| text.starts_with("Namespace ") && text.ends_with("should not be there");
    let mut found = rest.differences(wanted);
    found
        .retain(|text| !(strays && stray(text) || early && storage(text) || late && nobodys(text)));
    match found.first() {
        None => Ok(()),
        Some(first) => Err(Broken::new(
            0,
            format!("at rest {number}: {first} ({} differences)", found.len()),
        )),
    }
}

/// Lives one whole life under a schedule.
///
/// # Errors
/// What does not hold.
pub fn live(schedule: &Schedule, base: &Base) -> Result<Run, Broken> {
    let mut run = Run::new(schedule.clone()).thorough();
    finish(&mut run, base, Depth::End).map(|()| run)
}

impl Tally {
    fn follow(&mut self, mut fork: Run, base: &Base, depth: Depth) {
        self.schedules += 1;
        let from = fork.choices;
        let result = finish(&mut fork, base, depth);
        self.choices += u64::from(fork.choices - from);
        if let Err(broken) = result {
            self.failures.push(Failure {
                schedule: fork.schedule,
                broken,
            });
        }
    }
}

/// Follows a life as long as it `goes_on`, and stops before each effect from that number on, once everything that was
/// planned has happened.
///
/// # Errors
/// What the life itself breaks.
fn at_every_effect(
    mut run: Run,
    from: u32,
    goes_on: impl Fn(&Progress) -> bool,
    mut stop: impl FnMut(&Run, u32, &Effect),
) -> Result<(), Failure> {
    let mut next = from;
    loop {
        let number = run.world.effects_run;
        if number == next
            && run.is_undisturbed()
            && let Some(effect) = run.next_effect()
        {
            next = number + 1;
            stop(&run, number, &effect);
        }
        match run.step() {
            Ok(progress) if goes_on(&progress) => {}
            Ok(_) => return Ok(()),
            Err(broken) => {
                let schedule = run.schedule;
                return Err(Failure { schedule, broken });
            }
        }
    }
}

/// Until the life is over.
fn to_the_end(progress: &Progress) -> bool {
    !matches!(progress, Progress::Ended(_))
}

/// The same life, in which one more thing goes wrong.
fn fork(run: &Run, at: When, fault: Fault) -> Run {
    let mut fork = run.clone();
    fork.plan(Planned { at, fault });
    fork
}

/// Every single thing that can become of an effect, at every effect that is chosen.
pub fn every_mishap(base: &Base, depth: Depth, chosen: impl Fn(u32) -> bool) -> Tally {
    let mut tally = Tally::default();
    let run = Run::new(Schedule::of(base.plot));
    let walked = at_every_effect(run, 0, to_the_end, |run, number, effect| {
        if !chosen(number) {
            return;
        }
        for mishap in fault::mishaps(effect) {
            let at = When::Effect(number);
            tally.follow(fork(run, at, Fault::Effect(mishap)), base, depth);
        }
    });
    tally.failures.extend(walked.err());
    tally
}

/// Every disturbance beside the effects, at every choice that is chosen.
pub fn every_disturbance(base: &Base, depth: Depth, chosen: impl Fn(u32) -> bool) -> Tally {
    let mut tally = Tally::default();
    let mut run = Run::new(Schedule::of(base.plot));
    loop {
        let number = run.choices;
        if chosen(number) {
            for fault in fault::disturbances() {
                tally.follow(fork(&run, When::Choice(number), fault), base, depth);
            }
        }
        if !matches!(run.step(), Ok(Progress::Going | Progress::Rested(_))) {
            return tally;
        }
    }
}

/// Every pair of crashes: the first at every effect that is chosen, the second at every effect after it, up to where the
/// first one's life is followed.
pub fn every_pair(base: &Base, depth: Depth, chosen: impl Fn(u32) -> bool) -> Tally {
    let mut tally = Tally::default();
    let run = Run::new(Schedule::of(base.plot));
    let walked = at_every_effect(run, 0, to_the_end, |run, number, _| {
        if !chosen(number) {
            return;
        }
        for mishap in fault::crashes() {
            let first = fork(run, When::Effect(number), Fault::Effect(mishap));
            second(&mut tally, first, base, depth);
        }
    });
    tally.failures.extend(walked.err());
    tally
}

/// The second crash of a pair, at every effect after the first.
fn second(tally: &mut Tally, run: Run, base: &Base, depth: Depth) {
    let from = run.world.effects_run + 1;
    let goes_on = |progress: &Progress| match progress {
        Progress::Going => true,
        Progress::Rested(_) => depth == Depth::End,
        Progress::Ended(_) => false,
    };
    // That the first crash alone breaks something is told by the single faults.
    let _ = at_every_effect(run, from, goes_on, |run, number, _| {
        for mishap in fault::crashes() {
            let at = When::Effect(number);
            tally.follow(fork(run, at, Fault::Effect(mishap)), base, depth);
        }
    });
}

/// Every late write of a deposed leader: it is deposed at every effect that is chosen, and what it had sent arrives before
/// every later effect of the life that is chosen.
pub fn every_late_write(base: &Base, chosen: impl Fn(u32) -> bool) -> Tally {
    let mut tally = Tally::default();
    let run = Run::new(Schedule::of(base.plot));
    let walked = at_every_effect(run, 0, to_the_end, |run, first, _| {
        if !chosen(first) {
            return;
        }
        let deposed = fork(run, When::Effect(first), Fault::Deposed);
        let walked = at_every_effect(deposed, first, to_the_end, |run, number, _| {
            if chosen(number - first) {
                let arrives = fork(run, When::Choice(run.choices), Fault::Arrival);
                tally.follow(arrives, base, Depth::Rest);
            }
        });
        tally.failures.extend(walked.err());
    });
    tally.failures.extend(walked.err());
    tally
}

/// How many schedules [`every_mishap`] runs: for each effect as many as can become of it.
pub fn singles_expected(base: &Base) -> u64 {
    base.mishaps.iter().map(|count| *count as u64).sum()
}

/// How many schedules [`every_pair`] runs: for each effect and each of its crashes three for every effect that follows,
/// counted by living those lives without forks.
pub fn pairs_expected(base: &Base, depth: Depth, chosen: impl Fn(u32) -> bool) -> u64 {
    let mut expected = 0;
    for first in (0..base.mishaps.len()).filter_map(|number| u32::try_from(number).ok()) {
        if !chosen(first) {
            continue;
        }
        for mishap in fault::crashes() {
            let planned = Schedule::single(base.plot, When::Effect(first), Fault::Effect(mishap));
            let mut run = Run::new(planned);
            // A failing life is counted as far as it goes.
            let _ = finish(&mut run, base, depth);
            expected += 3 * u64::from(run.world.effects_run - first - 1);
        }
    }
    expected
}

/// A schedule from a seed: an order of its own, and one to four faults.
pub fn random(seed: u64, base: &Base) -> Schedule {
    let mut draw = Draw::new(seed);
    let mut faults = Vec::new();
    let effects = base.mishaps.len();
    let disturbances = fault::disturbances();
    let mishaps: Vec<Fault> = fault::crashes()
        .into_iter()
        .chain([
            crate::world::Mishap::LostRequest,
            crate::world::Mishap::LostAnswer,
        ])
        .map(Fault::Effect)
        .collect();
    for _ in 0..=draw.below(4) {
        if draw.below(4) == 0 {
            let node = !faults
                .iter()
                .any(|one: &Planned| one.fault == Fault::NodeLost);
            faults.extend(spell(&mut draw, base, node));
            continue;
        }
        let (at, from) = if draw.below(2) == 0 {
            let number = u32::try_from(draw.below(effects)).unwrap_or(0);
            (When::Effect(number), &mishaps)
        } else {
            let number = draw.below(base.choices as usize);
            (
                When::Choice(u32::try_from(number).unwrap_or(0)),
                &disturbances,
            )
        };
        if let Some(fault) = draw.one_of(from) {
            faults.push(Planned {
                at,
                fault: fault.clone(),
            });
        }
    }
    Schedule {
        plot: base.plot,
        seed: Some(seed),
        faults,
    }
}

/// Something that lasts for a while: a node that is away, or a cluster and a state that refuse everything.
/// `node`: whether it may be a node.
fn spell(draw: &mut Draw, base: &Base, node: bool) -> [Planned; 2] {
    let mut moment = || u32::try_from(draw.below(base.choices as usize)).unwrap_or(0);
    let (one, other) = (moment(), moment());
    let (begin, end) = if node && draw.below(3) == 0 {
        (Fault::NodeLost, Fault::NodeReturned)
    } else {
        // That what is there is not found is a lie, against which nothing helps.
        let mut refusals = Vec::from(fault::refusals());
        refusals.retain(|refusal| *refusal != Refusal::NotFound);
        let refusal = draw.one_of(&refusals).cloned().unwrap_or(Refusal::NotSent);
        (Fault::RefuseAll(refusal), Fault::Relent)
    };
    let at = |number, fault| Planned {
        at: When::Choice(number),
        fault,
    };
    [at(one.min(other), begin), at(one.max(other), end)]
}
