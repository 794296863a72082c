//! `add-unit`, `remove-unit`, `scale-application` (command line, 2.2).

use pilotage_core::state::{Application, ApplicationCommand};

use super::super::failure::{Done, Failure};
use super::super::grammar::{Command, Opt, Parsed, Scope};
use super::super::session::Session;
use super::super::state::State;
use super::super::target::Target;

/// `add-unit`
pub const ADD_UNIT: Command = Command {
    name: "add-unit",
    aliases: &[],
    arguments: "<application>",
    summary: "Adds units to an application.",
    details: "",
    scope: Scope::Model,
    formats: &[],
    options: &[
        Opt::integer("num-units", "N", "how many (default: 1)").short('n'),
        Opt::many("attach-storage", "ID[,ID]", "storage that is there already"),
        Opt::value("to", "PLACEMENT", "refused: there are no machines"),
    ],
    run: |session, parsed| {
        let name = only_application(parsed)?;
        if parsed.given("to") {
            return Err(Failure::usage("k8s models only support --num-units"));
        }
        let units = parsed.integer("num-units").unwrap_or(1);
        if units < 1 {
            return Err(Failure::usage("--num-units must be a positive integer"));
        }
        if parsed.given("attach-storage") {
            return Err(Failure::failed("--attach-storage is not available yet"));
        }
        let (state, application) = existing(session, parsed, name)?;
        let body = ApplicationCommand::ChangeScale { by: units };
        state
            .change(session, application.uid, body)
            .map_err(|failure| Failure::failed(format!("can not add unit: {failure}")))?;
        state.note_provisioner(session)
    },
};

/// `remove-unit`
pub const REMOVE_UNIT: Command = Command {
    name: "remove-unit",
    aliases: &[],
    arguments: "<application>",
    summary: "Removes units from an application, the highest numbers first.",
    details: "",
    scope: Scope::Model,
    formats: &[],
    options: &[
        Opt::integer("num-units", "N", "how many"),
        Opt::flag("force", "do not wait for agents"),
        Opt::flag("no-wait", "accepted with --force"),
        Opt::flag("no-prompt", "accepted; nothing is asked"),
        Opt::flag("destroy-storage", "refused: storage stays"),
        Opt::flag("dry-run", "refused"),
    ],
    run: remove_unit,
};

/// `scale-application`
pub const SCALE_APPLICATION: Command = Command {
    name: "scale-application",
    aliases: &["scale"],
    arguments: "<application> <number of units>",
    summary: "Sets how many units an application has.",
    details: "",
    scope: Scope::Model,
    formats: &[],
    options: &[],
    run: scale_application,
};

fn only_application(parsed: &Parsed) -> Result<&str, Failure> {
    let name = parsed
        .argument(0)
        .ok_or_else(|| Failure::usage("no application specified"))?;
    parsed.no_more_than(1)?;
    Ok(name)
}

/// The application of a name, in the words of the commands that scale.
fn existing(
    session: &mut Session<'_>,
    parsed: &Parsed,
    name: &str,
) -> Result<(State, Application), Failure> {
    let state = State::open(session, parsed)?;
    let target = Target::find(session, parsed, &state)?;
    let application = target.contents().application(name)?.cloned();
    let application = application
        .ok_or_else(|| Failure::failed(format!("application \"{name}\" does not exist")))?;
    Ok((state, application))
}

fn remove_unit(session: &mut Session<'_>, parsed: &Parsed) -> Done {
    let name = parsed
        .argument(0)
        .ok_or_else(|| Failure::usage("no application specified"))?;
    if parsed.arguments.iter().any(|name| name.contains('/')) {
        return Err(Failure::usage(
            "k8s models do not support removing named units.\n\
             Instead specify an application with --num-units.",
        ));
    }
    if parsed.arguments.len() > 1 {
        return Err(Failure::usage("only single application supported"));
    }
    if parsed.flag("destroy-storage") {
        return Err(Failure::usage("k8s models only support --num-units"));
    }
    if parsed.flag("dry-run") {
        return Err(Failure::usage(
            "`--dry-run` is not supported for kubernetes units",
        ));
    }
    if parsed.flag("no-wait") && !parsed.flag("force") {
        return Err(Failure::usage("--no-wait without --force not valid"));
    }
    let Some(units) = parsed.integer("num-units").filter(|units| *units > 0) else {
        return Err(Failure::usage(
            "specify the number of units (> 0) to remove using --num-units",
        ));
    };
    let (state, application) = existing(session, parsed, name)?;
    let body = ApplicationCommand::ChangeScale { by: -units };
    state.change(session, application.uid, body)?;
    let left = i64::from(application.spec.scale) - units;
    session.note(&format!("scaling down to {left} units"));
    state.note_provisioner(session)
}

fn scale_application(session: &mut Session<'_>, parsed: &Parsed) -> Done {
    let name = parsed
        .argument(0)
        .ok_or_else(|| Failure::usage("no application specified"))?;
    let text = parsed
        .argument(1)
        .ok_or_else(|| Failure::usage("no scale specified"))?;
    parsed.no_more_than(2)?;
    let scale: i64 = text.parse().map_err(|_| {
        Failure::usage(format!(
            "invalid scale \"{text}\": strconv.Atoi: parsing \"{text}\": invalid syntax"
        ))
    })?;
    let scale =
        u32::try_from(scale).map_err(|_| Failure::usage("scale must be a positive integer"))?;
    let could_not = |failure: Failure| match failure {
        Failure::Failed(why) => {
            Failure::failed(format!("could not scale application \"{name}\": {why}"))
        }
        other => other,
    };
    let state = State::open(session, parsed)?;
    let target = Target::find(session, parsed, &state)?;
    let application = target
        .contents()
        .application(name)
        .map_err(could_not)?
        .ok_or_else(|| could_not(Failure::failed(format!("application \"{name}\" not found"))))?;
    state
        .change(
            session,
            application.uid,
            ApplicationCommand::SetScale { scale },
        )
        .map_err(could_not)?;
    session.note(&format!("{name} scaled to {scale} units"));
    state.note_provisioner(session)
}
