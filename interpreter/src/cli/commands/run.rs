//! `run`: the service, and `replay` of its traces.

use std::sync::Arc;

use super::super::cluster::{
    CLUSTER, Choice, LEASE, LEASE_DURATION, LeaseChoice, NAMESPACES, namespaces,
};
use super::super::failure::{Done, Failure};
use super::super::grammar::{Command, Opt, Parsed, Scope};
use super::super::provisioning::{Plan, Provisioning, Told};
use super::super::session::Session;
use super::super::state::State;
use crate::monitor::Monitor;
use crate::runtime::{Both, Observer};
use crate::service::listen::{ListenError, Listener};
use crate::service::log::JsonLog;
use crate::service::spans::{self, Spans, Wrong};
use crate::trace::{Tracing, replay};

/// What `--trace` is for.
pub const TRACE: Opt = Opt::value(
    "trace",
    "off|all|DIR",
    "where steps are written down (default: beside the state)",
);

/// How `run` tells what happens.
const LOG_FORMAT: Opt = Opt::value(
    "log-format",
    "text|json",
    "lines for people, or one JSON object per outcome and change of status (default: text)",
);

/// How far trust goes.
const TRUST_SCOPE: Opt = Opt::value(
    "trust-scope",
    "cluster|namespace",
    "where trusted applications may do everything (default: cluster)",
);

/// Where `run` tells how it is.
const LISTEN: Opt = Opt::value(
    "listen",
    "ADDR:PORT",
    "answer /livez, /readyz and /metrics there, by plain HTTP (default: nowhere)",
);

/// Whether `run` waits.
const STAND_BY: Opt = Opt::flag(
    "stand-by",
    "wait while another process runs on the state, and take over when it ends",
);

/// `run`
pub const RUN: Command = Command {
    name: "run",
    aliases: &[],
    arguments: "",
    summary: "Runs the provisioner of a state until it is stopped.",
    details: "It acts on what other commands write. There is one for each state.",
    scope: Scope::Program,
    formats: &[],
    options: &[
        CLUSTER,
        LEASE,
        LEASE_DURATION,
        NAMESPACES,
        STAND_BY,
        LISTEN,
        TRUST_SCOPE,
        TRACE,
        LOG_FORMAT,
    ],
    run,
};

/// `replay`
pub const REPLAY: Command = Command {
    name: "replay",
    aliases: &[],
    arguments: "[<trace file or folder>]",
    summary: "Runs the present code on the events of a trace, and stops at the first difference.",
    details: "Without an argument: the trace beside the state.",
    scope: Scope::Program,
    formats: &[],
    options: &[],
    run: |session, parsed| {
        parsed.no_more_than(1)?;
        let path = match parsed.argument(0) {
            Some(path) => session.environment.path(path),
            None => {
                let state = State::open(session, parsed)?;
                match Tracing::read(None, &state.file) {
                    Tracing::On { folder, .. } => folder,
                    Tracing::Off => state.file,
                }
            }
        };
        let replayed = replay(&path).map_err(|error| Failure::failed(error.to_string()))?;
        session.print_line(&format!(
            "{} in {}: no difference",
            counted(replayed.steps, "step"),
            counted(replayed.segments, "segment")
        ));
        if replayed.cut > 0 {
            session.note(&format!(
                "cut short within a line, as their process was ended while it wrote: {}",
                counted(replayed.cut, "segment")
            ));
        }
        Ok(())
    },
};

/// A number of things, in words.
fn counted(number: u64, thing: &str) -> String {
    match number {
        1 => format!("1 {thing}"),
        _ => format!("{number} {thing}s"),
    }
}

/// Where the steps of a call are written down.
pub fn tracing(session: &Session<'_>, parsed: &Parsed, state: &State) -> Tracing {
    let folder = parsed.value("trace").map(|word| match word {
        "off" | "all" => word.to_owned(),
        folder => session.environment.path(folder).display().to_string(),
    });
    Tracing::read(folder.as_deref(), &state.file)
}

/// Answers from before anything else starts.
fn listen(
    session: &mut Session<'_>,
    address: &str,
    monitor: Arc<Monitor>,
) -> Result<(), ListenError> {
    let listener = Listener::bind(address)?;
    let address = listener.address().map_err(ListenError::Thread)?;
    listener.serve(monitor)?;
    session.note(&format!("listening on http://{address}"));
    Ok(())
}

/// What tells of spans, if OpenTelemetry's variables ask for them.
fn spans(session: &Session<'_>) -> Result<Option<Arc<Spans>>, Failure> {
    let settings = spans::Settings::read(|name| session.environment.variable(name));
    let settings = settings.map_err(|wrong: Wrong| Failure::usage(wrong.to_string()))?;
    let spans = settings.map(Spans::start).transpose();
    let spans = spans.map_err(|error| Failure::failed(format!("cannot send spans: {error}")))?;
    Ok(spans.map(Arc::new))
}

fn run(session: &mut Session<'_>, parsed: &Parsed) -> Done {
    let state = State::open(session, parsed)?;
    let tracing = tracing(session, parsed, &state);
    let effects = parsed.flag("verbose");
    let told: Arc<dyn Observer> = match parsed.value("log-format") {
        None | Some("text") => Arc::new(Told { effects }),
        Some("json") => Arc::new(JsonLog::default()),
        Some(other) => {
            return Err(Failure::usage(format!(
                "there is no log format {other:?}; use text or json"
            )));
        }
    };
    let lease = LeaseChoice::of(session.environment, parsed, &state)?;
    let trust_in_namespace_only = match parsed.value("trust-scope") {
        None | Some("cluster") => false,
        Some("namespace") => true,
        Some(other) => {
            return Err(Failure::usage(format!(
                "there is no trust scope {other:?}; use cluster or namespace"
            )));
        }
    };
    let cluster = Choice::of(session.environment, parsed)?;
    let namespaces = namespaces(session.environment, parsed, &cluster)?;
    let spans = spans(session)?;
    let told: Arc<dyn Observer> = match &spans {
        Some(spans) => Arc::new(Both(told, spans.clone())),
        None => told,
    };
    let monitor = Arc::<Monitor>::default();
    if let Some(address) = parsed.value("listen") {
        listen(session, address, monitor.clone()).map_err(|error| match error {
            ListenError::Address(_) => Failure::usage(error.to_string()),
            error => Failure::failed(error.to_string()),
        })?;
    }
    let plan = Plan {
        cluster,
        lease,
        namespaces,
        tracing,
        observer: told,
        monitor,
        trust_in_namespace_only,
        stand_by: parsed.flag("stand-by"),
    };
    let provisioning = Provisioning::start(&state, plan)?;
    let provisioning = provisioning.running(|words| session.note(words))?;
    session.note(&format!("provisioner runs on {}", state.place()));
    let ended = provisioning.wait();
    let dropped = spans.map_or(0, |spans| spans.end());
    if dropped > 0 {
        session.note(&format!("spans were dropped: {dropped}"));
    }
    ended
}
