//! `deploy` (command line, 2.1).

use std::path::{Path, PathBuf};

use pilotage_core::charm::names::Derived;

use super::super::failure::{Done, Failure};
use super::super::grammar::{Command, Opt, Parsed, Scope};
use super::super::session::Session;
use super::super::state::State;
use super::super::target::Target;
use super::super::wish::{Wish, apply, check, options};
use super::{bundle, constraints};
use crate::charm::{CharmsFolder, Kind, Located, ReadError, Source, kind, read_charm};

/// `deploy`
pub const DEPLOY: Command = Command {
    name: "deploy",
    aliases: &[],
    arguments: "<charm or bundle> [<application>]",
    summary: "Deploys a local charm or bundle.",
    details: "The charm is a directory or a .charm file; the bundle a .yaml file, or a directory or archive with\n\
              bundle.yaml. A bare name is looked up in the charms folder (--charms).\n\
              Images that are not given come from the charm's upstream-source.",
    scope: Scope::Model,
    formats: &[],
    options: &[
        Opt::integer("num-units", "N", "units, 1 or more").short('n'),
        Opt::flag("trust", "its pods may do everything in the cluster"),
        Opt::many("resource", "NAME=VALUE", "an image or a file"),
        Opt::many("config", "FILE|KEY=VALUE", "options of the charm"),
        Opt::many("constraints", "KEY=VALUE ...", "what its pods need"),
        Opt::many(
            "storage",
            "[APPLICATION:]NAME=DIRECTIVE",
            "pool, count and size of a storage",
        ),
        Opt::many("attach-storage", "ID[,ID]", "storage that is there already"),
        Opt::many(
            "device",
            "[APPLICATION:]LABEL=[COUNT,]TYPE[,KEY=VALUE;...]",
            "devices",
        ),
        Opt::flag(
            "force",
            "skip checks of bases, and a bundle's question of trust",
        ),
        Opt::flag("dry-run", "say what would be made, and make nothing"),
        Opt::many("overlay", "FILE", "lay a file over the bundle"),
        Opt::value(
            "charms",
            "DIR",
            "folder of charms (default: $PILOTAGE_CHARMS)",
        ),
        Opt::value("base", "BASE", "recorded and shown"),
        Opt::value("series", "SERIES", "recorded and shown; deprecated"),
        Opt::value("channel", "CHANNEL", "accepted; a local charm has none"),
        Opt::value(
            "revision",
            "REVISION",
            "accepted; a local charm has none to choose",
        ),
        Opt::many("bind", "ENDPOINT=SPACE", "accepted without an effect"),
        Opt::value("to", "PLACEMENT", "refused: there are no machines"),
        Opt::value(
            "map-machines",
            "MAP",
            "accepted without an effect; bundles only",
        ),
    ],
    run,
};

/// Options that only a charm takes, by the name that is shown.
const CHARM_ONLY: [&str; 9] = [
    "bind",
    "config",
    "constraints",
    "num-units",
    "series",
    "base",
    "to",
    "resource",
    "attach-storage",
];

/// Options that only a bundle takes.
const BUNDLE_ONLY: [&str; 2] = ["overlay", "map-machines"];

fn run(session: &mut Session<'_>, parsed: &Parsed) -> Done {
    let argument = parsed
        .argument(0)
        .ok_or_else(|| Failure::usage("no charm or bundle specified"))?;
    parsed.no_more_than(2)?;
    check_usage(parsed)?;
    let charms = charms_folder(session, parsed);
    let source = charms
        .find(argument, &session.environment.folder)
        .map_err(|missing| Failure::failed(missing.to_string()))?;
    match source {
        Source::Path(path) if path.exists() => match kind(&path) {
            Ok(Kind::Bundle) => {
                refuse(parsed, &CHARM_ONLY, "bundle")?;
                bundle::deploy(session, parsed, &path, &charms)
            }
            Ok(Kind::Charm) => {
                refuse(parsed, &BUNDLE_ONLY, "charm")?;
                deploy_charm(session, parsed, &path)
            }
            Err(error) => Err(Failure::failed(error.to_string())),
        },
        Source::Path(_) => Err(Failure::failed(format!(
            "no charm was found at \"{argument}\""
        ))),
        Source::Known { charm, revision } => {
            refuse(parsed, &BUNDLE_ONLY, "charm")?;
            deploy_known(session, parsed, &charm, revision)
        }
    }
}

