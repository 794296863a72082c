//! What we see of each kind: exactly the fields that are used, read once, straight from the API's JSON.
//!
//! Unknown fields are skipped, absent ones take their zero: a cluster that says less than expected is a cluster where
//! less is known, never an error. `managedFields` are read only where they are needed, in a fresh [`Fetched`].

mod metadata;
mod pod;
mod workload;

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use metadata::{ManagedFields, Metadata, OwnerReference};
pub use pod::{
    Condition, ContainerPorts, ContainerState, ContainerStatus, Pod, PodPhase, PodSpec, PodStatus,
    Port, Running, Why,
};
pub use workload::{StatefulSet, StatefulSetSpec, StatefulSetStatus};

use super::{Key, Kind};

/// Kinds of which nothing but their parts matters: each part is kept as JSON and compared with a manifest's.
macro_rules! plain_kinds {
    ($($(#[$doc:meta])* $kind:ident { $($(#[$field_doc:meta])* $field:ident : $type:ty as $name:literal),* $(,)? })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub struct $kind {
            /// Name, identity, version, labels.
            pub metadata: Metadata,
            $($(#[$field_doc])* #[serde(default, rename = $name)] pub $field: $type,)*
        }
    )*};
}

plain_kinds! {
    /// A namespace.
    Namespace {}
    /// The account that an application's pods run as.
    ServiceAccount {
        /// Whether pods get its token unless they say otherwise.
        automount: Option<bool> as "automountServiceAccountToken",
    }
    /// A secret. Its data never comes in here: whoever reads it from the API replaces it by a keyed fingerprint.
    Secret {
        /// The type, such as `kubernetes.io/dockerconfigjson`.
        r#type: Box<str> as "type",
        /// The fingerprint of the data; none if the reader made none.
        fingerprint: Option<Box<str>> as "fingerprint",
    }
    /// What is allowed inside a namespace.
    Role {
        /// The rules.
        rules: Value as "rules",
    }
    /// Who is allowed it.
    RoleBinding {
        /// The role.
        role_ref: Value as "roleRef",
        /// The accounts.
        subjects: Value as "subjects",
    }
    /// What is allowed in the whole cluster.
    ClusterRole {
        /// The rules.
        rules: Value as "rules",
    }
    /// Who is allowed it.
    ClusterRoleBinding {
        /// The role.
        role_ref: Value as "roleRef",
        /// The accounts.
        subjects: Value as "subjects",
    }
    /// A service.
    Service {
        /// What was asked for.
        spec: Value as "spec",
        /// What the cluster gave: the addresses of a load balancer.
        status: ServiceStatus as "status",
    }
    /// A claim to a volume.
    PersistentVolumeClaim {
        /// What was asked for.
        spec: ClaimSpec as "spec",
        /// What the cluster gave.
        status: ClaimStatus as "status",
    }
}

/// The part of a service's status that is used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ServiceStatus {
    /// Where a load balancer is reached.
    pub load_balancer: LoadBalancer,
}

/// Where a load balancer is reached.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct LoadBalancer {
    /// Its points of entry.
    pub ingress: Vec<Ingress>,
}

/// One point of entry of a load balancer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Ingress {
    /// An address.
    pub ip: Option<Box<str>>,
    /// Or a name.
    pub hostname: Option<Box<str>>,
}

/// What a claim asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ClaimSpec {
    /// The volume that it is bound to, or is to be.
    pub volume_name: Option<Box<str>>,
    /// The class.
    pub storage_class_name: Option<Box<str>>,
    /// The size.
    pub resources: ClaimResources,
}

/// The resources that a claim asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct ClaimResources {
    /// At least this much.
    pub requests: Storage,
}

/// An amount of storage.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Storage {
    /// A Kubernetes quantity.
    pub storage: Option<Box<str>>,
}

/// What a claim was given.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct ClaimStatus {
    /// `Pending`, `Bound`, `Lost`.
    pub phase: Box<str>,
    /// The size that the volume really has.
    pub capacity: Storage,
    /// What went on.
    pub conditions: Vec<Condition>,
}

