//! `destroy-model`: waits until all is gone, and does it itself when no provisioner runs (command line, 2.7).

use std::sync::Arc;
use std::time::{Duration, Instant};

use pilotage_core::name::Uid;
use pilotage_core::state::{Model, ModelCommand, RemovalWish};

use super::super::cluster::{CLUSTER, Choice, LEASE, LeaseChoice, namespaces};
use super::super::failure::{Done, Failure};
use super::super::grammar::{Command, Opt, Parsed, Scope};
use super::super::provisioning::{Plan, Provisioning, Told};
use super::super::session::Session;
use super::super::state::State;
use super::super::target::{Client, Wanted};
use super::run::{TRACE, tracing};
use crate::store::Snapshot;

/// `destroy-model`
pub const DESTROY_MODEL: Command = Command {
    name: "destroy-model",
    aliases: &[],
    arguments: "<name>",
    summary: "Removes a model with all that is in it, and waits until it is gone.",
    details: "",
    scope: Scope::Program,
    formats: &[],
    options: &[
        Opt::flag("no-prompt", "do not ask"),
        Opt::flag("yes", "do not ask").short('y'),
        Opt::flag("destroy-storage", "delete its storage too"),
        Opt::flag("release-storage", "leave its storage in the cluster"),
        Opt::flag("force", "do not wait for agents"),
        Opt::flag("no-wait", "accepted with --force"),
        Opt::duration("timeout", "DURATION", "with --force: how long to wait").short('t'),
        CLUSTER,
        LEASE,
        TRACE,
    ],
    run,
};

/// What is left of a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Left {
    applications: usize,
    storages: usize,
}

impl Left {
    fn of(snapshot: &Snapshot, model: &Model) -> Self {
        let contents = snapshot.of_model(Some(model.uid));
        let attached: usize = contents
            .applications
            .iter()
            .flat_map(|application| &application.status.storage)
            .filter(|storage| storage.claim.is_some())
            .count();
        Left {
            applications: contents.applications.len(),
            storages: attached + contents.storages.len(),
        }
    }

    fn waiting(self) -> String {
        let mut parts = Vec::new();
        if self.applications > 0 {
            parts.push(format!("{} application(s)", self.applications));
        }
        if self.storages > 0 {
            parts.push(format!("{} volume(s)", self.storages));
            parts.push(format!("{} filesystems(s)", self.storages));
        }
        if parts.is_empty() {
            "Waiting for model to be removed...".into()
        } else {
            format!("Waiting for model to be removed, {}...", parts.join(", "))
        }
    }
}

