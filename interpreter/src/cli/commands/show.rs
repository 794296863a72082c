//! `show-application`, `show-unit` (command line, 2.6 and 3.5).

use std::collections::BTreeMap;

use pilotage_core::state::{Application, Unit};
use serde::Serialize;
use serde_json::Value;

use super::super::failure::{Done, Failure};
use super::super::grammar::{Command, Opt, Parsed, Scope};
use super::super::output::{YAML_JSON, json, yaml};
use super::super::session::Session;
use super::super::state::State;
use super::super::status::build;
use super::super::target::Target;
use super::{application_of, constraints};

/// `show-application`
pub const SHOW_APPLICATION: Command = Command {
    name: "show-application",
    aliases: &["show"],
    arguments: "<application> ...",
    summary: "Shows what applications are made from.",
    details: "",
    scope: Scope::Model,
    formats: YAML_JSON,
    options: &[],
    run: show_application,
};

/// `show-unit`
pub const SHOW_UNIT: Command = Command {
    name: "show-unit",
    aliases: &[],
    arguments: "<unit> ...",
    summary: "Shows units.",
    details: "",
    scope: Scope::Model,
    formats: YAML_JSON,
    options: &[
        Opt::flag("app", "accepted; there is no relation data"),
        Opt::value(
            "endpoint",
            "ENDPOINT",
            "accepted; there is no relation data",
        ),
        Opt::value(
            "related-unit",
            "UNIT",
            "accepted; there is no relation data",
        ),
    ],
    run: show_unit,
};

/// An application, as it is shown.
#[derive(Debug, Serialize)]
pub struct ApplicationShown {
    charm: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    base: Option<String>,
    constraints: BTreeMap<String, Value>,
    principal: bool,
    exposed: bool,
    remote: bool,
    life: &'static str,
}

/// A unit, as it is shown.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct UnitShown {
    #[serde(skip_serializing_if = "Option::is_none")]
    workload_version: Option<String>,
    opened_ports: Vec<String>,
    charm: String,
    leader: bool,
    life: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    provider_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<String>,
}

/// What is shown of an application.
pub fn application_shown(application: &Application) -> ApplicationShown {
    ApplicationShown {
        charm: application.spec.charm.name.clone(),
        base: build::base(application).map(|base| format!("{}@{}", base.name, base.channel)),
        constraints: constraints::value(&application.spec.constraints),
        principal: true,
        exposed: false,
        remote: false,
        life: build::life_word(application.status.life),
    }
}

/// What is shown of a unit.
pub fn unit_shown(application: &Application, unit: &Unit) -> UnitShown {
    let pod = unit.pod.as_ref();
    UnitShown {
        workload_version: build::workload_version(application),
        opened_ports: pod
            .map(|pod| pod.ports.iter().map(ToString::to_string).collect())
            .unwrap_or_default(),
        charm: build::charm_url(application),
        leader: application.leader() == Some(unit.number),
        life: build::life_word(unit.life),
        provider_id: pod.map(|pod| pod.name.to_string()),
        address: pod
            .and_then(|pod| pod.address.as_ref())
            .map(ToString::to_string),
    }
}

fn show_application(session: &mut Session<'_>, parsed: &Parsed) -> Done {
    if parsed.arguments.is_empty() {
        return Err(Failure::usage("an application name must be supplied"));
    }
    let state = State::open(session, parsed)?;
    let target = Target::find(session, parsed, &state)?;
    let contents = target.contents();
    let mut shown = BTreeMap::new();
    for name in &parsed.arguments {
        let application = application_of(&contents, name)?;
        shown.insert(name, application_shown(application));
    }
    print(session, &shown);
    Ok(())
}

fn show_unit(session: &mut Session<'_>, parsed: &Parsed) -> Done {
    if parsed.arguments.is_empty() {
        return Err(Failure::usage("an unit name must be supplied"));
    }
    let names: Result<Vec<(&str, u32)>, Failure> = parsed
        .arguments
        .iter()
        .map(|name| {
            unit_name(name).ok_or_else(|| Failure::usage(format!("unit name {name} not valid")))
        })
        .collect();
    let names = names?;
    let state = State::open(session, parsed)?;
    let target = Target::find(session, parsed, &state)?;
    let contents = target.contents();
    let mut shown = BTreeMap::new();
    for (name, number) in names {
        let application = contents.application(name)?;
        let unit = application.and_then(|application| application.unit(number));
        let full = format!("{name}/{number}");
        match (application, unit) {
            (Some(application), Some(unit)) => {
                shown.insert(full, unit_shown(application, unit));
            }
            _ => return Err(Failure::failed(format!("unit \"{full}\" not found"))),
        }
    }
    print(session, &shown);
    Ok(())
}

/// Application and number of a unit's name.
pub fn unit_name(name: &str) -> Option<(&str, u32)> {
    let (application, number) = name.split_once('/')?;
    let number = number
        .bytes()
        .all(|byte| byte.is_ascii_digit())
        .then(|| number.parse().ok())??;
    pilotage_core::charm::names::check_application(application).ok()?;
    Some((application, number))
}

fn print(session: &mut Session<'_>, value: &impl Serialize) {
    let text = match session.format() {
        "json" => json(value),
        _ => yaml(value),
    };
    session.print(&text);
}
