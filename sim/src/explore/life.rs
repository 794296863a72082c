//! The life of one application under a schedule: deploy, active, scale up, scale down, scale up again while scaling down,
//! trust, refresh, remove.

use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use pilotage_core::effect::Effect;
use pilotage_core::kubernetes::labels::{MANAGED_BY, PILOTAGE};
use pilotage_core::life::Life;
use pilotage_core::name::Uid;
use pilotage_core::state::{ApplicationCommand, ModelCommand, RemovalWish};
use pilotage_core::time::{Span, Timestamp};
use serde_json::json;

use crate::cluster::request::{Propagation, Request, Verb};
use crate::cluster::resource::Resource;
use crate::fault::Fault;
use crate::invariant::{Broken, Moment, Who, Witness};
use crate::schedule::{Draw, Planned, Plot, Schedule, When};
use crate::world::{Choice, World};

use super::rest::{self, Rest};

/// The model of the life, which is also its namespace.
pub const MODEL: &str = "shop";
/// The application.
pub const APPLICATION: &str = "ledger";
/// More choices than this in one life, and it does not come to rest.
const BOUND: u32 = 30_000;

/// After so long without anything new a user looks at the status, and does what it says.
const PATIENCE: Span = Span::seconds(3600);

/// What a user does, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Adds the model and deploys two units.
    Deploy,
    /// Three units.
    ScaleUp,
    /// One unit.
    ScaleDown,
    /// Two units, while the others are still leaving.
    ScaleUpAgain,
    /// All rights.
    Trust,
    /// Another revision.
    Refresh,
    /// Away, storage too.
    Remove,
    /// Away; storage stays.
    RemoveKept,
    /// Away at once, whatever still runs.
    RemoveForced,
    /// Away at once, while claims come; storage stays.
    RemoveEarly,
    /// The model goes, and all storage with it.
    DestroyModel,
}

impl Stage {
    /// Whether the user does it while units leave or come, and not at rest.
    fn is_hasty(self) -> bool {
        matches!(
            self,
            Stage::ScaleUpAgain | Stage::RemoveForced | Stage::RemoveEarly
        )
    }
}

/// What happens in a life.
pub fn stages(plot: Plot) -> &'static [Stage] {
    match plot {
        Plot::Whole => &[
            Stage::Deploy,
            Stage::ScaleUp,
            Stage::ScaleDown,
            Stage::ScaleUpAgain,
            Stage::Trust,
            Stage::Refresh,
            Stage::Remove,
        ],
        Plot::Kept => &[Stage::Deploy, Stage::ScaleDown, Stage::RemoveKept],
        Plot::Forced => &[Stage::Deploy, Stage::ScaleDown, Stage::RemoveForced],
        Plot::Early => &[Stage::Deploy, Stage::RemoveEarly, Stage::DestroyModel],
    }
}

/// What a step led to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Things go on.
    Going,
    /// Nothing could happen any more; the user went on to the next stage.
    Rested(Arc<Rest>),
    /// The life is over, and nothing can happen any more.
    Ended(Arc<Rest>),
}

/// One life, at one moment. A clone is a fork.
#[derive(Clone, Debug)]
pub struct Run {
    /// The world that it happens in.
    pub world: World,
    /// What was planned, as a whole.
    pub schedule: Schedule,
    /// Choices made so far.
    pub choices: u32,
    /// How often the life came to rest.
    pub rests: usize,
    /// What happened, line by line, if it is to be told.
    pub story: Option<Vec<String>>,
    left: VecDeque<Planned>,
    draw: Option<Draw>,
    witness: Witness,
    stage: usize,
    application: Uid,
    /// When the last thing went wrong, or the user last did something.
    quiet_since: Timestamp,
}

impl Run {
    /// The beginning of a life.
    pub fn new(schedule: Schedule) -> Self {
        let mut world = World::new();
        world.remember = false;
        if schedule.plot.announces() {
            world.events = true;
            world.restart();
        }
        Run {
            quiet_since: world.now,
            world,
            choices: 0,
            rests: 0,
            story: None,
            left: schedule.faults.iter().cloned().collect(),
            draw: schedule.seed.map(Draw::new),
            witness: Witness::default(),
            schedule,
            stage: 0,
            application: Uid(0),
        }
    }

    /// Looks for secrets in every step.
    pub fn thorough(mut self) -> Self {
        self.witness.thorough = true;
        self
    }