fn run(session: &mut Session<'_>, parsed: &Parsed) -> Done {
    let named = parsed
        .argument(0)
        .ok_or_else(|| Failure::usage("no model specified"))?;
    parsed.no_more_than(1)?;
    let cluster = Choice::of(session.environment, parsed)?;
    let (destroy, release) = (
        parsed.flag("destroy-storage"),
        parsed.flag("release-storage"),
    );
    if destroy && release {
        return Err(Failure::usage(
            "--destroy-storage and --release-storage cannot both be specified",
        ));
    }
    let force = parsed.flag("force");
    if parsed.given("timeout") && !force {
        return Err(Failure::usage(
            "--timeout can only be used with --force (dangerous)",
        ));
    }
    if parsed.flag("no-wait") && !force {
        return Err(Failure::usage("--no-wait without --force not valid"));
    }
    let state = State::open(session, parsed)?;
    let snapshot = state.snapshot()?;
    let environment = session.environment;
    let wanted = Wanted::parse(named, environment)?;
    let Some(model) = wanted.find(&snapshot, environment)? else {
        return Err(Failure::failed(format!(
            "model {}:admin/{} not found",
            environment.controller(),
            wanted.name
        )));
    };
    readable(&snapshot, model.uid)?;
    let left = Left::of(&snapshot, model);
    if left.storages > 0 && !destroy && !release {
        let count = left.storages;
        return Err(Failure::failed(format!(
            "cannot destroy model \"{}\"\n\nThe model has persistent storage remaining:\n\
             \t{count} volume(s) and {count} filesystem(s)\n\n\
             To destroy the storage, run the command again with --destroy-storage.\n\
             To leave it in the cluster, run it again with --release-storage.",
            model.name
        )));
    }
    if !parsed.flag("no-prompt") && !parsed.flag("yes") {
        session.warn(&format!(
            "This command will destroy the \"{}\" model with {} application(s) and {} storage(s).",
            model.name, left.applications, left.storages
        ));
        let question = "\nTo continue, enter the name of the model to be destroyed: ";
        if session.ask(question) != *model.name {
            return Err(Failure::failed("model destruction: aborted"));
        }
    }
    session.note("Destroying model");
    let wish = RemovalWish {
        destroy_storage: destroy,
        force,
    };
    state.change_model(session, model.uid, ModelCommand::Destroy { wish })?;
    let provisioning = provision(session, parsed, &state, cluster)?;
    let gone = wait(session, &state, model.uid, parsed.duration("timeout"));
    if let Some(provisioning) = provisioning {
        provisioning.end()?;
    }
    gone?;
    session.note("Model destroyed.");
    let client = Client::read(&state.file);
    if client.current.as_deref() == Some(&*model.name) {
        Client::default().write(&state.file)?;
    }
    Ok(())
}

/// A model does not go while a record of it cannot be read: nobody would know what to take away.
fn readable(snapshot: &Snapshot, model: Uid) -> Result<(), Failure> {
    match snapshot.of_model(Some(model)).damaged.first() {
        Some(damaged) => Err(Failure::failed(damaged.to_string())),
        None => Ok(()),
    }
}

/// Becomes the provisioner of a state that has none.
fn provision(
    session: &mut Session<'_>,
    parsed: &Parsed,
    state: &State,
    cluster: Choice,
) -> Result<Option<Provisioning>, Failure> {
    if state.is_provisioned()? {
        return Ok(None);
    }
    let plan = Plan {
        namespaces: namespaces(session.environment, parsed, &cluster)?,
        cluster,
        lease: LeaseChoice::of(session.environment, parsed, state)?,
        tracing: tracing(session, parsed, state),
        observer: Arc::new(Told { effects: false }),
        monitor: Arc::default(),
        trust_in_namespace_only: false,
        stand_by: false,
    };
    match Provisioning::start(state, plan)?.running(|words| session.detail(words)) {
        Ok(provisioning) => Ok(Some(provisioning)),
        // Somebody else was faster: then it is theirs to do.
        Err(_) if state.is_provisioned()? => Ok(None),
        Err(failure) => Err(failure),
    }
}

fn wait(
    session: &mut Session<'_>,
    state: &State,
    uid: Uid,
    timeout: Option<Duration>,
) -> Result<(), Failure> {
    let begun = Instant::now();
    let (mut told, mut dotted, mut within_line) = (None, Instant::now(), false);
    loop {
        let snapshot = state.snapshot()?;
        let model = snapshot.models.iter().find(|model| model.uid == uid);
        if model.is_none() {
            readable(&snapshot, uid)?;
        }
        let Some(model) = model else {
            if within_line {
                session.note("");
            }
            return Ok(());
        };
        readable(&snapshot, uid)?;
        let left = Left::of(&snapshot, model);
        if told != Some(left) {
            if within_line {
                session.note("");
            }
            session.note_part(&left.waiting());
            (told, dotted, within_line) = (Some(left), Instant::now(), true);
        } else if dotted.elapsed() > Duration::from_secs(2) {
            session.note_part(".");
            dotted = Instant::now();
        }
        if timeout.is_some_and(|timeout| begun.elapsed() > timeout) {
            session.note("");
            return Err(Failure::failed(format!(
                "model \"{}\" is not gone yet; it goes on being removed",
                model.name
            )));
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}
