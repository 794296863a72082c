//! Whether the loop turns.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::clock::{Steady, steady};

/// By when the loop must be heard of again. One that rests says for how long, so that rest is not taken for death; one
/// that works is to be heard of at once.
#[derive(Debug)]
pub struct Pulse {
    due: AtomicU64,
    /// How much later than due is too late.
    limit: Duration,
}

impl Pulse {
    /// Nothing turns yet that could be missed.
    pub(super) fn new(limit: Duration) -> Self {
        Pulse {
            due: AtomicU64::new(u64::MAX),
            limit,
        }
    }

    /// It works from now on.
    pub fn works(&self) {
        self.due.store(steady().0, Ordering::Relaxed);
    }

    /// It waits for so long at most.
    pub fn rests(&self, at_most: Duration) {
        self.due.store(steady().after(at_most).0, Ordering::Relaxed);
    }

    /// There is no loop that could be missed.
    pub fn ends(&self) {
        self.due.store(u64::MAX, Ordering::Relaxed);
    }

    /// For how long it has been overdue.
    pub fn overdue(&self) -> Duration {
        Steady(self.due.load(Ordering::Relaxed)).until(steady())
    }

    /// Whether it is stuck.
    pub fn is_stuck(&self) -> bool {
        self.overdue() > self.limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pulse(limit: Duration, due: Option<u64>) -> Pulse {
        let pulse = Pulse::new(limit);
        if let Some(ago) = due {
            let due = steady().0.saturating_sub(ago);
            pulse.due.store(due, Ordering::Relaxed);
        }
        pulse
    }

    #[test]
    fn what_rests_is_not_stuck_and_what_works_too_long_is() {
        let minute = Duration::from_secs(60);
        let idle = pulse(Duration::ZERO, None);
        assert!(!idle.is_stuck(), "nothing has begun");
        idle.rests(minute);
        assert!(!idle.is_stuck(), "it rests");
        assert!(!pulse(minute, Some(30_000)).is_stuck(), "it is late");
        let stuck = pulse(minute, Some(61_000));
        assert!(stuck.is_stuck(), "it is too late");
        stuck.works();
        assert!(!stuck.is_stuck(), "it was heard of");
    }
}
