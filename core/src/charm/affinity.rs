//! Affinity: what the constraints `tags` and `zones` mean to Kubernetes' scheduler (KAPP-53, KAPP-54).
//!
//! A tag is `KEY=VALUE|VALUE…`. `pod.` before the key speaks of pods to be near, `anti-pod.` of pods to be away from,
//! `node.` or nothing of labels of the node; a `^` at either side of the prefix turns "in" into "not in". The key
//! `topology-key` behind `pod.` or `anti-pod.` says what "near" is. Everything is required when a pod is placed.
//!
//! Three slips of the original are not repeated (ODD-22): tags about pods alone make no node term, as an empty one
//! matches no node; a prefix is taken off whatever side the `^` stands on; and pods without a topology key, which
//! Kubernetes refuses, are refused before anything is stored.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::Constraints;

/// The label of a node that names its zone.
pub const ZONE_LABEL: &str = "topology.kubernetes.io/zone";

/// Where pods may be placed. Expressions are sorted by key, then operator.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Affinity {
    /// What must hold of the node; all of it. Empty: any node.
    pub node: Vec<Expression>,
    /// Pods to be near.
    pub pod: Option<PodTerm>,
    /// Pods to be away from.
    pub anti_pod: Option<PodTerm>,
}

/// Pods to be near to, or away from.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PodTerm {
    /// Label of nodes: those of one value are near each other.
    pub topology_key: String,
    /// What must hold of the pods' labels; all of it.
    pub expressions: Vec<Expression>,
}

/// One condition on labels.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Expression {
    /// Name of the label.
    pub key: String,
    /// How its value compares.
    pub operator: Operator,
    /// The values, in the order given.
    pub values: Vec<String>,
}

/// How a label's value compares, in Kubernetes' words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Operator {
    /// One of the values.
    In,
    /// None of the values.
    NotIn,
}

/// Why tags mean nothing to the scheduler.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AffinityError {
    /// A tag is not `KEY=VALUE`.
    #[error("invalid affinity constraints: {tag:?}: {reason}")]
    Tag {
        /// The tag.
        tag: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// Tags about pods do not say what near is.
    #[error(
        "invalid affinity constraints: tags with {prefix:?} need a topology key; add {prefix}topology-key=LABEL, as \
         {prefix}topology-key=kubernetes.io/hostname"
    )]
    NoTopologyKey {
        /// `pod.` or `anti-pod.`
        prefix: &'static str,
    },
    /// A topology key with nothing said about pods.
    #[error(
        "invalid affinity constraints: {prefix}topology-key says nothing without a tag about pods' labels"
    )]
    NoPods {
        /// `pod.` or `anti-pod.`
        prefix: &'static str,
    },
}

/// What of a tag's prefix has been gathered.
#[derive(Default)]
struct Pods {
    topology_key: Option<String>,
    expressions: BTreeMap<(String, Operator), Vec<String>>,
}

impl Affinity {
    /// What the constraints mean to the scheduler.
    ///
    /// # Errors
    ///
    /// The first tag that means nothing.
    pub fn of(constraints: &Constraints) -> Result<Self, AffinityError> {
        let mut node = BTreeMap::new();
        let mut pod = Pods::default();
        let mut anti_pod = Pods::default();
        for tag in constraints.tags.iter().flatten() {
            let Tag {
                target,
                key,
                operator,
                values,
            } = read(tag)?;
            let refused = |reason| AffinityError::Tag {
                tag: tag.clone(),
                reason,
            };
            let (pods, expressions) = match target {
                Target::Node => (None, &mut node),
                Target::Pod => (Some(&mut pod.topology_key), &mut pod.expressions),
                Target::AntiPod => (Some(&mut anti_pod.topology_key), &mut anti_pod.expressions),
            };
            match pods {
                Some(topology_key) if key == "topology-key" => {
                    let mut values = values.into_iter();
                    let (Operator::In, Some(value), None) =
                        (operator, values.next(), values.next())
                    else {
                        return Err(refused("a topology key is one label"));
                    };
                    if topology_key.replace(value).is_some() {
                        return Err(refused("there is a topology key already"));
                    }
                }
                _ => {
                    if expressions.insert((key, operator), values).is_some() {
                        return Err(refused("this key is there already"));
                    }
                }
            }
        }
        let mut node = expressions(node);
        if let Some(zones) = constraints.zones.as_ref().filter(|zones| !zones.is_empty()) {
            node.push(Expression {
                key: ZONE_LABEL.into(),
                operator: Operator::In,
                values: zones.clone(),
            });
        }
        Ok(Self {
            node,
            pod: term(pod, "pod.")?,
            anti_pod: term(anti_pod, "anti-pod.")?,
        })
    }

    /// Whether nothing is asked of the scheduler.
    pub fn is_empty(&self) -> bool {
        self.node.is_empty() && self.pod.is_none() && self.anti_pod.is_none()
    }
}

fn expressions(found: BTreeMap<(String, Operator), Vec<String>>) -> Vec<Expression> {
    found
        .into_iter()
        .map(|((key, operator), values)| Expression {
            key,
            operator,
            values,
        })
        .collect()
}

