//! `constraints`, `set-constraints`, `model-constraints`, `set-model-constraints`.

use std::collections::BTreeMap;

use pilotage_core::charm::Constraints;
use pilotage_core::charm::constraints::{self, ParsedConstraints};
use pilotage_core::state::{ApplicationCommand, ModelCommand};

use super::super::failure::Failure;
use super::super::grammar::{Command, Scope};
use super::super::output::{json, yaml};
use super::super::session::Session;
use super::super::state::State;
use super::super::target::Target;
use super::application_of;

const FORMATS: &[&str] = &["constraints", "json", "yaml"];

/// `constraints`
pub const CONSTRAINTS: Command = Command {
    name: "constraints",
    aliases: &["get-constraints"],
    arguments: "<application>",
    summary: "Shows an application's constraints.",
    details: "",
    scope: Scope::Model,
    formats: FORMATS,
    options: &[],
    run: |session, parsed| {
        let name = parsed
            .argument(0)
            .ok_or_else(|| Failure::usage("no application name specified"))?;
        parsed.no_more_than(1)?;
        let state = State::open(session, parsed)?;
        let target = Target::find(session, parsed, &state)?;
        let contents = target.contents();
        let application = application_of(&contents, name)?;
        show(session, &application.spec.constraints);
        Ok(())
    },
};

/// `set-constraints`
pub const SET_CONSTRAINTS: Command = Command {
    name: "set-constraints",
    aliases: &[],
    arguments: "<application> [<constraint>=<value> ...]",
    summary: "Replaces an application's constraints.",
    details: "The whole set is replaced; none given clears it.",
    scope: Scope::Model,
    formats: &[],
    options: &[],
    run: |session, parsed| {
        let name = parsed
            .argument(0)
            .ok_or_else(|| Failure::usage("no application name specified"))?;
        let parts = parsed.arguments.get(1..).unwrap_or_default();
        let constraints = read(session, &parts.join(" ")).map_err(Failure::Usage)?;
        let state = State::open(session, parsed)?;
        let target = Target::find(session, parsed, &state)?;
        let contents = target.contents();
        let application = application_of(&contents, name)?;
        let constraints = Box::new(constraints);
        let body = ApplicationCommand::SetConstraints { constraints };
        state.change(session, application.uid, body)?;
        state.note_provisioner(session)
    },
};

/// `model-constraints`
pub const MODEL_CONSTRAINTS: Command = Command {
    name: "model-constraints",
    aliases: &["get-model-constraints"],
    arguments: "",
    summary: "Shows a model's constraints.",
    details: "",
    scope: Scope::Model,
    formats: FORMATS,
    options: &[],
    run: |session, parsed| {
        parsed.no_more_than(0)?;
        let state = State::open(session, parsed)?;
        let target = Target::find(session, parsed, &state)?;
        let constraints = target.model.map(|model| model.spec.constraints);
        show(session, &constraints.unwrap_or_default());
        Ok(())
    },
};

/// `set-model-constraints`
pub const SET_MODEL_CONSTRAINTS: Command = Command {
    name: "set-model-constraints",
    aliases: &[],
    arguments: "[<constraint>=<value> ...]",
    summary: "Replaces a model's constraints.",
    details: "The whole set is replaced; none given clears it.",
    scope: Scope::Model,
    formats: &[],
    options: &[],
    run: |session, parsed| {
        let constraints = read(session, &parsed.arguments.join(" ")).map_err(Failure::Usage)?;
        let state = State::open(session, parsed)?;
        let mut target = Target::find(session, parsed, &state)?;
        let model = target.ensure(session, &state)?;
        let constraints = Box::new(constraints);
        state.change_model(session, model, ModelCommand::SetConstraints { constraints })?;
        state.note_provisioner(session)
    },
};

/// Reads constraints, and says what has no effect or an old name.
///
/// # Errors
/// The first mistake, in Juju's words.
pub fn read(session: &mut Session<'_>, text: &str) -> Result<Constraints, String> {
    let ParsedConstraints {
        constraints,
        aliases,
    } = constraints::parse(text).map_err(|error| error.to_string())?;
    for (old, new) in aliases {
        session.warn(&format!("constraint \"{old}\" is called \"{new}\" today"));
    }
    let unsupported = constraints.unsupported();
    if !unsupported.is_empty() {
        session.warn(&format!(
            "unsupported constraints: {}",
            unsupported.join(", ")
        ));
    }
    Ok(constraints)
}

fn show(session: &mut Session<'_>, constraints: &Constraints) {
    let text = match session.format() {
        "json" => json(&value(constraints)),
        "yaml" => yaml(&value(constraints)),
        _ => format!("{constraints}\n"),
    };
    session.print(&text);
}

/// Constraints as a value: numbers in MiB; what is named and empty is not shown.
pub fn value(constraints: &Constraints) -> BTreeMap<String, serde_json::Value> {
    let value = serde_json::to_value(constraints).unwrap_or_default();
    value
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}