fn check_usage(parsed: &Parsed) -> Result<(), Failure> {
    if parsed.integer("num-units").is_some_and(|units| units < 1) {
        return Err(Failure::usage("--num-units must be a positive integer"));
    }
    if parsed.given("to") {
        return Err(Failure::usage("--to cannot be used on k8s models"));
    }
    if parsed.given("series") && parsed.given("base") {
        return Err(Failure::usage(
            "--series and --base cannot be specified together",
        ));
    }
    if parsed.given("attach-storage") {
        if parsed.integer("num-units").is_some_and(|units| units != 1) {
            return Err(Failure::usage("--attach-storage cannot be used with -n"));
        }
        return Err(Failure::failed("--attach-storage is not available yet"));
    }
    if let Some(map) = parsed.value("map-machines") {
        let well_formed = map
            .split(',')
            .all(|part| part == "existing" || part.contains('='));
        if !well_formed {
            return Err(Failure::usage(format!(
                "error in --map-machines: expected \"existing\" or \"<bundle-id>=<machine-id>\", got \"{map}\""
            )));
        }
    }
    Ok(())
}

fn refuse(parsed: &Parsed, options: &[&str], what: &str) -> Result<(), Failure> {
    let given: Vec<String> = options
        .iter()
        .filter(|option| parsed.given(option))
        .map(|option| format!("--{option}"))
        .collect();
    if given.is_empty() {
        return Ok(());
    }
    Err(Failure::failed(format!(
        "options provided but not supported when deploying a {what}: {}",
        given.join(", ")
    )))
}

/// The charms folder of a call.
pub fn charms_folder(session: &Session<'_>, parsed: &Parsed) -> CharmsFolder {
    let folder = parsed
        .value("charms")
        .or_else(|| session.environment.variable("PILOTAGE_CHARMS"));
    CharmsFolder::new(folder.map(|folder| session.environment.path(folder)))
}

/// Says what in a charm's or a bundle's files works, though perhaps not as meant.
pub fn warn(session: &mut Session<'_>, warnings: &[Located]) {
    for warning in warnings {
        session.say(&warning.to_string());
    }
}

fn deploy_charm(session: &mut Session<'_>, parsed: &Parsed, path: &Path) -> Done {
    let read = read_charm(path).map_err(|error: ReadError| Failure::failed(error.to_string()))?;
    warn(session, &read.warnings);
    let name = parsed.argument(1).unwrap_or(&read.charm.name).to_owned();
    let wish = Wish::of_charm(&name, read);
    deploy_wish(session, parsed, wish, None)
}

fn deploy_known(session: &mut Session<'_>, parsed: &Parsed, charm: &str, revision: u64) -> Done {
    let state = State::open(session, parsed)?;
    let target = Target::find(session, parsed, &state)?;
    let contents = target.contents();
    let known = contents.applications.iter().find(|application| {
        application.spec.charm.name == charm
            && u64::from(application.spec.origin.revision) == revision
    });
    let Some(known) = known else {
        return Err(Failure::failed(format!(
            "charm \"local:{charm}-{revision}\" not found in model \"{}\"",
            target.shown_name()
        )));
    };
    let name = parsed.argument(1).unwrap_or(charm).to_owned();
    let wish = Wish {
        name,
        charm: known.spec.charm.clone(),
        claimed: None,
        version: known.spec.origin.version.clone(),
        scale: None,
        trust: None,
        resources: Default::default(),
        config: Default::default(),
        settings: Default::default(),
        constraints: None,
        storage: Default::default(),
        devices: Default::default(),
        base: None,
    };
    deploy_wish(session, parsed, wish, Some(known.spec.origin.revision))
}

