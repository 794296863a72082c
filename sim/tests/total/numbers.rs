//! Numbers that look random and are the same every time.

use pilotage_sim::schedule::Draw;

/// A source of numbers, made by its seed alone.
#[derive(Clone, Debug)]
pub struct Numbers(Draw);

impl Numbers {
    pub fn new(seed: u64) -> Self {
        Numbers(Draw::new(seed))
    }

    pub fn number(&mut self) -> u64 {
        self.0.number()
    }

    pub fn below(&mut self, bound: usize) -> usize {
        self.0.below(bound)
    }

    /// Whether something that happens so many times of a hundred happens now.
    pub fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub fn one_of<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for at in (1..items.len()).rev() {
            items.swap(at, self.below(at + 1));
        }
    }
}
