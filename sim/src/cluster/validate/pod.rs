//! Pods and pod templates.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde_json::{Value, json};

use super::names;
use crate::cluster::failure::Problem;
use crate::cluster::object::{at, items_at, number_at, remove_at, set_at, text_at};
use crate::cluster::quantity;

/// What is wrong with the spec of a pod or a template. `claims` are the volumes that a workload adds itself.
pub(super) fn spec(spec: &Value, path: &str, claims: &[&str], problems: &mut Vec<Problem>) {
    let mut volumes: BTreeSet<&str> = claims.iter().copied().collect();
    for (index, volume) in items_at(spec, &["volumes"]).iter().enumerate() {
        let name = text_at(volume, &["name"]);
        let field = format!("{path}.volumes[{index}].name");
        if name.is_empty() {
            problems.push(Problem::required(field, ""));
        } else if claims.contains(&name) {
            // The workload's own claim takes its place.
        } else if !volumes.insert(name) {
            problems.push(Problem::duplicate(field, name));
        } else {
            names::report(field, name, names::label(name), problems);
        }
        let sources = volume.as_object().map_or(0, |map| map.len());
        if sources > 2 {
            problems.push(Problem::forbidden(
                format!("{path}.volumes[{index}]"),
                "may not specify more than 1 volume type",
            ));
        }
    }
    for name in claims {
        names::report(
            format!("{path}.volumes[0].name"),
            name,
            names::label(name),
            problems,
        );
    }
    let containers = items_at(spec, &["containers"]);
    if containers.is_empty() {
        problems.push(Problem::required(format!("{path}.containers"), ""));
    }
    let mut seen = BTreeSet::new();
    for list in ["initContainers", "containers"] {
        for (index, container) in items_at(spec, &[list]).iter().enumerate() {
            let path = format!("{path}.{list}[{index}]");
            self::container(container, &path, &volumes, problems);
            let name = text_at(container, &["name"]);
            if !name.is_empty() && !seen.insert(name) {
                problems.push(Problem::duplicate(format!("{path}.name"), name));
            }
        }
    }
    word(
        spec,
        "restartPolicy",
        path,
        &["Always", "OnFailure", "Never"],
        problems,
    );
    word(
        spec,
        "dnsPolicy",
        path,
        &["ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"],
        problems,
    );
    for key in ["serviceAccountName", "nodeName", "priorityClassName"] {
        let name = text_at(spec, &[key]);
        if !name.is_empty() {
            names::report(
                format!("{path}.{key}"),
                name,
                names::subdomain(name),
                problems,
            );
        }
    }
    for key in ["hostname", "subdomain"] {
        let name = text_at(spec, &[key]);
        if !name.is_empty() {
            names::report(format!("{path}.{key}"), name, names::label(name), problems);
        }
    }
    names::labels(
        at(spec, &["nodeSelector"]),
        &format!("{path}.nodeSelector"),
        problems,
    );
}

fn word(value: &Value, key: &str, path: &str, allowed: &[&str], problems: &mut Vec<Problem>) {
    let text = text_at(value, &[key]);
    if !text.is_empty() && !allowed.contains(&text) {
        problems.push(Problem::unsupported(format!("{path}.{key}"), text, allowed));
    }
}

fn container(container: &Value, path: &str, volumes: &BTreeSet<&str>, problems: &mut Vec<Problem>) {
    let name = text_at(container, &["name"]);
    if name.is_empty() {
        problems.push(Problem::required(format!("{path}.name"), ""));
    } else {
        names::report(format!("{path}.name"), name, names::label(name), problems);
    }
    if text_at(container, &["image"]).is_empty() {
        problems.push(Problem::required(format!("{path}.image"), ""));
    }
    for (index, port) in items_at(container, &["ports"]).iter().enumerate() {
        let number = port
            .get("containerPort")
            .and_then(Value::as_i64)
            .unwrap_or(0);
        let field = format!("{path}.ports[{index}].containerPort");
        if number == 0 {
            problems.push(Problem::required(field, ""));
        } else if !(1..=65_535).contains(&number) {
            problems.push(Problem::invalid(
                field,
                number,
                "must be between 1 and 65535, inclusive",
            ));
        }
    }
    for (index, variable) in items_at(container, &["env"]).iter().enumerate() {
        let path = format!("{path}.env[{index}]");
        if text_at(variable, &["name"]).is_empty() {
            problems.push(Problem::required(format!("{path}.name"), ""));
        }
        if let Some(source) = variable.get("valueFrom") {
            if !text_at(variable, &["value"]).is_empty() {
                problems.push(Problem::invalid(
                    format!("{path}.valueFrom"),
                    "",
                    "may not be specified when `value` is not empty",
                ));
            }
            if source.as_object().is_some_and(|map| map.len() > 1) {
                problems.push(Problem::invalid(
                    format!("{path}.valueFrom"),
                    "",
                    "may not have more than one field specified at a time",
                ));
            }
        }
    }
    mounts(container, path, volumes, problems);
    for probe in ["livenessProbe", "readinessProbe", "startupProbe"] {
        if let Some(value) = container.get(probe) {
            handlers(value, &format!("{path}.{probe}"), problems);
        }
    }
    resources(container, &format!("{path}.resources"), problems);
    word(
        container,
        "imagePullPolicy",
        path,
        &["Always", "IfNotPresent", "Never"],
        problems,
    );
}

