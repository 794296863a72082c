//! One leader: of all processes that could act on a state, at most one does.
//!
//! A file's lock says so on one machine. On a real cluster a Lease says it, too: of a state that lies in the cluster,
//! and of a file that somebody copied to another machine.
//!
//! # Guarantees
//! * Nothing is sent by a process that could not renew its lease for [`Times::deadline`], however its tasks are
//!   delayed: [`Authority::holds`] is asked before each effect.
//! * What was sent before and arrives late does no harm: every write names the uid and the version that it means.

mod election;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use pilotage_core::digest::{Digest, DigestKey};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use crate::clock::{Steady, steady};
use crate::cluster::Answer;
use crate::identity::{NoRandomness, draw_uid};
use crate::store::host_name;

pub use self::election::{Ask, Record, Seen, Times, Told};
use self::election::{Election, Next};

/// How long giving the lease back may take: whoever was asked to stop is to be gone within a second.
const GIVE_BACK: Duration = Duration::from_millis(400);
/// Sleeps do not notice that the machine slept: what hangs on the steady clock looks at it this often.
const LOOK: Duration = Duration::from_secs(1);

/// The name of the lease of a state, by its key of fingerprints. A copy of the state has the same key; no name leads back
/// to a key.
pub fn lease_name(key: DigestKey) -> String {
    let name = Digest::keyed(key, &"lease").to_string();
    format!("pilotage-{}", name.get(..16).unwrap_or_default())
}

/// Where one lease is kept.
pub trait Leases: Send + Sync {
    /// Sends one question, and says what became of it.
    fn ask(&self, ask: Ask) -> Answer<Result<Told, Trouble>>;

    /// Its name, for people.
    fn name(&self) -> String;
}

/// The lease could not be read or written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Trouble {
    /// Why.
    pub reason: String,
    /// It is not allowed: waiting does not help.
    pub denied: bool,
}

/// The lease is not to be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the lease {lease}, by which one process at a time acts on this state, cannot be used: {trouble}; \
     the README lists the permissions that are needed, and --lease names another namespace"
)]
pub struct LeaseDenied {
    /// Which.
    pub lease: String,
    /// Why.
    #[source]
    pub trouble: Trouble,
}

/// How things stand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// This process leads before this moment.
    pub leads_until: Steady,
    /// Who leads instead, as far as is known.
    pub holder: Option<String>,
    /// Why the last question was not answered.
    pub trouble: Option<Trouble>,
    /// When the last answer came.
    pub answered: Option<Steady>,
    /// When the last question ended, by an answer or without one.
    pub asked: Steady,
}

/// Whether this process may act. Clones are one.
#[derive(Clone, Debug)]
pub struct Authority(Option<watch::Receiver<Standing>>);

impl Authority {
    /// Nobody else could act.
    pub fn undisputed() -> Self {
        Authority(None)
    }

    /// Whether it may act at this moment.
    pub fn holds(&self) -> bool {
        let standing = self.0.as_ref();
        standing.is_none_or(|standing| steady() < standing.borrow().leads_until)
    }

    /// Ends when it may not act any more.
    pub async fn ended(&self) {
        let Some(mut standing) = self.0.clone() else {
            return std::future::pending().await;
        };
        loop {
            let until = standing.borrow_and_update().leads_until;
            let now = steady();
            if until <= now {
                return;
            }
            let rest = now.until(until).min(LOOK);
            tokio::select! {
                () = sleep(rest) => {}
                changed = standing.changed() => if changed.is_err() { sleep(rest).await },
            }
        }
    }

    /// How things stand; nothing where nobody else could act.
    pub fn standing(&self) -> Option<Standing> {
        self.0.as_ref().map(|standing| standing.borrow().clone())
    }
}

/// Taking part in an election, until this is dropped.
pub struct Leadership {
    authority: Authority,
    part: Option<Part>,
}

struct Part {
    lease: String,
    standing: watch::Receiver<Standing>,
    task: JoinHandle<()>,
    stop: oneshot::Sender<()>,
}

impl Leadership {
    /// Where nobody else could act, there is nothing to be elected to.
    pub fn undisputed() -> Self {
        Leadership {
            authority: Authority::undisputed(),
            part: None,
        }
    }

