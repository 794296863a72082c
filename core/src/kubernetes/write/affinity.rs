//! Where pods may run: what constraints mean to the scheduler (KAPP-52 to KAPP-54).

use alloc::vec::Vec;

use serde_json::{Value, json};

use super::object;
use crate::charm::Constraints;
use crate::charm::affinity::{Affinity, Expression, PodTerm};

/// The node selector for an architecture, in Kubernetes' words for it.
pub(super) fn node_selector(constraints: &Constraints) -> Value {
    let arch = match constraints.arch.as_deref() {
        None | Some("") => return Value::Null,
        Some("ppc64el") => "ppc64le",
        Some(arch) => arch,
    };
    json!({ "kubernetes.io/arch": arch })
}

/// Affinity to nodes and to other pods. Tags that mean nothing were refused when the user gave them.
pub(super) fn affinity(constraints: &Constraints) -> Value {
    let affinity = Affinity::of(constraints).unwrap_or_default();
    if affinity.is_empty() {
        return Value::Null;
    }
    const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
    let node = match affinity.node.as_slice() {
        [] => Value::Null,
        terms => json!({ REQUIRED: {
            "nodeSelectorTerms": [{ "matchExpressions": expressions(terms) }],
        }}),
    };
    let pods = |term: &Option<PodTerm>| match term {
        None => Value::Null,
        Some(term) => json!({ REQUIRED: [{
            "labelSelector": { "matchExpressions": expressions(&term.expressions) },
            "topologyKey": term.topology_key,
        }]}),
    };
    object([
        ("nodeAffinity", node),
        ("podAffinity", pods(&affinity.pod)),
        ("podAntiAffinity", pods(&affinity.anti_pod)),
    ])
}

fn expressions(expressions: &[Expression]) -> Value {
    let one = |expression: &Expression| {
        json!({
            "key": expression.key, "operator": expression.operator, "values": expression.values,
        })
    };
    Value::Array(expressions.iter().map(one).collect::<Vec<Value>>())
}
