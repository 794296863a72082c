//! What was said on the command line.

use std::collections::BTreeMap;
use std::time::Duration;

/// The options and arguments of one call, checked against the command's table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parsed {
    /// Arguments that are no options, in order.
    pub arguments: Vec<String>,
    values: BTreeMap<&'static str, Vec<String>>,
    flags: BTreeMap<&'static str, bool>,
    integers: BTreeMap<&'static str, i64>,
    durations: BTreeMap<&'static str, Duration>,
}

impl Parsed {
    /// Whether a flag is set.
    pub fn flag(&self, long: &str) -> bool {
        self.flags.get(long).copied().unwrap_or(false)
    }

    /// What was said of a flag, if anything.
    pub fn flag_given(&self, long: &str) -> Option<bool> {
        self.flags.get(long).copied()
    }

    /// The value of an option, the last of several.
    pub fn value(&self, long: &str) -> Option<&str> {
        self.values
            .get(long)
            .and_then(|values| values.last())
            .map(String::as_str)
    }

    /// Every value of an option, in order.
    pub fn many(&self, long: &str) -> &[String] {
        self.values.get(long).map_or(&[], Vec::as_slice)
    }

    /// The number that an option was given.
    pub fn integer(&self, long: &str) -> Option<i64> {
        self.integers.get(long).copied()
    }

    /// The span of time that an option was given.
    pub fn duration(&self, long: &str) -> Option<Duration> {
        self.durations.get(long).copied()
    }

    /// Whether an option was given at all.
    pub fn given(&self, long: &str) -> bool {
        self.values.contains_key(long)
            || self.flags.contains_key(long)
            || self.integers.contains_key(long)
            || self.durations.contains_key(long)
    }

    /// The argument at a place, counted from 0.
    pub fn argument(&self, at: usize) -> Option<&str> {
        self.arguments.get(at).map(String::as_str)
    }

    pub(super) fn set_flag(&mut self, long: &'static str, value: bool) {
        self.flags.insert(long, value);
    }

    pub(super) fn set_integer(&mut self, long: &'static str, value: i64) {
        self.integers.insert(long, value);
    }

    pub(super) fn set_duration(&mut self, long: &'static str, value: Duration) {
        self.durations.insert(long, value);
    }

    pub(super) fn push(&mut self, long: &'static str, value: String) {
        self.values.entry(long).or_default().push(value);
    }
}
