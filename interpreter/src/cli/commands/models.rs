//! `add-model`, `models`, `show-model`, `switch` (command line, 2.7).

use std::collections::BTreeMap;

use pilotage_core::digest::Digest;
use pilotage_core::event::RecordName;
use pilotage_core::life::Life;
use pilotage_core::name::Uid;
use pilotage_core::state::{Model, ModelCommand, check_model_name};
use serde::Serialize;

use super::super::failure::{Done, Failure};
use super::super::grammar::{Command, Opt, Parsed, Scope};
use super::super::output::times::Clock;
use super::super::output::{TABULAR_JSON_YAML, Table, YAML_JSON, json, yaml};
use super::super::session::Session;
use super::super::state::State;
use super::super::status::build::{life_word, model_status};
use super::super::status::view::StatusEntry;
use super::super::target::{Client, DEFAULT, USER, VARIABLES, Wanted};
use super::super::version::JUJU_VERSION;
use super::super::wish::{apply, options};

/// `add-model`
pub const ADD_MODEL: Command = Command {
    name: "add-model",
    aliases: &[],
    arguments: "<name> [<cloud>[/<region>]]",
    summary: "Adds a model, which is a namespace of the same name.",
    details: "",
    scope: Scope::Controller,
    formats: &[],
    options: &[
        Opt::many("config", "FILE|KEY=VALUE", "settings of the model"),
        Opt::value("credential", "NAME", "accepted without an effect"),
        Opt::value("owner", "USER", "accepted without an effect"),
        Opt::flag("no-switch", "leave the current model as it is"),
    ],
    run: add_model,
};

/// `models`
pub const MODELS: Command = Command {
    name: "models",
    aliases: &["list-models"],
    arguments: "",
    summary: "Lists models.",
    details: "",
    scope: Scope::Controller,
    formats: TABULAR_JSON_YAML,
    options: &[
        Opt::flag("all", "accepted; all are listed"),
        Opt::value("user", "USER", "accepted; there is one user"),
        Opt::flag("uuid", "show uids"),
        Opt::flag("exact-time", "times in full"),
    ],
    run: models,
};

/// `show-model`
pub const SHOW_MODEL: Command = Command {
    name: "show-model",
    aliases: &[],
    arguments: "[<model>]",
    summary: "Shows a model.",
    details: "",
    scope: Scope::Program,
    formats: YAML_JSON,
    options: &[],
    run: show_model,
};

/// `switch`
pub const SWITCH: Command = Command {
    name: "switch",
    aliases: &[],
    arguments: "[<model> | :<model> | <controller>:<model> | <controller>:]",
    summary: "Shows or chooses the current model.",
    details: "",
    scope: Scope::Program,
    formats: &[],
    options: &[],
    run: switch,
};

/// A model, as `models` lists it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
struct Listed {
    name: String,
    short_name: String,
    model_uuid: String,
    model_type: &'static str,
    controller_uuid: String,
    controller_name: String,
    is_controller: bool,
    owner: &'static str,
    cloud: String,
    r#type: &'static str,
    life: &'static str,
    status: StatusEntry,
    access: &'static str,
    last_connection: &'static str,
    agent_version: &'static str,
}

/// All models, as `models` lists them.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
struct AllListed {
    models: Vec<Listed>,
    #[serde(skip_serializing_if = "Option::is_none")]
    current_model: Option<String>,
}

