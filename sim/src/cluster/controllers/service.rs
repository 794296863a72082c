//! Gives a Service of type `LoadBalancer` its address, and holds the Service until the balancer is gone.

use serde_json::json;

use super::client::CLOUD;
use super::{Next, Turn};
use crate::cluster::object::{at, set_at, text_at};
use crate::cluster::resource::Resource;

const FINALIZER: &str = "service.kubernetes.io/load-balancer-cleanup";

pub(super) fn reconcile(turn: &mut Turn<'_>, namespace: &str, name: &str) -> Next {
    let (now, delay) = (turn.at, turn.settings.load_balancer);
    let mut client = turn.client(CLOUD);
    let Some(service) = client.peek_in(Resource::Service, namespace, name) else {
        return Next::Settled;
    };
    let balanced = text_at(&service.value, &["spec", "type"]) == "LoadBalancer";
    let held = service.finalizers().any(|finalizer| finalizer == FINALIZER);
    let mut status = service
        .value
        .get("status")
        .cloned()
        .unwrap_or_else(|| json!({}));
    if service.deleting() || !balanced {
        if !held {
            return Next::Settled;
        }
        set_at(&mut status, &["loadBalancer"], json!({}));
        return match client.set_status(&service, &status) {
            Ok(()) => {
                // The status write made a new version of the Service.
                let Some(service) = client.peek_in(Resource::Service, namespace, name) else {
                    return Next::Settled;
                };
                Next::after(client.drop_finalizer(&service, FINALIZER))
            }
            Err(_) => Next::Retry,
        };
    }
    if !held {
        return Next::after(client.add_finalizer(&service, FINALIZER));
    }
    if at(&status, &["loadBalancer", "ingress"]).is_some() {
        return Next::Settled;
    }
    let key = (namespace.into(), name.into());
    let since = *turn.memory.balancing.entry(key).or_insert(now);
    if now < since.after(delay) {
        return Next::At(since.after(delay));
    }
    turn.memory
        .balancing
        .remove(&(namespace.into(), name.into()));
    // One address per Service, from the last number of its cluster address.
    let last = text_at(&service.value, &["spec", "clusterIP"])
        .rsplit('.')
        .next()
        .unwrap_or("1");
    set_at(
        &mut status,
        &["loadBalancer", "ingress"],
        json!([{ "ip": alloc::format!("203.0.113.{last}"), "ipMode": "VIP" }]),
    );
    Next::after(turn.client(CLOUD).set_status(&service, &status))
}
