//! `up`: deploys what is at some paths, and runs the provisioner in the foreground (design, section 9).

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::super::cluster::{CLUSTER, Choice, LEASE, LeaseChoice, NAMESPACES, namespaces};
use super::super::failure::{Done, Failure};
use super::super::grammar::{Command, Opt, Parsed, Scope};
use super::super::output::times::Clock;
use super::super::provisioning::{Plan, Provisioning, Told};
use super::super::session::Session;
use super::super::state::State;
use super::super::status::tabular::{Paint, Sections, tabular};
use super::super::status::view::{Shown, StatusEntry, StatusView};
use super::super::target::Target;
use super::super::text::natural;
use super::super::wish::Wish;
use super::bundle::{make, plan, words};
use super::deploy::{charms_folder, warn};
use super::run::{TRACE, tracing};
use super::status::view_of;
use crate::charm::{CharmsFolder, Kind, Source, kind, read_bundle, read_charm};

/// `up`
pub const UP: Command = Command {
    name: "up",
    aliases: &[],
    arguments: "<charm or bundle> ...",
    summary: "Deploys charms and bundles, and runs the provisioner in the foreground.",
    details: "It deploys what is missing, refreshes what differs, leaves a scale that is not named, and removes nothing.",
    scope: Scope::Model,
    formats: &[],
    options: &[
        Opt::value(
            "charms",
            "DIR",
            "folder of charms (default: $PILOTAGE_CHARMS)",
        ),
        Opt::flag("trust", "trust the applications of bundles that ask for it"),
        Opt::flag("dry-run", "say what would be made, and make nothing"),
        CLUSTER,
        LEASE,
        NAMESPACES,
        TRACE,
    ],
    run,
};

/// How often the state is looked at.
const LOOK: Duration = Duration::from_millis(200);

fn run(session: &mut Session<'_>, parsed: &Parsed) -> Done {
    let charms = charms_folder(session, parsed);
    let wishes = wishes(session, parsed, &charms)?;
    let state = State::open(session, parsed)?;
    let mut target = Target::find(session, parsed, &state)?;
    let steps = plan(session, &state, &target, wishes)?;
    let lines: Vec<String> = steps.iter().flat_map(words).collect();
    if parsed.flag("dry-run") {
        if lines.is_empty() {
            session.note("No changes to apply.");
        }
        for line in lines {
            session.print_line(&format!("- {line}"));
        }
        return super::dry_run::steps(session, &target, &steps, &*state.store);
    }
    let cluster = Choice::of(session.environment, parsed)?;
    let plan = Plan {
        namespaces: namespaces(session.environment, parsed, &cluster)?,
        cluster,
        lease: LeaseChoice::of(session.environment, parsed, &state)?,
        tracing: tracing(session, parsed, &state),
        observer: Arc::new(Told {
            effects: parsed.flag("verbose"),
        }),
        monitor: Arc::default(),
        trust_in_namespace_only: false,
        stand_by: false,
    };
    let provisioning = Provisioning::start(&state, plan)?;
    let provisioning = provisioning.running(|words| session.say(words))?;
    for line in lines {
        session.note(&line);
    }
    if let Err(failure) = make(session, &state, &mut target, steps) {
        provisioning.end()?;
        return Err(failure);
    }
    show_until_ended(session, &state, &mut target, &provisioning)?;
    provisioning.wait()
}

fn wishes(
    session: &mut Session<'_>,
    parsed: &Parsed,
    charms: &CharmsFolder,
) -> Result<Vec<Wish>, Failure> {
    if parsed.arguments.is_empty() {
        return Err(Failure::usage("no charm or bundle specified"));
    }
    let failed = |error: &dyn std::fmt::Display| Failure::failed(error.to_string());
    let mut wishes = Vec::new();
    for argument in &parsed.arguments {
        let source = charms
            .find(argument, &session.environment.folder)
            .map_err(|missing| failed(&missing))?;
        let Source::Path(path) = source else {
            return Err(Failure::failed(format!(
                "no charm was found at \"{argument}\""
            )));
        };
        if !path.exists() {
            return Err(Failure::failed(format!(
                "no charm was found at \"{argument}\""
            )));
        }
        match kind(&path).map_err(|error| failed(&error))? {
            Kind::Charm => {
                let read = read_charm(&path).map_err(|error| failed(&error))?;
                warn(session, &read.warnings);
                let name = read.charm.name.clone();
                wishes.push(Wish::of_charm(&name, read));
            }
            Kind::Bundle => {
                let bundle = read_bundle(&path, &[], charms).map_err(|error| failed(&error))?;
                warn(session, &bundle.warnings);
                for ignored in &bundle.ignored {
                    session.warn(&format!("{ignored} is ignored: Pilotage provisions only"));
                }
                wishes.extend(bundle.applications.into_iter().map(Wish::of_bundle));
            }
        }
    }
    super::bundle::trust(session, &wishes, parsed)?;
    Ok(wishes)
}

/// A live table on a terminal, a line for each change elsewhere.
fn show_until_ended(
    session: &mut Session<'_>,
    state: &State,
    target: &mut Target,
    provisioning: &Provisioning,
) -> Done {
    let mut shown: BTreeMap<String, String> = BTreeMap::new();
    let mut table = String::new();
    loop {
        // Asked first: what it did last is shown too.
        let ended = provisioning.has_ended();
        target.refresh(state)?;
        let clock = Clock {
            now: session.environment.now(),
            zone: session.environment.zone.clone(),
            utc: false,
        };
        let view = view_of(session, state, target, true, &clock)?;
        if session.on_terminal() {
            let paint = Paint(session.colour());
            let fresh = tabular(&view, Sections { storage: true }, paint);
            if fresh != table {
                session.print(&format!(
                    "\u{1b}[H\u{1b}[J{fresh}\n{}; stop with Ctrl-C\n",
                    provisioning.cluster
                ));
                table = fresh;
            }
        } else {
            let fresh = lines(&view);
            for line in changed(&shown, &fresh) {
                session.print_line(&line);
            }
            shown = fresh;
        }
        if ended {
            return Ok(());
        }
        std::thread::sleep(LOOK);
    }
}

/// What each application and unit does, in words.
fn lines(view: &StatusView) -> BTreeMap<String, String> {
    let words = |status: &StatusEntry| {
        if status.message.is_empty() {
            status.current.clone()
        } else {
            format!("{}: {}", status.current, status.message)
        }
    };
    let mut lines = BTreeMap::new();
    for (name, application) in &view.applications {
        let application = match application {
            Shown::Read(application) => application,
            Shown::Damaged { status_error } => {
                lines.insert(name.clone(), format!("error: {status_error}"));
                continue;
            }
        };
        let life = application
            .life
            .map(|life| format!(" ({life})"))
            .unwrap_or_default();
        let text = format!("{}{life}", words(&application.application_status));
        lines.insert(name.clone(), text);
        for (unit, shown) in &application.units {
            lines.insert(unit.clone(), words(&shown.workload_status));
        }
    }
    lines
}

fn changed(before: &BTreeMap<String, String>, after: &BTreeMap<String, String>) -> Vec<String> {
    let mut names: Vec<&String> = before.keys().chain(after.keys()).collect();
    names.sort_by(|a, b| natural(a, b));
    names.dedup();
    names
        .into_iter()
        .filter(|name| before.get(*name) != after.get(*name))
        .map(|name| match after.get(name) {
            Some(text) => format!("{name}  {text}"),
            None => format!("{name}  gone"),
        })
        .collect()
}