fn mounts(container: &Value, path: &str, volumes: &BTreeSet<&str>, problems: &mut Vec<Problem>) {
    let mut seen = BTreeSet::new();
    for (index, mount) in items_at(container, &["volumeMounts"]).iter().enumerate() {
        let path = format!("{path}.volumeMounts[{index}]");
        let (name, place) = (text_at(mount, &["name"]), text_at(mount, &["mountPath"]));
        if name.is_empty() {
            problems.push(Problem::required(format!("{path}.name"), ""));
        }
        if !volumes.contains(name) {
            problems.push(Problem::missing(format!("{path}.name"), name));
        }
        if place.is_empty() {
            problems.push(Problem::required(format!("{path}.mountPath"), ""));
        }
        if !seen.insert(place) {
            problems.push(Problem::invalid(
                format!("{path}.mountPath"),
                place,
                "must be unique",
            ));
        }
    }
}

fn handlers(probe: &Value, path: &str, problems: &mut Vec<Problem>) {
    let mut found = 0;
    for handler in ["exec", "httpGet", "tcpSocket", "grpc"] {
        if probe.get(handler).is_some() {
            found += 1;
            if found > 1 {
                problems.push(Problem::forbidden(
                    format!("{path}.{handler}"),
                    "may not specify more than 1 handler type",
                ));
            }
        }
    }
    if found == 0 {
        problems.push(Problem::required(path, "must specify a handler type"));
    }
}

fn resources(container: &Value, path: &str, problems: &mut Vec<Problem>) {
    let amounts = |kind| at(container, &["resources", kind]).and_then(Value::as_object);
    for kind in ["limits", "requests"] {
        for (name, amount) in amounts(kind).into_iter().flatten() {
            let text = amount.as_str().unwrap_or("");
            if quantity::nanos(text).is_some_and(|nanos| nanos < 0) {
                problems.push(Problem::invalid(
                    format!("{path}.{kind}[{name}]"),
                    text,
                    "must be greater than or equal to 0",
                ));
            }
        }
    }
    for (name, request) in amounts("requests").into_iter().flatten() {
        let limit = amounts("limits").and_then(|limits| limits.get(name));
        let (request, limit) = (
            request.as_str().unwrap_or(""),
            limit.and_then(Value::as_str),
        );
        if let Some(limit) = limit
            && quantity::nanos(request) > quantity::nanos(limit)
        {
            problems.push(Problem::invalid(
                format!("{path}.requests"),
                request,
                &format!("must be less than or equal to {name} limit of {limit}"),
            ));
        }
    }
}

/// What is wrong with a new state of a pod: of its spec only little may change.
pub(super) fn update(old: &Value, new: &Value, problems: &mut Vec<Problem>) {
    let (Some(old), Some(new)) = (old.get("spec"), new.get("spec")) else {
        return;
    };
    if old == new {
        return;
    }
    for list in ["containers", "initContainers"] {
        if items_at(old, &[list]).len() != items_at(new, &[list]).len() {
            problems.push(Problem::forbidden(
                format!("spec.{list}"),
                "pod updates may not add or remove containers",
            ));
            return;
        }
    }
    let before = items_at(old, &["tolerations"]);
    let after = items_at(new, &["tolerations"]);
    if !before.iter().all(|toleration| after.contains(toleration)) {
        problems.push(Problem::forbidden(
            "spec.tolerations",
            "existing toleration can not be modified except its tolerationSeconds",
        ));
    }
    let mut munged = new.clone();
    for key in ["activeDeadlineSeconds", "tolerations", "schedulingGates"] {
        match at(old, &[key]) {
            Some(value) => set_at(&mut munged, &[key], value.clone()),
            None => {
                remove_at(&mut munged, &[key]);
            }
        }
    }
    for list in ["containers", "initContainers"] {
        let olds = items_at(old, &[list]);
        let news = munged.get_mut(list).and_then(Value::as_array_mut);
        for (container, old) in news.into_iter().flatten().zip(olds) {
            set_at(
                container,
                &["image"],
                old.get("image").cloned().unwrap_or(json!("")),
            );
        }
    }
    if munged != *old {
        problems.push(Problem::forbidden(
            "spec",
            "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
        ));
    }
}

/// What is wrong with a template: its labels must be those that the selector asks for.
pub(super) fn template(workload: &Value, claims: &[&str], problems: &mut Vec<Problem>) {
    let labels = at(workload, &["spec", "template", "metadata", "labels"]);
    names::labels(labels, "spec.template.metadata.labels", problems);
    let wanted = at(workload, &["spec", "selector", "matchLabels"]).and_then(Value::as_object);
    let matches = wanted
        .into_iter()
        .flatten()
        .all(|(key, value)| labels.and_then(|labels| labels.get(key)) == Some(value));
    if !matches {
        problems.push(Problem::invalid(
            "spec.template.metadata.labels",
            labels.cloned().unwrap_or(Value::Null),
            "`selector` does not match template `labels`",
        ));
    }
    if let Some(template) = at(workload, &["spec", "template", "spec"]) {
        spec(template, "spec.template.spec", claims, problems);
        let policy = text_at(template, &["restartPolicy"]);
        if policy != "Always" {
            problems.push(Problem::unsupported(
                "spec.template.spec.restartPolicy",
                policy,
                &["Always"],
            ));
        }
        if number_at(template, &["activeDeadlineSeconds"]).is_some() {
            let kind = text_at(workload, &["kind"]);
            problems.push(Problem::forbidden(
                "spec.template.spec.activeDeadlineSeconds",
                &format!("activeDeadlineSeconds in {kind} is not Supported"),
            ));
        }
    }
}

/// The names of the claim templates of a StatefulSet.
pub(super) fn claim_names(workload: &Value) -> Vec<&str> {
    items_at(workload, &["spec", "volumeClaimTemplates"])
        .iter()
        .map(|template| text_at(template, &["metadata", "name"]))
        .collect()
}

/// A path below a list, as messages write it.
pub(super) fn below(path: &str, index: usize, key: &str) -> String {
    format!("{path}[{index}].{key}")
}
