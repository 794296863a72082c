//! Events as nobody should tell them: at the wrong moment, about somebody else, with fields that say something else.

use pilotage_core::effect::EffectId;
use pilotage_core::event::{Event, Source};
use pilotage_core::kubernetes::Kind;
use pilotage_core::name::Uid;
use pilotage_core::outcome::{Outcome, Refusal};
use pilotage_core::time::{Span, Timestamp};
use pilotage_sim::fault;
use serde_json::{Value, json};

use crate::history::{History, Moment};
use crate::kinds::EventKind;
use crate::numbers::Numbers;

const SOURCES: [Source; 3] = [
    Source::Store,
    Source::Cluster(Kind::Pod),
    Source::Cluster(Kind::StatefulSet),
];

/// An event of a kind, that really happened or might have, often about `whom`.
pub fn event(
    numbers: &mut Numbers,
    history: &History,
    moment: &Moment,
    kind: EventKind,
    whom: Uid,
) -> Event {
    let event = match kind {
        EventKind::EffectCompleted => Event::EffectCompleted {
            id: effect_id(numbers, history, moment, whom),
            outcome: outcome(numbers, history),
        },
        EventKind::SourceFailed => Event::SourceFailed {
            source: numbers.one_of(&SOURCES).to_owned(),
            reason: "disk is full".into(),
        },
        EventKind::SourceResumed => Event::SourceResumed {
            source: numbers.one_of(&SOURCES).to_owned(),
        },
        EventKind::Timer => Event::Timer,
        EventKind::ModelGone => Event::ModelGone {
            model: *numbers.one_of(&history.models),
        },
        kind => {
            let told: Vec<&Event> = (history.events.iter())
                .filter(|event| EventKind::of(event) == kind)
                .collect();
            assert!(
                !told.is_empty(),
                "no {kind:?} ever happened: widen the history"
            );
            (*numbers.one_of(&told)).clone()
        }
    };
    let mut value = serde_json::to_value(&event).unwrap();
    if numbers.percent(60) {
        value = about(numbers, history, value, whom);
    }
    if numbers.percent(50) {
        for _ in 0..=numbers.below(3) {
            let donor = serde_json::to_value(numbers.one_of(&history.events)).unwrap();
            let mut lied = value.clone();
            lie(numbers, history, &mut lied, &donor);
            // What no interpreter could have read is no lie that can be told.
            if serde_json::from_value::<Event>(lied.clone()).is_ok() {
                value = lied;
            }
        }
    }
    serde_json::from_value(value).expect("what was read once is read again")
}

/// A moment around that of the history: clocks jump.
pub fn when(numbers: &mut Numbers, at: Timestamp) -> Timestamp {
    match numbers.below(10) {
        0 => Timestamp(0),
        1 => Timestamp(u64::MAX - numbers.number() % 3),
        2 => at.after(Span::seconds(numbers.number() % 4_000)),
        _ => at,
    }
}

/// Tells the same of another application.
fn about(numbers: &mut Numbers, history: &History, value: Value, whom: Uid) -> Value {
    let mut text = value.to_string();
    for application in &history.applications {
        text = text.replace(&application.to_string(), &whom.to_string());
    }
    if numbers.percent(50) {
        // Newer than everything that was told.
        let newer = (1_000_000 + numbers.below(1_000)).to_string();
        let mut value: Value = serde_json::from_str(&text).unwrap();
        set(&mut value, &["version", "resourceVersion"], &json!(newer));
        return value;
    }
    serde_json::from_str(&text).unwrap()
}

/// Sets every field of one of these names.
fn set(value: &mut Value, names: &[&str], to: &Value) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                if names.contains(&name.as_str()) {
                    *field = to.clone();
                } else {
                    set(field, names, to);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| set(item, names, to)),
        _ => {}
    }
}

