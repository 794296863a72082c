//! What a process knows about itself, for who operates it: whether it turns, how things stand, what it has done.
//!
//! Everything here is written by those who do it and read by [`service::listen`](crate::service::listen); nothing here
//! decides anything.

mod histogram;
mod pulse;
mod requests;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use pilotage_core::event::{Event, Source};
use pilotage_core::kubernetes::Kind;
use pilotage_core::time::Timestamp;
use tokio::sync::mpsc;

use crate::clock::{self, steady};
use crate::leader::{Authority, Times};

pub use histogram::Histogram;
pub use pulse::Pulse;
pub use requests::Requests;

/// A loop that is late by so much is stuck: three times what a request may take.
const LIMIT: Duration = Duration::from_secs(30);

/// The bounds of what takes milliseconds to a minute; those of controller-runtime, so that dashboards fit.
const BATCH_BOUNDS: &[f64] = &[
    0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9,
    1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 15.0, 20.0,
    25.0, 30.0, 40.0, 50.0, 60.0,
];
/// The bounds of a step, from 10 nanoseconds; those of client-go's work queues.
const STEP_BOUNDS: &[f64] = &[
    1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0, 1000.0,
];

/// What a process is about.
#[derive(Clone, Debug)]
pub enum Stage {
    /// It opens the state and the cluster.
    Starting,
    /// Another process on this machine has the state.
    StandBy,
    /// It takes part in the election of who acts, if others could, and acts while it leads.
    Candidate {
        /// Whether it may act.
        authority: Authority,
        /// The lease's name, if there is one.
        lease: Option<String>,
        /// How long what takes.
        times: Times,
    },
    /// It was asked to end.
    Ending,
}

/// One answer to "are you well": what was looked at, and what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// What was looked at.
    pub name: &'static str,
    /// What is wrong; nothing, if all is well.
    pub wrong: Option<String>,
}

/// What there is to count.
#[derive(Clone, Debug)]
pub struct Counts {
    /// Batches whose effects were all done.
    pub batches_done: u64,
    /// Batches that stopped at an effect that was refused, or whose outcome is unknown.
    pub batches_stopped: u64,
    /// How long batches took, from their first effect to their last outcome.
    pub batch_time: Histogram,
    /// Batches that run now.
    pub batches_running: u64,
    /// Batches that wait for an earlier one of the same application.
    pub batches_waiting: u64,
    /// How long the core took for a step, its trace included.
    pub step_time: Histogram,
    /// Events that wait for the core.
    pub events_waiting: usize,
}

/// What a process knows about itself.
#[derive(Debug)]
pub struct Monitor {
    /// The loop that owns the core, or waits to.
    pub pulse: Pulse,
    /// When the process began.
    pub since: Timestamp,
    stage: Mutex<Stage>,
    /// Sources that have told everything at least once since this process leads.
    synced: Mutex<BTreeSet<Source>>,
    counts: Mutex<Counts>,
    requests: Mutex<Option<Arc<Requests>>>,
    /// How many requests may be in flight at once.
    in_flight: Mutex<usize>,
    queue: Mutex<Option<mpsc::WeakSender<Event>>>,
}

impl Default for Monitor {
    fn default() -> Self {
        Monitor::with_limit(LIMIT)
    }
}

impl Monitor {
    /// A monitor that takes a loop for stuck that is late by more than so much.
    pub fn with_limit(limit: Duration) -> Self {
        Monitor {
            pulse: Pulse::new(limit),
            since: clock::now(),
            stage: Mutex::new(Stage::Starting),
            synced: Mutex::default(),
            counts: Mutex::new(Counts {
                batches_done: 0,
                batches_stopped: 0,
                batch_time: Histogram::new(BATCH_BOUNDS),
                batches_running: 0,
                batches_waiting: 0,
                step_time: Histogram::new(STEP_BOUNDS),
                events_waiting: 0,
            }),
            requests: Mutex::default(),
            in_flight: Mutex::default(),
            queue: Mutex::default(),
        }
    }

    /// It is about something else now.
    pub fn enter(&self, stage: Stage) {
        *lock(&self.stage) = stage;
    }

    /// What it is about.
    pub fn stage(&self) -> Stage {
        lock(&self.stage).clone()
    }

    /// Where its requests to the cluster are counted.
    pub fn count_requests(&self, requests: Arc<Requests>) {
        *lock(&self.requests) = Some(requests);
    }

    /// Its requests to the cluster; none on a cluster of its own.
    pub fn requests(&self) -> Option<Arc<Requests>> {
        lock(&self.requests).clone()
    }

    /// How many requests may be in flight at once.
    pub fn in_flight(&self) -> usize {
        *lock(&self.in_flight)
    }

    /// What there is to count, at this moment.
    pub fn counts(&self) -> Counts {
        let queue = lock(&self.queue).as_ref().and_then(|queue| queue.upgrade());
        let mut counts = lock(&self.counts).clone();
        counts.events_waiting = queue.map_or(0, |queue| queue.max_capacity() - queue.capacity());
        counts
    }

