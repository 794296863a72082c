//! Points at which a test ends the process, as a power cut would: by SIGKILL to itself.
//!
//! Only with the feature `failpoints`, which the tests enable; without it [`hit`] is nothing.
//!
//! * `PILOTAGE_FAIL_AT=7` ends the process at the seventh point that it comes to;
//! * `PILOTAGE_FAIL_AT=commit-before:3` at the third point of that name;
//! * `PILOTAGE_FAIL_LOG=FILE` appends the name of each point that it comes to, a line each, so that a test knows how
//!   many there are.

/// Where a process can be ended. Every commit of the state and every effect has its points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Point {
    /// A transaction on the state is complete but not committed.
    CommitBefore,
    /// It is committed and nobody was told.
    CommitAfter,
    /// An effect is about to be sent.
    EffectBefore,
    /// It was executed, and its answer is lost.
    EffectExecuted,
    /// It was answered, and the core has not heard.
    EffectAnswered,
}

impl Point {
    /// Every point.
    pub const ALL: [Point; 5] = [
        Point::CommitBefore,
        Point::CommitAfter,
        Point::EffectBefore,
        Point::EffectExecuted,
        Point::EffectAnswered,
    ];

    /// Its name in `PILOTAGE_FAIL_AT` and `PILOTAGE_FAIL_LOG`.
    pub const fn name(self) -> &'static str {
        match self {
            Point::CommitBefore => "commit-before",
            Point::CommitAfter => "commit-after",
            Point::EffectBefore => "effect-before",
            Point::EffectExecuted => "effect-executed",
            Point::EffectAnswered => "effect-answered",
        }
    }
}

/// The process has come to a point.
#[cfg(not(feature = "failpoints"))]
pub fn hit(_: Point) {}

#[cfg(feature = "failpoints")]
pub use armed::hit;

#[cfg(feature = "failpoints")]
mod armed {
    use std::io::Write;
    use std::sync::{Mutex, OnceLock, PoisonError};

    use super::Point;

    struct Armed {
        name: Option<String>,
        at: u64,
        log: Option<std::path::PathBuf>,
        seen: Mutex<u64>,
    }

    /// The process has come to a point.
    pub fn hit(point: Point) {
        static ARMED: OnceLock<Option<Armed>> = OnceLock::new();
        let Some(armed) = ARMED.get_or_init(read) else {
            return;
        };
        // One point at a time, so that the number of a point means the same in the log and at its end.
        let mut seen = armed.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(log) = &armed.log {
            let file = std::fs::OpenOptions::new()
                .create(true)
                .append(true)
                .open(log);
            let written = file.and_then(|mut file| writeln!(file, "{}", point.name()));
            written.unwrap_or_else(|error| panic!("PILOTAGE_FAIL_LOG {}: {error}", log.display()));
        }
        if armed
            .name
            .as_deref()
            .is_none_or(|name| name == point.name())
        {
            *seen += 1;
            if *seen == armed.at {
                let _ = rustix::process::kill_process(
                    rustix::process::getpid(),
                    rustix::process::Signal::KILL,
                );
                // The signal is on its way: nothing may happen in between.
                loop {
                    std::thread::park();
                }
            }
        }
    }

    fn read() -> Option<Armed> {
        let at = std::env::var("PILOTAGE_FAIL_AT").ok();
        let log = std::env::var_os("PILOTAGE_FAIL_LOG").map(Into::into);
        if at.is_none() && log.is_none() {
            return None;
        }
        let (name, number) = match at.as_deref().map(|at| at.split_once(':').ok_or(at)) {
            None => (None, "0"),
            Some(Ok((name, number))) => (Some(name.to_owned()), number),
            Some(Err(number)) => (None, number),
        };
        let known = |name: &String| Point::ALL.iter().any(|point| point.name() == name);
        assert!(
            name.as_ref().is_none_or(known),
            "PILOTAGE_FAIL_AT: no point is called {name:?}"
        );
        let at = number
            .parse()
            .unwrap_or_else(|_| panic!("PILOTAGE_FAIL_AT: {number:?} is not a number"));
        Some(Armed {
            name,
            at,
            log,
            seen: Mutex::new(0),
        })
    }
}