    /// Plans one more thing that goes wrong.
    pub fn plan(&mut self, planned: Planned) {
        self.schedule.faults.push(planned.clone());
        self.left.push_back(planned);
    }

    /// Whether everything that was planned has happened.
    pub fn is_undisturbed(&self) -> bool {
        self.left.is_empty()
    }

    /// The effect that is run next, if that is what happens next.
    pub fn next_effect(&mut self) -> Option<Effect> {
        match self.world.choices().first() {
            Some(Choice::Run(owner)) => self.world.batches.get(owner)?.front().cloned(),
            _ => None,
        }
    }

    /// Lets one thing happen, and checks what has to hold.
    ///
    /// # Errors
    /// What does not hold.
    pub fn step(&mut self) -> Result<Progress, Broken> {
        if self.choices > BOUND {
            return Err(Broken::new(0, "it does not come to rest"));
        }
        let at = When::Choice(self.choices);
        self.choices = self.choices.wrapping_add(1);
        self.fault(at)?;
        if self.stage == 0 || self.is_time_for_haste() {
            self.command()?;
            return Ok(Progress::Going);
        }
        let choices = self.world.choices();
        if choices.is_empty() {
            return self.rest();
        }
        let drawn = self
            .draw
            .as_mut()
            .map_or(0, |draw| draw.below(choices.len()));
        let Some(choice) = choices.get(drawn) else {
            return Ok(Progress::Going);
        };
        let patient = self.world.now <= self.quiet_since.after(PATIENCE);
        if matches!(choice, Choice::Wait(_)) && !patient && self.world.refusing.is_none() {
            self.mend()?;
            return Ok(Progress::Going);
        }
        if matches!(choice, Choice::Run(_)) {
            let lives = self.world.lives();
            self.fault(When::Effect(self.world.effects_run))?;
            if self.world.lives() != lives {
                return Ok(Progress::Going);
            }
        }
        self.take(choice)?;
        Ok(Progress::Going)
    }

    fn take(&mut self, choice: &Choice) -> Result<(), Broken> {
        let before = Moment::of(&self.world, *choice == Choice::Wake);
        self.world.take(choice);
        let who = match choice {
            Choice::Run(_) => Who::Ours,
            Choice::Control(_) => Who::Controller,
            Choice::Tell(_) | Choice::Wake | Choice::Wait(_) => Who::Nobody,
        };
        if let Some(story) = &mut self.story {
            story.extend(crate::story::lines(&self.world, choice));
        }
        self.witness.check(&before, &self.world, who)
    }

    /// What is planned for this moment happens.
    fn fault(&mut self, at: When) -> Result<(), Broken> {
        while let Some(place) = self.left.iter().position(|planned| planned.at == at) {
            let Some(planned) = self.left.remove(place) else {
                break;
            };
            if planned.fault.meddles() {
                self.witness.meddle();
            }
            if let Some(story) = &mut self.story {
                story.push(format!("{} !! {:?}", self.world.now, planned.fault));
            }
            self.quiet_since = self.world.now;
            let before = Moment::of(&self.world, false);
            self.world.begin_taking();
            self.world.befall(MODEL, APPLICATION, &planned.fault);
            let who = match planned.fault {
                Fault::Arrival => Who::Late,
                _ => Who::Person,
            };
            self.witness.check(&before, &self.world, who)?;
        }
        Ok(())
    }

    /// The user goes on.
    fn command(&mut self) -> Result<(), Broken> {
        let Some(stage) = self.next_stage() else {
            return Ok(());
        };
        self.stage += 1;
        self.quiet_since = self.world.now;
        if let Some(story) = &mut self.story {
            story.push(format!("{} == {stage:?}", self.world.now));
        }
        let before = Moment::of(&self.world, false);
        self.world.begin_taking();
        let (world, application) = (&mut self.world, self.application);
        match stage {
            Stage::Deploy => {
                let model = world.add_model(MODEL);
                self.application = world.deploy_private(model, APPLICATION, 2);
            }
            Stage::ScaleUp => {
                world.command(application, ApplicationCommand::SetScale { scale: 3 });
            }
            Stage::ScaleDown => {
                world.command(application, ApplicationCommand::SetScale { scale: 1 });
            }
            Stage::ScaleUpAgain => {
                world.command(application, ApplicationCommand::SetScale { scale: 2 });
            }
            Stage::Trust => {
                world.command(application, ApplicationCommand::SetTrust { trust: true });
            }
            Stage::Refresh => {
                world.refresh(application, 1);
            }
            Stage::Remove => {
                world.remove(application, true, false);
            }
            Stage::RemoveKept => {
                world.remove(application, false, false);
            }
            Stage::RemoveForced => {
                world.remove(application, true, true);
            }
            Stage::RemoveEarly => {
                world.remove(application, false, true);
            }
            Stage::DestroyModel => {
                let model = world.store.models().next().map(|model| model.uid);
                let wish = RemovalWish {
                    destroy_storage: true,
                    force: false,
                };
                if let Some(model) = model {
                    world.model_command(model, ModelCommand::Destroy { wish });
                }
            }
        }
        self.witness.check(&before, &self.world, Who::Person)
    }

