//! The kinds that the suites speak of, and their addresses.

/// A kind and how the API server addresses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// Such as `StatefulSet`.
    pub name: &'static str,
    /// Such as `apps/v1`.
    pub api_version: &'static str,
    /// Such as `statefulsets`.
    pub plural: &'static str,
    /// Whether its objects live in a namespace.
    pub namespaced: bool,
}

const fn row(
    name: &'static str,
    api_version: &'static str,
    plural: &'static str,
    namespaced: bool,
) -> Kind {
    Kind {
        name,
        api_version,
        plural,
        namespaced,
    }
}

/// Every kind, in the order in which transcripts list them.
pub const KINDS: &[Kind] = &[
    row("Namespace", "v1", "namespaces", false),
    row("Node", "v1", "nodes", false),
    row("ServiceAccount", "v1", "serviceaccounts", true),
    row("Secret", "v1", "secrets", true),
    row("ConfigMap", "v1", "configmaps", true),
    row("Role", "rbac.authorization.k8s.io/v1", "roles", true),
    row(
        "RoleBinding",
        "rbac.authorization.k8s.io/v1",
        "rolebindings",
        true,
    ),
    row(
        "ClusterRole",
        "rbac.authorization.k8s.io/v1",
        "clusterroles",
        false,
    ),
    row(
        "ClusterRoleBinding",
        "rbac.authorization.k8s.io/v1",
        "clusterrolebindings",
        false,
    ),
    row("StorageClass", "storage.k8s.io/v1", "storageclasses", false),
    row("PersistentVolume", "v1", "persistentvolumes", false),
    row(
        "PersistentVolumeClaim",
        "v1",
        "persistentvolumeclaims",
        true,
    ),
    row("Service", "v1", "services", true),
    row("ControllerRevision", "apps/v1", "controllerrevisions", true),
    row("StatefulSet", "apps/v1", "statefulsets", true),
    row("ReplicaSet", "apps/v1", "replicasets", true),
    row("Deployment", "apps/v1", "deployments", true),
    row("DaemonSet", "apps/v1", "daemonsets", true),
    row("Pod", "v1", "pods", true),
    row("Lease", "coordination.k8s.io/v1", "leases", true),
    row(
        "MutatingAdmissionPolicy",
        "admissionregistration.k8s.io/v1",
        "mutatingadmissionpolicies",
        false,
    ),
    row(
        "MutatingAdmissionPolicyBinding",
        "admissionregistration.k8s.io/v1",
        "mutatingadmissionpolicybindings",
        false,
    ),
];

/// The kind of that name; it must be one of [`KINDS`].
pub fn kind(name: &str) -> Kind {
    let found = KINDS.iter().find(|kind| kind.name == name);
    *found.unwrap_or_else(|| panic!("{name} is not in the table of kinds"))
}

impl Kind {
    /// The path of the collection.
    pub fn collection(&self, namespace: &str) -> String {
        let group = match self.api_version {
            "v1" => "/api/v1".to_owned(),
            other => format!("/apis/{other}"),
        };
        if self.namespaced && !namespace.is_empty() {
            format!("{group}/namespaces/{namespace}/{}", self.plural)
        } else {
            format!("{group}/{}", self.plural)
        }
    }

    /// The path of one object.
    pub fn object(&self, namespace: &str, name: &str) -> String {
        format!("{}/{name}", self.collection(namespace))
    }
}

/// What a path addresses: the kind, the namespace, the name and the subresource, each empty where the path names none.
pub fn kind_of_path(path: &str) -> Option<(Kind, String, String, String)> {
    let rest = path
        .strip_prefix("/api/")
        .or_else(|| path.strip_prefix("/apis/"))?;
    let parts: Vec<&str> = rest.split('/').collect();
    let after_version = if path.starts_with("/api/") {
        &parts[1..]
    } else {
        parts.get(2..)?
    };
    let (namespace, parts) = match after_version {
        ["namespaces", namespace, plural, rest @ ..]
            if !["status", "finalize"].contains(plural) =>
        {
            (*namespace, [&[*plural], rest].concat())
        }
        other => ("", other.to_vec()),
    };
    let kind = KINDS
        .iter()
        .find(|kind| Some(&kind.plural) == parts.first())?;
    let text = |index: usize| parts.get(index).copied().unwrap_or_default().to_owned();
    Some((*kind, namespace.to_owned(), text(1), text(2)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(path: &str) -> (&'static str, String, String, String) {
        let (kind, namespace, name, subresource) = kind_of_path(path).expect("a known kind");
        (kind.name, namespace, name, subresource)
    }

    #[test]
    fn a_path_says_kind_namespace_name_and_subresource() {
        let own = |a: &str, b: &str, c: &str| (a.to_owned(), b.to_owned(), c.to_owned());
        let expect = |kind, rest: (String, String, String)| (kind, rest.0, rest.1, rest.2);
        assert_eq!(
            read("/apis/apps/v1/namespaces/m/statefulsets/web/scale"),
            expect("StatefulSet", own("m", "web", "scale"))
        );
        assert_eq!(
            read("/api/v1/namespaces/m/pods"),
            expect("Pod", own("m", "", ""))
        );
        assert_eq!(
            read("/api/v1/namespaces/m"),
            expect("Namespace", own("", "m", ""))
        );
        assert_eq!(
            read("/api/v1/namespaces/m/finalize"),
            expect("Namespace", own("", "m", "finalize"))
        );
        assert_eq!(
            read("/api/v1/persistentvolumes/v"),
            expect("PersistentVolume", own("", "v", ""))
        );
    }
}
