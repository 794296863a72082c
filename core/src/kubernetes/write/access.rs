//! What an application's pods may do: account, roles, bindings (reference, 12.1; KAPP-11, KAPP-14).

use serde_json::{Value, json};

use super::{Kind, Manifest, Site};
use crate::kubernetes::names;

/// The account that the pods run as. Its token is mounted only where a pod asks for it.
pub fn service_account(site: Site<'_>) -> Manifest {
    site.manifest(
        Kind::ServiceAccount,
        site.application,
        json!({ "automountServiceAccountToken": false }),
    )
}

/// What the pods may do in their namespace.
pub fn role(site: Site<'_>, trust: bool) -> Manifest {
    let rules = if trust {
        everything()
    } else {
        json!([
            {
                "apiGroups": [""], "resources": ["namespaces"],
                "resourceNames": [site.model.namespace], "verbs": ["get", "list"],
            },
            { "apiGroups": [""], "resources": ["pods", "services"], "verbs": ["get", "list", "patch"] },
            { "apiGroups": [""], "resources": ["pods/exec"], "verbs": ["create"] },
        ])
    };
    site.manifest(Kind::Role, site.application, json!({ "rules": rules }))
}

/// Who may do it in the namespace.
pub fn role_binding(site: Site<'_>) -> Manifest {
    let name = site.application;
    site.manifest(Kind::RoleBinding, name, binding(site, "Role", name))
}

/// What the pods may do in the whole cluster.
pub fn cluster_role(site: Site<'_>, trust: bool) -> Manifest {
    let rules = if trust {
        everything()
    } else {
        json!([{ "apiGroups": [""], "resources": ["namespaces"], "verbs": ["get", "list"] }])
    };
    let name = names::cluster_role(&site.model.namespace, site.application);
    site.manifest(Kind::ClusterRole, &name, json!({ "rules": rules }))
}

/// Who may do it in the whole cluster.
pub fn cluster_role_binding(site: Site<'_>) -> Manifest {
    let name = names::cluster_role(&site.model.namespace, site.application);
    let parts = binding(site, "ClusterRole", &name);
    site.manifest(Kind::ClusterRoleBinding, &name, parts)
}

fn everything() -> Value {
    json!([{ "apiGroups": ["*"], "resources": ["*"], "verbs": ["*"] }])
}

fn binding(site: Site<'_>, kind: &str, role: &str) -> Value {
    json!({
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": role },
        "subjects": [{
            "kind": "ServiceAccount", "name": site.application, "namespace": site.model.namespace,
        }],
    })
}