    /// A loop begins: nothing is known yet.
    pub(crate) fn begins(&self, events: &mpsc::Sender<Event>, in_flight: usize) {
        lock(&self.synced).clear();
        *lock(&self.queue) = Some(events.downgrade());
        *lock(&self.in_flight) = in_flight;
    }

    /// The loop has ended.
    pub(crate) fn ends(&self) {
        self.pulse.ends();
        lock(&self.synced).clear();
        *lock(&self.queue) = None;
        lock(&self.counts).batches_waiting = 0;
    }

    /// An event is about to be taken.
    pub(crate) fn takes(&self, event: &Event) {
        if let Event::Synced { source } = event {
            lock(&self.synced).insert(*source);
        }
    }

    /// A step took so long.
    pub(crate) fn stepped(&self, span: Duration) {
        lock(&self.counts).step_time.add(span);
    }

    /// So many batches wait.
    pub(crate) fn batches_wait(&self, number: u64) {
        lock(&self.counts).batches_waiting = number;
    }

    /// A batch runs until the answer is dropped.
    pub(crate) fn batch(self: &Arc<Self>) -> Batch {
        lock(&self.counts).batches_running += 1;
        Batch {
            monitor: self.clone(),
            begun: Instant::now(),
            stopped: None,
        }
    }

    /// Whether it is alive: what would only come back by ending the process.
    pub fn live(&self) -> Vec<Check> {
        let turns = self.pulse.is_stuck().then(|| {
            let seconds = self.pulse.overdue().as_secs();
            format!("the loop has not been heard of for {seconds} s more than it should")
        });
        let mut checks = vec![Check {
            name: "loop",
            wrong: turns,
        }];
        if let Stage::Candidate {
            authority, times, ..
        } = self.stage()
            && let Some(standing) = authority.standing()
        {
            // A question may take half of the deadline.
            let due = standing.asked.after(times.retry * 2 + times.deadline);
            let overdue = due.until(steady());
            let wrong = (overdue > LIMIT)
                .then(|| format!("nobody has looked at the lease for {} s", overdue.as_secs()));
            checks.push(Check {
                name: "election",
                wrong,
            });
        }
        checks
    }

    /// Whether it does its work, or could take it over at once.
    pub fn ready(&self) -> Vec<Check> {
        let (authority, lease, times) = match self.stage() {
            Stage::Starting => return one("start", "the cluster is not open yet"),
            Stage::Ending => return one("start", "it was asked to end"),
            Stage::StandBy => {
                return vec![Check {
                    name: "stand-by",
                    wrong: None,
                }];
            }
            Stage::Candidate {
                authority,
                lease,
                times,
            } => (authority, lease, times),
        };
        let mut checks = Vec::new();
        if let Some(standing) = authority.standing() {
            let answered = standing.answered.map(|at| at.after(times.deadline));
            let wrong = answered.is_none_or(|until| until < steady()).then(|| {
                let lease = lease.unwrap_or_default();
                match standing.trouble {
                    Some(trouble) => format!("the lease {lease} cannot be used: {trouble}"),
                    None => format!("the lease {lease} was not answered for lately"),
                }
            });
            checks.push(Check {
                name: "lease",
                wrong,
            });
        }
        if authority.holds() {
            let synced = lock(&self.synced);
            let all = std::iter::once(Source::Store).chain(Kind::ALL.map(Source::Cluster));
            let missing: Vec<String> = all
                .filter(|source| !synced.contains(source))
                .map(|source| match source {
                    Source::Store => "the state".into(),
                    Source::Cluster(kind) => format!("{kind:?}"),
                })
                .collect();
            let wrong = (!missing.is_empty())
                .then(|| format!("not everything is told yet of {}", missing.join(", ")));
            checks.push(Check {
                name: "sources",
                wrong,
            });
        }
        checks
    }

    /// Whether it leads, and by which lease; nothing where there is none.
    pub fn leads(&self) -> Option<(String, bool)> {
        match self.stage() {
            Stage::Candidate {
                authority,
                lease: Some(lease),
                ..
            } => Some((lease, authority.holds())),
            _ => None,
        }
    }
}

fn one(name: &'static str, wrong: &str) -> Vec<Check> {
    vec![Check {
        name,
        wrong: Some(wrong.to_owned()),
    }]
}

/// A batch that runs.
pub(crate) struct Batch {
    monitor: Arc<Monitor>,
    begun: Instant,
    stopped: Option<bool>,
}

impl Batch {
    /// All its outcomes are known: whether it stopped before its end.
    pub(crate) fn ended(mut self, stopped: bool) {
        self.stopped = Some(stopped);
    }
}

impl Drop for Batch {
    // Those that were given up are not counted, but do not run either.
    fn drop(&mut self) {
        let mut counts = lock(&self.monitor.counts);
        counts.batches_running = counts.batches_running.saturating_sub(1);
        match self.stopped {
            Some(true) => counts.batches_stopped += 1,
            Some(false) => counts.batches_done += 1,
            None => return,
        }
        counts.batch_time.add(self.begun.elapsed());
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
