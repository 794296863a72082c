//! A world: one provisioner, a store, a cluster, and a clock that somebody turns.
//!
//! Everything that happens is one [`Choice`]; [`World::choices`] are those that are ready now. A driver takes one after
//! the other, so the same choices give the same world.

mod people;
mod running;
mod telling;

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::mem;

use pilotage_core::digest::DigestKey;
use pilotage_core::effect::Effect;
use pilotage_core::event::{Event, Source};
use pilotage_core::name::{Uid, Version};
use pilotage_core::outcome::{Outcome, Refusal, Reply};
use pilotage_core::provisioner::{Config, Provisioner, Step};
use pilotage_core::time::{Span, Timestamp};

use crate::cluster::Cluster;
use crate::cluster::controllers::ActionId;
use crate::cluster::controllers::settings::Settings as ControllerSettings;
use crate::cluster::settings::Settings;
use crate::store::Store;

use telling::Telling;

pub use people::{CANARY, Edit};
pub use running::Mishap;
pub use telling::Then;

/// How many writes of the cluster are kept, so that a list can be as old as they are.
const HISTORY: usize = 128;

/// One thing that can happen next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// A source tells the provisioner its next event.
    Tell(Source),
    /// The next effect of an application's batch is run and answered.
    Run(Uid),
    /// A controller does its next work.
    Control(ActionId),
    /// The provisioner is woken.
    Wake,
    /// Nothing is ready: time goes on to the next moment at which something is.
    Wait(Timestamp),
}

/// One provisioner, a store, a cluster, and a clock.
#[derive(Clone, Debug)]
pub struct World {
    /// The moment.
    pub now: Timestamp,
    /// The state.
    pub store: Store,
    /// The API server, with its controllers and kubelets.
    pub cluster: Cluster,
    /// The core.
    pub provisioner: Provisioner,
    /// Effects that were asked for and not run yet, by owner, in order.
    pub batches: BTreeMap<Uid, VecDeque<Effect>>,
    /// The steps of the core, oldest first: all of them, or those of the last [`World::take`] alone.
    pub steps: Vec<(Timestamp, Event, Step)>,
    /// The effects that the last [`World::take`] ran, with what became of them.
    pub ran: Vec<(Effect, Outcome)>,
    /// How many effects were run so far, in all lives of the provisioner.
    pub effects_run: u32,
    /// The newest version of each record that the provisioner of now has been told of.
    pub heard: BTreeMap<Uid, Version>,
    /// When the provisioner asked to be woken.
    pub wake_at: Option<Timestamp>,
    /// How far the provisioner's clock is behind.
    pub behind: Span,
    /// While it is set, every effect of an application is refused so.
    pub refusing: Option<Refusal>,
    /// What becomes of the next effect, instead of what should.
    pub mishap: Option<Mishap>,
    /// Whether steps of former moments are kept.
    pub remember: bool,
    /// Whether provisioners record Kubernetes Events; those that begin from now on.
    pub events: bool,
    /// Whether provisioners say when all that users want is there; those that begin from now on.
    pub confirm: bool,
    /// The namespaces that provisioners are told of, those that begin from now on; empty for all.
    pub namespaces: Vec<Box<str>>,
    /// How many of its last changes the cluster remembers; a watch from before is answered with 410.
    pub history: usize,
    /// The key of the fingerprints of secrets.
    pub key: DigestKey,
    telling: BTreeMap<Source, Telling>,
    lives: u32,
    /// Batches of a deposed provisioner that are still on their way.
    late: Vec<VecDeque<Effect>>,
}

impl World {
    /// A world in which nothing has happened yet.
    pub fn new() -> Self {
        Self::with(Settings::default(), ControllerSettings::default())
    }

    /// A world with these settings.
    pub fn with(settings: Settings, controllers: ControllerSettings) -> Self {
        let now = Timestamp(1_772_600_000_000);
        let mut cluster = Cluster::new(settings);
        cluster.start_controllers(now, controllers);
        let mut world = World {
            now,
            store: Store::new(),
            cluster,
            provisioner: Provisioner::new(Config::default()),
            batches: BTreeMap::new(),
            steps: Vec::new(),
            ran: Vec::new(),
            effects_run: 0,
            heard: BTreeMap::new(),
            wake_at: None,
            behind: Span(0),
            refusing: None,
            mishap: None,
            remember: true,
            events: false,
            confirm: false,
            namespaces: Vec::new(),
            history: HISTORY,
            telling: BTreeMap::new(),
            key: DigestKey::default(),
            lives: 0,
            late: Vec::new(),
        };
        world.restart();
        world
    }

