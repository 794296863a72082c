//! Being the provisioner of a state, in a thread of this process: for `run`, `up`, and a `destroy-model` that finds none.

use std::sync::Arc;
use std::thread::JoinHandle;

use pilotage_core::effect::Effect;
use pilotage_core::outcome::Outcome;
use tokio::sync::oneshot;

use super::cluster::Choice;
use super::failure::Failure;
use super::state::State;
use crate::runtime::{self, Observer, RuntimeError, Settings, block_on, stop_signal};
use crate::trace::Tracing;

/// A provisioner that runs in a thread.
pub struct Provisioning {
    /// What its cluster is, in a line.
    pub cluster: String,
    thread: JoinHandle<Result<(), RuntimeError>>,
    stop: oneshot::Sender<()>,
}

impl Provisioning {
    /// Becomes the one provisioner of a state, on a cluster.
    ///
    /// # Errors
    /// Another one runs; the state or the cluster cannot be used.
    pub fn start(
        state: &State,
        cluster: Choice,
        at: pilotage_core::time::Timestamp,
        tracing: Tracing,
        observer: Arc<dyn Observer>,
    ) -> Result<Self, Failure> {
        let held = state.store.hold(at)?;
        let state = State::at(&state.file);
        let settings = Settings::new(tracing, observer);
        let (stop, stopped) = oneshot::channel();
        let (say, opened) = oneshot::channel();
        let thread = std::thread::spawn(move || {
            block_on(async move {
                let signal = stop_signal().map_err(RuntimeError::Start)?;
                let stop = async {
                    tokio::select! {
                        () = signal => {}
                        _ = stopped => {}
                    }
                };
                tokio::pin!(stop);
                let (cluster, words) = tokio::select! {
                    () = &mut stop => return Ok(()),
                    opened = cluster.open(&state, &held) => opened?,
                };
                let _ = say.send(words);
                runtime::run(state.store, held, cluster, settings, stop).await
            })
            .map_err(RuntimeError::Start)?
        });
        let cluster = opened.blocking_recv();
        let provisioning = Provisioning {
            cluster: cluster.as_deref().unwrap_or_default().into(),
            thread,
            stop,
        };
        match cluster {
            Ok(_) => Ok(provisioning),
            // It ended before the cluster was open: by a failure, or by a signal.
            Err(_) => provisioning.wait().and(Err(Failure::Told)),
        }
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
        let Provisioning { thread, stop, .. } = self;
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
    pub fn end(mut self) -> Result<(), Failure> {
        let (gone, _) = oneshot::channel();
        let stop = std::mem::replace(&mut self.stop, gone);
        let _ = stop.send(());
        self.wait()
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
            eprintln!(
                "{}: {}, because {}",
                effect.subject, effect.action, effect.because
            );
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
