//! Workloads: what keeps an application's pods.

use alloc::boxed::Box;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Metadata;

/// A StatefulSet.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct StatefulSet {
    /// Name, identity, version, labels.
    pub metadata: Metadata,
    /// What is asked for.
    #[serde(default)]
    pub spec: StatefulSetSpec,
    /// What is there.
    #[serde(default)]
    pub status: StatefulSetStatus,
}

/// What is asked of a StatefulSet: the parts that decisions read, and the whole, to be compared with its manifest.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "Value", into = "Value")]
pub struct StatefulSetSpec {
    /// The number of pods.
    pub replicas: u32,
    /// Pods numbered below this stay at the old revision while a rollout goes on.
    pub partition: u32,
    /// Everything, as the server keeps it.
    pub whole: Value,
}

impl From<Value> for StatefulSetSpec {
    fn from(whole: Value) -> Self {
        let number = |pointer: &str, otherwise| {
            let number = whole.pointer(pointer).and_then(Value::as_u64);
            number
                .and_then(|n| u32::try_from(n).ok())
                .unwrap_or(otherwise)
        };
        StatefulSetSpec {
            // A StatefulSet without the number has one pod (fact K10).
            replicas: number("/replicas", 1),
            partition: number("/updateStrategy/rollingUpdate/partition", 0),
            whole,
        }
    }
}

/// One that says nothing is read as the server would.
impl Default for StatefulSetSpec {
    fn default() -> Self {
        Value::Null.into()
    }
}

impl From<StatefulSetSpec> for Value {
    fn from(spec: StatefulSetSpec) -> Value {
        spec.whole
    }
}

/// What is there of a StatefulSet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct StatefulSetStatus {
    /// The generation that the controller has seen.
    pub observed_generation: u64,
    /// Pods that exist.
    pub replicas: u32,
    /// Pods that are ready.
    pub ready_replicas: u32,
    /// Pods of the update revision.
    pub updated_replicas: u32,
    /// The revision that pods come from while no rollout goes on.
    pub current_revision: Box<str>,
    /// The revision that a rollout leads to.
    pub update_revision: Box<str>,
}
