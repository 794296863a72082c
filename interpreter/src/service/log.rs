//! The log for machines: one JSON object per line, on stderr.
//!
//! Every outcome of an effect is a line, whatever it is, and so are every warning and every change of an application's
//! status. No line holds a manifest: nothing that
//! could carry a value is written.

use std::sync::{Mutex, PoisonError};

use pilotage_core::effect::Effect;
use pilotage_core::event::Event;
use pilotage_core::outcome::Outcome;
use serde_json::{Value, json};

use super::statuses::{Change, Statuses};
use crate::clock;
use crate::runtime::Observer;

/// Writes the log for machines to stderr.
#[derive(Debug, Default)]
pub struct JsonLog {
    statuses: Mutex<Statuses>,
}

impl Observer for JsonLog {
    fn event(&self, event: &Event) {
        let mut statuses = self.statuses.lock().unwrap_or_else(PoisonError::into_inner);
        for change in statuses.hear(event) {
            write(of_change(&change));
        }
    }

    fn outcome(&self, effect: &Effect, outcome: &Outcome) {
        write(of_outcome(effect, outcome));
    }

    fn warning(&self, text: &str) {
        write(json!({ "level": "warning", "message": text }));
    }
}

/// Adds the moment, in milliseconds since 1970, and writes the line.
fn write(mut line: Value) {
    line["time"] = json!(clock::now().0);
    eprintln!("{line}");
}

/// A change of an application's status, as `status` shows it. `from` is null of a new application, `to` of one that is gone.
fn of_change(change: &Change) -> Value {
    let word = |report: &pilotage_core::state::StatusReport| report.word.as_str();
    json!({
        "level": "info",
        "application": change.application,
        "uid": change.uid,
        "from": change.from.as_ref().map(word),
        "to": change.to.as_ref().map(word),
        "message": change.to.as_ref().map_or("", |report| &*report.message),
    })
}

/// What became of an effect, with all that names it. `application` is the model's name where a model asked.
fn of_outcome(effect: &Effect, outcome: &Outcome) -> Value {
    let (level, word) = match outcome {
        Outcome::Done(_) => ("info", "done"),
        Outcome::Refused { .. } => ("warning", "refused"),
        Outcome::Unknown => ("warning", "unknown"),
        Outcome::NotAttempted => ("info", "not-attempted"),
    };
    let mut line = json!({
        "level": level,
        "application": effect.subject,
        "effect": effect.id,
        "action": effect.action.to_string(),
        "because": effect.because.to_string(),
        "outcome": word,
    });
    if let Outcome::Refused { reason, message } = outcome {
        line["reason"] = json!(reason);
        line["message"] = json!(message);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use pilotage_core::effect::EffectId;
    use pilotage_core::outcome::Refusal;

    #[test]
    fn a_refused_effect_is_named_by_application_and_id_and_says_why() {
        let effect: Effect = Effect {
            id: EffectId {
                owner: pilotage_core::name::Uid(7),
                incarnation: 2,
                sequence: 5,
            },
            subject: "db".into(),
            because: pilotage_core::reason::Reason::Report,
            action: pilotage_core::effect::Action::List {
                kind: pilotage_core::kubernetes::Kind::Pod,
                namespace: None,
            },
        };
        let refused = Outcome::Refused {
            reason: Refusal::Forbidden,
            message: "not allowed".into(),
        };
        let line = of_outcome(&effect, &refused);
        assert_eq!(line["application"], "db");
        assert_eq!(line["effect"], json!(effect.id));
        assert_eq!(line["effect"]["sequence"], 5);
        assert_eq!(line["outcome"], "refused");
        assert_eq!(line["level"], "warning");
        assert_eq!(line["message"], "not allowed");
        assert!(!line.to_string().contains('\n'));
    }
}
