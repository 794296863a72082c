//! `refresh` (command line, 2.4).

use std::sync::Arc;

use pilotage_core::charm::names;
use pilotage_core::outcome::Reply;
use pilotage_core::state::{Application, ApplicationCommand, Caller, CharmOrigin, Refresh};

use super::super::failure::{Done, Failure};
use super::super::grammar::{Command, Opt, Parsed, Scope};
use super::super::session::Session;
use super::super::state::State;
use super::super::target::Target;
use super::super::wish::{Wish, apply, check, options, resources};
use super::application_of;
use super::deploy::warn;
use crate::charm::read_charm;

/// `refresh`
pub const REFRESH: Command = Command {
    name: "refresh",
    aliases: &["upgrade-charm"],
    arguments: "<application>",
    summary: "Gives an application another revision of its charm, or other resources, options, storage.",
    details: "What is not named stays as it is. Every refresh with a path makes a new revision, also of equal content.",
    scope: Scope::Model,
    formats: &[],
    options: &[
        Opt::value("path", "PATH", "the charm, of the same name"),
        Opt::value("switch", "PATH", "the charm, whatever its name"),
        Opt::many("resource", "NAME=VALUE", "an image or a file"),
        Opt::many("config", "FILE|KEY=VALUE", "options of the charm"),
        Opt::many(
            "storage",
            "NAME=DIRECTIVE",
            "pool, count and size of a storage",
        ),
        Opt::flag("trust", "its pods may do everything in the cluster"),
        Opt::flag("force", "accepted without an effect"),
        Opt::flag("force-units", "accepted without an effect"),
        Opt::flag("force-base", "accepted without an effect"),
        Opt::flag("force-series", "accepted without an effect; deprecated"),
        Opt::value("base", "BASE", "recorded and shown"),
        Opt::value("channel", "CHANNEL", "accepted; a local charm has none"),
        Opt::many("bind", "ENDPOINT=SPACE", "accepted without an effect"),
        Opt::integer(
            "revision",
            "N",
            "accepted; a local charm has none to choose",
        ),
        Opt::flag(
            "dry-run",
            "say what would change and be done, and do nothing",
        ),
    ],
    run,
};

fn run(session: &mut Session<'_>, parsed: &Parsed) -> Done {
    let name = parsed
        .argument(0)
        .ok_or_else(|| Failure::usage("no application specified"))?;
    parsed.no_more_than(1)?;
    let exclusive: Vec<&str> = ["path", "switch", "revision"]
        .into_iter()
        .filter(|option| parsed.given(option))
        .collect();
    if let [first, second, ..] = exclusive.as_slice() {
        return Err(Failure::usage(format!(
            "--{first} and --{second} are mutually exclusive"
        )));
    }
    let storage = options::storage(parsed.many("storage"), "<store>=<constraints>")?;
    let words = options::resource_words(parsed.many("resource"))?;
    for option in [
        "force",
        "force-units",
        "force-base",
        "channel",
        "bind",
        "revision",
    ] {
        if parsed.given(option) {
            session.detail(&format!("--{option} has no effect on a local charm"));
        }
    }
    if parsed.given("force-series") {
        session.warn("--force-series is deprecated; use --force-base");
    }
    if names::check_application(name).is_err() {
        return Err(Failure::usage(format!(
            "invalid application name \"{name}\""
        )));
    }
    let wish = read_path(session, parsed, name)?;
    let changes_something = wish.is_some()
        || ["resource", "config", "storage", "trust"]
            .iter()
            .any(|option| parsed.given(option));
    if !changes_something {
        return Err(Failure::failed(
            "refreshing a local charm requires either --path or --switch",
        ));
    }
    let state = State::open(session, parsed)?;
    let target = Target::find(session, parsed, &state)?;
    let contents = target.contents();
    let application = application_of(&contents, name)?;
    if let Some(wish) = &wish {
        check_charm(wish, application, parsed.given("switch"))?;
    }
    let spec = &application.spec;
    let charm = wish.as_ref().map_or(&spec.charm, |wish| &wish.charm);
    let given = options::given(session, parsed.many("config"), name)?;
    let (config, settings) = options::typed(charm, &given)?;
    let given_resources = options::resources(session, charm, &words)?;
    let key = || state.store.fingerprint_key();
    let (values, secrets) =
        resources::kept(key, application.uid, &given_resources, &spec.resources)?;
    let mut directives = spec.storage.clone();
    directives.retain(|name, _| charm.storage(name).is_some());
    directives.extend(storage.clone());
    let filesystems = if wish.is_some() || !storage.is_empty() {
        check::unit_filesystems(charm, &directives, target.model.as_ref())?
    } else {
        spec.filesystems.clone()
    };
    check_names(&target, application, charm, &filesystems)?;
    let mut body = Refresh {
        charm: None,
        resources: values,
        config,
        settings,
        storage,
        filesystems,
        trust: parsed.flag_given("trust"),
        base: parsed.value("base").map(str::to_owned),
    };
    let dry = parsed.flag("dry-run");
    let mut added = None;
    if let Some(wish) = wish {
        let revision = match dry {
            true => next_revision(session, &target, &wish)?,
            false => apply::draw_revision(session, &state, application.model, &wish)?,
        };
        let origin = CharmOrigin {
            revision,
            version: wish.version.clone(),
        };
        added = Some((wish.charm.name.clone(), revision));
        body.charm = Some((Arc::clone(&wish.charm), origin));
    }
    let body = ApplicationCommand::Refresh(Box::new(body));
    if dry {
        let secrets = (&*secrets, &*state.store);
        return super::dry_run::refresh(session, &target, application, body, secrets);
    }
    state.change_with(session, application.uid, body, &secrets)?;
    if let Some((charm, revision)) = added {
        session.note(&format!(
            "Added local charm \"{charm}\", revision {revision}, to the model"
        ));
    }
    state.note_provisioner(session)
}

