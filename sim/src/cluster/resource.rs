//! The kinds that the API server serves.

use serde::{Deserialize, Serialize};

/// A kind of object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[allow(missing_docs)] // Each is the Kubernetes kind of that name.
pub enum Resource {
    Namespace,
    Node,
    ServiceAccount,
    Secret,
    ConfigMap,
    Role,
    RoleBinding,
    ClusterRole,
    ClusterRoleBinding,
    StorageClass,
    PersistentVolume,
    PersistentVolumeClaim,
    Service,
    ControllerRevision,
    StatefulSet,
    ReplicaSet,
    Deployment,
    DaemonSet,
    Pod,
    Event,
    Lease,
}
