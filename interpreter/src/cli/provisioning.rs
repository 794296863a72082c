//! Being the provisioner of a state, in a thread of this process: for `run`, `up`, and a `destroy-model` that finds none.

use std::sync::Arc;
use std::thread::JoinHandle;

use pilotage_core::effect::Effect;
use pilotage_core::outcome::Outcome;
use tokio::sync::oneshot;

use super::failure::Failure;
use super::state::State;
use crate::cluster::embedded::{Embedded, latencies};
use crate::runtime::{self, Observer, RuntimeError, Settings, block_on, stop_signal};
use crate::trace::Tracing;

/// What the embedded cluster says of itself.
pub const EMBEDDED: &str = "embedded cluster: pods are simulated, nothing runs";

/// A provisioner that runs in a thread.
pub struct Provisioning {
    thread: JoinHandle<Result<(), RuntimeError>>,
    stop: oneshot::Sender<()>,
}

impl Provisioning {
    /// Becomes the one provisioner of a state, on the embedded cluster beside it.
    ///
    /// # Errors
    /// Another one runs; the state or the cluster cannot be used.
    pub fn start(
        state: &State,
        at: pilotage_core::time::Timestamp,
        tracing: Tracing,
        observer: Arc<dyn Observer>,
    ) -> Result<Self, Failure> {
        let held = state.store.hold(at)?;
        let latencies = latencies().map_err(|error| Failure::failed(error.to_string()))?;
        let cluster = Embedded::open(&state.file, &*state.store, &held, latencies)
            .map_err(|error| Failure::failed(error.to_string()))?;
        let store = state.store.clone();
        let settings = Settings::new(tracing, observer);
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::spawn(move || {
            block_on(async move {
                let signal = stop_signal().map_err(RuntimeError::Start)?;
                let stop = async {
                    tokio::select! {
                        () = signal => {}
                        _ = stopped => {}
                    }
                };
                runtime::run(store, held, Arc::new(cluster), settings, stop).await
            })
            .map_err(RuntimeError::Start)?
        });
        Ok(Provisioning { thread, stop })
    }

    /// Whether it has ended: a signal came, or it could not go on.
    pub fn has_ended(&self) -> bool {
        self.thread.is_finished()
    }

    /// Waits until it has ended.
    ///
    /// # Errors
    /// It could not be started.
    pub fn wait(self) -> Result<(), Failure> {
        let Provisioning { thread, stop } = self;
        let ended = thread.join();
        drop(stop);
        match ended {
            Ok(done) => done.map_err(|error| Failure::failed(error.to_string())),
            Err(_) => Err(Failure::failed(
                "the provisioner ended by a mistake of its own",
            )),
        }
    }

    /// Stops it, and waits until it has ended.
    ///
    /// # Errors
    /// It could not be started.
    pub fn end(self) -> Result<(), Failure> {
        let Provisioning { thread, stop } = self;
        let _ = stop.send(());
        let (stop, _) = oneshot::channel();
        Provisioning { thread, stop }.wait()
    }
}

/// Tells on stderr what the provisioner does, as much as was asked for.
#[derive(Clone, Copy, Debug)]
pub struct Told {
    /// Every effect, not only what a person should know.
    pub effects: bool,
}

impl Observer for Told {
    fn effect(&self, effect: &Effect) {
        if self.effects {
            let because = serde_json::to_string(&effect.because).unwrap_or_default();
            let action = serde_json::to_value(&effect.action).unwrap_or_default();
            let verb = action
                .as_object()
                .and_then(|map| map.keys().next())
                .map_or("act", String::as_str);
            eprintln!("{}: {verb} because {because}", effect.subject);
        }
    }

    fn outcome(&self, effect: &Effect, outcome: &Outcome) {
        if self.effects
            && let Outcome::Refused { message, .. } = outcome
        {
            eprintln!("{}: refused: {message}", effect.subject);
        }
    }

    fn warning(&self, text: &str) {
        eprintln!("WARNING {text}");
    }
}