    /// The provisioner dies and another begins: it knows nothing, and what was in flight is lost.
    pub fn restart(&mut self) {
        let newest = self.cluster.version();
        self.restart_from(newest);
    }

    /// As [`World::restart`]; the new one's first lists of the cluster are as old as that version.
    pub fn restart_from(&mut self, version: u64) {
        self.lives = self.lives.wrapping_add(1);
        self.provisioner = Provisioner::new(Config {
            incarnation: self.lives,
            events: self.events,
            confirm: self.confirm,
            namespaces: self.namespaces.clone(),
            ..Config::default()
        });
        self.batches.clear();
        self.heard.clear();
        self.wake_at = None;
        self.mishap = None;
        self.list_all(version);
    }

    /// The provisioner is deposed and another begins; what the former one has sent is still on its way.
    pub fn depose(&mut self) {
        self.late.extend(mem::take(&mut self.batches).into_values());
        self.restart();
    }

    /// Everything that can happen next. Time goes on only when nothing else can.
    pub fn choices(&mut self) -> Vec<Choice> {
        let mut choices: Vec<Choice> = self
            .batches
            .keys()
            .map(|owner| Choice::Run(*owner))
            .collect();
        let held = self.hear(&mut choices);
        choices.extend(
            self.cluster
                .pending(self.now)
                .into_iter()
                .map(Choice::Control),
        );
        let wake_at = self.wake_at.map(|at| at.after(self.behind));
        if wake_at.is_some_and(|at| at <= self.now) {
            choices.push(Choice::Wake);
        }
        if choices.is_empty() {
            let next = [wake_at, self.cluster.wake_at(), held]
                .into_iter()
                .flatten()
                .min();
            choices.extend(next.map(Choice::Wait));
        }
        choices
    }

    /// Lets one thing happen.
    pub fn take(&mut self, choice: &Choice) {
        self.begin_taking();
        match choice {
            Choice::Tell(source) => {
                if let Some(event) = self.next_event(*source) {
                    self.step(event);
                }
            }
            Choice::Run(owner) => self.run_next(*owner),
            Choice::Control(action) => self.cluster.run(self.now, action),
            Choice::Wake => self.step(Event::Timer),
            Choice::Wait(until) => self.now = self.now.max(*until),
        }
    }

    /// How many provisioners there were so far.
    pub fn lives(&self) -> u32 {
        self.lives
    }

    /// Forgets what the last choice did.
    pub fn begin_taking(&mut self) {
        self.ran.clear();
        if !self.remember {
            self.steps.clear();
        }
        // What was heard long ago nobody asks for again.
        self.cluster.compact(self.history);
    }

    /// Hands one event to the provisioner.
    pub fn step(&mut self, event: Event) {
        self.note_heard(&event);
        let at = Timestamp(self.now.0.saturating_sub(self.behind.0));
        let step = self.provisioner.step(at, event.clone());
        for effect in &step.effects {
            self.batches
                .entry(effect.id.owner)
                .or_default()
                .push_back(effect.clone());
        }
        self.wake_at = step.wake_at;
        self.steps.push((self.now, event, step));
    }

    fn note_heard(&mut self, event: &Event) {
        let mut note = |event: &Event| {
            if let Some(record) = event.record() {
                let heard = self.heard.entry(record.uid).or_default();
                *heard = record.version.max(*heard);
            }
        };
        note(event);
        if let Event::EffectCompleted {
            outcome: Outcome::Done(Reply::Recorded { changes, .. }),
            ..
        } = event
        {
            changes.iter().for_each(note);
        }
    }

    /// Lets things happen, the first that is ready each time, until `done` or until nothing can happen any more.
    ///
    /// Returns whether `done` came true within so many steps.
    pub fn drive_until(&mut self, bound: usize, done: impl Fn(&World) -> bool) -> bool {
        for _ in 0..bound {
            if done(self) {
                return true;
            }
            let choices = self.choices();
            let Some(choice) = choices.first() else {
                return done(self);
            };
            let choice = choice.clone();
            self.take(&choice);
        }
        done(self)
    }

    /// The record of an application by its name.
    pub fn application(&self, name: &str) -> Option<&Arc<pilotage_core::state::Application>> {
        self.store
            .applications()
            .find(|application| &*application.name == name)
    }
}

impl Default for World {
    fn default() -> Self {
        Self::new()
    }
}