fn effect_id(numbers: &mut Numbers, history: &History, moment: &Moment, whom: Uid) -> EffectId {
    let in_flight = moment.core.worker(whom).and_then(|worker| {
        let in_flight = worker.memory.in_flight.as_ref()?;
        let known = history.ids.iter().find(|id| id.owner == whom)?;
        let asked = u32::try_from(in_flight.asked.len()).unwrap();
        Some((known.incarnation, in_flight.first, asked))
    });
    let mut id = *numbers.one_of(&history.ids);
    if let Some((_, first, asked)) = in_flight
        && numbers.percent(70)
    {
        id.owner = whom;
        id.incarnation = 1 + u32::from(numbers.percent(50));
        id.sequence = first + u32::try_from(numbers.below(asked as usize + 1)).unwrap();
    } else if numbers.percent(50) {
        id.owner = whom;
    }
    if numbers.percent(5) {
        id.sequence = *numbers.one_of(&[0, u32::MAX, u32::MAX - 1]);
    }
    id
}

fn outcome(numbers: &mut Numbers, history: &History) -> Outcome {
    let after = Some(Span(numbers.number()));
    let refusals = fault::refusals().map(|refusal| match refusal {
        Refusal::Busy { .. } => Refusal::Busy { after },
        other => other,
    });
    match numbers.below(5) {
        0 => Outcome::Unknown,
        1 => Outcome::NotAttempted,
        2 => Outcome::Refused {
            reason: numbers.one_of(&refusals).clone(),
            message: "no".into(),
        },
        _ => numbers.one_of(&history.outcomes).clone(),
    }
}

/// Changes one field: to another value of its kind, to what another event says there, or to nothing.
fn lie(numbers: &mut Numbers, history: &History, value: &mut Value, donor: &Value) {
    let mut places = Vec::new();
    leaves(value, String::new(), &mut places);
    let place = numbers.one_of(&places).clone();
    if numbers.percent(10) {
        let (parent, name) = place.rsplit_once('/').unwrap_or(("", ""));
        if let Some(Value::Object(fields)) = value.pointer_mut(parent) {
            fields.remove(&name.replace("~1", "/").replace("~0", "~"));
        }
        return;
    }
    // The same field of another event, under whatever name the event goes.
    let tail = place.splitn(3, '/').nth(2).unwrap_or_default();
    let theirs = donor.as_object().and_then(|fields| {
        let (_, inner) = fields.iter().next()?;
        inner.pointer(&format!("/{tail}")).cloned()
    });
    let Some(field) = value.pointer_mut(&place) else {
        return;
    };
    *field = match (&*field, theirs) {
        (_, Some(theirs)) if numbers.percent(40) => theirs,
        (Value::Number(_), _) => {
            json!(*numbers.one_of(&[0, 1, 2, u64::from(u32::MAX), u64::MAX, u64::MAX / 2]))
        }
        (Value::Bool(now), _) => json!(!now),
        (Value::String(text), _) if text.len() == 36 => {
            let objects: Vec<&Uid> = history.owners.keys().collect();
            match numbers.below(4) {
                0 => json!(numbers.one_of(&history.applications)),
                1 => json!(numbers.one_of(&history.models)),
                2 => json!(*numbers.one_of(&objects)),
                _ => json!(Uid(0)),
            }
        }
        (Value::String(_), _) => {
            let words = [
                "",
                "ledger",
                "ledger-0",
                "ledger-4294967295",
                "ledger-00",
                "quay-1",
                "shop",
                "0",
                "18446744073709551615",
                "True",
                "Unknown",
                "Running",
                "Failed",
                "Bound",
                "Lost",
                "99999999999999Ei",
                "-1",
                "pilotage",
                "StatefulSet",
                "Terminating",
                "größer",
                "dying",
                "dead",
                "gone",
                "alive",
            ];
            json!(*numbers.one_of(&words))
        }
        (_, Some(theirs)) => theirs,
        _ => Value::Null,
    };
}

/// The pointers of everything that has nothing below it.
fn leaves(value: &Value, at: String, places: &mut Vec<String>) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            for (name, field) in fields {
                let name = name.replace('~', "~0").replace('/', "~1");
                leaves(field, format!("{at}/{name}"), places);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for (place, item) in items.iter().enumerate() {
                leaves(item, format!("{at}/{place}"), places);
            }
        }
        _ => places.push(at),
    }
}
