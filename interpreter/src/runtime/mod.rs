//! The loop between core, store and cluster.
//!
//! One task owns the core. Events arrive on one bounded channel; what the core asks for goes to a queue per
//! application; what became of it comes back as an event. Nothing here decides anything: no write is repeated, no
//! order chosen, nothing of different objects dropped or merged.
//!
//! # Guarantees
//! * Exactly one outcome per effect, in a batch's order; after one that is not `Done` the rest are not attempted.
//! * A step is in the trace before its effects go out.
//! * [`run`] ends within a moment after it was asked to; what is then in flight counts as unknown in the next life.

mod dispatch;
mod pilot;
mod sources;
#[cfg(test)]
mod tests;

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pilotage_core::effect::Effect;
use pilotage_core::event::Event;
use pilotage_core::name::Uid;
use pilotage_core::outcome::Outcome;
use pilotage_core::provisioner::Config;
use tokio::sync::mpsc;

use crate::clock;
use crate::cluster::{Cluster, ClusterError};
use crate::failpoint::{Point, hit};
use crate::identity::{NoRandomness, draw_incarnation};
use crate::leader::{Authority, LeaseDenied};
use crate::monitor::Monitor;
use crate::store::{Held, Store, StoreError};
use crate::trace::Tracing;

use self::dispatch::Dispatcher;
use self::pilot::Pilot;

/// How many events wait for the core before their sources do.
const EVENTS: usize = 1_024;
/// The wall clock can be set while we sleep; after so long we look at it again.
const LOOK_AT_CLOCK: Duration = Duration::from_secs(5);
/// A core that asks for a moment that has come, and for the same again, does not keep the processor busy.
const BREATH: Duration = Duration::from_millis(10);

/// How a provisioner is run.
#[derive(Clone)]
pub struct Settings {
    /// How many requests to the cluster may be in flight at once.
    pub in_flight: usize,
    /// How long a request may take; after that its outcome is unknown.
    pub deadline: Duration,
    /// Whether and where steps are written down.
    pub tracing: Tracing,
    /// Who is told what happens.
    pub observer: Arc<dyn Observer>,
    /// Whether a trusted application may do everything in its namespace only.
    pub trust_in_namespace_only: bool,
    /// Whether this process may act. Without it no effect is begun.
    pub authority: Authority,
    /// What this process knows about itself, for who operates it.
    pub monitor: Arc<Monitor>,
}

impl Settings {
    /// The usual ones: 16 requests, 10 seconds, nobody else who could act.
    pub fn new(tracing: Tracing, observer: Arc<dyn Observer>) -> Self {
        Settings {
            in_flight: 16,
            deadline: Duration::from_secs(10),
            tracing,
            observer,
            trust_in_namespace_only: false,
            authority: Authority::undisputed(),
            monitor: Arc::default(),
        }
    }
}

/// Is told what happens, for people. Called between requests: what takes long holds them up.
pub trait Observer: Send + Sync {
    /// The core is to be told of something.
    fn event(&self, _event: &Event) {}
    /// Effects are to be run, in their order. No others of their owner are, until [`Observer::batch_ended`].
    fn batch(&self, _effects: &[Effect]) {}
    /// The batch of an owner has ended: each of its effects has an outcome.
    fn batch_ended(&self, _owner: Uid) {}
    /// An effect is to be run.
    fn effect(&self, _effect: &Effect) {}
    /// What became of an effect.
    fn outcome(&self, _effect: &Effect, _outcome: &Outcome) {}
    /// Something that a person should know.
    fn warning(&self, _text: &str) {}
}

/// Tells two.
pub struct Both(pub Arc<dyn Observer>, pub Arc<dyn Observer>);

impl Observer for Both {
    fn event(&self, event: &Event) {
        self.0.event(event);
        self.1.event(event);
    }

    fn batch(&self, effects: &[Effect]) {
        self.0.batch(effects);
        self.1.batch(effects);
    }

    fn batch_ended(&self, owner: Uid) {
        self.0.batch_ended(owner);
        self.1.batch_ended(owner);
    }

    fn effect(&self, effect: &Effect) {
        self.0.effect(effect);
        self.1.effect(effect);
    }

    fn outcome(&self, effect: &Effect, outcome: &Outcome) {
        self.0.outcome(effect, outcome);
        self.1.outcome(effect, outcome);
    }

    fn warning(&self, text: &str) {
        self.0.warning(text);
        self.1.warning(text);
    }
}

/// Tells nobody.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {}

