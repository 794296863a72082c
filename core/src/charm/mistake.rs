//! Mistakes in charm files: what is wrong, where, and what to do.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::document::{Node, Place, Value};

/// Something in a file that is wrong, or that deserves a second look.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mistake {
    /// Where it stands; the reader makes file, line and column of it.
    pub place: Place,
    /// The keys that lead there, as `containers.web.mounts[0]`; empty for the file as a whole.
    pub path: String,
    /// What is wrong.
    pub problem: String,
    /// What to do about it.
    pub advice: String,
    /// Whether it is refused.
    pub severity: Severity,
}

/// Whether a mistake is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// It is refused: nothing is deployed.
    Error,
    /// It works, though perhaps not as meant.
    Warning,
}

/// The mistakes found so far. All are gathered: whoever mends a file wants to see them at once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    mistakes: Vec<Mistake>,
}

impl Report {
    /// A report without mistakes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds something that is refused.
    pub fn error(
        &mut self,
        place: Place,
        path: &str,
        problem: impl Into<String>,
        advice: impl Into<String>,
    ) {
        self.add(place, path, problem.into(), advice.into(), Severity::Error);
    }

    /// Adds something that works, though perhaps not as meant.
    pub fn warning(
        &mut self,
        place: Place,
        path: &str,
        problem: impl Into<String>,
        advice: impl Into<String>,
    ) {
        self.add(
            place,
            path,
            problem.into(),
            advice.into(),
            Severity::Warning,
        );
    }

    fn add(
        &mut self,
        place: Place,
        path: &str,
        problem: String,
        advice: String,
        severity: Severity,
    ) {
        self.mistakes.push(Mistake {
            place,
            path: path.to_string(),
            problem,
            advice,
            severity,
        });
    }

    /// Whether something is refused.
    pub fn refused(&self) -> bool {
        self.mistakes
            .iter()
            .any(|mistake| mistake.severity == Severity::Error)
    }

    /// The mistakes in the order of their places.
    pub fn into_mistakes(mut self) -> Vec<Mistake> {
        self.mistakes.sort();
        self.mistakes.dedup();
        self.mistakes
    }

    /// Warns of every key that comes twice in one map, however deep: the last one counts.
    pub(crate) fn duplicates(&mut self, node: &Node, path: &str) {
        match &node.value {
            Value::Scalar(_) => {}
            Value::List(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.duplicates(item, &format!("{path}[{index}]"));
                }
            }
            Value::Map(entries) => {
                let mut seen = alloc::collections::BTreeSet::new();
                for entry in entries {
                    let below = if path.is_empty() {
                        entry.key.clone()
                    } else {
                        format!("{path}.{}", entry.key)
                    };
                    if !seen.insert(entry.key.as_str()) {
                        self.warning(
                            entry.place,
                            &below,
                            format!("the key {:?} comes twice; the last one counts", entry.key),
                            "remove one of them",
                        );
                    }
                    self.duplicates(&entry.node, &below);
                }
            }
        }
    }
}

/// Advice for a word that is not known: the known one that it may have been meant to be, or all of them.
pub(crate) fn did_you_mean(word: &str, known: &[&str]) -> String {
    match closest(word, known) {
        Some(near) => format!("did you mean {near:?}?"),
        None if known.is_empty() => "remove it".into(),
        None => format!("known here: {}", known.join(", ")),
    }
}

/// The known word that is nearest to a word, when it is near at all.
pub fn closest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    known
        .iter()
        .map(|candidate| (distance(word, candidate), *candidate))
        .min()
        .filter(|(distance, candidate)| *distance <= candidate.chars().count().div_ceil(3))
        .map(|(_, candidate)| candidate)
}

/// How many letters must be added, removed or changed to make one word of the other.
fn distance(one: &str, other: &str) -> usize {
    let mut row: Vec<usize> = (0..=other.chars().count()).collect();
    for (index, letter) in one.chars().enumerate() {
        let mut diagonal = index;
        let mut left = index.saturating_add(1);
        let mut next = Vec::with_capacity(row.len());
        next.push(left);
        for (letter_of_other, above) in other.chars().zip(row.iter().skip(1)) {
            let changed = diagonal.saturating_add(usize::from(letter != letter_of_other));
            left = changed
                .min(above.saturating_add(1))
                .min(left.saturating_add(1));
            next.push(left);
            diagonal = *above;
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_known_word_is_suggested_and_a_far_one_is_not() {
        let known = ["resource", "mounts", "uid", "gid"];
        assert_eq!(closest("resources", &known), Some("resource"));
        assert_eq!(closest("mount", &known), Some("mounts"));
        assert_eq!(closest("user", &known), None);
        assert_eq!(
            did_you_mean("systems", &known),
            "known here: resource, mounts, uid, gid"
        );
    }

    #[test]
    fn distance_counts_added_removed_and_changed_letters() {
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("same", "same"), 0);
    }
}