/// A model, as `show-model` shows it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
struct Shown {
    name: String,
    short_name: String,
    model_uuid: String,
    model_type: &'static str,
    controller_uuid: String,
    controller_name: String,
    is_controller: bool,
    owner: &'static str,
    cloud: String,
    r#type: &'static str,
    life: &'static str,
    status: StatusEntry,
    users: BTreeMap<&'static str, User>,
    agent_version: &'static str,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
struct User {
    access: &'static str,
    last_connection: &'static str,
}

/// Nobody connects: there is no controller to connect to.
const NEVER: &str = "never connected";

fn clock(session: &Session<'_>) -> Clock {
    Clock {
        now: session.environment.now(),
        zone: session.environment.zone.clone(),
        utc: false,
    }
}

/// An identity for the controller that there is not: the same for the same state file.
fn controller_uid(state: &State) -> Uid {
    let path = std::path::absolute(&state.file).unwrap_or_else(|_| state.file.clone());
    Uid(Digest::of_bytes(path.as_os_str().as_encoded_bytes()).0)
}

/// What a model does; since when, as a person says it.
fn relative_status(model: Option<&Model>, clock: &Clock) -> StatusEntry {
    let since = match model {
        None => clock.now,
        Some(model) if model.status.status.since.0 == 0 => model.created,
        Some(model) => model.status.status.since,
    };
    StatusEntry {
        since: clock.ago(since),
        ..model_status(model, clock)
    }
}

fn check_controller(session: &Session<'_>, parsed: &Parsed) -> Result<(), Failure> {
    match parsed.value("controller") {
        Some(name) if name != session.environment.controller() => {
            Err(Failure::usage(format!("controller {name} not found")))
        }
        _ => Ok(()),
    }
}

fn add_model(session: &mut Session<'_>, parsed: &Parsed) -> Done {
    let name = parsed
        .argument(0)
        .ok_or_else(|| Failure::usage("model name is required"))?
        .to_owned();
    parsed.no_more_than(2)?;
    check_controller(session, parsed)?;
    check_model_name(&name).map_err(|denial| Failure::usage(denial.to_string()))?;
    let state = State::open(session, parsed)?;
    let ours = state.cloud(session.environment)?;
    if let Some(cloud) = parsed.argument(1)
        && cloud.split('/').next() != Some(ours.as_str())
    {
        return Err(Failure::failed(format!(
            "cloud \"{cloud}\" is not known; the cloud here is \"{ours}\""
        )));
    }
    let owner = parsed.value("owner").unwrap_or(USER);
    if owner != USER {
        return Err(Failure::failed(format!(
            "there is no user \"{owner}\"; the only one is \"{USER}\""
        )));
    }
    let settings: BTreeMap<String, String> = options::given_plain(session, parsed.many("config"))?;
    if state
        .snapshot()?
        .models
        .iter()
        .any(|model| *model.name == *name)
    {
        return Err(Failure::failed(format!("model \"{name}\" already exists")));
    }
    let uid = apply::fresh_uid()?;
    let add = ModelCommand::Add {
        name: name.as_str().into(),
        settings,
    };
    state.change_model(session, uid, add)?;
    session.note(&format!("Added '{name}' model on {ours} for user '{USER}'"));
    if !parsed.flag("no-switch") {
        let current = Some(name);
        Client { current }.write(&state.file)?;
    }
    state.note_provisioner(session)
}

fn models(session: &mut Session<'_>, parsed: &Parsed) -> Done {
    parsed.no_more_than(0)?;
    check_controller(session, parsed)?;
    let state = State::open(session, parsed)?;
    let snapshot = state.snapshot()?;
    let clock = clock(session);
    let mut records: Vec<&Model> = snapshot.models.iter().collect();
    records.sort_by(|a, b| super::super::text::natural(&a.name, &b.name));
    let damaged = snapshot.damaged.iter();
    for one in damaged.filter(|one| matches!(one.record, RecordName::Model { .. })) {
        session.warn(&one.to_string());
    }
    let current = Client::read(&state.file).current;
    let environment = session.environment;
    let cloud = state.cloud(environment)?;
    if session.format() == "tabular" {
        let mut table = Table::new([
            "Model",
            "Cloud/Region",
            "Type",
            "Status",
            "Units",
            "Access",
            "Last connection",
        ])
        .right(&["Units"]);
        for model in records {
            let contents = snapshot.of_model(Some(model.uid));
            let units: usize = contents
                .applications
                .iter()
                .map(|application| application.status.units.len())
                .sum();
            let mark = if current.as_deref() == Some(&*model.name) {
                "*"
            } else {
                ""
            };
            let name = if parsed.flag("uuid") {
                format!("{}{mark}  {}", model.name, model.uid)
            } else {
                format!("{}{mark}", model.name)
            };
            table.row([
                name,
                cloud.clone(),
                "kubernetes".into(),
                model_status(Some(model), &clock).current,
                if units == 0 {
                    "-".into()
                } else {
                    units.to_string()
                },
                "admin".into(),
                NEVER.into(),
            ]);
        }
        session.print(&format!("Controller: {}\n\n", environment.controller()));
        session.print(&table.render());
        return Ok(());
    }
    let listed = AllListed {
        models: records
            .into_iter()
            .map(|model| Listed {
                name: format!("{USER}/{}", model.name),
                short_name: model.name.to_string(),
                model_uuid: model.uid.to_string(),
                model_type: "caas",
                controller_uuid: controller_uid(&state).to_string(),
                controller_name: environment.controller().into(),
                is_controller: false,
                owner: USER,
                cloud: cloud.clone(),
                r#type: "kubernetes",
                life: life_word(model.status.life),
                status: relative_status(Some(model), &clock),
                access: "admin",
                last_connection: NEVER,
                agent_version: JUJU_VERSION,
            })
            .collect(),
        current_model: current,
    };
    let text = match session.format() {
        "json" => json(&listed),
        _ => yaml(&listed),
    };
    session.print(&text);
    Ok(())
}

fn show_model(session: &mut Session<'_>, parsed: &Parsed) -> Done {
    parsed.no_more_than(1)?;
    let state = State::open(session, parsed)?;
    let snapshot = state.snapshot()?;
    let environment = session.environment;
    let named = parsed
        .argument(0)
        .map(str::to_owned)
        .or_else(|| {
            environment
                .first_of(&VARIABLES)
                .map(|(_, name)| name.to_owned())
        })
        .or_else(|| Client::read(&state.file).current)
        .unwrap_or_else(|| DEFAULT.to_owned());
    let wanted = Wanted::parse(&named, environment)?;
    let model = wanted.find(&snapshot, environment)?;
    let name = model.map_or(wanted.name, |model| model.name.to_string());
    let shown = Shown {
        name: format!("{USER}/{name}"),
        short_name: name.clone(),
        model_uuid: model.map_or(Uid(0), |model| model.uid).to_string(),
        model_type: "caas",
        controller_uuid: controller_uid(&state).to_string(),
        controller_name: environment.controller().into(),
        is_controller: false,
        owner: USER,
        cloud: state.cloud(environment)?,
        r#type: "kubernetes",
        life: life_word(model.map_or(Life::Alive, |model| model.status.life)),
        status: relative_status(model, &clock(session)),
        users: [(
            USER,
            User {
                access: "admin",
                last_connection: NEVER,
            },
        )]
        .into(),
        agent_version: JUJU_VERSION,
    };
    let all = BTreeMap::from([(name, shown)]);
    let text = match session.format() {
        "json" => json(&all),
        _ => yaml(&all),
    };
    session.print(&text);
    Ok(())
}

fn switch(session: &mut Session<'_>, parsed: &Parsed) -> Done {
    parsed.no_more_than(1)?;
    let state = State::open(session, parsed)?;
    let environment = session.environment;
    let full = |name: &str| format!("{}:{USER}/{name}", environment.controller());
    let overriding = environment.first_of(&VARIABLES);
    let before = overriding
        .map(|(_, name)| name.to_owned())
        .or_else(|| Client::read(&state.file).current)
        .unwrap_or_else(|| DEFAULT.to_owned());
    let Some(target) = parsed.argument(0) else {
        session.print_line(&full(&before));
        return Ok(());
    };
    if let Some((variable, name)) = overriding {
        return Err(Failure::failed(format!(
            "cannot switch when {variable} is overriding the model (set to \"{name}\")"
        )));
    }
    let unknown = || {
        Failure::failed(format!(
            "\"{target}\" is not the name of a model or controller"
        ))
    };
    let only_controller = target.strip_suffix(':').unwrap_or(target);
    let after = if only_controller == environment.controller() {
        before.clone()
    } else {
        let snapshot = state.snapshot()?;
        let wanted = Wanted::parse(target, environment).map_err(|_| unknown())?;
        match wanted.find(&snapshot, environment).map_err(|_| unknown())? {
            Some(model) => model.name.to_string(),
            None => DEFAULT.to_owned(),
        }
    };
    if before == after {
        session.note(&format!("{} (no change)", full(&after)));
        return Ok(());
    }
    let current = Some(after.clone());
    Client { current }.write(&state.file)?;
    session.note(&format!("{} -> {}", full(&before), full(&after)));
    Ok(())
}
