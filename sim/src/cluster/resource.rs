//! The kinds that the API server serves.

use alloc::format;
use alloc::string::String;

use serde::{Deserialize, Serialize};

use super::schema::{self, Type};

/// One line per kind: everything that the server must know of it beside its fields.
macro_rules! resources {
    ($($kind:ident, $plural:literal, $group:literal, $version:literal, $namespaced:literal, $type:ident;)*) => {
        /// A kind of object.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[allow(missing_docs)] // Each is the Kubernetes kind of that name.
        pub enum Resource {
            $($kind,)*
        }

        impl Resource {
            /// Every kind.
            pub const ALL: &'static [Resource] = &[$(Resource::$kind,)*];

            /// The kind's name, as `kind` in an object says it: `StatefulSet`.
            pub const fn kind(self) -> &'static str {
                match self { $(Resource::$kind => stringify!($kind),)* }
            }

            /// The name in paths and messages: `statefulsets`.
            pub const fn plural(self) -> &'static str {
                match self { $(Resource::$kind => $plural,)* }
            }

            /// The API group, empty for the core group: `apps`.
            pub const fn group(self) -> &'static str {
                match self { $(Resource::$kind => $group,)* }
            }

            /// Group and version, as `apiVersion` in an object says it: `apps/v1`.
            pub const fn api_version(self) -> &'static str {
                match self { $(Resource::$kind => $version,)* }
            }

            /// Whether objects of this kind live in a namespace.
            pub const fn namespaced(self) -> bool {
                match self { $(Resource::$kind => $namespaced,)* }
            }

            /// The fields of the kind.
            pub(crate) fn schema(self) -> &'static Type {
                match self { $(Resource::$kind => &schema::$type,)* }
            }
        }
    };
}

resources! {
    Namespace, "namespaces", "", "v1", false, NAMESPACE;
    Node, "nodes", "", "v1", false, NODE;
    ServiceAccount, "serviceaccounts", "", "v1", true, SERVICE_ACCOUNT;
    Secret, "secrets", "", "v1", true, SECRET;
    ConfigMap, "configmaps", "", "v1", true, CONFIG_MAP;
    Role, "roles", "rbac.authorization.k8s.io", "rbac.authorization.k8s.io/v1", true, ROLE;
    RoleBinding, "rolebindings", "rbac.authorization.k8s.io", "rbac.authorization.k8s.io/v1", true, ROLE_BINDING;
    ClusterRole, "clusterroles", "rbac.authorization.k8s.io", "rbac.authorization.k8s.io/v1", false, CLUSTER_ROLE;
    ClusterRoleBinding, "clusterrolebindings", "rbac.authorization.k8s.io", "rbac.authorization.k8s.io/v1", false, CLUSTER_ROLE_BINDING;
    StorageClass, "storageclasses", "storage.k8s.io", "storage.k8s.io/v1", false, STORAGE_CLASS;
    PersistentVolume, "persistentvolumes", "", "v1", false, PERSISTENT_VOLUME;
    PersistentVolumeClaim, "persistentvolumeclaims", "", "v1", true, PERSISTENT_VOLUME_CLAIM;
    Service, "services", "", "v1", true, SERVICE;
    ControllerRevision, "controllerrevisions", "apps", "apps/v1", true, CONTROLLER_REVISION;
    StatefulSet, "statefulsets", "apps", "apps/v1", true, STATEFUL_SET;
    ReplicaSet, "replicasets", "apps", "apps/v1", true, REPLICA_SET;
    Deployment, "deployments", "apps", "apps/v1", true, DEPLOYMENT;
    DaemonSet, "daemonsets", "apps", "apps/v1", true, DAEMON_SET;
    Pod, "pods", "", "v1", true, POD;
    Event, "events", "", "v1", true, EVENT;
    Lease, "leases", "coordination.k8s.io", "coordination.k8s.io/v1", true, LEASE;
}

impl Resource {
    /// The kind of an object that says `apiVersion` and `kind`, as an owner reference does.
    pub fn of(api_version: &str, kind: &str) -> Option<Resource> {
        Resource::ALL
            .iter()
            .copied()
            .find(|resource| resource.kind() == kind && resource.api_version() == api_version)
    }

    /// Whether the kind has desired replicas behind a `scale` subresource.
    pub const fn scalable(self) -> bool {
        matches!(
            self,
            Resource::StatefulSet | Resource::ReplicaSet | Resource::Deployment
        )
    }

    /// Whether the kind runs pods made from a template in its spec.
    pub const fn has_template(self) -> bool {
        matches!(
            self,
            Resource::StatefulSet
                | Resource::ReplicaSet
                | Resource::Deployment
                | Resource::DaemonSet
        )
    }
}

impl Resource {
    /// The name with its group, as messages say it: `statefulsets.apps`.
    pub(crate) fn qualified(self) -> String {
        match self.group() {
            "" => String::from(self.plural()),
            group => format!("{}.{group}", self.plural()),
        }
    }
}
