//! `wait-for` (command line, 2.10).

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use pilotage_core::state::Application;
use serde::Serialize;

use super::super::failure::{Done, Failure};
use super::super::grammar::{Command, Opt, Parsed, Scope};
use super::super::output::times::Clock;
use super::super::output::yaml;
use super::super::query::{Answer, Properties, Value, evaluate, parse};
use super::super::session::Session;
use super::super::state::State;
use super::super::status::build::{charm_url, life_word, model_status, workload_version};
use super::super::target::{Target, Wanted};
use super::show::unit_name;
use crate::store::Snapshot;

/// `wait-for`
pub const WAIT_FOR: Command = Command {
    name: "wait-for",
    aliases: &[],
    arguments: "application|unit|model <name>",
    summary: "Waits until an application, a unit or a model is as a query says.",
    details: "The language: == != < <= > >= && || ( ), texts, numbers, true, false, len(x), startsWith(x, y),\n\
              endsWith(x, y), forEach(units, u => u.workload-status == \"active\").\n\
              Names: application: name life exposed charm-url status workload-version units;\n\
              unit: name application life charm-url public-address workload-status workload-message agent-status;\n\
              model: name life status applications units.",
    scope: Scope::Model,
    formats: &[],
    options: &[
        Opt::value(
            "query",
            "QUERY",
            "what to wait for (default: alive, and active or available)",
        ),
        Opt::duration("timeout", "DURATION", "how long to wait (default: 10m)"),
        Opt::flag(
            "summary",
            "show the properties that were asked for (default: true)",
        ),
    ],
    run,
};

/// How often the state is looked at.
const LOOK: Duration = Duration::from_millis(100);

/// What is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Entity {
    Application,
    Unit,
    Model,
}

impl Entity {
    fn word(self) -> &'static str {
        match self {
            Entity::Application => "application",
            Entity::Unit => "unit",
            Entity::Model => "model",
        }
    }

    fn default_query(self) -> &'static str {
        match self {
            Entity::Application => "life==\"alive\" && status==\"active\"",
            Entity::Unit => "life==\"alive\" && workload-status==\"active\"",
            Entity::Model => "life==\"alive\" && status==\"available\"",
        }
    }
}

#[derive(Serialize)]
struct Summary {
    properties: BTreeMap<String, String>,
}

fn run(session: &mut Session<'_>, parsed: &Parsed) -> Done {
    let entity = match parsed.argument(0) {
        Some("application") => Entity::Application,
        Some("unit") => Entity::Unit,
        Some("model") => Entity::Model,
        Some(other) => {
            return Err(Failure::usage(format!(
                "unrecognized command: {} wait-for {other}",
                session.environment.program
            )));
        }
        None => {
            return Err(Failure::usage(
                "what to wait for is missing: application, unit or model",
            ));
        }
    };
    let name = parsed
        .argument(1)
        .ok_or_else(|| {
            Failure::usage(format!(
                "{} name must be supplied when waiting for it",
                entity.word()
            ))
        })?
        .to_owned();
    parsed.no_more_than(2)?;
    if entity == Entity::Unit && unit_name(&name).is_none() {
        return Err(Failure::usage(format!("unit name {name} not valid")));
    }
    let query = parsed
        .value("query")
        .unwrap_or(entity.default_query())
        .to_owned();
    let failed = |error: super::super::query::QueryError| Failure::failed(error.to_string());
    let expression = parse(&query).map_err(failed)?;
    let timeout = parsed
        .duration("timeout")
        .unwrap_or(Duration::from_secs(600));
    let state = State::open(session, parsed)?;
    let begun = Instant::now();
    let mut was_there = false;
    let mut told = false;
    loop {
        match properties(session, parsed, &state, entity, &name)? {
            Some(properties) => {
                was_there = true;
                let answer = evaluate(&query, &expression, &properties).map_err(failed)?;
                if answer.holds {
                    return tell(session, parsed, entity, &name, answer);
                }
            }
            None if was_there => {
                return Err(Failure::failed(format!("{} {name} removed", entity.word())));
            }
            None => {}
        }
        if !told {
            // It may be started while we wait; but who waits should know.
            told = true;
            state.note_provisioner(session)?;
        }
        if begun.elapsed() >= timeout {
            return Err(Failure::failed(format!(
                "timed out waiting for \"{name}\" to reach goal state"
            )));
        }
        std::thread::sleep(LOOK);
    }
}

