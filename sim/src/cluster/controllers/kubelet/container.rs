//! One container: pulled, started, running, exited, started again.
//!
//! ```text
//! Waiting -> Pulling -> Starting -> Running -> Exited -> Starting ...
//!               |  ^        ^                     |
//!               v  |        |                     v
//!           PullFailed   Misconfigured        Finished (will not start again)
//! ```

use alloc::boxed::Box;

use pilotage_core::time::{Span, Timestamp};
use serde_json::Value;

use super::super::Next;
use super::super::instruction::{Behaviour, Rules, Subject};
use super::super::settings::Settings;
use crate::cluster::moment;
use crate::cluster::object::{flag_at, number_at, text_at};

/// How long a failure is shown as such before it becomes a back-off.
const SHOWN: Span = Span::seconds(1);
/// A container that ran so long has not crashed before, as far as back-offs go.
const RECOVERED: Span = Span::seconds(600);

#[derive(Clone, Debug)]
pub(super) struct Container {
    pub(super) name: Box<str>,
    pub(super) state: State,
    pub(super) restarts: u32,
    /// How the run before this one ended.
    pub(super) last: Option<Exit>,
    pull_failures: u32,
    /// Exits in a row, for the back-off.
    crashes: u32,
    /// Exits that a rule asked for.
    ruled_exits: u32,
}

#[derive(Clone, Debug)]
pub(super) enum State {
    Waiting,
    Pulling {
        until: Timestamp,
    },
    PullFailed {
        since: Timestamp,
        until: Timestamp,
    },
    Misconfigured {
        problem: Box<str>,
    },
    Starting {
        until: Timestamp,
        /// How the run before ended, if this is a restart.
        again: Option<Exit>,
    },
    Running {
        since: Timestamp,
        ready: bool,
    },
    Exited {
        exit: Exit,
        until: Timestamp,
    },
    Finished {
        exit: Exit,
    },
}

/// How a run ended.
#[derive(Clone, Debug)]
pub(super) struct Exit {
    pub(super) started: Timestamp,
    pub(super) ended: Timestamp,
    pub(super) code: i32,
    pub(super) reason: Box<str>,
}

/// What a container's life depends on.
pub(super) struct Host<'a, R: Fn(i32) -> bool> {
    pub(super) settings: &'a Settings,
    pub(super) rules: &'a Rules,
    pub(super) subject: Subject<'a>,
    /// Whether it starts again after this exit code.
    pub(super) restarts: R,
    /// Whether it is an init container, which ends by itself.
    pub(super) initial: bool,
    /// What keeps it from being made.
    pub(super) problem: Option<alloc::string::String>,
}

impl<R: Fn(i32) -> bool> Host<'_, R> {
    fn rule<'a, T>(&'a self, select: impl Fn(&'a Behaviour) -> Option<T>) -> Option<T> {
        self.rules.of(self.subject).find_map(select)
    }

    fn pull(&self) -> Span {
        self.rule(|behaviour| match behaviour {
            Behaviour::PullTakes(span) => Some(*span),
            _ => None,
        })
        .unwrap_or(self.settings.pull)
    }

    fn start(&self) -> Span {
        self.rule(|behaviour| match behaviour {
            Behaviour::StartTakes(span) => Some(*span),
            _ => None,
        })
        .unwrap_or(self.settings.start)
    }

    fn pull_fails(&self, failures: u32) -> bool {
        self.rule(|behaviour| match behaviour {
            Behaviour::PullFails { times } => Some(times.is_none_or(|times| failures < times)),
            _ => None,
        })
        .unwrap_or(false)
    }

    /// How long after its start the container is ready; never if nothing.
    fn ready_after(&self) -> Option<Span> {
        self.rule(|behaviour| match behaviour {
            Behaviour::NeverReady => Some(None),
            Behaviour::ReadyAfter(span) => Some(Some(*span)),
            _ => None,
        })
        .unwrap_or(Some(Span(0)))
    }

    /// After how long, and how, the container exits by itself.
    fn exit(&self, exits: u32) -> Option<(Span, i32, &str)> {
        let ruled = self.rule(|behaviour| match behaviour {
            Behaviour::Exits {
                after,
                times,
                code,
                reason,
            } => Some((*after, *times, *code, &**reason)),
            _ => None,
        });
        match ruled {
            Some((after, times, code, reason)) if times.is_none_or(|times| exits < times) => {
                Some((after, code, reason))
            }
            _ if self.initial => Some((Span(0), 0, "Completed")),
            _ => None,
        }
    }
}

impl Container {
    /// A container as a status tells of it, or a new one.
    pub(super) fn recover(name: &str, status: Option<&Value>) -> Self {
        let time = |path: &[&str]| status.and_then(|status| moment::parse(text_at(status, path)));
        let restarts = status
            .and_then(|status| number_at(status, &["restartCount"]))
            .unwrap_or(0) as u32;
        let exit = |at: &str| {
            let exit = status?.get(at)?.get("terminated")?;
            Some(Exit {
                started: time(&[at, "terminated", "startedAt"])?,
                ended: time(&[at, "terminated", "finishedAt"])?,
                code: exit.get("exitCode")?.as_i64()? as i32,
                reason: text_at(exit, &["reason"]).into(),
            })
        };
        let state = match (time(&["state", "running", "startedAt"]), exit("state")) {
            (Some(since), _) => State::Running {
                since,
                ready: status.is_some_and(|status| flag_at(status, &["ready"])),
            },
            (None, Some(exit)) if exit.code == 0 => State::Finished { exit },
            (None, Some(exit)) => State::Exited {
                until: exit.ended,
                exit,
            },
            (None, None) => State::Waiting,
        };
        Container {
            name: name.into(),
            state,
            restarts,
            last: exit("lastState"),
            pull_failures: 0,
            crashes: restarts,
            ruled_exits: restarts,
        }
    }

