//! What every namespace gets: the account `default`, and the map with the cluster's certificate.

use serde_json::{Value, json};

use super::client::{Address, CONTROLLER_MANAGER};
use super::{Next, Turn};
use crate::cluster::resource::Resource;

/// The account that pods run as which name none.
pub(super) const ACCOUNT: &str = "default";
/// The map with the certificate of the API server.
pub(super) const CERTIFICATE: &str = "kube-root-ca.crt";

pub(super) fn account(turn: &mut Turn<'_>, namespace: &str) -> Next {
    let account = json!({
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": { "name": ACCOUNT, "namespace": namespace },
    });
    ensure(turn, Resource::ServiceAccount, namespace, ACCOUNT, account)
}

pub(super) fn certificate(turn: &mut Turn<'_>, namespace: &str) -> Next {
    let map = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": { "name": CERTIFICATE, "namespace": namespace },
        "data": { "ca.crt": "simulated" },
    });
    ensure(turn, Resource::ConfigMap, namespace, CERTIFICATE, map)
}

/// Makes an object of a namespace that is there to stay.
fn ensure(
    turn: &mut Turn<'_>,
    resource: Resource,
    namespace: &str,
    name: &str,
    object: Value,
) -> Next {
    let mut client = turn.client(CONTROLLER_MANAGER);
    let space = client.peek(Address {
        resource: Resource::Namespace,
        namespace: "",
        name: namespace,
    });
    let alive = space.is_some_and(|space| !space.deleting());
    if !alive || client.peek_in(resource, namespace, name).is_some() {
        return Next::Settled;
    }
    Next::after(client.create(resource, namespace, object))
}