/// Why a provisioner did not run.
#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    /// The state cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The cluster cannot be used.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    /// Nothing new can be named.
    #[error(transparent)]
    NoRandomness(#[from] NoRandomness),
    /// The trace cannot be begun.
    #[error("cannot write the trace in {}: {source}; choose another folder with --trace, or --trace off", folder.display())]
    Trace {
        /// Its folder.
        folder: std::path::PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The lease may not be used.
    #[error(transparent)]
    Lease(#[from] LeaseDenied),
    /// The process cannot do what the runtime needs.
    #[error("cannot start: {0}")]
    Start(io::Error),
}

/// Runs the provisioner of a state on a cluster, until `stop` ends, or the authority to act does.
///
/// # Errors
/// It could not be started, or the state is no longer the one that is held. Whatever else goes wrong once it runs is told
/// to the core, or to the observer.
pub async fn run(
    store: Arc<dyn Store>,
    held: &Held,
    cluster: Arc<dyn Cluster>,
    settings: Settings,
    stop: impl Future<Output = ()>,
) -> Result<(), RuntimeError> {
    let uid = cluster.uid().await?;
    let binding = store.clone();
    tokio::task::spawn_blocking(move || binding.bind_cluster(uid))
        .await
        .map_err(|error| RuntimeError::Start(error.into()))??;
    let config = Config {
        incarnation: draw_incarnation()?,
        events: cluster.keeps_events(),
        confirm: store.is_read_by_others(),
        namespaces: cluster.namespaces(),
        trust_in_namespace_only: settings.trust_in_namespace_only,
    };
    let mut pilot = Pilot::new(config, &settings, clock::now())?;
    let (sender, mut events) = mpsc::channel(EVENTS);
    settings.monitor.begins(&sender, settings.in_flight);
    let sources =
        sources::start(&store, &cluster, &sender, &settings).map_err(RuntimeError::Start)?;
    let mut dispatcher = Dispatcher::new(store, cluster, &settings, sender);
    let monitor = settings.monitor.clone();
    let ended = settings.authority.ended();
    tokio::pin!(stop, ended);
    let mut pause = Duration::ZERO;
    let mark = held.mark();
    let ended = loop {
        let now = clock::now();
        let rest = match pilot.wake_at() {
            Some(wake) if wake <= now => pause,
            Some(wake) => Duration::from_millis(wake.since(now).0).min(LOOK_AT_CLOCK),
            None => LOOK_AT_CLOCK,
        };
        monitor.pulse.rests(rest);
        let event = tokio::select! {
            () = &mut stop => break Ok(()),
            () = &mut ended => break Ok(()),
            () = dispatcher.ended() => None,
            event = events.recv() => event,
            () = tokio::time::sleep(rest) => None,
        };
        monitor.pulse.works();
        let now = clock::now();
        let event = match event {
            Some(event) => event,
            None if pilot.wake_at().is_some_and(|wake| wake <= now) => Event::Timer,
            None => match mark.check() {
                Ok(()) => continue,
                Err(replaced) => break Err(replaced.into()),
            },
        };
        let timer = event == Event::Timer;
        let completed = matches!(event, Event::EffectCompleted { .. });
        let before = pilot.wake_at();
        monitor.takes(&event);
        let begun = Instant::now();
        let effects = pilot.step(now, event);
        monitor.stepped(begun.elapsed());
        if completed {
            hit(Point::EffectAnswered);
        }
        let in_vain = timer && pilot.wake_at() == before && effects.is_empty();
        pause = if in_vain { BREATH } else { Duration::ZERO };
        // What is done for a state that nobody finds any more would be known to nobody.
        if !effects.is_empty()
            && let Err(replaced) = mark.check()
        {
            break Err(replaced.into());
        }
        dispatcher.submit(effects);
    };
    drop(sources);
    drop(dispatcher);
    monitor.ends();
    ended
}

/// Ends when the process is asked to: by SIGTERM, SIGINT or SIGHUP.
///
/// # Errors
/// The signals cannot be listened to.
pub fn stop_signal() -> io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut hangup = signal(SignalKind::hangup())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
            _ = hangup.recv() => {}
        }
    })
}

/// Runs a future to its end on threads of its own, and leaves behind within half a second whatever it had begun.
///
/// # Errors
/// The threads cannot be made.
pub fn block_on<F: Future>(future: F) -> io::Result<F::Output> {
    let threads = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let answer = threads.block_on(future);
    threads.shutdown_timeout(Duration::from_millis(500));
    Ok(answer)
}