fn tell(
    session: &mut Session<'_>,
    parsed: &Parsed,
    entity: Entity,
    name: &str,
    answer: Answer,
) -> Done {
    let (word, verb) = match entity {
        Entity::Application => ("Application", "running"),
        Entity::Unit => ("Unit", "running"),
        Entity::Model => ("Model", "available"),
    };
    session.note(&format!("{word} \"{name}\" is {verb}"));
    if parsed.flag_given("summary") != Some(false) {
        let properties = answer
            .seen
            .into_iter()
            .map(|(name, value)| (name, value.to_string()))
            .collect();
        session.print(&yaml(&Summary { properties }));
    }
    Ok(())
}

/// The properties of what is waited for; nothing if it is not there.
fn properties(
    session: &Session<'_>,
    parsed: &Parsed,
    state: &State,
    entity: Entity,
    name: &str,
) -> Result<Option<Properties>, Failure> {
    if entity == Entity::Model {
        let snapshot = state.snapshot()?;
        return model(session, &snapshot, name);
    }
    let target = Target::find(session, parsed, state)?;
    let contents = target.contents();
    Ok(match (entity, unit_name(name)) {
        (Entity::Unit, Some((application, number))) => contents
            .application(application)?
            .and_then(|application| unit(application, number)),
        _ => contents.application(name)?.map(application),
    })
}

fn text(text: impl Into<String>) -> Value {
    Value::Text(text.into())
}

fn named<const N: usize>(pairs: [(&str, Value); N]) -> Properties {
    pairs
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

fn units(application: &Application) -> Vec<Properties> {
    let numbers = application.status.units.iter().map(|unit| unit.number);
    numbers
        .filter_map(|number| unit(application, number))
        .collect()
}

fn application(application: &Application) -> Properties {
    named([
        ("name", text(&*application.name)),
        ("life", text(life_word(application.status.life))),
        ("exposed", Value::Truth(false)),
        ("charm-url", text(charm_url(application))),
        (
            "status",
            text(application.shown_status().report.word.as_str()),
        ),
        (
            "workload-version",
            text(workload_version(application).unwrap_or_default()),
        ),
        ("units", Value::Things(units(application))),
    ])
}

fn unit(application: &Application, number: u32) -> Option<Properties> {
    let unit = application.unit(number)?;
    let address = unit.pod.as_ref().and_then(|pod| pod.address.clone());
    Some(named([
        ("name", text(format!("{}/{number}", application.name))),
        ("application", text(&*application.name)),
        ("life", text(life_word(unit.life))),
        ("charm-url", text(charm_url(application))),
        ("public-address", text(address.unwrap_or_default())),
        ("workload-status", text(unit.workload.report.word.as_str())),
        ("workload-message", text(&*unit.workload.report.message)),
        ("agent-status", text(unit.agent.report.word.as_str())),
    ]))
}

fn model(
    session: &Session<'_>,
    snapshot: &Snapshot,
    name: &str,
) -> Result<Option<Properties>, Failure> {
    let wanted = Wanted::parse(name, session.environment)?;
    let record = snapshot
        .models
        .iter()
        .find(|model| *model.name == *wanted.name);
    let Some(record) = record else {
        return match snapshot.damaged_model(|name, _| *name == *wanted.name) {
            Some(damaged) => Err(Failure::failed(damaged.to_string())),
            None => Ok(None),
        };
    };
    let clock = Clock {
        now: session.environment.now(),
        zone: session.environment.zone.clone(),
        utc: true,
    };
    let contents = snapshot.of_model(Some(record.uid));
    let applications: Vec<Properties> = contents
        .applications
        .iter()
        .map(|record| application(record))
        .collect();
    let units: Vec<Properties> = contents
        .applications
        .iter()
        .flat_map(|application| units(application))
        .collect();
    Ok(Some(named([
        ("name", text(&*record.name)),
        ("life", text(life_word(record.status.life))),
        ("status", text(model_status(Some(record), &clock).current)),
        ("applications", Value::Things(applications)),
        ("units", Value::Things(units)),
    ])))
}