/// Deploys one charm. A revision that the model knows is used again; otherwise the next is drawn.
fn deploy_wish(
    session: &mut Session<'_>,
    parsed: &Parsed,
    mut wish: Wish,
    known: Option<u32>,
) -> Done {
    check::name(&wish.name)?;
    wish.storage = options::storage(
        parsed.many("storage"),
        "[<application>:]<store>=<constraints>",
    )?;
    wish.devices = options::devices(parsed.many("device"))?;
    let resource_words = options::resource_words(parsed.many("resource"))?;
    let text = parsed.many("constraints").join(" ");
    wish.constraints = Some(constraints::read(session, &text).map_err(Failure::Failed)?);
    let given = options::given(session, parsed.many("config"), &wish.name)?;
    (wish.config, wish.settings) = options::typed(&wish.charm, &given)?;
    wish.resources = options::resources(session, &wish.charm, &resource_words)?;
    wish.scale = parsed
        .integer("num-units")
        .map(|units| {
            u32::try_from(units)
                .map_err(|_| Failure::usage("--num-units must be a positive integer"))
        })
        .transpose()?;
    wish.trust = parsed.flag_given("trust");
    wish.base = base(session, parsed);
    note_ignored(session, parsed);
    note_devices(session, &wish);

    let state = State::open(session, parsed)?;
    let mut target = Target::find(session, parsed, &state)?;
    let contents = target.contents();
    if contents.application(&wish.name)?.is_some() {
        return Err(exists(session, &wish.name));
    }
    let others: Vec<Derived> = check::names_in_use(&target.name, &contents.applications);
    let uid = apply::fresh_uid()?;
    let notes = check::images(&wish)?;
    let new = apply::new_application(&wish, uid, &target, &others)?;
    for note in notes {
        session.note(&note);
    }
    let charm = &wish.charm.name;
    if parsed.flag("dry-run") {
        return super::dry_run::deploy(session, &target, uid, new, &wish);
    }
    let model = target.ensure(session, &state)?;
    let revision = match known {
        Some(revision) => revision,
        None => apply::draw_revision(session, &state, model, &wish)?,
    };
    session.note(&format!(
        "Located local charm \"{charm}\", revision {revision}"
    ));
    let on = wish
        .base
        .clone()
        .or_else(|| wish.charm.bases.first().map(ToString::to_string))
        .map(|base| format!(" on {base}"))
        .unwrap_or_default();
    apply::add(
        session,
        &state,
        (uid, model, revision),
        new,
        &wish.resources,
    )
    .map_err(|failure| {
        if failure.to_string().ends_with("application already exists") {
            exists(session, &wish.name)
        } else {
            failure
        }
    })?;
    session.note(&format!(
        "Deploying \"{}\" from local charm \"{charm}\", revision {revision}{on}",
        wish.name
    ));
    state.note_provisioner(session)
}

/// That the name is taken, with Juju's advice.
fn exists(session: &Session<'_>, name: &str) -> Failure {
    let program = &session.environment.program;
    Failure::failed(format!(
        "cannot add application \"{name}\": application already exists:\n\
         deploy application using an alias name:\n    {program} deploy <application> <alias>\n\
         or use remove-application to remove the existing one and try again."
    ))
}

fn base(session: &mut Session<'_>, parsed: &Parsed) -> Option<String> {
    if let Some(series) = parsed.value("series") {
        session.warn("--series is deprecated; use --base");
        let version = match series {
            "xenial" => "16.04",
            "bionic" => "18.04",
            "focal" => "20.04",
            "jammy" => "22.04",
            "noble" => "24.04",
            other => other,
        };
        return Some(format!("ubuntu@{version}/stable"));
    }
    let base = parsed.value("base")?;
    Some(if base.contains('/') {
        base.to_owned()
    } else {
        format!("{base}/stable")
    })
}

fn note_ignored(session: &mut Session<'_>, parsed: &Parsed) {
    for option in ["channel", "revision", "bind"] {
        if parsed.given(option) {
            session.note(&format!("--{option} has no effect on a local charm"));
        }
    }
}

/// Devices wait for a later release.
pub fn note_devices(session: &mut Session<'_>, wish: &Wish) {
    if !wish.devices.is_empty() {
        session.warn("devices are recorded and have no effect yet");
    }
}

/// The paths of the overlays of a call.
pub fn overlays(session: &Session<'_>, parsed: &Parsed) -> Vec<PathBuf> {
    parsed
        .many("overlay")
        .iter()
        .map(|overlay| session.environment.path(overlay))
        .collect()
}
