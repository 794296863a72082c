//! `status`.

use std::time::Duration;

use pilotage_core::charm::{ConfigValue, OptionKind};

use super::super::failure::{Done, Failure};
use super::super::grammar::{Command, Opt, Parsed, Scope};
use super::super::output::times::Clock;
use super::super::output::{json, yaml};
use super::super::session::Session;
use super::super::state::State;
use super::super::status::select::select;
use super::super::status::tabular::{Paint, Sections, tabular};
use super::super::status::view::StatusView;
use super::super::status::{Source, lines, status_view};
use super::super::target::Target;
use crate::store::Snapshot;

/// `status`
pub const STATUS: Command = Command {
    name: "status",
    aliases: &[],
    arguments: "[<selector> ...]",
    summary: "Shows a model, its applications, units and storage.",
    details: "Selectors, any of which may match: the name of an application; a unit or an application with \"*\";\n\
              APPLICATION/leader; a status word of a workload or an agent; \"not exposed\"; a port such as 5432/tcp.",
    scope: Scope::Model,
    formats: &[
        "tabular", "json", "yaml", "line", "short", "oneline", "summary",
    ],
    options: &[
        Opt::flag("storage", "show the storage section of the table"),
        Opt::flag("relations", "accepted; there are no relations").alias("integrations"),
        Opt::flag("utc", "times in UTC"),
        Opt::duration(
            "watch",
            "DURATION",
            "show it again and again until interrupted; 2s if no duration follows",
        )
        .alone("2s"),
        Opt::integer("retry-count", "N", "accepted"),
        Opt::duration("retry-delay", "DURATION", "accepted"),
    ],
    run,
};

/// Whether times are asked in UTC, by option or variable.
///
/// # Errors
/// The variable is not a truth value.
pub fn asks_for_utc(session: &Session<'_>, parsed: &Parsed) -> Result<bool, Failure> {
    match session.environment.variable("JUJU_STATUS_ISO_TIME") {
        _ if parsed.flag("utc") => Ok(true),
        None => Ok(false),
        Some(text) => match OptionKind::Boolean.parse(text) {
            Some(ConfigValue::Boolean(utc)) => Ok(utc),
            _ => Err(Failure::usage(
                "invalid JUJU_STATUS_ISO_TIME env var, expected true|false",
            )),
        },
    }
}

fn run(session: &mut Session<'_>, parsed: &Parsed) -> Done {
    let utc = asks_for_utc(session, parsed)?;
    let state = State::open(session, parsed)?;
    if session.format() != "tabular" {
        for option in ["storage", "relations"] {
            if parsed.flag(option) {
                session.note(&format!(
                    "provided {option} option is always enabled in non tabular formats"
                ));
            }
        }
    }
    let Some(period) = parsed.duration("watch") else {
        return show(session, parsed, &state, utc);
    };
    let mut first = true;
    loop {
        if session.on_terminal() {
            session.print("\u{1b}[H\u{1b}[J");
        } else if !first {
            session.print_line("");
        }
        first = false;
        show(session, parsed, &state, utc)?;
        if session.is_unread() {
            return Ok(());
        }
        std::thread::sleep(period.max(Duration::from_millis(100)));
    }
}

/// What no model shows is said here, or it would be nowhere.
fn warn_of_lost_models(session: &mut Session<'_>, snapshot: &Snapshot) {
    for application in snapshot.without_model() {
        session.warn(&format!(
            "application \"{}\" is of a model that has no record in this state ({}): it is left as it is until the record is put back",
            application.name, application.model
        ));
    }
}

fn show(session: &mut Session<'_>, parsed: &Parsed, state: &State, utc: bool) -> Done {
    let target = match Target::find(session, parsed, state) {
        Ok(target) => target,
        Err(failure) => {
            warn_of_lost_models(session, &state.snapshot()?);
            return Err(failure);
        }
    };
    warn_of_lost_models(session, target.snapshot());
    let clock = Clock {
        now: session.environment.now(),
        zone: session.environment.zone.clone(),
        utc,
    };
    let mut view = view_of(session, state, &target, state.is_provisioned()?, &clock)?;
    select(&mut view, &parsed.arguments);
    let text = render(&view, session.format(), parsed, session.colour());
    session.print(&text);
    if session.format() == "tabular" {
        // The table has not the room for what to do about it.
        for damaged in target.contents().damaged {
            session.warn(&damaged.to_string());
        }
    }
    if view.applications.is_empty() {
        match parsed.arguments.len() {
            0 => {
                session.note("");
                session.note(&format!("Model \"{}\" is empty.", target.shown_name()));
                if state.is_missing() {
                    session.note(&format!(
                        "There is no state at {} yet; the first deploy makes it.",
                        state.file.display()
                    ));
                }
            }
            1 => session.note("Nothing matched specified filter."),
            _ => session.note("Nothing matched specified filters."),
        }
    }
    Ok(())
}

/// The status of a model.
///
/// # Errors
/// The state cannot be read.
pub fn view_of(
    session: &Session<'_>,
    state: &State,
    target: &Target,
    provisioned: bool,
    clock: &Clock,
) -> Result<StatusView, Failure> {
    let contents = target.contents();
    let cloud = state.cloud(session.environment)?;
    Ok(status_view(
        &Source {
            name: &target.name,
            model: target.model.as_ref(),
            applications: &contents.applications,
            storages: &contents.storages,
            damaged: &contents.damaged,
            controller: session.environment.controller(),
            cloud: &cloud,
            provisioned,
        },
        clock,
    ))
}

fn render(view: &StatusView, format: &str, parsed: &Parsed, colour: bool) -> String {
    match format {
        "json" => json(view),
        "yaml" => yaml(view),
        "line" | "short" | "oneline" => lines::lines(view),
        "summary" => lines::summary(view),
        _ => tabular(
            view,
            Sections {
                storage: parsed.flag("storage"),
            },
            Paint(colour),
        ),
    }
}
