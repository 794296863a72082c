//! `storage` (command line, 2.8).

use pilotage_core::event::RecordName;

use super::super::failure::{Done, Failure};
use super::super::grammar::{Command, Opt, Parsed, Scope};
use super::super::output::times::Clock;
use super::super::output::{TABULAR_JSON_YAML, json, yaml};
use super::super::session::Session;
use super::super::state::State;
use super::super::status::storage::{damaged_storage, storage_view};
use super::super::status::tabular;
use super::super::target::Target;

/// `storage`
pub const STORAGE: Command = Command {
    name: "storage",
    aliases: &["list-storage"],
    arguments: "[<id> ...]",
    summary: "Lists storage.",
    details: "",
    scope: Scope::Model,
    formats: TABULAR_JSON_YAML,
    options: &[
        Opt::flag("filesystem", "filesystems only"),
        Opt::flag("volume", "volumes only"),
    ],
    run,
};

fn run(session: &mut Session<'_>, parsed: &Parsed) -> Done {
    let (filesystem, volume) = (parsed.flag("filesystem"), parsed.flag("volume"));
    if filesystem && volume {
        return Err(Failure::usage(
            "--filesystem and --volume can not be used together",
        ));
    }
    if !filesystem && !volume {
        parsed.no_more_than(0)?;
    }
    let state = State::open(session, parsed)?;
    let target = Target::find(session, parsed, &state)?;
    let contents = target.contents();
    let clock = Clock {
        now: session.environment.now(),
        zone: session.environment.zone.clone(),
        utc: false,
    };
    let mut view = storage_view(
        contents.applications.iter().copied(),
        contents.storages.iter().copied(),
        &clock,
    );
    for damaged in &contents.damaged {
        if let RecordName::Storage { number, .. } = damaged.record {
            damaged_storage(&mut view, number, damaged);
        }
    }
    let wanted = |id: &String| parsed.arguments.is_empty() || parsed.arguments.contains(id);
    if filesystem || volume {
        view.storage.clear();
        view.filesystems.retain(|id, _| filesystem && wanted(id));
        view.volumes.retain(|id, _| volume && wanted(id));
    }
    let tabular = session.format() == "tabular";
    if view.is_empty() {
        if tabular {
            session.note("No storage to display.");
        }
        return Ok(());
    }
    let text = match session.format() {
        "json" => json(&view),
        "yaml" => yaml(&view),
        _ if filesystem => tabular::filesystems(&view),
        _ if volume => tabular::volumes(&view),
        _ => tabular::storage(&view, "Unit", false),
    };
    session.print(&text);
    Ok(())
}
