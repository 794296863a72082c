//! Defaults of Services.

use alloc::string::String;

use serde_json::{Value, json};

use crate::cluster::object::{items_at, set_at, set_default, text_at};

/// Fills in a Service; addresses and node ports are given out when it is stored.
pub(super) fn apply(value: &mut Value) {
    let Some(spec) = value.get_mut("spec") else {
        return;
    };
    set_default(spec, "sessionAffinity", || json!("None"));
    set_default(spec, "type", || json!("ClusterIP"));
    let kind = String::from(text_at(spec, &["type"]));
    if text_at(spec, &["sessionAffinity"]) == "ClientIP" {
        set_default(
            spec,
            "sessionAffinityConfig",
            || json!({"clientIP": {"timeoutSeconds": 10_800}}),
        );
    }
    if kind != "ExternalName" {
        set_default(spec, "internalTrafficPolicy", || json!("Cluster"));
    }
    if matches!(kind.as_str(), "NodePort" | "LoadBalancer") {
        set_default(spec, "externalTrafficPolicy", || json!("Cluster"));
    }
    if kind == "LoadBalancer" {
        set_default(spec, "allocateLoadBalancerNodePorts", || json!(true));
    }
    let mut ports = items_at(spec, &["ports"]).to_vec();
    for port in &mut ports {
        set_default(port, "protocol", || json!("TCP"));
        let target = port.get("targetPort");
        if target.is_none_or(|target| *target == json!(0) || *target == json!("")) {
            let number = port.get("port").cloned().unwrap_or(json!(0));
            set_at(port, &["targetPort"], number);
        }
    }
    if !ports.is_empty() {
        set_at(spec, &["ports"], Value::Array(ports));
    }
}
