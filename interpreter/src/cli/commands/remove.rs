//! `remove-application` (command line, 2.5).

use pilotage_core::charm::names;
use pilotage_core::state::{Application, ApplicationCommand, Model, RemovalWish};

use super::super::failure::{Done, Failure};
use super::super::grammar::{Command, Opt, Parsed, Scope};
use super::super::session::Session;
use super::super::state::State;
use super::super::target::Target;

/// `remove-application`
pub const REMOVE_APPLICATION: Command = Command {
    name: "remove-application",
    aliases: &["remove"],
    arguments: "<application> ...",
    summary: "Removes applications.",
    details: "Claims stay unless --destroy-storage is given. It returns at once; the application is shown as dying until\n\
              the cluster holds nothing of it.",
    scope: Scope::Model,
    formats: &[],
    options: &[
        Opt::flag("no-prompt", "do not ask"),
        Opt::flag("destroy-storage", "delete its storage too"),
        Opt::flag("force", "do not wait for agents"),
        Opt::flag("no-wait", "accepted with --force"),
        Opt::flag("dry-run", "say what would be removed, and remove nothing"),
    ],
    run,
};

/// What each removal says before anything is done.
const WARNING: &str = "This command will perform the following actions:";

fn run(session: &mut Session<'_>, parsed: &Parsed) -> Done {
    if parsed.arguments.is_empty() {
        return Err(Failure::usage("no application specified"));
    }
    if let Some(name) = parsed
        .arguments
        .iter()
        .find(|name| names::check_application(name).is_err())
    {
        return Err(Failure::usage(format!(
            "invalid application name \"{name}\""
        )));
    }
    if parsed.flag("no-wait") && !parsed.flag("force") {
        return Err(Failure::usage("--no-wait without --force not valid"));
    }
    let destroy_storage = parsed.flag("destroy-storage");
    let state = State::open(session, parsed)?;
    let target = Target::find(session, parsed, &state)?;
    let contents = target.contents();
    let mut damaged = false;
    let mut found: Vec<(&String, Option<&Application>)> = Vec::new();
    for name in &parsed.arguments {
        match contents.application(name) {
            Ok(application) => found.push((name, application)),
            Err(failure) => {
                damaged = true;
                session.error(&format!("removing application {name} failed: {failure}"));
            }
        }
    }
    let dry = parsed.flag("dry-run");
    let any = found.iter().any(|(_, application)| application.is_some());
    let asks = any && !dry && !parsed.flag("no-prompt") && requires_prompts(target.model.as_ref());
    if dry || asks {
        session.warn(WARNING);
        for (name, application) in &found {
            say(session, name, *application, destroy_storage);
        }
    }
    if asks {
        let answer = session.ask("\nContinue [y/N]? ").to_lowercase();
        if answer != "y" && answer != "yes" {
            return Err(Failure::failed("application removal: aborted"));
        }
    }
    let mut failed = damaged || found.iter().any(|(_, application)| application.is_none());
    if !dry {
        for (name, application) in &found {
            if !asks {
                say(session, name, *application, destroy_storage);
            }
            let Some(application) = application else {
                continue;
            };
            let wish = RemovalWish {
                destroy_storage,
                force: parsed.flag("force"),
            };
            let removed = state.change(
                session,
                application.uid,
                ApplicationCommand::Remove { wish },
            );
            if let Err(failure) = removed {
                failed = true;
                session.error(&format!("removing application {name} failed: {failure}"));
            }
        }
        state.note_provisioner(session)?;
    }
    if failed { Err(Failure::Told) } else { Ok(()) }
}

/// Whether the model's `mode` asks before something is removed; it does by default.
fn requires_prompts(model: Option<&Model>) -> bool {
    model
        .and_then(|model| model.spec.settings.get("mode"))
        .is_none_or(|mode| {
            mode.split([',', ' '])
                .any(|word| word == "requires-prompts")
        })
}

fn say(
    session: &mut Session<'_>,
    name: &str,
    application: Option<&Application>,
    destroy_storage: bool,
) {
    let Some(application) = application else {
        session.error(&format!(
            "removing application {name} failed: application \"{name}\" not found"
        ));
        return;
    };
    session.print_line(&format!("will remove application {name}"));
    for unit in &application.status.units {
        session.print_line(&format!("- will remove unit {name}/{}", unit.number));
    }
    let verb = if destroy_storage { "remove" } else { "detach" };
    for storage in &application.status.storage {
        session.print_line(&format!("- will {verb} storage {}", storage.id()));
    }
}
