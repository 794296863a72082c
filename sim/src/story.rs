//! A run as a story: line by line time, event, reason, effect, outcome.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use pilotage_core::effect::Action;
use pilotage_core::event::Event;
use pilotage_core::outcome::{Outcome, Refusal};

use crate::explore::life::Run;
use crate::explore::{Base, Depth, Failure, finish};
use crate::world::{Choice, World};

/// How long a line may be.
const WIDTH: usize = 160;

/// What the last choice did.
pub(crate) fn lines(world: &World, choice: &Choice) -> Vec<String> {
    let mut lines = Vec::new();
    for (effect, outcome) in &world.ran {
        let mut line = cut(format!(
            "{}    -> {}, because {}",
            world.now, effect.action, effect.because
        ));
        line.push_str(": ");
        line.push_str(&answer(&effect.action, outcome));
        lines.push(line);
    }
    if let Choice::Control(action) = choice {
        lines.push(format!(
            "{} .. {:?} looks at {:?} {}",
            world.now, action.controller, action.resource, action.name
        ));
    }
    for (at, event, step) in &world.steps {
        if let Event::EffectCompleted { .. } = event {
            continue;
        }
        let asks = if step.effects.is_empty() { "" } else { " *" };
        lines.push(cut(format!("{at} <- {event}{asks}")));
    }
    lines
}

/// What came of it.
fn answer(action: &Action, outcome: &Outcome) -> String {
    let asks = matches!(action, Action::Get { .. } | Action::Delete { .. });
    match outcome {
        Outcome::Done(_) => "done".into(),
        Outcome::Refused {
            reason: Refusal::NotFound,
            ..
        } if asks => "it is not there".into(),
        Outcome::Refused { reason, message } => format!("refused, {reason:?}: {message}"),
        Outcome::Unknown => "no answer".into(),
        Outcome::NotAttempted => "not attempted".into(),
    }
}

fn cut(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(WIDTH) {
        text.truncate(end);
        text.push('…');
    }
    text
}

/// The story of a failure, and the line that runs it again.
pub fn story(failure: &Failure, base: &Base) -> String {
    let mut run = Run::new(failure.schedule.clone()).thorough();
    run.story = Some(Vec::new());
    let result = finish(&mut run, base, Depth::End);
    let schedule = serde_json::to_string(&failure.schedule).unwrap_or_default();
    let mut text = run.story.unwrap_or_default().join("\n");
    match result {
        Err(broken) => text.push_str(&format!("\n{} ## {broken}", run.world.now)),
        Ok(()) => text.push_str("\n## nothing is broken"),
    }
    text.push_str(&format!(
        "\n\nRun it again:\nPILOTAGE_SCHEDULE='{schedule}' cargo test -p pilotage-sim --test explore \
         the_schedule_that_is_given -- --nocapture\n"
    ));
    text
}