    pub(super) fn is(&self, name: &str) -> bool {
        *self.name == *name
    }

    /// Whether it ended well and for good.
    pub(super) fn completed(&self) -> bool {
        matches!(&self.state, State::Finished { exit } if exit.code == 0)
    }

    pub(super) fn ready(&self) -> bool {
        match &self.state {
            State::Running { ready, .. } => *ready,
            _ => false,
        }
    }

    pub(super) fn running_since(&self) -> Option<Timestamp> {
        match &self.state {
            State::Running { since, .. } => Some(*since),
            _ => None,
        }
    }

    /// Ends the run now.
    pub(super) fn exit(&mut self, at: Timestamp, code: i32, reason: Box<str>, backoff: Span) {
        if let State::Running { since, .. } = self.state {
            if at.since(since) >= RECOVERED {
                self.crashes = 0;
            }
            self.crashes += 1;
            let wait = if self.crashes == 1 { Span(0) } else { backoff };
            self.state = State::Exited {
                exit: Exit {
                    started: since,
                    ended: at,
                    code,
                    reason,
                },
                until: at.after(wait),
            };
        }
    }

    /// Makes every step that is due at this moment; says when the next one is.
    pub(super) fn advance<R: Fn(i32) -> bool>(
        &mut self,
        at: Timestamp,
        host: &Host<'_, R>,
    ) -> Next {
        // Steps that take no time follow one another; a container that exits as it starts is stopped by its back-off.
        for _ in 0..16 {
            match self.step(at, host) {
                None => {}
                Some(next) => return next,
            }
        }
        Next::At(at.after(Span(1)))
    }

    /// One step, or what the container waits for.
    fn step<R: Fn(i32) -> bool>(&mut self, at: Timestamp, host: &Host<'_, R>) -> Option<Next> {
        let next = match &self.state {
            State::Waiting => State::Pulling {
                until: at.after(host.pull()),
            },
            State::Pulling { until } if at < *until => return Some(Next::At(*until)),
            State::Pulling { .. } if host.pull_fails(self.pull_failures) => {
                self.pull_failures += 1;
                State::PullFailed {
                    since: at,
                    until: at.after(host.settings.pull_backoff.after(self.pull_failures)),
                }
            }
            State::Pulling { .. } => match &host.problem {
                Some(problem) => State::Misconfigured {
                    problem: problem.as_str().into(),
                },
                None => State::Starting {
                    until: at.after(host.start()),
                    again: None,
                },
            },
            State::PullFailed { since, until } => {
                if at < *until {
                    let shown = since.after(SHOWN);
                    return Some(Next::At(if at < shown {
                        shown.min(*until)
                    } else {
                        *until
                    }));
                }
                State::Pulling {
                    until: at.after(host.pull()),
                }
            }
            State::Misconfigured { problem } => match &host.problem {
                None => State::Starting {
                    until: at.after(host.start()),
                    again: None,
                },
                Some(now) if **now == **problem => {
                    return Some(Next::At(at.after(host.settings.recheck)));
                }
                Some(now) => State::Misconfigured {
                    problem: now.as_str().into(),
                },
            },
            State::Starting { until, .. } if at < *until => return Some(Next::At(*until)),
            State::Starting { again, .. } => {
                if again.is_some() {
                    self.last.clone_from(again);
                    self.restarts += 1;
                }
                State::Running {
                    since: at,
                    ready: false,
                }
            }
            State::Running { since, ready } => {
                let (since, ready) = (*since, *ready);
                let exit = host.exit(self.ruled_exits);
                if let Some((after, code, reason)) = exit
                    && at >= since.after(after)
                {
                    self.ruled_exits += 1;
                    let backoff = host.settings.crash_backoff.after(self.crashes.max(1));
                    let reason = reason.into();
                    self.exit(at, code, reason, backoff);
                    return None;
                }
                let ready_at = host.ready_after().map(|after| since.after(after));
                let is_ready = ready_at.is_some_and(|moment| moment <= at);
                if is_ready != ready {
                    self.state = State::Running {
                        since,
                        ready: is_ready,
                    };
                    return None;
                }
                let exits = exit.map_or(Next::Settled, |(after, ..)| Next::At(since.after(after)));
                let becomes_ready = ready_at
                    .filter(|moment| *moment > at)
                    .map_or(Next::Settled, Next::At);
                return Some(exits.or(becomes_ready));
            }
            State::Exited { exit, until } => {
                if !(host.restarts)(exit.code) {
                    State::Finished { exit: exit.clone() }
                } else if at < *until {
                    let shown = exit.ended.after(SHOWN);
                    return Some(Next::At(if at < shown {
                        shown.min(*until)
                    } else {
                        *until
                    }));
                } else {
                    State::Starting {
                        until: at.after(host.start()),
                        again: Some(exit.clone()),
                    }
                }
            }
            State::Finished { .. } => return Some(Next::Settled),
        };
        self.state = next;
        None
    }

    /// Whether its image could not be pulled so far.
    pub(super) fn failed_pulls(&self) -> bool {
        self.pull_failures > 0
    }

    /// Whether a failure is young enough to be shown as such.
    pub(super) fn fresh(since: Timestamp, at: Timestamp) -> bool {
        at < since.after(SHOWN)
    }
}
