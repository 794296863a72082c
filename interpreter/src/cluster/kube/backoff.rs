//! How long to wait before a watch is tried again.

use std::time::Duration;

/// Delays that double, up to a bound, each spread so that watches that broke together do not come back together.
#[derive(Debug)]
pub(super) struct Backoff {
    first: Duration,
    longest: Duration,
    next: Duration,
}

impl Backoff {
    pub(super) fn new(first: Duration, longest: Duration) -> Self {
        Backoff {
            first,
            longest,
            next: first,
        }
    }

    /// It went well: the next failure is the first again.
    pub(super) fn reset(&mut self) {
        self.next = self.first;
    }

    /// The delay after one more failure: between half of it and all of it.
    pub(super) fn delay(&mut self) -> Duration {
        let delay = self.next;
        self.next = (delay * 2).min(self.longest);
        spread(delay / 2, delay)
    }
}

/// A span between two, by chance; the longer one where there is no randomness to be had.
pub(super) fn spread(shortest: Duration, longest: Duration) -> Duration {
    let room = longest.saturating_sub(shortest);
    let part = getrandom::u32().unwrap_or(u32::MAX);
    shortest + room.mul_f64(f64::from(part) / f64::from(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_double_up_to_a_bound_are_spread_and_begin_anew() {
        let second = Duration::from_secs(1);
        let mut backoff = Backoff::new(second, second * 4);
        for longest in [1, 2, 4, 4] {
            let delay = backoff.delay();
            assert!(
                delay <= second * longest && delay * 2 >= second * longest,
                "{delay:?}"
            );
        }
        backoff.reset();
        assert!(backoff.delay() <= second);
    }
}
