//! `config` (command line, 2.3).

use std::collections::BTreeMap;

use pilotage_core::charm::{ConfigValue, config};
use pilotage_core::state::{Application, ApplicationCommand};
use serde::Serialize;
use serde_json::Value;

use super::super::failure::{Done, Failure};
use super::super::grammar::{Command, Opt, Parsed, Scope};
use super::super::output::{YAML_JSON, json, yaml};
use super::super::session::Session;
use super::super::state::State;
use super::super::target::Target;
use super::super::wish::options;
use super::application_of;
use super::settings::{Edit, read_edit};

/// `config`
pub const CONFIG: Command = Command {
    name: "config",
    aliases: &[],
    arguments: "<application> [<key> | <key>=<value> ... | <key>=@FILE ...]",
    summary: "Shows or changes the options of an application.",
    details: "",
    scope: Scope::Model,
    formats: YAML_JSON,
    options: &[
        Opt::many("reset", "KEY[,KEY]", "back to the default"),
        Opt::value("file", "FILE|-", "a YAML file of options"),
    ],
    run,
};

/// An application's options, as they are shown.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Shown {
    application: String,
    application_config: BTreeMap<String, Setting>,
    charm: String,
    settings: BTreeMap<String, Setting>,
}

/// One option.
#[derive(Debug, Serialize)]
pub struct Setting {
    #[serde(skip_serializing_if = "Option::is_none")]
    default: Option<Value>,
    description: String,
    source: &'static str,
    r#type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<Value>,
}

fn run(session: &mut Session<'_>, parsed: &Parsed) -> Done {
    let name = parsed
        .argument(0)
        .ok_or_else(|| Failure::usage("no application name specified"))?;
    let words = parsed.arguments.get(1..).unwrap_or_default();
    let edit = read_edit(words, parsed)?;
    let state = State::open(session, parsed)?;
    let target = Target::find(session, parsed, &state)?;
    let contents = target.contents();
    let application = application_of(&contents, name)?;
    match edit {
        Edit::Show => {
            let shown = shown(application);
            let text = match session.format() {
                "json" => json(&shown),
                _ => yaml(&shown),
            };
            session.print(&text);
            Ok(())
        }
        Edit::Get(key) => {
            let text = one(application, &key)?;
            session.print_line(&text);
            Ok(())
        }
        Edit::Change { file, reset, set } => {
            let body = change(session, application, file.as_deref(), &reset, &set)?;
            state.change(session, application.uid, body)?;
            state.note_provisioner(session)
        }
    }
}

/// The file first, then what is reset, then what is set: one command.
fn change(
    session: &mut Session<'_>,
    application: &Application,
    file: Option<&str>,
    reset: &[String],
    set: &[(String, String)],
) -> Result<ApplicationCommand, Failure> {
    let charm = &application.spec.charm;
    let mut config: BTreeMap<String, Option<ConfigValue>> = BTreeMap::new();
    let mut settings: BTreeMap<String, Option<String>> = BTreeMap::new();
    if let Some(file) = file {
        let values = if file == "-" {
            let text = session.read_input()?;
            crate::charm::read_values(&text, "stdin", Some(&application.name))
                .map_err(|problem| Failure::failed(problem.to_string()))?
        } else {
            options::values_of_file(session, file, Some(&application.name))?
        };
        let given = values
            .into_iter()
            .map(|(key, scalar)| (key, options::Given::Scalar(scalar)))
            .collect();
        let (values, texts) = options::typed(charm, &given)?;
        config.extend(values.into_iter().map(|(key, value)| (key, Some(value))));
        settings.extend(texts.into_iter().map(|(key, text)| (key, Some(text))));
    }
    for key in reset {
        if charm.option(key).is_some() {
            config.insert(key.clone(), None);
        } else if config::is_setting(key) {
            settings.insert(key.clone(), None);
        } else {
            return Err(Failure::failed(format!("unknown option \"{key}\"")));
        }
    }
    let mut given = BTreeMap::new();
    for (key, value) in set {
        let value = options::content(session, value)?;
        given.insert(key.clone(), options::Given::Text(value));
    }
    let (values, texts) = options::typed(charm, &given)?;
    config.extend(values.into_iter().map(|(key, value)| (key, Some(value))));
    settings.extend(texts.into_iter().map(|(key, text)| (key, Some(text))));
    Ok(ApplicationCommand::Configure { config, settings })
}