    /// Takes part from now on. Must be called inside the runtime.
    ///
    /// `identity` is what a former process may have been called too, if it is known to be gone: what it held is ours.
    /// Without it a name is drawn.
    ///
    /// # Errors
    /// No name can be drawn.
    pub fn stand(
        leases: Arc<dyn Leases>,
        times: Times,
        identity: Option<String>,
    ) -> Result<Self, NoRandomness> {
        let me = match identity {
            Some(identity) => identity,
            None => format!("{}_{}", host_name(), draw_uid()?),
        };
        let (say, standing) = watch::channel(Standing {
            asked: steady(),
            ..Standing::default()
        });
        let (stop, stopped) = oneshot::channel();
        let lease = leases.name();
        let limit = times.deadline / 2;
        let election = Election::new(me, times);
        let spread = times.retry / 5;
        let task = tokio::spawn(take_part(leases, election, limit, spread, say, stopped));
        Ok(Leadership {
            authority: Authority(Some(standing.clone())),
            part: Some(Part {
                lease,
                standing,
                task,
                stop,
            }),
        })
    }

    /// Whether this process may act.
    pub fn authority(&self) -> Authority {
        self.authority.clone()
    }

    /// The name of the lease, if there is one.
    pub fn lease(&self) -> Option<&str> {
        self.part.as_ref().map(|part| &*part.lease)
    }

    /// Waits until this process leads. Why it waits is told, each time that this changes.
    ///
    /// # Errors
    /// It never will, since it may not use the lease.
    pub async fn gained(&mut self, mut tell: impl FnMut(&str)) -> Result<(), LeaseDenied> {
        let Some(part) = &mut self.part else {
            return Ok(());
        };
        let mut told = String::new();
        loop {
            let now = part.standing.borrow_and_update().clone();
            if steady() < now.leads_until {
                return Ok(());
            }
            let words = match (&now.trouble, &now.holder) {
                (Some(trouble), _) if trouble.denied && now.answered.is_none() => {
                    return Err(LeaseDenied {
                        lease: part.lease.clone(),
                        trouble: trouble.clone(),
                    });
                }
                (Some(trouble), _) => format!("waiting for the lease {}: {trouble}", part.lease),
                (None, Some(holder)) => {
                    format!("stand-by: the lease {} is held by {holder}", part.lease)
                }
                (None, None) => String::new(),
            };
            if !words.is_empty() && words != told {
                tell(&words);
                told = words;
            }
            if part.standing.changed().await.is_err() {
                std::future::pending().await
            }
        }
    }

    /// Gives the lease back, so that another need not wait. Nothing may be in flight any more that acts.
    pub async fn give_back(self) {
        let Some(part) = self.part else { return };
        // Either it has ended already, or it hears this.
        let _ = part.stop.send(());
        let _ = timeout(GIVE_BACK, part.task).await;
    }
}

async fn take_part(
    leases: Arc<dyn Leases>,
    mut election: Election,
    limit: Duration,
    spread: Duration,
    say: watch::Sender<Standing>,
    mut stop: oneshot::Receiver<()>,
) {
    loop {
        let rest = match election.next(steady()) {
            Next::Wait(span) => span.min(LOOK),
            Next::Ask(ask) => {
                let answer = tokio::select! {
                    answer = timeout(limit, leases.ask(ask)) => answer,
                    _ = &mut stop => {
                        election.told(steady(), Told::Failed, Duration::ZERO);
                        break;
                    }
                };
                let answer = answer.unwrap_or_else(|_| {
                    Err(Trouble {
                        reason: format!("no answer within {limit:?}"),
                        denied: false,
                    })
                });
                let now = steady();
                let (told, trouble) = match answer {
                    Ok(told) => (told, None),
                    Err(trouble) => (Told::Failed, Some(trouble)),
                };
                election.told(now, told, part_of(spread));
                say.send_modify(|standing| {
                    standing.asked = now;
                    standing.leads_until = election.leads_until();
                    standing.holder = election.holder().map(str::to_owned);
                    if trouble.is_none() {
                        standing.answered = Some(now);
                    }
                    standing.trouble = trouble;
                });
                continue;
            }
        };
        tokio::select! {
            () = sleep(rest) => {}
            _ = &mut stop => break,
        }
    }
    say.send_modify(|standing| standing.leads_until = Steady::default());
    give_back(&*leases, &mut election).await;
}

async fn give_back(leases: &dyn Leases, election: &mut Election) {
    for _ in 0..2 {
        if election.in_doubt() {
            let told = leases.ask(Ask::Get).await.unwrap_or(Told::Failed);
            election.told(steady(), told, Duration::ZERO);
        }
        let Some(ask) = election.release() else {
            return;
        };
        match leases.ask(ask).await {
            Ok(Told::Is(_)) => return,
            _ => election.told(steady(), Told::Failed, Duration::ZERO),
        }
    }
}

/// A part of a span, by chance; all of it where there is no randomness to be had.
fn part_of(span: Duration) -> Duration {
    let part = getrandom::u32().unwrap_or(u32::MAX);
    span.mul_f64(f64::from(part) / f64::from(u32::MAX))
}