fn term(pods: Pods, prefix: &'static str) -> Result<Option<PodTerm>, AffinityError> {
    match (pods.topology_key, pods.expressions.is_empty()) {
        (None, true) => Ok(None),
        (Some(_), true) => Err(AffinityError::NoPods { prefix }),
        (None, false) => Err(AffinityError::NoTopologyKey { prefix }),
        (Some(topology_key), false) => Ok(Some(PodTerm {
            topology_key,
            expressions: expressions(pods.expressions),
        })),
    }
}

#[derive(Clone, Copy)]
enum Target {
    Node,
    Pod,
    AntiPod,
}

struct Tag {
    target: Target,
    key: String,
    operator: Operator,
    values: Vec<String>,
}

fn read(tag: &str) -> Result<Tag, AffinityError> {
    let refused = |reason| AffinityError::Tag {
        tag: tag.into(),
        reason,
    };
    let mut halves = tag.split('=');
    let (Some(key), Some(values), None) = (halves.next(), halves.next(), halves.next()) else {
        return Err(refused(
            "expected KEY=VALUE, with \"|\" between several values",
        ));
    };
    let outer = key.strip_prefix('^');
    let bare = outer.unwrap_or(key);
    let (target, rest) = if let Some(rest) = bare.strip_prefix("pod.") {
        (Target::Pod, rest)
    } else if let Some(rest) = bare.strip_prefix("anti-pod.") {
        (Target::AntiPod, rest)
    } else {
        (Target::Node, bare.strip_prefix("node.").unwrap_or(bare))
    };
    let inner = rest.strip_prefix('^');
    let key = inner.unwrap_or(rest);
    if outer.is_some() && inner.is_some() {
        return Err(refused("\"^\" stands twice"));
    }
    if key.trim().is_empty() {
        return Err(refused("there is no key"));
    }
    let operator = if outer.is_some() || inner.is_some() {
        Operator::NotIn
    } else {
        Operator::In
    };
    let values: Vec<String> = values.split('|').map(|value| value.trim().into()).collect();
    let distinct: BTreeSet<&String> = values.iter().collect();
    if values.iter().any(String::is_empty) || distinct.len() != values.len() {
        return Err(refused("each value is some text, and comes once"));
    }
    Ok(Tag {
        target,
        key: key.trim().into(),
        operator,
        values,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use proptest::prelude::*;

    fn affinity(constraints: &str) -> Result<Affinity, AffinityError> {
        Affinity::of(&constraints.parse().unwrap())
    }

    #[test]
    fn every_kind_of_tag_finds_its_place() {
        insta::assert_json_snapshot!(affinity(
            "tags=hello=world|universe,node.^goodbye=world,^node.arch=x,pod.hello=w,pod.^goodbye=w,pod.topology-key=foo,\
             anti-pod.topology-key=bar,^anti-pod.a=b zones=z1,z2"
        )
        .unwrap());
    }

    #[test]
    fn tags_about_pods_alone_make_no_node_term() {
        let found = affinity("tags=pod.a=b,pod.topology-key=kubernetes.io/hostname").unwrap();
        assert_eq!(found.node, []);
        assert!(found.anti_pod.is_none());
    }

    #[test]
    fn a_prefix_behind_a_prefix_is_part_of_the_key() {
        let found = affinity("tags=pod.anti-pod.x=y,pod.topology-key=k").unwrap();
        assert_eq!(found.pod.unwrap().expressions[0].key, "anti-pod.x");
        assert!(found.anti_pod.is_none());
    }

    #[test]
    fn pods_need_a_topology_key() {
        assert_eq!(
            affinity("tags=anti-pod.a=b").unwrap_err().to_string(),
            "invalid affinity constraints: tags with \"anti-pod.\" need a topology key; add anti-pod.topology-key=LABEL, \
             as anti-pod.topology-key=kubernetes.io/hostname"
        );
        assert!(affinity("tags=pod.topology-key=k").is_err());
    }

    #[test]
    fn anything_but_one_key_and_its_values_is_refused() {
        for tag in [
            "a",
            "a=b=c",
            "^=b",
            "pod.^=b",
            "^pod.^a=b",
            "a=",
            "a=b|",
            "a=b|b",
            "=b",
            "a=b,a=c",
        ] {
            let constraints = Constraints {
                tags: Some(tag.split(',').map(String::from).collect()),
                ..Constraints::default()
            };
            assert!(Affinity::of(&constraints).is_err(), "{tag}");
        }
    }

    #[test]
    fn no_tags_ask_nothing() {
        assert!(affinity("mem=1G tags= zones=").unwrap().is_empty());
    }

    proptest! {
        #[test]
        fn reading_tags_is_total_and_says_the_same_in_any_order(
            tags in proptest::collection::vec("(\\^|pod\\.|anti-pod\\.|node\\.|[ab=|^.]|topology-key){0,6}", 0..5),
        ) {
            let of = |tags: Vec<String>| Affinity::of(&Constraints { tags: Some(tags), ..Constraints::default() });
            let forward = of(tags.clone());
            let backward = of(tags.into_iter().rev().collect());
            prop_assert_eq!(forward.is_ok(), backward.is_ok());
            if let (Ok(forward), Ok(backward)) = (forward, backward) {
                prop_assert_eq!(forward, backward);
            }
        }
    }
}
