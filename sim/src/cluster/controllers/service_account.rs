//! What every namespace gets: the account `default`, and the map with the cluster's certificate.

use serde_json::json;

use super::client::{Address, CONTROLLER_MANAGER};
use super::{Next, Turn};
use crate::cluster::resource::Resource;

pub(super) fn reconcile(turn: &mut Turn<'_>, name: &str) -> Next {
    let mut client = turn.client(CONTROLLER_MANAGER);
    let address = Address {
        resource: Resource::Namespace,
        namespace: "",
        name,
    };
    match client.peek(address) {
        Some(namespace) if !namespace.deleting() => {}
        _ => return Next::Settled,
    }
    let mut next = Next::Settled;
    if client
        .peek_in(Resource::ConfigMap, name, "kube-root-ca.crt")
        .is_none()
    {
        let map = json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {
                "name": "kube-root-ca.crt",
                "namespace": name,
                "annotations": {
                    "kubernetes.io/description": "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.",
                },
            },
            "data": { "ca.crt": "simulated" },
        });
        next = next.or(Next::after(client.create(Resource::ConfigMap, name, map)));
    }
    if client
        .peek_in(Resource::ServiceAccount, name, "default")
        .is_none()
    {
        let account = json!({
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": { "name": "default", "namespace": name },
        });
        next = next.or(Next::after(client.create(
            Resource::ServiceAccount,
            name,
            account,
        )));
    }
    next
}
