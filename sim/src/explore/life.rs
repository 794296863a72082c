//! The life of one application under a schedule: deploy, active, scale up, scale down, scale up again while scaling down,
//! trust, refresh, remove.

use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use pilotage_core::effect::Effect;
use pilotage_core::life::Life;
use pilotage_core::name::Uid;
use pilotage_core::state::ApplicationCommand;

use crate::invariant::{Broken, Moment, Who, Witness};
use crate::schedule::{Draw, Planned, Schedule, When};
use crate::world::{Choice, World};

use super::rest::Rest;

/// The model of the life, which is also its namespace.
pub const MODEL: &str = "shop";
/// The application.
pub const APPLICATION: &str = "ledger";
/// More choices than this in one life, and it does not come to rest.
const BOUND: u32 = 30_000;

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
}

/// The whole life.
pub const LIFE: [Stage; 7] = [
    Stage::Deploy,
    Stage::ScaleUp,
    Stage::ScaleDown,
    Stage::ScaleUpAgain,
    Stage::Trust,
    Stage::Refresh,
    Stage::Remove,
];

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
}

impl Run {
    /// The beginning of a life.
    pub fn new(schedule: Schedule) -> Self {
        let mut world = World::new();
        world.remember = false;
        Run {
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
        if self.stage == 0 || (self.stage == 3 && self.units_leave()) {
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
            let before = Moment::of(&self.world, false);
            self.world.begin_taking();
            self.world.befall(MODEL, APPLICATION, &planned.fault);
            self.witness.check(&before, &self.world, Who::Person)?;
        }
        Ok(())
    }

    /// The user goes on.
    fn command(&mut self) -> Result<(), Broken> {
        let Some(stage) = LIFE.get(self.stage).copied() else {
            return Ok(());
        };
        self.stage += 1;
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
        }
        self.witness.check(&before, &self.world, Who::Person)
    }

    fn units_leave(&self) -> bool {
        self.world.application(APPLICATION).is_some_and(|one| {
            let mut units = one.status.units.iter();
            units.any(|unit| unit.life != Life::Alive)
        })
    }

    fn rest(&mut self) -> Result<Progress, Broken> {
        self.witness.check_at_rest(&self.world)?;
        let rest = Arc::new(Rest::of(&self.world));
        if LIFE.get(self.stage) == Some(&Stage::ScaleUpAgain) {
            return Err(Broken::new(0, "no unit leaves although fewer are wanted"));
        }
        self.rests += 1;
        if self.stage == LIFE.len() {
            return Ok(Progress::Ended(rest));
        }
        self.command()?;
        Ok(Progress::Rested(rest))
    }
}
