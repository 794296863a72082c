//! StatefulSets, Deployments, DaemonSets, ReplicaSets.

use alloc::vec::Vec;

use serde_json::Value;

use super::{names, pod};
use crate::cluster::failure::Problem;
use crate::cluster::object::{at, remove_at, text_at};
use crate::cluster::resource::Resource;

/// What of a StatefulSet's spec may change.
const CHANGEABLE: &[&str] = &[
    "replicas",
    "ordinals",
    "template",
    "updateStrategy",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
    "minReadySeconds",
];

/// What is wrong with a workload.
pub(super) fn create(resource: Resource, value: &Value, problems: &mut Vec<Problem>) {
    let claims = pod::claim_names(value);
    if resource == Resource::StatefulSet {
        stateful_set(value, problems);
    }
    let replicas = at(value, &["spec", "replicas"]).and_then(Value::as_i64);
    if let Some(replicas) = replicas.filter(|replicas| *replicas < 0) {
        problems.push(Problem::invalid(
            "spec.replicas",
            replicas,
            "must be greater than or equal to 0",
        ));
    }
    let selector = at(value, &["spec", "selector"]);
    match selector {
        None => problems.push(Problem::required("spec.selector", "")),
        Some(selector) => {
            names::labels(
                at(selector, &["matchLabels"]),
                "spec.selector.matchLabels",
                problems,
            );
            if selector.as_object().is_none_or(|map| map.is_empty()) {
                let detail = match resource {
                    Resource::StatefulSet => "empty selector is invalid for statefulset",
                    Resource::DaemonSet => "empty selector is invalid for daemonset",
                    _ => "empty selector is invalid for deployment",
                };
                problems.push(Problem::invalid("spec.selector", selector.clone(), detail));
            }
        }
    }
    pod::template(value, &claims, problems);
}

fn stateful_set(value: &Value, problems: &mut Vec<Problem>) {
    let policy = text_at(value, &["spec", "podManagementPolicy"]);
    if !matches!(policy, "OrderedReady" | "Parallel") {
        problems.push(Problem::invalid(
            "spec.podManagementPolicy",
            policy,
            "must be 'OrderedReady' or 'Parallel'",
        ));
    }
    let strategy = at(value, &["spec", "updateStrategy"]);
    match text_at(value, &["spec", "updateStrategy", "type"]) {
        "RollingUpdate" => {}
        "OnDelete" => {
            if let Some(rolling) = strategy.and_then(|strategy| strategy.get("rollingUpdate")) {
                problems.push(Problem::invalid(
                    "spec.updateStrategy.rollingUpdate",
                    rolling.clone(),
                    "only allowed for updateStrategy 'RollingUpdate'",
                ));
            }
        }
        _ => problems.push(Problem::invalid(
            "spec.updateStrategy",
            strategy.cloned().unwrap_or(Value::Null),
            "must be 'RollingUpdate' or 'OnDelete'",
        )),
    }
    for key in ["whenDeleted", "whenScaled"] {
        let word = text_at(
            value,
            &["spec", "persistentVolumeClaimRetentionPolicy", key],
        );
        if !matches!(word, "Retain" | "Delete") {
            problems.push(Problem::unsupported(
                alloc::format!("spec.persistentVolumeClaimRetentionPolicy.{key}"),
                word,
                &["Retain", "Delete"],
            ));
        }
    }
    let start = at(value, &["spec", "ordinals", "start"]).and_then(Value::as_i64);
    if let Some(start) = start.filter(|start| *start < 0) {
        problems.push(Problem::invalid(
            "spec.ordinals.start",
            start,
            "must be greater than or equal to 0",
        ));
    }
}

/// What is wrong with a new state of a workload.
pub(super) fn update(resource: Resource, old: &Value, new: &Value, problems: &mut Vec<Problem>) {
    let specs = [old, new].map(|value| at(value, &["spec"]));
    if specs[0] == specs[1] {
        return;
    }
    create(resource, new, problems);
    if resource == Resource::StatefulSet {
        service_name(new, old, problems);
        let [old, new] = specs.map(|spec| {
            let mut spec = spec.cloned().unwrap_or(Value::Null);
            for key in CHANGEABLE {
                remove_at(&mut spec, &[key]);
            }
            spec
        });
        if old != new {
            problems.push(Problem::forbidden(
                "spec",
                "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
            ));
        }
        return;
    }
    let selectors = [old, new].map(|value| at(value, &["spec", "selector"]));
    if selectors[0] != selectors[1] {
        problems.push(Problem::invalid(
            "spec.selector",
            selectors[1].cloned().unwrap_or(Value::Null),
            "field is immutable",
        ));
    }
}

/// The name of the governing Service must be a label; one that is stored already is let be.
fn service_name(new: &Value, old: &Value, problems: &mut Vec<Problem>) {
    let name = text_at(new, &["spec", "serviceName"]);
    if !name.is_empty() && name != text_at(old, &["spec", "serviceName"]) {
        names::report("spec.serviceName", name, names::label(name), problems);
    }
}

/// What is wrong with the governing Service's name of a new StatefulSet.
pub(super) fn create_service_name(value: &Value, problems: &mut Vec<Problem>) {
    service_name(value, &Value::Null, problems);
}
