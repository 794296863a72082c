//! Where pods may run: what constraints mean to the scheduler (KAPP-52 to KAPP-54).

use serde_json::{Value, json};

use crate::charm::Constraints;

/// The node selector for an architecture, in Kubernetes' words for it.
pub(super) fn node_selector(constraints: &Constraints) -> Value {
    let arch = match constraints.arch.as_deref() {
        None | Some("") => return Value::Null,
        Some("ppc64el") => "ppc64le",
        Some(arch) => arch,
    };
    json!({ "kubernetes.io/arch": arch })
}

/// Affinity to nodes and to other pods.
pub(super) fn affinity(_constraints: &Constraints) -> Value {
    Value::Null
}
