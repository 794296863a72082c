//! Spans by OpenTelemetry's protocol, where its variables ask for them: one for each batch, in it one for each effect.
//!
//! Nothing waits for a collector: spans go to a bounded queue, a thread of its own sends them, and what does not fit or cannot
//! be sent is dropped and counted.

mod exporter;
mod settings;

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use pilotage_core::effect::Effect;
use pilotage_core::name::Uid;
use pilotage_core::outcome::Outcome;
use pilotage_core::time::Timestamp;
use serde_json::{Value, json};

use crate::clock;
use crate::identity::draw_uid;
use crate::runtime::Observer;

use self::exporter::Exporter;
pub use self::settings::{Settings, Wrong};

/// Makes spans of what it observes.
#[derive(Debug)]
pub struct Spans {
    /// By owner, since one batch of each runs at a time.
    open: Mutex<HashMap<Uid, Batch>>,
    exporter: Exporter,
    settings: Settings,
}

/// A batch that runs.
#[derive(Debug)]
struct Batch {
    trace: u128,
    span: u64,
    name: String,
    attributes: Value,
    begun: Timestamp,
    /// When the effect that runs was begun.
    effect: Timestamp,
    done: Vec<Value>,
    /// What the effect that was not done was told.
    wrong: Option<String>,
}

impl Spans {
    /// Begins to send to where the settings say.
    ///
    /// # Errors
    /// The thread that sends cannot be made.
    pub fn start(settings: Settings) -> std::io::Result<Self> {
        Ok(Spans {
            open: Mutex::default(),
            exporter: Exporter::start(&settings)?,
            settings,
        })
    }

    /// Sends what there is, for two seconds at most, and says how many spans were dropped since the start.
    pub fn end(&self) -> u64 {
        self.exporter.end()
    }

    fn open(&self) -> std::sync::MutexGuard<'_, HashMap<Uid, Batch>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for Spans {
    fn batch(&self, effects: &[Effect]) {
        // Without randomness there is nothing to name it by.
        let (Some(first), Ok(trace), Ok(span)) = (effects.first(), draw_uid(), draw_uid()) else {
            return;
        };
        if !self.settings.samples(trace.0) {
            return;
        }
        let now = clock::now();
        let batch = Batch {
            trace: trace.0,
            span: low(span),
            name: format!("batch {}", first.subject),
            attributes: attributes(&[
                ("pilotage.application", first.subject.to_string()),
                ("pilotage.application.uid", first.id.owner.to_string()),
                ("pilotage.because", first.because.to_string()),
            ]),
            begun: now,
            effect: now,
            done: Vec::new(),
            wrong: None,
        };
        self.open().insert(first.id.owner, batch);
    }

    fn effect(&self, effect: &Effect) {
        if let Some(batch) = self.open().get_mut(&effect.id.owner) {
            batch.effect = clock::now();
        }
    }

    fn outcome(&self, effect: &Effect, outcome: &Outcome) {
        let mut open = self.open();
        let Some(batch) = open.get_mut(&effect.id.owner) else {
            return;
        };
        let Ok(span) = draw_uid() else { return };
        let (word, wrong) = match outcome {
            Outcome::Done(_) => ("done", None),
            Outcome::Refused { message, .. } => ("refused", Some(message.to_string())),
            Outcome::Unknown => ("unknown", Some("no answer".to_owned())),
            Outcome::NotAttempted => ("not-attempted", None),
        };
        let id = &effect.id;
        let mut told = vec![
            (
                "pilotage.effect",
                format!("{}/{}/{}", id.owner, id.incarnation, id.sequence),
            ),
            ("pilotage.action", effect.action.to_string()),
            ("pilotage.because", effect.because.to_string()),
            ("pilotage.outcome", word.to_owned()),
        ];
        if let Outcome::Refused { reason, .. } = outcome {
            told.push(("pilotage.reason", format!("{reason:?}")));
        }
        let begun = match outcome {
            Outcome::NotAttempted => clock::now(),
            _ => batch.effect,
        };
        batch.done.push(json!({
            "traceId": format!("{:032x}", batch.trace),
            "spanId": format!("{:016x}", low(span)),
            "parentSpanId": format!("{:016x}", batch.span),
            "name": effect.action.to_string(),
            "kind": 3,
            "startTimeUnixNano": nanoseconds(begun),
            "endTimeUnixNano": nanoseconds(clock::now()),
            "attributes": attributes(&told),
            "status": status(wrong.as_deref()),
        }));
        if batch.wrong.is_none() {
            batch.wrong = wrong;
        }
    }

    fn batch_ended(&self, owner: Uid) {
        let Some(mut batch) = self.open().remove(&owner) else {
            return;
        };
        batch.done.push(json!({
            "traceId": format!("{:032x}", batch.trace),
            "spanId": format!("{:016x}", batch.span),
            "name": batch.name,
            "kind": 1,
            "startTimeUnixNano": nanoseconds(batch.begun),
            "endTimeUnixNano": nanoseconds(clock::now()),
            "attributes": batch.attributes,
            "status": status(batch.wrong.as_deref()),
        }));
        self.exporter.take(batch.done);
    }
}

/// 64 random bits of a drawn identity: the low ones, of which two are fixed.
fn low(uid: Uid) -> u64 {
    (uid.0 & u128::from(u64::MAX)) as u64
}

/// As JSON of the protocol has numbers of 64 bits: as text.
fn nanoseconds(at: Timestamp) -> String {
    (u128::from(at.0) * 1_000_000).to_string()
}

fn attributes(pairs: &[(&str, String)]) -> Value {
    let all = pairs
        .iter()
        .map(|(key, value)| json!({ "key": key, "value": { "stringValue": value } }));
    all.collect()
}

/// Unset where all went well: that is what well means to a tracer.
fn status(wrong: Option<&str>) -> Value {
    match wrong {
        None => json!({}),
        Some(message) => json!({ "code": 2, "message": message }),
    }
}