/// One object of a kind that we watch.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "kind")]
#[allow(missing_docs)] // Each is the struct of that name.
pub enum Object {
    Namespace(Namespace),
    ServiceAccount(ServiceAccount),
    Secret(Secret),
    Role(Role),
    RoleBinding(RoleBinding),
    ClusterRole(ClusterRole),
    ClusterRoleBinding(ClusterRoleBinding),
    Service(Service),
    PersistentVolumeClaim(PersistentVolumeClaim),
    StatefulSet(StatefulSet),
    Pod(Pod),
}

macro_rules! each {
    ($object:expr, $inner:ident => $result:expr) => {
        match $object {
            Object::Namespace($inner) => $result,
            Object::ServiceAccount($inner) => $result,
            Object::Secret($inner) => $result,
            Object::Role($inner) => $result,
            Object::RoleBinding($inner) => $result,
            Object::ClusterRole($inner) => $result,
            Object::ClusterRoleBinding($inner) => $result,
            Object::Service($inner) => $result,
            Object::PersistentVolumeClaim($inner) => $result,
            Object::StatefulSet($inner) => $result,
            Object::Pod($inner) => $result,
        }
    };
}

impl Object {
    /// Reads an object of a known kind from any deserializer: the API's text, or a tree in memory.
    ///
    /// # Errors
    /// The deserializer's own: a field of another type than Kubernetes gives it, or a missing name, uid or version.
    pub fn read<'de, D: serde::Deserializer<'de>>(kind: Kind, from: D) -> Result<Self, D::Error> {
        Ok(match kind {
            Kind::Namespace => Object::Namespace(Deserialize::deserialize(from)?),
            Kind::ServiceAccount => Object::ServiceAccount(Deserialize::deserialize(from)?),
            Kind::Secret => Object::Secret(Deserialize::deserialize(from)?),
            Kind::Role => Object::Role(Deserialize::deserialize(from)?),
            Kind::RoleBinding => Object::RoleBinding(Deserialize::deserialize(from)?),
            Kind::ClusterRole => Object::ClusterRole(Deserialize::deserialize(from)?),
            Kind::ClusterRoleBinding => Object::ClusterRoleBinding(Deserialize::deserialize(from)?),
            Kind::Service => Object::Service(Deserialize::deserialize(from)?),
            Kind::PersistentVolumeClaim => {
                Object::PersistentVolumeClaim(Deserialize::deserialize(from)?)
            }
            Kind::StatefulSet => Object::StatefulSet(Deserialize::deserialize(from)?),
            Kind::Pod => Object::Pod(Deserialize::deserialize(from)?),
        })
    }

    /// The object's kind.
    pub const fn kind(&self) -> Kind {
        match self {
            Object::Namespace(_) => Kind::Namespace,
            Object::ServiceAccount(_) => Kind::ServiceAccount,
            Object::Secret(_) => Kind::Secret,
            Object::Role(_) => Kind::Role,
            Object::RoleBinding(_) => Kind::RoleBinding,
            Object::ClusterRole(_) => Kind::ClusterRole,
            Object::ClusterRoleBinding(_) => Kind::ClusterRoleBinding,
            Object::Service(_) => Kind::Service,
            Object::PersistentVolumeClaim(_) => Kind::PersistentVolumeClaim,
            Object::StatefulSet(_) => Kind::StatefulSet,
            Object::Pod(_) => Kind::Pod,
        }
    }

    /// Name, identity, version, labels.
    pub fn metadata(&self) -> &Metadata {
        each!(self, object => &object.metadata)
    }

    /// Where the object is found.
    pub fn key(&self) -> Key {
        let metadata = self.metadata();
        Key {
            kind: self.kind(),
            namespace: metadata.namespace.clone(),
            name: metadata.name.clone(),
        }
    }
}

/// The answer to a `Get`: the object, and who owns which of its fields.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Fetched {
    /// The object.
    pub object: Arc<Object>,
    /// Its `managedFields`.
    #[serde(default)]
    pub managed_fields: Vec<ManagedFields>,
}
