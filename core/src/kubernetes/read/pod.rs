//! Pods: what runs a unit.

use alloc::boxed::Box;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::Metadata;

/// A pod.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Pod {
    /// Name, identity, version, labels.
    pub metadata: Metadata,
    /// What is asked for.
    #[serde(default)]
    pub spec: PodSpec,
    /// What is there.
    #[serde(default)]
    pub status: PodStatus,
}

/// The part of a pod's specification that is used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct PodSpec {
    /// The node that the pod is bound to.
    pub node_name: Option<Box<str>>,
    /// The containers, in their order.
    pub containers: Vec<ContainerPorts>,
}

/// A container's ports.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct ContainerPorts {
    /// The container.
    pub name: Box<str>,
    /// What it says that it listens on.
    pub ports: Vec<Port>,
}

/// A port that a container says it listens on.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Port {
    /// The number.
    pub container_port: u16,
    /// `TCP`, `UDP` or `SCTP`.
    #[serde(default = "tcp")]
    pub protocol: Box<str>,
}

fn tcp() -> Box<str> {
    "TCP".into()
}

/// What is there of a pod.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct PodStatus {
    /// How far the pod is in its life.
    pub phase: PodPhase,
    /// Why, in a word: `Evicted`, `NodeLost`.
    pub reason: Option<Box<str>>,
    /// Why, for people.
    pub message: Option<Box<str>>,
    /// The address.
    #[serde(rename = "podIP")]
    pub pod_ip: Option<Box<str>>,
    /// `PodScheduled`, `Initialized`, `ContainersReady`, `Ready` …
    pub conditions: Vec<Condition>,
    /// The init containers.
    pub init_container_statuses: Vec<ContainerStatus>,
    /// The containers.
    pub container_statuses: Vec<ContainerStatus>,
}

impl PodStatus {
    /// A condition by its type.
    pub fn condition(&self, kind: &str) -> Option<&Condition> {
        self.conditions
            .iter()
            .find(|condition| &*condition.r#type == kind)
    }

    /// Whether the pod may be sent requests.
    pub fn is_ready(&self) -> bool {
        self.condition("Ready")
            .is_some_and(|ready| &*ready.status == "True")
    }
}

/// How far a pod is in its life (Kubernetes: "Pod Lifecycle").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum PodPhase {
    /// Accepted, not all containers run.
    #[default]
    Pending,
    /// On a node, at least one container runs or starts.
    Running,
    /// All containers ended well.
    Succeeded,
    /// All containers ended, one of them badly.
    Failed,
    /// The node does not answer, or the server says something that we do not know.
    #[serde(other)]
    Unknown,
}

/// One condition of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Condition {
    /// What it is about.
    pub r#type: Box<str>,
    /// `True`, `False`, `Unknown`.
    pub status: Box<str>,
    /// Why, in a word.
    pub reason: Option<Box<str>>,
    /// Why, for people.
    pub message: Option<Box<str>>,
}

/// What is there of a container.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ContainerStatus {
    /// The container.
    pub name: Box<str>,
    /// Whether it is ready.
    pub ready: bool,
    /// How often it was started again.
    pub restart_count: u32,
    /// What it does now.
    pub state: ContainerState,
}

/// What a container does now: at most one of the three.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct ContainerState {
    /// It waits, and why.
    pub waiting: Option<Why>,
    /// It runs.
    pub running: Option<Running>,
    /// It ended, and why.
    pub terminated: Option<Why>,
}

/// That a container runs; since when is of no use here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Running {}

/// Why a container waits or ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Why {
    /// In a word.
    pub reason: Option<Box<str>>,
    /// For people.
    pub message: Option<Box<str>>,
    /// The exit code, of one that ended.
    pub exit_code: Option<i32>,
}
