//! The one place where real time enters.

use std::time::{Duration, SystemTime};

use pilotage_core::time::Timestamp;
use rustix::time::{ClockId, clock_gettime};

/// Now. A machine whose clock stands before 1970 gets the epoch.
pub fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let millis = since.map_or(0, |since| since.as_millis());
    Timestamp(u64::try_from(millis).unwrap_or(u64::MAX))
}

/// A moment of this machine's steady clock, in milliseconds since it was started: nobody sets it, and it goes on while
/// the machine sleeps. It means nothing to another machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Steady(pub u64);

impl Steady {
    /// The moment after a span.
    #[must_use]
    pub fn after(self, span: Duration) -> Self {
        Steady(self.0.saturating_add(millis(span)))
    }

    /// How long it is until a later moment; nothing, if that is past.
    pub fn until(self, later: Steady) -> Duration {
        Duration::from_millis(later.0.saturating_sub(self.0))
    }
}

/// The moment, by the steady clock.
pub fn steady() -> Steady {
    // The usual monotonic clock stands still while a machine sleeps, which a lease does not.
    #[cfg(target_os = "linux")]
    let clock = ClockId::Boottime;
    #[cfg(not(target_os = "linux"))]
    let clock = ClockId::Monotonic;
    Steady(millis(clock_gettime(clock).try_into().unwrap_or_default()))
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}
