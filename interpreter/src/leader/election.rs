//! Who leads, by a Lease: the machine that decides what is asked of the cluster next. It asks nothing itself.
//!
//! # Guarantees
//! * Two processes never lead at once, if each steady clock runs as fast as the others to within half: whoever leads
//!   stops [`Times::deadline`] after the moment at which it *sent* what was last confirmed, and whoever follows waits
//!   for [`Times::duration`] after the moment at which it *saw* that. The times that are written are for people: no
//!   machine's clock is compared with another's.
//! * Every write names the uid and the version of what was seen, or makes what was missing: of two that want the
//!   lease, one is told that it was too late.

use std::time::Duration;

use crate::clock::Steady;

/// How long what takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// A lease that nobody changed for so long is free.
    pub duration: Duration,
    /// Whoever could not renew it for so long no longer leads.
    pub deadline: Duration,
    /// How often it is renewed, and looked at by those who wait.
    pub retry: Duration,
}

impl Times {
    /// The other times in the usual proportion to the lease's duration: 15, 10 and 2.
    pub fn of_duration(duration: Duration) -> Self {
        Times {
            duration,
            deadline: duration * 2 / 3,
            retry: duration * 2 / 15,
        }
    }
}

impl Default for Times {
    /// 15 s, 10 s, 2 s.
    fn default() -> Self {
        Times::of_duration(Duration::from_secs(15))
    }
}

/// A Lease as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Which object it is.
    pub uid: String,
    /// Which version of it.
    pub version: String,
    /// What it says.
    pub says: Record,
}

/// What a Lease says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// Who leads; nobody, if it was given back.
    pub holder: Option<String>,
    /// How long it holds without a change, in seconds.
    pub seconds: u64,
    /// How often it has passed from one to another.
    pub transitions: u64,
    /// Since when the holder leads, as the holder wrote it; none where it is to be written now.
    pub acquired: Option<String>,
}

/// One request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// Read it.
    Get,
    /// Make it; it must not be there.
    Create(Record),
    /// Replace what it says; it must be this object in this version.
    Update {
        /// Which object.
        uid: String,
        /// Which version.
        version: String,
        /// What it is to say.
        record: Record,
    },
}

/// What became of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told {
    /// It is like this: what was read, or what a write made.
    Is(Seen),
    /// There is none.
    Missing,
    /// Somebody else was faster: it is there already, another version, or gone.
    TooLate,
    /// No, or nothing at all; a write may have been done.
    Failed,
}

/// What to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// Ask this, and say what became of it.
    Ask(Ask),
    /// Wait so long.
    Wait(Duration),
}

/// One who wants to lead, and what it knows.
#[derive(Clone, Debug)]
pub struct Election {
    me: String,
    times: Times,
    /// What was read last; none if there was none.
    seen: Option<Seen>,
    /// When the lease was first seen in this version.
    since: Steady,
    /// What was seen may not be what is: it must be read before the next write. So the question at hand is a read.
    stale: bool,
    /// Nothing is asked before this moment.
    rest_until: Steady,
    /// Leads before this moment.
    leads_until: Steady,
    /// When the question at hand was sent.
    sent: Steady,
}

impl Election {
    /// Nothing is known yet. `me` names one process, and no other that may still live.
    pub fn new(me: String, times: Times) -> Self {
        Election {
            me,
            times,
            seen: None,
            since: Steady::default(),
            stale: true,
            rest_until: Steady::default(),
            leads_until: Steady::default(),
            sent: Steady::default(),
        }
    }

    /// Until when this process leads; a moment that is past, if it does not.
    pub fn leads_until(&self) -> Steady {
        self.leads_until
    }

    /// Who else leads, as far as is known.
    pub fn holder(&self) -> Option<&str> {
        let holder = self.lease()?.says.holder.as_deref()?;
        (holder != self.me).then_some(holder)
    }

    /// What is to be done now.
    pub fn next(&mut self, now: Steady) -> Next {
        if now < self.rest_until {
            return Next::Wait(now.until(self.rest_until));
        }
        self.sent = now;
        let ask = match &self.seen {
            _ if self.stale => Ask::Get,
            None => Ask::Create(self.mine(None)),
            Some(seen) => Ask::Update {
                uid: seen.uid.clone(),
                version: seen.version.clone(),
                record: self.mine(Some(&seen.says)),
            },
        };
        Next::Ask(ask)
    }

    /// What became of the last question. Where the span before the next try is spread by chance, so that those who
    /// wait do not all ask at once, `more` is by how much.
    pub fn told(&mut self, now: Steady, told: Told, more: Duration) {
        let rest = now.after(self.times.retry + more);
        match told {
            Told::Is(seen) => {
                if self.lease() != Some(&seen) {
                    self.since = now;
                }
                let written = !self.stale;
                self.stale = false;
                let ours = seen.says.holder.as_deref() == Some(&*self.me);
                self.seen = Some(seen);
                if written && ours {
                    self.leads_until = self.sent.after(self.times.deadline);
                    self.rest_until = rest;
                } else if !ours {
                    // Whoever gave it to another meant it.
                    self.leads_until = Steady::default();
                    if !self.is_free(now) {
                        self.stale = true;
                        self.rest_until = rest;
                    }
                }
            }
            Told::Missing => {
                self.seen = None;
                self.stale = false;
                self.leads_until = Steady::default();
            }
            Told::TooLate | Told::Failed => {
                self.stale = true;
                self.rest_until = rest;
            }
        }
    }

    /// Whether it must be read before anything is known: a write may be on its way, or there was none lately.
    pub fn in_doubt(&self) -> bool {
        self.stale
    }

    /// What gives the lease back, so that another need not wait; nothing, if it is not ours.
    pub fn release(&self) -> Option<Ask> {
        let seen = self.lease()?;
        if seen.says.holder.as_deref() != Some(&*self.me) {
            return None;
        }
        Some(Ask::Update {
            uid: seen.uid.clone(),
            version: seen.version.clone(),
            record: Record {
                holder: None,
                seconds: 1,
                ..seen.says.clone()
            },
        })
    }

    fn lease(&self) -> Option<&Seen> {
        self.seen.as_ref()
    }

    fn mine(&self, before: Option<&Record>) -> Record {
        let goes_on = before.filter(|before| before.holder.as_deref() == Some(&*self.me));
        Record {
            holder: Some(self.me.clone()),
            seconds: self.times.duration.as_secs().max(1),
            transitions: match (goes_on, before) {
                (Some(before), _) => before.transitions,
                (None, Some(before)) => before.transitions + 1,
                (None, None) => 0,
            },
            acquired: goes_on.and_then(|before| before.acquired.clone()),
        }
    }

    /// Whether nobody holds what was seen, or nobody has changed it for as long as it says that it holds.
    fn is_free(&self, now: Steady) -> bool {
        self.lease().is_none_or(|seen| {
            let held = Duration::from_secs(seen.says.seconds);
            seen.says.holder.is_none() || self.since.after(held) <= now
        })
    }
}
