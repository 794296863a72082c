//! `model-config` (command line, 2.7).

use std::collections::BTreeMap;

use pilotage_core::charm::{ConfigValue, OptionKind};
use pilotage_core::state::{Model, ModelCommand};
use serde::Serialize;
use serde_json::Value;

use super::super::failure::{Done, Failure};
use super::super::grammar::{Command, Opt, Parsed, Scope};
use super::super::output::{TABULAR_JSON_YAML, Table, json, yaml};
use super::super::session::Session;
use super::super::state::State;
use super::super::target::Target;
use super::super::wish::options;
use super::settings::{Edit, read_edit};

/// `model-config`
pub const MODEL_CONFIG: Command = Command {
    name: "model-config",
    aliases: &[],
    arguments: "[<key> | <key>=<value> ...]",
    summary: "Shows or changes the settings of a model.",
    details: "These have an effect: workload-storage (default storage class), storage-default-filesystem-source (default\n\
              pool), resource-tags (labels, as k=v k=v), mode (requires-prompts), agent-image (not available yet).",
    scope: Scope::Model,
    formats: TABULAR_JSON_YAML,
    options: &[
        Opt::many("reset", "KEY[,KEY]", "back to the default"),
        Opt::value("file", "FILE", "a YAML file of settings"),
    ],
    run,
};

/// Settings with their defaults.
pub const DEFAULTS: [(&str, &str); 15] = [
    ("agent-image", ""),
    ("automatically-retry-hooks", "true"),
    ("default-base", ""),
    ("development", "false"),
    ("http-proxy", ""),
    ("https-proxy", ""),
    ("image-stream", "released"),
    ("logging-config", "<root>=INFO"),
    ("mode", "requires-prompts"),
    ("no-proxy", "127.0.0.1,localhost,::1"),
    ("resource-tags", ""),
    ("storage-default-filesystem-source", ""),
    ("test-mode", "false"),
    ("update-status-hook-interval", "5m"),
    ("workload-storage", ""),
];

/// Settings that are truth values.
const TRUTHS: [&str; 3] = ["automatically-retry-hooks", "development", "test-mode"];

/// A setting in JSON, with capitals as Juju has them.
#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
struct Capital<'a> {
    value: &'a Value,
    source: &'static str,
}

/// A setting in YAML.
#[derive(Debug, Serialize)]
struct Small<'a> {
    value: &'a Value,
    source: &'static str,
}

/// All settings of a model: value and where it is from.
pub fn settings_of(model: Option<&Model>) -> BTreeMap<String, (Value, &'static str)> {
    let mut all: BTreeMap<String, (Value, &'static str)> = DEFAULTS
        .iter()
        .map(|(key, text)| ((*key).to_owned(), (value(key, text), "default")))
        .collect();
    for (key, text) in model.iter().flat_map(|model| &model.spec.settings) {
        all.insert(key.clone(), (value(key, text), "model"));
    }
    all
}

fn value(key: &str, text: &str) -> Value {
    match OptionKind::Boolean.parse(text) {
        Some(ConfigValue::Boolean(truth)) if TRUTHS.contains(&key) => truth.into(),
        _ => text.into(),
    }
}

fn bare(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn run(session: &mut Session<'_>, parsed: &Parsed) -> Done {
    let edit = read_edit(&parsed.arguments, parsed)?;
    let state = State::open(session, parsed)?;
    let mut target = Target::find(session, parsed, &state)?;
    match edit {
        Edit::Show => show(session, &settings_of(target.model.as_ref())),
        Edit::Get(key) => {
            let mut all = settings_of(target.model.as_ref());
            all.retain(|known, _| *known == key);
            let Some((value, _)) = all.get(&key) else {
                return Err(Failure::failed(format!(
                    "\"{key}\" is not a key of the currently targeted model: \"admin/{}\"",
                    target.name
                )));
            };
            if session.format() == "tabular" {
                let line = bare(value);
                session.print_line(&line);
                Ok(())
            } else {
                show(session, &all)
            }
        }
        Edit::Change { file, reset, set } => {
            let mut settings: BTreeMap<String, Option<String>> = BTreeMap::new();
            if let Some(file) = file {
                for (key, scalar) in options::values_of_file(session, &file, None)? {
                    settings.insert(key, Some(scalar.text));
                }
            }
            settings.extend(reset.into_iter().map(|key| (key, None)));
            for (key, text) in set {
                let text = options::content(session, &text)?;
                settings.insert(key, Some(text));
            }
            for key in settings.keys() {
                if key != "agent-version" && !DEFAULTS.iter().any(|(known, _)| known == key) {
                    session.warn(&format!(
                        "key \"{key}\" is not defined in the current model configuration: possible misspelling"
                    ));
                }
            }
            if settings
                .get("agent-image")
                .is_some_and(|image| image.as_ref().is_some_and(|image| !image.is_empty()))
            {
                return Err(Failure::failed(
                    "agent pods are not available yet: agent-image cannot be set",
                ));
            }
            let model = target.ensure(session, &state)?;
            state.change_model(session, model, ModelCommand::Configure { settings })?;
            state.note_provisioner(session)
        }
    }
}

fn show(session: &mut Session<'_>, all: &BTreeMap<String, (Value, &'static str)>) -> Done {
    let text = match session.format() {
        "json" => {
            let all: BTreeMap<&String, Capital<'_>> = all
                .iter()
                .map(|(key, (value, source))| (key, Capital { value, source }))
                .collect();
            json(&all)
        }
        "yaml" => {
            let all: BTreeMap<&String, Small<'_>> = all
                .iter()
                .map(|(key, (value, source))| (key, Small { value, source }))
                .collect();
            yaml(&all)
        }
        _ => {
            let mut table = Table::new(["Attribute", "From", "Value"]);
            for (key, (value, source)) in all {
                table.row([key.clone(), (*source).to_owned(), bare(value)]);
            }
            table.render()
        }
    };
    session.print(&text);
    Ok(())
}
