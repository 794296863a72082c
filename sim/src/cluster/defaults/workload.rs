//! Defaults of StatefulSets, Deployments, DaemonSets and ReplicaSets.

use alloc::string::ToString;

use serde_json::{Value, json};

use super::{claim, pod};
use crate::cluster::object::{set_default, text_at};
use crate::cluster::resource::Resource;

/// Fills in a workload and its templates.
pub(super) fn apply(resource: Resource, value: &mut Value) {
    let Some(spec) = value.get_mut("spec") else {
        return;
    };
    if let Some(template) = spec
        .get_mut("template")
        .and_then(|template| template.get_mut("spec"))
    {
        pod::spec(template);
    }
    if resource != Resource::DaemonSet {
        set_default(spec, "replicas", || json!(1));
    }
    match resource {
        Resource::StatefulSet => stateful_set(spec),
        Resource::Deployment => {
            set_default(spec, "revisionHistoryLimit", || json!(10));
            set_default(spec, "progressDeadlineSeconds", || json!(600));
            rolling(
                spec,
                "strategy",
                &[("maxSurge", json!("25%")), ("maxUnavailable", json!("25%"))],
            );
        }
        Resource::DaemonSet => {
            set_default(spec, "revisionHistoryLimit", || json!(10));
            rolling(
                spec,
                "updateStrategy",
                &[("maxSurge", json!(0)), ("maxUnavailable", json!(1))],
            );
        }
        _ => {}
    }
}

/// A strategy rolls unless it says otherwise.
fn rolling(spec: &mut Value, key: &str, defaults: &[(&str, Value)]) {
    set_default(spec, key, || json!({}));
    let Some(strategy) = spec.get_mut(key) else {
        return;
    };
    set_default(strategy, "type", || json!("RollingUpdate"));
    if text_at(strategy, &["type"]) != "RollingUpdate" {
        return;
    }
    set_default(strategy, "rollingUpdate", || json!({}));
    for (name, default) in defaults {
        if let Some(rolling) = strategy.get_mut("rollingUpdate") {
            set_default(rolling, name, || default.clone());
        }
    }
}

fn stateful_set(spec: &mut Value) {
    set_default(spec, "podManagementPolicy", || json!("OrderedReady"));
    set_default(spec, "revisionHistoryLimit", || json!(10));
    set_default(spec, "updateStrategy", || json!({}));
    if let Some(strategy) = spec.get_mut("updateStrategy") {
        if text_at(strategy, &["type"]).is_empty() {
            set_default(strategy, "type", || json!("RollingUpdate"));
            set_default(strategy, "rollingUpdate", || json!({}));
        }
        if text_at(strategy, &["type"]) == "RollingUpdate"
            && let Some(rolling) = strategy.get_mut("rollingUpdate")
        {
            set_default(rolling, "partition", || json!(0));
        }
    }
    set_default(spec, "persistentVolumeClaimRetentionPolicy", || json!({}));
    if let Some(policy) = spec.get_mut("persistentVolumeClaimRetentionPolicy") {
        set_default(policy, "whenDeleted", || json!("Retain"));
        set_default(policy, "whenScaled", || json!("Retain"));
    }
    let templates = spec
        .get_mut("volumeClaimTemplates")
        .and_then(Value::as_array_mut);
    for template in templates.into_iter().flatten() {
        if let Value::Object(map) = template {
            map.insert("apiVersion".to_string(), json!("v1"));
            map.insert("kind".to_string(), json!("PersistentVolumeClaim"));
        }
        claim(template);
    }
}
