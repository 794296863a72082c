//! What a charm assumes to be there: `assumes`.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::document::{At, Value, excerpt};
use super::mistake::{self, Report};

/// One thing that a charm assumes, or a choice of things.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Assumption {
    /// A feature by name, such as `k8s-api`.
    Feature(String),
    /// A feature in a range of versions, such as `juju >= 3.4`.
    Version {
        /// Name of the feature.
        feature: String,
        /// How its version compares with the one named.
        comparison: Comparison,
        /// Major, minor and patch number; numbers not written are 0.
        version: [u32; 3],
    },
    /// One of these is enough.
    AnyOf(Vec<Assumption>),
    /// All of these are needed.
    AllOf(Vec<Assumption>),
}

/// How a version compares with another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Comparison {
    /// `>=`
    #[serde(rename = ">=")]
    AtLeast,
    /// `<`
    #[serde(rename = "<")]
    Below,
}

/// The Juju version whose command line Pilotage speaks, and whose behaviour charms may rely on (command line, 3.5).
pub const JUJU_VERSION: &str = "3.6.11";

/// What is there: features by name, some with a version.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Features(BTreeMap<String, Option<[u32; 3]>>);

impl Features {
    /// What Pilotage offers: a Kubernetes API, and the behaviour of the Juju version whose commands it follows.
    pub fn ours() -> Self {
        Self::default()
            .with("k8s-api", None)
            .with("juju", parse_version(JUJU_VERSION))
    }

    /// Adds a feature.
    #[must_use]
    pub fn with(mut self, feature: &str, version: Option<[u32; 3]>) -> Self {
        self.0.insert(feature.into(), version);
        self
    }

    /// The assumptions that do not hold, in words, each with what is there instead.
    pub fn unmet(&self, assumptions: &[Assumption]) -> Vec<String> {
        assumptions
            .iter()
            .filter(|assumption| !self.hold(assumption))
            .map(|assumption| self.why_not(assumption))
            .collect()
    }

    /// Whether an assumption holds.
    pub fn hold(&self, assumption: &Assumption) -> bool {
        match assumption {
            Assumption::Feature(feature) => self.0.contains_key(feature),
            Assumption::Version {
                feature,
                comparison,
                version,
            } => match (self.0.get(feature), comparison) {
                (Some(Some(there)), Comparison::AtLeast) => there >= version,
                (Some(Some(there)), Comparison::Below) => there < version,
                (Some(None) | None, _) => false,
            },
            Assumption::AnyOf(choices) => choices.iter().any(|choice| self.hold(choice)),
            Assumption::AllOf(parts) => parts.iter().all(|part| self.hold(part)),
        }
    }

    fn why_not(&self, assumption: &Assumption) -> String {
        let mut named = BTreeMap::new();
        collect_features(assumption, &mut named);
        let there: Vec<String> = named
            .keys()
            .map(|feature| match self.0.get(*feature) {
                Some(Some([major, minor, patch])) => {
                    format!("{feature} is {major}.{minor}.{patch}")
                }
                Some(None) => format!("{feature} is there"),
                None => format!("{feature} is not there"),
            })
            .collect();
        format!("the charm assumes {assumption}, and {}", there.join(", "))
    }
}

fn collect_features<'a>(assumption: &'a Assumption, into: &mut BTreeMap<&'a str, ()>) {
    match assumption {
        Assumption::Feature(feature) | Assumption::Version { feature, .. } => {
            into.insert(feature, ());
        }
        Assumption::AnyOf(parts) | Assumption::AllOf(parts) => {
            for part in parts {
                collect_features(part, into);
            }
        }
    }
}

impl core::fmt::Display for Assumption {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let mut group = |word: &str, parts: &[Self]| {
            write!(f, "{word} (")?;
            for (index, part) in parts.iter().enumerate() {
                let separator = if index == 0 { "" } else { ", " };
                write!(f, "{separator}{part}")?;
            }
            f.write_str(")")
        };
        match self {
            Self::AnyOf(parts) => group("any of", parts),
            Self::AllOf(parts) => group("all of", parts),
            Self::Feature(feature) => f.write_str(feature),
            Self::Version {
                feature,
                comparison,
                version: [major, minor, patch],
            } => {
                let sign = match comparison {
                    Comparison::AtLeast => ">=",
                    Comparison::Below => "<",
                };
                write!(f, "{feature} {sign} {major}.{minor}.{patch}")
            }
        }
    }
}

/// Reads `assumes`.
pub(super) fn read(root: &At<'_>, report: &mut Report) -> Vec<Assumption> {
    let Some(at) = root.get("assumes") else {
        return Vec::new();
    };
    read_list(&at, report)
}

fn read_list(at: &At<'_>, report: &mut Report) -> Vec<Assumption> {
    at.items(report)
        .iter()
        .filter_map(|item| read_one(item, report))
        .collect()
}

