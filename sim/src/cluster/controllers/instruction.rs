//! What tests and people tell the simulated nodes to do: plain data.
//!
//! A [`Rule`] says how containers behave from now on; an [`Incident`] happens once.

use alloc::boxed::Box;
use alloc::vec::Vec;

use pilotage_core::time::Span;
use serde::{Deserialize, Serialize};

/// How containers behave that do not simply run. The first rule of a kind that fits a container counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Rules(pub Vec<Rule>);

/// What some containers do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    /// Which pods: `namespace/name`, where `*` stands for any text.
    pub pod: Box<str>,
    /// Which containers, by name, with `*`.
    pub container: Box<str>,
    /// Which images, with `*`.
    pub image: Box<str>,
    /// What they do.
    pub behaviour: Behaviour,
}

/// A behaviour of a container (of the whole pod, for its end).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Behaviour {
    /// Pulling the image fails.
    PullFails {
        /// How often, per container; for ever if absent.
        times: Option<u32>,
    },
    /// Pulling takes this long.
    PullTakes(Span),
    /// Starting takes this long.
    StartTakes(Span),
    /// The container runs, and is ready only this long after its start.
    ReadyAfter(Span),
    /// The container runs and is never ready.
    NeverReady,
    /// The container ends by itself, and is started again as the pod's restart policy says.
    Exits {
        /// How long it runs.
        after: Span,
        /// How often, per container; for ever if absent.
        times: Option<u32>,
        /// Its exit code; 137 for a container that was out of memory.
        code: i32,
        /// The reason in its status: `Error`, `OOMKilled`, `Completed`.
        reason: Box<str>,
    },
    /// The pod takes this long to end when it is asked to (its grace period is the ceiling).
    TerminationTakes(Span),
}

/// Something that happens to a node or a pod, once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Incident {
    /// The kubelet of this node falls silent: nothing on it is reported or ended any more.
    NodeLost {
        /// The node.
        node: Box<str>,
    },
    /// The node is heard of again.
    NodeReturned {
        /// The node.
        node: Box<str>,
    },
    /// The kubelet ends a pod because its node runs short of something.
    PodEvicted {
        /// The pod's namespace.
        namespace: Box<str>,
        /// The pod.
        pod: Box<str>,
    },
    /// A running container ends now.
    ContainerExits {
        /// The pod's namespace.
        namespace: Box<str>,
        /// The pod.
        pod: Box<str>,
        /// The container.
        container: Box<str>,
        /// Its exit code.
        code: i32,
        /// The reason in its status.
        reason: Box<str>,
    },
}

impl Rule {
    /// A rule for every container with an image that fits the pattern.
    pub fn image(pattern: &str, behaviour: Behaviour) -> Self {
        Rule {
            pod: "*".into(),
            container: "*".into(),
            image: pattern.into(),
            behaviour,
        }
    }

    /// A rule for every container of the pods that fit the pattern (`namespace/name`).
    pub fn pod(pattern: &str, behaviour: Behaviour) -> Self {
        Rule {
            pod: pattern.into(),
            container: "*".into(),
            image: "*".into(),
            behaviour,
        }
    }
}

/// The container that rules are asked about.
#[derive(Clone, Copy, Debug)]
pub(super) struct Subject<'a> {
    pub(super) namespace: &'a str,
    pub(super) pod: &'a str,
    pub(super) container: &'a str,
    pub(super) image: &'a str,
}

impl Rules {
    /// The behaviours for one container, first match first.
    pub(super) fn of<'a>(&'a self, subject: Subject<'a>) -> impl Iterator<Item = &'a Behaviour> {
        self.0
            .iter()
            .filter(move |rule| {
                matches(&rule.container, subject.container)
                    && matches(&rule.image, subject.image)
                    && matches_pod(&rule.pod, subject.namespace, subject.pod)
            })
            .map(|rule| &rule.behaviour)
    }
}

fn matches_pod(pattern: &str, namespace: &str, name: &str) -> bool {
    match pattern.split_once('/') {
        Some((first, second)) => matches(first, namespace) && matches(second, name),
        None => matches(pattern, name),
    }
}

/// Whether `text` fits `pattern`, where `*` stands for any text.
fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or("");
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        match rest.find(part) {
            Some(index) => rest = &rest[index + part.len()..],
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, text, fits) in [
            ("*", "", true),
            ("*", "anything", true),
            ("a", "a", true),
            ("a", "ab", false),
            ("a*", "ab", true),
            ("*b", "ab", true),
            ("*b", "ba", false),
            ("a*c*e", "abcde", true),
            ("a*c*e", "abde", false),
            ("a*a", "a", false),
        ] {
            assert_eq!(matches(pattern, text), fits, "{pattern} against {text}");
        }
    }

    #[test]
    fn a_pod_is_named_with_or_without_its_namespace() {
        assert!(matches_pod("m/a-0", "m", "a-0"));
        assert!(!matches_pod("m/a-0", "n", "a-0"));
        assert!(matches_pod("a-*", "n", "a-0"));
    }
}
