//! The embedded cluster: the simulator's, on the real clock. Pods are simulated, nothing runs.
//!
//! # Guarantees
//! * What was answered, or told by a watch, was written to a file beside the state before: a process that is killed
//!   loses none of it. (A power cut can lose the last moments; the cluster is then as it was before them.)
//! * Secrets' data leaves it only as fingerprints.
//!
//! # Assumptions
//! * Whoever opens it holds the state's lock, so that nobody else has the file.

mod file;
mod watch;

use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use pilotage_core::digest::DigestKey;
use pilotage_core::effect::{Action, Effect};
use pilotage_core::event::Event;
use pilotage_core::kubernetes::Kind;
use pilotage_core::name::Uid;
use pilotage_core::outcome::{Outcome, Refusal};
use pilotage_sim::cluster::controllers::settings::Settings as Latencies;
use pilotage_sim::cluster::effects;
use pilotage_sim::cluster::resource::Resource;
use tokio::sync::{mpsc, watch as tell};

use self::file::File;
use super::{Answer, Cluster, ClusterError, Values};
use crate::clock;
use crate::store::{Held, Store, StoreError};

/// The environment variable by which tests set how long each step of the cluster takes: `instant`, or the JSON of
/// [`Latencies`].
pub const LATENCIES: &str = "PILOTAGE_EMBEDDED_LATENCIES";

/// The wall clock can be set while we wait; after so long we look at it again.
const LOOK_AT_CLOCK: Duration = Duration::from_secs(5);
/// How long to wait before something that could not be written is written again.
const WRITE_AGAIN: Duration = Duration::from_millis(500);
/// How many writes a watch may lag behind before it must list again.
const REMEMBERED: usize = 10_000;

/// What [`LATENCIES`] says; the simulator's defaults if it says nothing.
///
/// # Errors
/// It cannot be read.
pub fn latencies() -> Result<Latencies, ClusterError> {
    match std::env::var(LATENCIES).as_deref() {
        Err(_) | Ok("") => Ok(Latencies::default()),
        Ok("instant") => Ok(Latencies::instant()),
        Ok(text) => serde_json::from_str(text).map_err(ClusterError::Latencies),
    }
}

/// The embedded cluster of a state. Dropping it stops its clock.
#[derive(Debug)]
pub struct Embedded {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    machine: Mutex<Machine>,
    /// Something was asked, so the next moment of the controllers may be another.
    asked: Condvar,
    /// The newest version that is in the file.
    written: tell::Sender<u64>,
    key: DigestKey,
    uid: Uid,
}

#[derive(Debug)]
struct Machine {
    cluster: pilotage_sim::cluster::Cluster,
    file: File,
    /// Everything up to this version is in the file.
    written: u64,
    ended: bool,
}

impl Embedded {
    /// Opens, or founds, the cluster beside a state, and sets its clock going.
    ///
    /// # Errors
    /// Its file, or the state, cannot be used.
    pub fn open(
        state: &Path,
        store: &dyn Store,
        _held: &Held,
        latencies: Latencies,
    ) -> Result<Self, ClusterError> {
        // None is founded beside a state that is another cluster's.
        if !File::exists(state)
            && let Some(cluster) = store.cluster()?
        {
            return Err(ClusterError::File(StoreError::NotEmbedded {
                path: state.to_owned(),
                theirs: cluster.uid,
            }));
        }
        let key = store.fingerprint_key()?;
        let (mut file, mut cluster) = File::open(state)?;
        cluster.start_controllers(clock::now(), latencies);
        file.write(&cluster, 0)?;
        let uid = cluster
            .peek(Resource::Namespace, "", "kube-system")
            .and_then(|namespace| namespace.uid().parse().ok())
            .ok_or_else(|| file.damaged("it has no namespace kube-system"))?;
        let version = cluster.version();
        let shared = Arc::new(Shared {
            machine: Mutex::new(Machine {
                cluster,
                file,
                written: version,
                ended: false,
            }),
            asked: Condvar::new(),
            written: tell::Sender::new(version),
            key,
            uid,
        });
        let clock = Arc::downgrade(&shared);
        thread::Builder::new()
            .name("embedded-cluster".into())
            .spawn(move || tick(&clock))
            .map_err(ClusterError::Thread)?;
        Ok(Embedded { shared })
    }
}

impl Embedded {
    /// Whether there is a cluster beside a state.
    pub fn lies_beside(state: &Path) -> bool {
        File::exists(state)
    }
}

impl Drop for Embedded {
    fn drop(&mut self) {
        self.shared.lock().ended = true;
        self.shared.asked.notify_all();
    }
}

/// The clock of a cluster: lets its controllers do what is due, until the cluster is dropped.
fn tick(cluster: &Weak<Shared>) {
    while let Some(shared) = cluster.upgrade() {
        let mut machine = shared.lock();
        if machine.ended {
            return;
        }
        let now = clock::now();
        machine.cluster.advance(now);
        let kept = shared.keep(&mut machine);
        let next = machine.cluster.wake_at();
        let wait = match next {
            _ if !kept => WRITE_AGAIN,
            Some(at) => Duration::from_millis(at.since(now).0).min(LOOK_AT_CLOCK),
            None => LOOK_AT_CLOCK,
        };
        let waited = shared.asked.wait_timeout(machine, wait);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Machine> {
        self.machine.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes what is new to the file, and then lets the watches see it; says whether it could be written.
    fn keep(&self, machine: &mut Machine) -> bool {
        let version = machine.cluster.version();
        if version == machine.written {
            return true;
        }
        if machine
            .file
            .write(&machine.cluster, machine.written)
            .is_err()
        {
            return false;
        }
        machine.written = version;
        machine.cluster.compact(REMEMBERED);
        self.written.send_replace(version);
        true
    }

    fn run(&self, action: &Action, values: &Values) -> Outcome {
        let now = clock::now();
        let request = match effects::request(action, now, &|secret| values(secret)) {
            Ok(request) => request,
            Err(outcome) => return outcome,
        };
        let mut machine = self.lock();
        if !self.keep(&mut machine) {
            return Outcome::Refused {
                reason: Refusal::NotSent,
                message: "the file of the embedded cluster cannot be written".into(),
            };
        }
        let response = machine.cluster.request(now, request);
        let kept = self.keep(&mut machine);
        drop(machine);
        self.asked.notify_all();
        match kept {
            true => effects::outcome(action, response, self.key),
            // It is done in memory, and written as soon as that is possible; or lost, if we end before.
            false => Outcome::Unknown,
        }
    }
}

impl Cluster for Embedded {
    fn uid(&self) -> Answer<Result<Uid, ClusterError>> {
        let uid = self.shared.uid;
        Box::pin(async move { Ok(uid) })
    }

    fn run(&self, effect: Arc<Effect>, values: Values) -> Answer<Outcome> {
        let shared = self.shared.clone();
        Box::pin(async move {
            let answer = tokio::task::spawn_blocking(move || shared.run(&effect.action, &values));
            answer.await.unwrap_or(Outcome::Unknown)
        })
    }

    fn watch(&self, kind: Kind, events: mpsc::Sender<Event>) -> Answer<()> {
        Box::pin(watch::watch(Arc::downgrade(&self.shared), kind, events))
    }
}
