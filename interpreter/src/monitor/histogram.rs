//! How long things took.

use std::time::Duration;

/// Counts by upper bounds, as Prometheus wants them.
#[derive(Clone, Debug)]
pub struct Histogram {
    /// The upper bounds, in seconds, rising.
    bounds: &'static [f64],
    /// How many fell under a bound and not under the one before; the last is above all.
    counts: Vec<u64>,
    sum: f64,
}

impl Histogram {
    /// Of nothing yet.
    pub fn new(bounds: &'static [f64]) -> Self {
        Histogram {
            bounds,
            counts: vec![0; bounds.len() + 1],
            sum: 0.0,
        }
    }

    /// One more.
    pub fn add(&mut self, span: Duration) {
        let seconds = span.as_secs_f64();
        let bucket = self.bounds.partition_point(|bound| *bound < seconds);
        self.counts[bucket] += 1;
        self.sum += seconds;
    }

    /// How many there were.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Their sum, in seconds.
    pub fn sum(&self) -> f64 {
        self.sum
    }

    /// Each bound, and how many were not longer.
    pub fn cumulative(&self) -> impl Iterator<Item = (f64, u64)> {
        let mut below = 0;
        self.bounds.iter().zip(&self.counts).map(move |(bound, n)| {
            below += n;
            (*bound, below)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_counted_under_every_bound_that_it_is_not_longer_than() {
        let mut histogram = Histogram::new(&[0.001, 0.01, 1.0]);
        for millis in [1, 5, 10, 900, 5_000] {
            histogram.add(Duration::from_millis(millis));
        }
        let all: Vec<_> = histogram.cumulative().collect();
        assert_eq!(all, [(0.001, 1), (0.01, 3), (1.0, 4)]);
        assert_eq!(histogram.count(), 5);
        assert!((histogram.sum() - 5.916).abs() < 1e-9);
    }
}