/// The bare value of one option; empty if it is unset.
fn one(application: &Application, key: &str) -> Result<String, Failure> {
    let shown = shown(application);
    let setting = shown
        .settings
        .get(key)
        .or_else(|| shown.application_config.get(key))
        .ok_or_else(|| {
            Failure::failed(format!(
                "key \"{key}\" not found in \"{}\" application config or charm settings.",
                application.name
            ))
        })?;
    Ok(match &setting.value {
        None => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    })
}

/// An option's value as JSON has it.
fn value(value: &ConfigValue) -> Value {
    match value {
        ConfigValue::String(text) | ConfigValue::Secret(text) => text.clone().into(),
        ConfigValue::Int(number) => (*number).into(),
        ConfigValue::Float(text) => text
            .parse::<f64>()
            .ok()
            .and_then(serde_json::Number::from_f64)
            .map_or(Value::Null, Value::Number),
        ConfigValue::Boolean(truth) => (*truth).into(),
    }
}

fn kind(kind: config::OptionKind) -> &'static str {
    match kind {
        config::OptionKind::String => "string",
        config::OptionKind::Int => "int",
        config::OptionKind::Float => "float",
        config::OptionKind::Boolean => "boolean",
        config::OptionKind::Secret => "secret",
    }
}

/// Everything about an application's options.
pub fn shown(application: &Application) -> Shown {
    let spec = &application.spec;
    let settings = spec
        .charm
        .options
        .iter()
        .map(|option| {
            let set = spec
                .config
                .get(&option.name)
                .filter(|set| Some(*set) != option.default.as_ref());
            let source = match (set, &option.default) {
                (Some(_), _) => "user",
                (None, Some(_)) => "default",
                (None, None) => "unset",
            };
            let setting = Setting {
                default: option.default.as_ref().map(value),
                description: option.description.clone(),
                source,
                r#type: kind(option.kind),
                value: set.or(option.default.as_ref()).map(value),
            };
            (option.name.clone(), setting)
        })
        .collect();
    Shown {
        application: application.name.to_string(),
        application_config: application_config(application),
        charm: spec.charm.name.clone(),
        settings,
    }
}

fn application_config(application: &Application) -> BTreeMap<String, Setting> {
    let described = |key: &str| match key {
        "trust" => "whether its pods may do everything in the cluster",
        "kubernetes-service-annotations" => "annotations of its service, as k=v k=v",
        "kubernetes-service-external-ips" => {
            "addresses outside the cluster at which nodes take its traffic"
        }
        "kubernetes-service-externalname" => {
            "the name that a service of type ExternalName stands for"
        }
        "kubernetes-service-loadbalancer-ip" => "the address asked of the load balancer",
        "kubernetes-service-loadbalancer-sourceranges" => {
            "networks from which the load balancer takes traffic"
        }
        "kubernetes-service-type" => "ClusterIP, NodePort, LoadBalancer or ExternalName",
        _ => "kept and shown, without an effect",
    };
    config::SETTINGS
        .iter()
        .map(|key| {
            let (kind, default): (_, Option<Value>) = match *key {
                "trust" => ("bool", Some(false.into())),
                "kubernetes-ingress-allow-http"
                | "kubernetes-ingress-ssl-passthrough"
                | "kubernetes-ingress-ssl-redirect" => ("bool", Some(false.into())),
                "juju-application-path" => ("string", Some("/".into())),
                _ => ("string", None),
            };
            let set: Option<Value> = match *key {
                "trust" => application.spec.trust.then(|| true.into()),
                key => application.spec.settings.get(key).map(|text| {
                    match (kind, config::OptionKind::Boolean.parse(text)) {
                        ("bool", Some(ConfigValue::Boolean(truth))) => truth.into(),
                        _ => text.as_str().into(),
                    }
                }),
            };
            let set = set.filter(|set| Some(set) != default.as_ref());
            let source = match (&set, &default) {
                (Some(_), _) => "user",
                (None, Some(_)) => "default",
                (None, None) => "unset",
            };
            let setting = Setting {
                value: set.or_else(|| default.clone()),
                default,
                description: described(key).into(),
                source,
                r#type: kind,
            };
            ((*key).to_owned(), setting)
        })
        .collect()
}
