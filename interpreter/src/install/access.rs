//! What Pilotage may do.

use serde_json::{Value, json};

use crate::store::kubernetes::definitions;

use super::{Install, NAME, Trust};

const RBAC: &str = "rbac.authorization.k8s.io";

/// To have objects of a kind: to see them, make them, change them, and take them away.
const TEND: [&str; 6] = ["get", "list", "watch", "create", "patch", "delete"];

fn names_of(objects: &[Value]) -> Vec<&Value> {
    let names = objects.iter().map(|object| &object["metadata"]["name"]);
    names.collect()
}

impl Install {
    pub(super) fn account(&self) -> Value {
        json!({
            "apiVersion": "v1", "kind": "ServiceAccount", "metadata": self.metadata(),
            "automountServiceAccountToken": false,
        })
    }

    /// In every namespace, since models come and go, and since each kind has one watch over all of them.
    pub(super) fn cluster_role(&self) -> Value {
        let rule = |group: &str, resources: &[&str], verbs: &[&str]| json!({ "apiGroups": [group], "resources": resources, "verbs": verbs });
        let mut rules = vec![
            rule(
                "",
                &["namespaces", "serviceaccounts", "secrets", "services"],
                &TEND,
            ),
            rule(
                "",
                &["persistentvolumeclaims", "pods"],
                &["get", "list", "watch", "delete"],
            ),
            rule(
                "pilotage.dev",
                &["models", "applications", "storages"],
                &TEND,
            ),
            rule(
                "pilotage.dev",
                &["models/status", "applications/status", "storages/status"],
                &["patch"],
            ),
            json!({
                // To see that they are those of this release; to change them is for who installs it.
                "apiGroups": ["apiextensions.k8s.io"], "resources": ["customresourcedefinitions"],
                "resourceNames": names_of(&definitions()), "verbs": ["get"],
            }),
            rule("", &["events"], &["create", "list"]),
            rule("apps", &["statefulsets"], &TEND),
            rule("apps", &["statefulsets/scale"], &["update"]),
            rule(
                RBAC,
                &[
                    "roles",
                    "rolebindings",
                    "clusterroles",
                    "clusterrolebindings",
                ],
                &TEND,
            ),
        ];
        let grant = ["escalate", "bind"];
        match self.trust {
            Trust::Cluster => rules.push(rule(RBAC, &["roles", "clusterroles"], &grant)),
            Trust::Namespace => rules.push(rule(RBAC, &["roles"], &grant)),
            // What the role of an application allows that is not trusted: nobody grants what he does not have.
            Trust::Nowhere => rules.extend([
                rule("", &["pods"], &["patch"]),
                rule("", &["pods/exec"], &["create"]),
            ]),
        }
        json!({
            "apiVersion": format!("{RBAC}/v1"), "kind": "ClusterRole", "metadata": self.cluster_metadata(),
            "rules": rules,
        })
    }

    pub(super) fn cluster_role_binding(&self) -> Value {
        json!({
            "apiVersion": format!("{RBAC}/v1"), "kind": "ClusterRoleBinding", "metadata": self.cluster_metadata(),
            "roleRef": { "apiGroup": RBAC, "kind": "ClusterRole", "name": self.shared_name() },
            "subjects": [self.subject()],
        })
    }

    /// Where all who act on a state meet: the Lease.
    pub(super) fn role(&self) -> Value {
        json!({
            "apiVersion": format!("{RBAC}/v1"), "kind": "Role", "metadata": self.meeting_metadata(),
            "rules": [{
                "apiGroups": ["coordination.k8s.io"], "resources": ["leases"],
                "verbs": ["get", "create", "update"],
            }],
        })
    }

    pub(super) fn role_binding(&self) -> Value {
        json!({
            "apiVersion": format!("{RBAC}/v1"), "kind": "RoleBinding", "metadata": self.meeting_metadata(),
            "roleRef": { "apiGroup": RBAC, "kind": "Role", "name": self.shared_name() },
            "subjects": [self.subject()],
        })
    }

    fn subject(&self) -> Value {
        json!({ "kind": "ServiceAccount", "name": NAME, "namespace": self.namespace })
    }
}
