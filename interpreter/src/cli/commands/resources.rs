//! `resources`, `attach-resource` (command line, 2.4).

use pilotage_core::state::{Application, ApplicationCommand, Refresh, Resource, ResourceValue};
use serde::Serialize;

use super::super::failure::{Done, Failure};
use super::super::grammar::{Command, Opt, Parsed, Scope};
use super::super::output::times::Clock;
use super::super::output::{TABULAR_JSON_YAML, Table, json, yaml};
use super::super::session::Session;
use super::super::state::State;
use super::super::target::{Target, USER};
use super::super::wish::{options, resources};
use super::application_of;
use super::show::unit_name;

/// `resources`
pub const RESOURCES: Command = Command {
    name: "resources",
    aliases: &["list-resources"],
    arguments: "<application or unit>",
    summary: "Lists the resources of an application.",
    details: "",
    scope: Scope::Model,
    formats: TABULAR_JSON_YAML,
    options: &[Opt::flag("details", "what each unit has")],
    run: list,
};

/// `attach-resource`
pub const ATTACH_RESOURCE: Command = Command {
    name: "attach-resource",
    aliases: &["attach"],
    arguments: "<application> <name>=<image or file>",
    summary: "Gives an application another resource.",
    details: "",
    scope: Scope::Model,
    formats: &[],
    options: &[],
    run: attach,
};

/// The resources of an application, as they are shown.
#[derive(Debug, Serialize)]
pub struct Resources {
    resources: Vec<ResourceShown>,
}

/// One resource, as it is shown.
#[derive(Debug, Serialize)]
pub struct ResourceShown {
    resourceid: String,
    #[serde(rename = "applicationId")]
    application: String,
    name: String,
    r#type: &'static str,
    path: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    description: String,
    revision: String,
    fingerprint: String,
    size: u64,
    origin: &'static str,
    used: bool,
    timestamp: String,
    username: &'static str,
}

/// What is shown of an application's resources.
pub fn resources_shown(application: &Application, clock: &Clock) -> Resources {
    let shown = |(name, resource): (&String, &Resource)| {
        let declared = application.spec.charm.resource(name);
        let (kind, path, fingerprint, size) = match &resource.value {
            ResourceValue::Image { path, .. } => ("oci-image", path.clone(), String::new(), 0),
            ResourceValue::File { path, size, digest } => {
                ("file", path.clone(), digest.to_string(), *size)
            }
        };
        ResourceShown {
            resourceid: format!("{}/{name}", application.name),
            application: application.name.to_string(),
            name: name.clone(),
            r#type: kind,
            path,
            description: declared
                .map(|declared| declared.description.clone())
                .unwrap_or_default(),
            revision: resource.revision.to_string(),
            fingerprint,
            size,
            origin: "upload",
            used: kind == "oci-image",
            timestamp: clock.rfc3339(resource.since),
            username: USER,
        }
    };
    Resources {
        resources: application.spec.resources.iter().map(shown).collect(),
    }
}

fn list(session: &mut Session<'_>, parsed: &Parsed) -> Done {
    let name = parsed
        .argument(0)
        .ok_or_else(|| Failure::usage("missing application or unit name"))?;
    parsed.no_more_than(1)?;
    let state = State::open(session, parsed)?;
    let target = Target::find(session, parsed, &state)?;
    let contents = target.contents();
    let unit = unit_name(name);
    let application = application_of(&contents, unit.map_or(name, |(application, _)| application))?;
    if let Some((_, number)) = unit
        && application.unit(number).is_none()
    {
        return Err(Failure::failed(format!("unit \"{name}\" not found")));
    }
    let clock = Clock {
        now: session.environment.now(),
        zone: session.environment.zone.clone(),
        utc: false,
    };
    let shown = resources_shown(application, &clock);
    match session.format() {
        "json" => session.print(&json(&shown)),
        "yaml" => session.print(&yaml(&shown)),
        _ if shown.resources.is_empty() => session.note("No resources to display."),
        _ if parsed.flag("details") => {
            let mut table = Table::new(["Unit", "Resource", "Revision"]);
            for unit in &application.status.units {
                for resource in &shown.resources {
                    table.row([
                        format!("{}/{}", application.name, unit.number),
                        resource.name.clone(),
                        resource.revision.clone(),
                    ]);
                }
            }
            session.print(&table.render());
        }
        _ => {
            let mut table = Table::new(["Resource", "Supplied by", "Revision"]);
            for resource in shown.resources {
                table.row([resource.name, USER.into(), resource.revision]);
            }
            session.print(&table.render());
        }
    }
    Ok(())
}

fn attach(session: &mut Session<'_>, parsed: &Parsed) -> Done {
    let name = parsed
        .argument(0)
        .ok_or_else(|| Failure::usage("missing application name"))?;
    if parsed.arguments.len() < 2 {
        return Err(Failure::usage("no resource specified"));
    }
    parsed.no_more_than(2)?;
    let words = options::resource_words(parsed.arguments.get(1..).unwrap_or_default())?;
    let state = State::open(session, parsed)?;
    let target = Target::find(session, parsed, &state)?;
    let contents = target.contents();
    let application = application_of(&contents, name)?;
    let spec = &application.spec;
    let given = options::resources(session, &spec.charm, &words)?;
    let key = || state.store.fingerprint_key();
    let (values, secrets) = resources::kept(key, application.uid, &given, &spec.resources)?;
    let body = ApplicationCommand::Refresh(Box::new(Refresh {
        charm: None,
        resources: values,
        config: Default::default(),
        settings: Default::default(),
        storage: Default::default(),
        filesystems: spec.filesystems.clone(),
        trust: None,
        base: None,
    }));
    state.change_with(session, application.uid, body, &secrets)?;
    state.note_provisioner(session)
}
