//! Being the provisioner of a state, in a thread of this process: for `run`, `up`, and a `destroy-model` that finds none.
//! On a real cluster it acts only while it leads.

use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use pilotage_core::effect::Effect;
use pilotage_core::outcome::Outcome;
use tokio::sync::{oneshot, watch};

use super::cluster::{Choice, LeaseChoice};
use super::failure::Failure;
use super::state::State;
use crate::clock;
use crate::cluster::Cluster;
use crate::leader::Leadership;
use crate::monitor::{Monitor, Stage};
use crate::runtime::{self, Observer, RuntimeError, Settings, block_on, stop_signal};
use crate::store::{Held, StoreError};
use crate::trace::{self, Tracing};

/// How often a stand-by asks whether the state is free.
const LOOK: Duration = Duration::from_millis(200);

/// What is to be run.
pub struct Plan {
    /// On which cluster.
    pub cluster: Choice,
    /// Which lease keeps others from acting.
    pub lease: LeaseChoice,
    /// Which namespaces of a real cluster are watched; none for all.
    pub namespaces: Vec<Box<str>>,
    /// Where steps are written down.
    pub tracing: Tracing,
    /// Who is told what happens.
    pub observer: Arc<dyn Observer>,
    /// What the process knows about itself, for who operates it.
    pub monitor: Arc<Monitor>,
    /// Whether a trusted application may do everything in its namespace only.
    pub trust_in_namespace_only: bool,
    /// Wait while another process runs a provisioner on the state, rather than fail.
    pub stand_by: bool,
}

/// A provisioner that runs in a thread.
pub struct Provisioning {
    /// What its cluster is, in a line; empty until it runs.
    pub cluster: String,
    said: mpsc::Receiver<Said>,
    thread: JoinHandle<Result<(), RuntimeError>>,
    stop: oneshot::Sender<()>,
}

/// What the thread says before it runs.
enum Said {
    /// Which lease it takes part in, and why it waits.
    Note(String),
    /// What its cluster is.
    Cluster(String),
    /// It runs.
    Runs,
}

impl Provisioning {
    /// Begins to become the one provisioner of a state.
    ///
    /// # Errors
    /// The state cannot be opened once more.
    pub fn start(state: &State, plan: Plan) -> Result<Self, Failure> {
        let state = state.again()?;
        let (stop, stopped) = oneshot::channel();
        let (say, said) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            block_on(async move {
                let signal = stop_signal().map_err(RuntimeError::Start)?;
                let (asked, stop) = watch::channel(false);
                tokio::spawn(async move {
                    tokio::select! {
                        () = signal => {}
                        _ = stopped => {}
                    }
                    asked.send_replace(true);
                });
                provision(state, plan, &Stop(stop), &say).await
            })
            .map_err(RuntimeError::Start)?
        });
        Ok(Provisioning {
            cluster: String::new(),
            said,
            thread,
            stop,
        })
    }

    /// Waits until it runs, and says what its cluster and lease are and what it waits for.
    ///
    /// # Errors
    /// Another one runs; the state or the cluster cannot be used; or it was asked to stop, with nothing more to say.
    pub fn running(mut self, mut tell: impl FnMut(&str)) -> Result<Self, Failure> {
        loop {
            match self.said.recv() {
                Ok(Said::Note(words)) => tell(&words),
                Ok(Said::Cluster(words)) => {
                    tell(&words);
                    self.cluster = words;
                }
                Ok(Said::Runs) => return Ok(self),
                // It ended before: by a failure, or by a signal.
                Err(mpsc::RecvError) => return self.wait().and(Err(Failure::Stopped)),
            }
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

/// Whether the process was asked to stop.
struct Stop(watch::Receiver<bool>);

impl Stop {
    /// Ends when it was.
    async fn asked(&self) {
        // Who asks goes on until it has.
        let _ = self.0.clone().wait_for(|asked| *asked).await;
    }

    fn was_asked(&self) -> bool {
        *self.0.borrow()
    }
}

/// From becoming the holder of the state to the end of the process. Leads as often as it is elected: a core is rebuilt
/// from what there is, so that a new term is as good as a new process, and an API server that was away for a while
/// ends nobody.
async fn provision(
    state: State,
    plan: Plan,
    stop: &Stop,
    say: &mpsc::Sender<Said>,
) -> Result<(), RuntimeError> {
    let monitor = plan.monitor.clone();
    // Before anything is held, founded or said.
    if let Tracing::On { folder, .. } = &plan.tracing {
        trace::prepare(folder).map_err(|source| RuntimeError::Trace {
            folder: folder.clone(),
            source,
        })?;
    }
    let opened = tokio::select! {
        () = stop.asked() => return Ok(()),
        opened = open(&state, &plan, say) => opened?,
    };
    let (held, cluster, mut leadership) = opened;
    monitor.enter(Stage::Candidate {
        authority: leadership.authority(),
        lease: leadership.lease().map(str::to_owned),
        times: plan.lease.times,
    });
    let observer = plan.observer;
    let mut first = true;
    loop {
        let waits = |words: &str| {
            if first {
                let _ = say.send(Said::Note(words.to_owned()));
            } else {
                observer.warning(words);
            }
        };
        tokio::select! {
            () = stop.asked() => break,
            gained = leadership.gained(waits) => gained?,
        }
        let _ = say.send(Said::Runs);
        let settings = Settings {
            authority: leadership.authority(),
            monitor: monitor.clone(),
            trust_in_namespace_only: plan.trust_in_namespace_only,
            ..Settings::new(plan.tracing.clone(), observer.clone())
        };
        let store = state.store.clone();
        runtime::run(store, &held, cluster.clone(), settings, stop.asked()).await?;
        if stop.was_asked() {
            break;
        }
        first = false;
        let lease = leadership.lease().unwrap_or_default();
        observer.warning(&format!(
            "the lease {lease} is lost: nothing more is done until it is ours again"
        ));
    }
    monitor.enter(Stage::Ending);
    leadership.give_back().await;
    drop(held);
    Ok(())
}

async fn open(
    state: &State,
    plan: &Plan,
    say: &mpsc::Sender<Said>,
) -> Result<(Held, Arc<dyn Cluster>, Leadership), RuntimeError> {
    let mut told = None;
    let held = loop {
        let store = state.store.clone();
        let hold = move || store.hold(clock::now());
        let held = tokio::task::spawn_blocking(hold).await;
        match held.map_err(|error| RuntimeError::Start(error.into()))? {
            Err(StoreError::Held { path, holder }) if plan.stand_by => {
                if told.as_ref() != Some(&holder) {
                    let words = format!(
                        "stand-by: a provisioner runs on {}: {holder}",
                        path.display()
                    );
                    let _ = say.send(Said::Note(words));
                }
                told = Some(holder);
                plan.monitor.enter(Stage::StandBy);
                plan.monitor.pulse.rests(LOOK);
                tokio::time::sleep(LOOK).await;
            }
            held => break held?,
        }
    };
    plan.monitor.enter(Stage::Starting);
    plan.monitor.pulse.ends();
    let opening = plan
        .cluster
        .open(state, &held, &plan.lease, &plan.namespaces, &plan.monitor);
    let (cluster, words, leadership) = opening.await?;
    let _ = say.send(Said::Cluster(words));
    if let Some(lease) = leadership.lease() {
        let _ = say.send(Said::Note(format!("lease: {lease}")));
    }
    Ok((held, cluster, leadership))
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