/// The revision that the model would draw.
fn next_revision(session: &Session<'_>, target: &Target, wish: &Wish) -> Result<u32, Failure> {
    let model = target.model.as_ref();
    let model = model.ok_or_else(|| Failure::failed("its model has no record"))?;
    let draw = apply::revision_of(wish);
    match model.apply(session.environment.now(), Caller::User, None, &draw) {
        Ok((_, Reply::Recorded { drawn, .. })) => Ok(drawn.unwrap_or_default()),
        Ok(_) => Ok(0),
        Err(denial) => Err(Failure::failed(denial.to_string())),
    }
}

/// The charm at `--path` or `--switch`.
fn read_path(
    session: &mut Session<'_>,
    parsed: &Parsed,
    name: &str,
) -> Result<Option<Wish>, Failure> {
    let Some(argument) = parsed.value("path").or_else(|| parsed.value("switch")) else {
        return Ok(None);
    };
    let path = session.environment.path(argument);
    if !path.exists() {
        return Err(Failure::failed(format!("no charm found at \"{argument}\"")));
    }
    let read = read_charm(&path).map_err(|error| Failure::failed(error.to_string()))?;
    warn(session, &read.warnings);
    Ok(Some(Wish::of_charm(name, read)))
}

fn check_charm(wish: &Wish, application: &Application, switch: bool) -> Result<(), Failure> {
    let (old, new) = (&application.spec.charm.name, &wish.charm.name);
    if old != new && !switch {
        return Err(Failure::failed(format!(
            "cannot refresh \"{old}\" to \"{new}\""
        )));
    }
    check::assumptions(&wish.charm)
}

/// Names that the new revision derives must fit and be free, as at deploy.
fn check_names(
    target: &Target,
    application: &Application,
    charm: &pilotage_core::charm::Charm,
    filesystems: &[pilotage_core::charm::Filesystem],
) -> Result<(), Failure> {
    let contents = target.contents();
    let others = check::names_in_use(&target.name, &contents.applications);
    let derived = names::derive(
        &application.name,
        application.uid,
        &target.name,
        charm,
        filesystems,
    );
    names::check(&derived, &target.name, &others).map_err(|problems| {
        let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
        Failure::failed(lines.join("\n"))
    })
}