fn read_one(at: &At<'_>, report: &mut Report) -> Option<Assumption> {
    if let Value::Scalar(scalar) = &at.node.value {
        return match parse(&scalar.text) {
            Ok(assumption) => Some(assumption),
            Err(advice) => {
                report.error(
                    at.node.place,
                    &at.path,
                    format!("{} is nothing that can be assumed", excerpt(&scalar.text)),
                    advice,
                );
                None
            }
        };
    }
    let entries = at.entries(report);
    let [(key, inner)] = entries.as_slice() else {
        if matches!(at.node.value, Value::Map(_)) {
            report.error(
                at.key,
                &at.path,
                "a choice has exactly one key",
                "write \"any-of:\" or \"all-of:\" with a list, each as an item of its own",
            );
        }
        return None;
    };
    match *key {
        "any-of" | "all-of" => {}
        other => {
            report.error(
                inner.key,
                &inner.path,
                format!("{other:?} is no way to put assumptions together"),
                mistake::did_you_mean(other, &["any-of", "all-of"]),
            );
            return None;
        }
    }
    let parts = read_list(inner, report);
    if parts.is_empty() && matches!(&inner.node.value, Value::List(items) if items.is_empty()) {
        report.error(
            inner.key,
            &inner.path,
            "the list is empty",
            "say what is assumed, or remove it",
        );
    }
    Some(if *key == "any-of" {
        Assumption::AnyOf(parts)
    } else {
        Assumption::AllOf(parts)
    })
}

/// Reads `feature`, `feature >= version` or `feature < version`; else advice.
fn parse(text: &str) -> Result<Assumption, &'static str> {
    let text = text.trim();
    let end = text.find(|letter: char| {
        matches!(letter, '<' | '>' | '=' | '!' | '~') || letter.is_whitespace()
    });
    let (feature, rest) = text.split_at(end.unwrap_or(text.len()));
    let named = feature.starts_with(|first: char| first.is_ascii_lowercase())
        && !feature.ends_with('-')
        && feature
            .bytes()
            .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'));
    if !named {
        return Err("name a feature, as k8s-api, or a version, as juju >= 3.4");
    }
    let rest = rest.trim();
    if rest.is_empty() {
        return Ok(Assumption::Feature(feature.into()));
    }
    let (comparison, version) = if let Some(version) = rest.strip_prefix(">=") {
        (Comparison::AtLeast, version)
    } else if let Some(version) = rest.strip_prefix('<').filter(|rest| !rest.starts_with('=')) {
        (Comparison::Below, version)
    } else {
        return Err("compare with >= or <, as juju >= 3.4");
    };
    Ok(Assumption::Version {
        feature: feature.into(),
        comparison,
        version: parse_version(version.trim()).ok_or("write a version as 3, 3.4 or 3.4.1")?,
    })
}

/// Reads a version of up to three numbers. A pre-release (`3.6-beta1`) counts as its release.
fn parse_version(text: &str) -> Option<[u32; 3]> {
    let release = text.split_once('-').map_or(text, |(release, _)| release);
    let mut version = [0; 3];
    let mut parts = release.split('.');
    for (number, part) in version.iter_mut().zip(parts.by_ref()) {
        if part.starts_with('+') {
            return None;
        }
        *number = part.parse().ok()?;
    }
    parts.next().is_none().then_some(version)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use alloc::vec;
    use proptest::prelude::*;

    fn assumed(text: &str) -> Assumption {
        parse(text).unwrap()
    }

    #[test]
    fn the_version_that_we_speak_is_one() {
        let spoken = parse_version(JUJU_VERSION);
        assert!(spoken.is_some_and(|[major, ..]| major >= 3));
        assert_eq!(Features::ours().0.get("juju"), Some(&spoken));
    }

    #[test]
    fn a_version_is_compared_number_by_number() {
        let features = Features::ours();
        for holds in [
            "k8s-api",
            "juju",
            "juju >= 3.6",
            "juju >= 3.6.11",
            "juju>=2.9.44",
            "juju < 4",
            "juju < 3.10",
        ] {
            assert!(features.hold(&assumed(holds)), "{holds}");
        }
        for fails in [
            "juju >= 3.6.12",
            "juju >= 4",
            "juju < 3.6.11",
            "juju < 3",
            "gpu",
            "k8s-api >= 1.2",
        ] {
            assert!(!features.hold(&assumed(fails)), "{fails}");
        }
    }

    #[test]
    fn choices_nest_and_what_is_missing_is_said_with_what_is_there() {
        let ranges = Assumption::AnyOf(vec![
            Assumption::AllOf(vec![assumed("juju >= 2.9.49"), assumed("juju < 3")]),
            Assumption::AllOf(vec![assumed("juju >= 4"), assumed("juju < 5")]),
        ]);
        assert_eq!(
            Features::ours().unmet(&[assumed("k8s-api"), ranges]),
            [
                "the charm assumes any of (all of (juju >= 2.9.49, juju < 3.0.0), all of (juju >= 4.0.0, juju < 5.0.0)), \
                 and juju is 3.6.11"
            ]
        );
    }

    #[test]
    fn other_comparisons_are_refused_with_advice() {
        for text in [
            "juju > 3",
            "juju == 3",
            "juju <= 3",
            "juju >= three",
            "juju >= 1.2.3.4",
            "Juju",
            "",
            "k8s-",
        ] {
            assert!(parse(text).is_err(), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn reading_is_total_and_what_is_read_prints_back(text in "[a-z]{1,4} ?(>=|<|>|)? ?[0-9.]{0,6}|.*") {
            if let Ok(assumption) = parse(&text) {
                prop_assert_eq!(parse(&assumption.to_string()), Ok(assumption));
            }
        }
    }
}