    fn next_stage(&self) -> Option<Stage> {
        stages(self.schedule.plot).get(self.stage).copied()
    }

    fn is_time_for_haste(&self) -> bool {
        match self.next_stage() {
            Some(Stage::RemoveEarly) => {
                let claims = &self.world.cluster;
                let mut claims = claims.objects(Resource::PersistentVolumeClaim, None);
                claims.next().is_some()
            }
            Some(stage) => stage.is_hasty() && self.units_leave(),
            None => false,
        }
    }

    fn units_leave(&self) -> bool {
        self.world.application(APPLICATION).is_some_and(|one| {
            let mut units = one.status.units.iter();
            units.any(|unit| unit.life != Life::Alive)
        })
    }

    /// The user looks at what stands in the way, which the status has to name, and puts it right: an object that lost
    /// its label while nobody was there who knew it is somebody else's to us (design, section 4, "Ours"). Returns
    /// whether there was anything.
    fn mend(&mut self) -> Result<bool, Broken> {
        self.quiet_since = self.world.now;
        let disowned = rest::disowned(&self.world);
        for object in &disowned {
            let record = self.world.application(APPLICATION);
            let verb = match record.map(|record| &record.status.provisioner.report.message) {
                Some(message) if !message.contains(object.name()) => {
                    let text = format!(
                        "{} is in the way, and the status says {message:?}",
                        object.name()
                    );
                    return Err(Broken::new(0, text));
                }
                Some(_) => Verb::MergePatch {
                    body: json!({"metadata": {"labels": {MANAGED_BY: PILOTAGE}}}),
                },
                None if self.world.lives() == 1 => {
                    let text = format!("{} is left, and it was known as ours", object.name());
                    return Err(Broken::new(4, text));
                }
                None => Verb::Delete {
                    uid: None,
                    version: None,
                    propagation: Propagation::Background,
                    grace: None,
                },
            };
            if let Some(story) = &mut self.story {
                story.push(format!("{} == Mend {}", self.world.now, object.name()));
            }
            let before = Moment::of(&self.world, false);
            self.world.begin_taking();
            self.world.by_hand(Request {
                manager: "kubectl-label".into(),
                resource: object.resource,
                namespace: (!object.namespace().is_empty()).then(|| object.namespace().into()),
                name: object.name().into(),
                subresource: None,
                verb,
            });
            self.witness.check(&before, &self.world, Who::Person)?;
        }
        Ok(!disowned.is_empty())
    }

    fn rest(&mut self) -> Result<Progress, Broken> {
        // Nothing goes on while a node is away: the user waits for it.
        let lost = self
            .left
            .iter()
            .any(|planned| planned.fault == Fault::NodeLost);
        let now = When::Choice(self.choices);
        let mut left = self.left.iter_mut();
        let returns = left.find(|planned| planned.fault == Fault::NodeReturned && !lost);
        if let Some(planned) = returns {
            planned.at = now;
            return Ok(Progress::Going);
        }
        if self.mend()? {
            return Ok(Progress::Going);
        }
        self.witness.check_at_rest(&self.world)?;
        let rest = Arc::new(Rest::of(&self.world));
        if self.next_stage().is_some_and(Stage::is_hasty) {
            return Err(Broken::new(0, "no unit leaves or comes although it should"));
        }
        self.rests += 1;
        if self.next_stage().is_none() {
            return Ok(Progress::Ended(rest));
        }
        self.command()?;
        Ok(Progress::Rested(rest))
    }
}
