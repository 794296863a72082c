//! What people read of a record: the status of its custom resource, with conditions that tools wait for.
//!
//! * `Accepted`: whether the spec is followed; if not, why.
//! * `Ready`: everything that is wanted runs.
//! * `Progressing`: it does not, and that will change by itself.

use std::str::FromStr;

use pilotage_core::kubernetes::labels;
use pilotage_core::life::Life;
use pilotage_core::state::{Application, Model, Storage, Word};
use pilotage_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::record::Record;

/// A condition (Kubernetes, "API Conventions": conditions).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Condition {
    pub(super) r#type: Box<str>,
    pub(super) status: Box<str>,
    #[serde(default)]
    pub(super) observed_generation: u64,
    pub(super) last_transition_time: Box<str>,
    pub(super) reason: Box<str>,
    pub(super) message: Box<str>,
}

/// A moment as Kubernetes writes it.
pub(super) fn rfc3339(at: Timestamp) -> Box<str> {
    let millis = i64::try_from(at.0).unwrap_or(i64::MAX);
    let moment = jiff::Timestamp::from_millisecond(millis).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    moment.strftime("%Y-%m-%dT%H:%M:%SZ").to_string().into()
}

/// A moment as it was written; none if it is none.
pub(super) fn moment(text: &str) -> Option<Timestamp> {
    let moment = jiff::Timestamp::from_str(text).ok()?;
    u64::try_from(moment.as_millisecond()).ok().map(Timestamp)
}

/// What a condition says.
struct Says {
    holds: bool,
    reason: &'static str,
    message: Box<str>,
}

impl Says {
    fn new(holds: bool, reason: &'static str, message: &str) -> Self {
        Says {
            holds,
            reason,
            message: message.into(),
        }
    }
}

/// The whole status: of a record that has seen a generation, or of a spec that is refused and makes none.
pub(super) fn status(
    record: Option<&Record>,
    refused: Option<&str>,
    generation: u64,
    at: Timestamp,
    former: &[Condition],
) -> Value {
    let accepted = match refused {
        None => Says::new(true, "Accepted", ""),
        Some(words) => Says::new(false, "Refused", words),
    };
    let mut says = vec![("Accepted", accepted)];
    let mut status = match record {
        Some(Record::Application(application)) => {
            let ready = readiness(application, refused);
            let progressing = progress(application, &ready);
            says.push(("Ready", ready));
            says.push(("Progressing", progressing));
            of_application(application)
        }
        Some(Record::Model(model)) => {
            says.push(("Ready", model_readiness(model, refused)));
            of_model(model)
        }
        Some(Record::Storage(storage)) => of_storage(storage),
        None => {
            let message = refused.unwrap_or_default();
            says.push(("Ready", Says::new(false, "Refused", message)));
            json!({ "word": "error", "message": message })
        }
    };
    let conditions = says
        .into_iter()
        .map(|(r#type, says)| condition(r#type, says, generation, at, former));
    status["conditions"] = json!(conditions.collect::<Vec<_>>());
    status["observedGeneration"] = json!(generation);
    status
}

fn condition(
    r#type: &str,
    says: Says,
    generation: u64,
    at: Timestamp,
    former: &[Condition],
) -> Condition {
    let status = if says.holds { "True" } else { "False" };
    let since = former
        .iter()
        .find(|former| &*former.r#type == r#type && &*former.status == status)
        .map(|former| former.last_transition_time.clone());
    Condition {
        r#type: r#type.into(),
        status: status.into(),
        observed_generation: generation,
        last_transition_time: since.unwrap_or_else(|| rfc3339(at)),
        reason: says.reason.into(),
        message: says.message,
    }
}

fn active_units(application: &Application) -> usize {
    let units = application.status.units.iter();
    units
        .filter(|unit| unit.life == Life::Alive && unit.workload.report.word == Word::Active)
        .count()
}

fn readiness(application: &Application, refused: Option<&str>) -> Says {
    let status = &application.status;
    let shown = &status.settled.report;
    let own = &status.provisioner.report;
    if status.life != Life::Alive {
        return Says::new(false, "Leaving", &own.message);
    }
    if let Some(words) = refused {
        return Says::new(false, "Refused", words);
    }
    let wanted = usize::try_from(application.spec.scale).unwrap_or(usize::MAX);
    let all = status.units.len() == wanted && active_units(application) == wanted;
    if all && status.at_rest && own.word == Word::Active {
        return Says::new(true, "Active", &shown.message);
    }
    let message = match &*shown.message {
        "" => &own.message,
        message => message,
    };
    let word = match (shown.word, own.word) {
        (Word::Active, own) if own != Word::Active => own,
        // Units are active, and not all of them are as they are wanted now.
        (Word::Active | Word::Unknown, _) if !status.at_rest => Word::Active,
        (shown, _) => shown,
    };
    Says::new(false, reason(word), message)
}

fn progress(application: &Application, ready: &Says) -> Says {
    let leaving = application.status.life != Life::Alive;
    let stuck = matches!(ready.reason, "Refused" | "Blocked" | "Error");
    Says::new(
        leaving || !(ready.holds || stuck),
        ready.reason,
        &ready.message,
    )
}

fn reason(word: Word) -> &'static str {
    match word {
        Word::Blocked => "Blocked",
        Word::Error | Word::Failed | Word::Lost => "Error",
        Word::Maintenance | Word::Executing | Word::Rebooting => "Maintenance",
        Word::Terminated => "Terminated",
        Word::Active | Word::Idle => "Updating",
        Word::Waiting | Word::Allocating => "Waiting",
        Word::Unknown => "Unknown",
    }
}

fn of_application(application: &Application) -> Value {
    let shown = &application.status.settled.report;
    let wanted = application.desired_scale();
    json!({
        "word": if application.status.life == Life::Alive { shown.word.as_str() } else { "terminated" },
        "message": &*shown.message,
        "replicas": application.status.units.len(),
        "units": format!("{}/{wanted}", active_units(application)),
        "selector": format!(
            "{}={},{}={}",
            labels::NAME, application.name, labels::APPLICATION_UID, application.uid,
        ),
        "record": application,
    })
}

fn model_readiness(model: &Model, refused: Option<&str>) -> Says {
    let shown = &model.status.status.report;
    match (model.status.life, refused) {
        (Life::Alive, Some(words)) => Says::new(false, "Refused", words),
        (Life::Alive, None) if shown.word == Word::Active => {
            Says::new(true, "Active", &shown.message)
        }
        (Life::Alive, None) => Says::new(false, reason(shown.word), &shown.message),
        _ => Says::new(false, "Leaving", &shown.message),
    }
}

fn of_model(model: &Model) -> Value {
    let shown = &model.status.status.report;
    json!({
        "word": shown.word.as_str(),
        "message": &*shown.message,
        "record": model,
    })
}

fn of_storage(storage: &Storage) -> Value {
    json!({
        "word": storage.instance.word,
        "message": &*storage.instance.status.report.message,
        "record": storage,
    })
}
