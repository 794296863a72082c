//! Kubernetes as the core sees it.
//!
//! * [`read`]: of each kind exactly what we look at, parsed once, straight from the API's JSON;
//! * `write`: the manifests;
//! * [`manifest`]: what a manifest is, its birth fields and its comparison with a live object;
//! * `unit_status`: what a pod says about its unit.

pub mod labels;
pub mod manifest;
pub mod names;
pub mod ownership;
pub mod quantity;
pub mod read;
pub mod satisfies;
pub mod unit_status;
pub mod write;

use alloc::boxed::Box;
use core::fmt;

use serde::{Deserialize, Serialize};

/// A kind of object that Pilotage makes or watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[allow(missing_docs)] // Each is the Kubernetes kind of that name.
pub enum Kind {
    Namespace,
    ServiceAccount,
    Secret,
    Role,
    RoleBinding,
    ClusterRole,
    ClusterRoleBinding,
    Service,
    PersistentVolumeClaim,
    StatefulSet,
    Pod,
}

impl Kind {
    /// Every kind, in the order in which an application needs them.
    pub const ALL: [Kind; 11] = [
        Kind::Namespace,
        Kind::ServiceAccount,
        Kind::Secret,
        Kind::Role,
        Kind::RoleBinding,
        Kind::ClusterRole,
        Kind::ClusterRoleBinding,
        Kind::Service,
        Kind::PersistentVolumeClaim,
        Kind::StatefulSet,
        Kind::Pod,
    ];

    /// The kind's name in manifests.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Namespace => "Namespace",
            Kind::ServiceAccount => "ServiceAccount",
            Kind::Secret => "Secret",
            Kind::Role => "Role",
            Kind::RoleBinding => "RoleBinding",
            Kind::ClusterRole => "ClusterRole",
            Kind::ClusterRoleBinding => "ClusterRoleBinding",
            Kind::Service => "Service",
            Kind::PersistentVolumeClaim => "PersistentVolumeClaim",
            Kind::StatefulSet => "StatefulSet",
            Kind::Pod => "Pod",
        }
    }

    /// The API group and version.
    pub const fn api_version(self) -> &'static str {
        match self {
            Kind::Namespace
            | Kind::ServiceAccount
            | Kind::Secret
            | Kind::Service
            | Kind::PersistentVolumeClaim
            | Kind::Pod => "v1",
            Kind::Role | Kind::RoleBinding | Kind::ClusterRole | Kind::ClusterRoleBinding => {
                "rbac.authorization.k8s.io/v1"
            }
            Kind::StatefulSet => "apps/v1",
        }
    }

    /// Whether objects of this kind live in a namespace.
    pub const fn namespaced(self) -> bool {
        !matches!(
            self,
            Kind::Namespace | Kind::ClusterRole | Kind::ClusterRoleBinding
        )
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Where an object is found: what its URL says.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Key {
    /// The kind.
    pub kind: Kind,
    /// The namespace; none for cluster-scoped kinds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<Box<str>>,
    /// The name.
    pub name: Box<str>,
}

impl Key {
    /// The key of a namespaced object.
    pub fn new(kind: Kind, namespace: &str, name: &str) -> Self {
        Key {
            kind,
            namespace: kind.namespaced().then(|| namespace.into()),
            name: name.into(),
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} \"{}\"", self.kind, self.name)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.namespace {
            Some(namespace) => write!(f, "{}/{namespace}/{}", self.kind, self.name),
            None => write!(f, "{}/{}", self.kind, self.name),
        }
    }
}

/// What a delete does to dependents (Kubernetes: "Garbage Collection").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Propagation {
    /// The object goes at once, dependents after it.
    #[default]
    Background,
    /// The object waits for its dependents.
    Foreground,
    /// Dependents lose their owner and stay.
    Orphan,
}
