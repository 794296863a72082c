//! Services.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::vec::Vec;

use serde_json::Value;

use super::names;
use crate::cluster::failure::Problem;
use crate::cluster::object::{at, items_at, text_at};

const TYPES: &[&str] = &["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];

/// What is wrong with a Service.
pub(super) fn create(value: &Value, problems: &mut Vec<Problem>) {
    let kind = text_at(value, &["spec", "type"]);
    if !TYPES.contains(&kind) {
        problems.push(Problem::unsupported("spec.type", kind, TYPES));
    }
    let address = text_at(value, &["spec", "clusterIP"]);
    let ports = items_at(value, &["spec", "ports"]);
    if ports.is_empty() && address != "None" && kind != "ExternalName" {
        problems.push(Problem::required("spec.ports", ""));
    }
    if kind == "ExternalName" && text_at(value, &["spec", "externalName"]).is_empty() {
        problems.push(Problem::required("spec.externalName", ""));
    }
    if address == "None" && matches!(kind, "NodePort" | "LoadBalancer") {
        problems.push(Problem::invalid(
            "spec.clusterIPs[0]",
            "None",
            &format!("may not be set to 'None' for {kind} services"),
        ));
    }
    let (mut names_seen, mut ports_seen) = (BTreeSet::new(), Vec::new());
    for (index, port) in ports.iter().enumerate() {
        let path = format!("spec.ports[{index}]");
        let name = text_at(port, &["name"]);
        if name.is_empty() {
            if ports.len() > 1 {
                problems.push(Problem::required(format!("{path}.name"), ""));
            }
        } else {
            names::report(format!("{path}.name"), name, names::label(name), problems);
            if !names_seen.insert(name) {
                problems.push(Problem::duplicate(format!("{path}.name"), name));
            }
        }
        let number = port.get("port").and_then(Value::as_i64).unwrap_or(0);
        if !(1..=65_535).contains(&number) {
            problems.push(Problem::invalid(
                format!("{path}.port"),
                number,
                "must be between 1 and 65535, inclusive",
            ));
        }
        let key = (number, text_at(port, &["protocol"]));
        if ports_seen.contains(&key) {
            problems.push(Problem::duplicate(
                path.clone(),
                serde_json::json!({"port": number, "protocol": key.1}),
            ));
        }
        ports_seen.push(key);
    }
    names::labels(at(value, &["spec", "selector"]), "spec.selector", problems);
}

/// What is wrong with a new state of a Service.
pub(super) fn update(old: &Value, new: &Value, problems: &mut Vec<Problem>) {
    if old.get("spec") == new.get("spec") {
        return;
    }
    create(new, problems);
    let [before, after] = [old, new].map(|value| text_at(value, &["spec", "clusterIP"]));
    let named = [old, new]
        .iter()
        .any(|value| text_at(value, &["spec", "type"]) == "ExternalName");
    if !before.is_empty() && !after.is_empty() && before != after && !named {
        problems.push(Problem::invalid(
            "spec.clusterIPs[0]",
            serde_json::json!([after]),
            "may not change once set",
        ));
    }
}

/// Node ports that a Service of its type cannot have. Those that come along from a former type are dropped, not refused.
pub(super) fn node_ports(value: &Value, problems: &mut Vec<Problem>) {
    if text_at(value, &["spec", "type"]) != "ClusterIP" {
        return;
    }
    for (index, port) in items_at(value, &["spec", "ports"]).iter().enumerate() {
        if port.get("nodePort").is_some() {
            problems.push(Problem::forbidden(
                format!("spec.ports[{index}].nodePort"),
                "may not be used when `type` is 'ClusterIP'",
            ));
        }
    }
}
