//! Defaults of pods and pod templates.

use serde_json::{Value, json};

use crate::cluster::object::{at, items_at, set_at, set_default, text_at};
use crate::cluster::quantity;

/// Fills in the spec of a pod or of a template.
pub(super) fn spec(spec: &mut Value) {
    set_default(spec, "dnsPolicy", || json!("ClusterFirst"));
    set_default(spec, "restartPolicy", || json!("Always"));
    set_default(spec, "schedulerName", || json!("default-scheduler"));
    set_default(spec, "securityContext", || json!({}));
    set_default(spec, "terminationGracePeriodSeconds", || json!(30));
    // The old name of the field always says the same.
    let account = at(spec, &["serviceAccountName"])
        .or_else(|| at(spec, &["serviceAccount"]))
        .cloned();
    if let Some(account) = account {
        set_at(spec, &["serviceAccountName"], account.clone());
        set_at(spec, &["serviceAccount"], account);
    }
    for list in ["initContainers", "containers"] {
        let containers = spec.get_mut(list).and_then(Value::as_array_mut);
        for each in containers.into_iter().flatten() {
            container(each);
        }
    }
    let volumes = spec.get_mut("volumes").and_then(Value::as_array_mut);
    for each in volumes.into_iter().flatten() {
        volume(each);
    }
}

/// A pod, unlike a template, gets requests where it has limits.
pub(super) fn limits_to_requests(spec: &mut Value) {
    set_default(spec, "enableServiceLinks", || json!(true));
    for list in ["initContainers", "containers"] {
        let containers = spec.get_mut(list).and_then(Value::as_array_mut);
        for container in containers.into_iter().flatten() {
            let limits = at(container, &["resources", "limits"])
                .and_then(Value::as_object)
                .cloned();
            for (name, amount) in limits.into_iter().flatten() {
                if at(container, &["resources", "requests", &name]).is_none() {
                    set_at(container, &["resources", "requests", &name], amount);
                }
            }
        }
    }
}

fn container(container: &mut Value) {
    set_default(container, "terminationMessagePath", || {
        json!("/dev/termination-log")
    });
    set_default(container, "terminationMessagePolicy", || json!("File"));
    let policy = if latest(text_at(container, &["image"])) {
        "Always"
    } else {
        "IfNotPresent"
    };
    set_default(container, "imagePullPolicy", || json!(policy));
    for name in ["livenessProbe", "readinessProbe", "startupProbe"] {
        if let Some(each) = container.get_mut(name) {
            probe(each);
        }
    }
    for hook in ["postStart", "preStop"] {
        if let Some(get) = container
            .get_mut("lifecycle")
            .and_then(|lifecycle| lifecycle.get_mut(hook))
            .and_then(|handler| handler.get_mut("httpGet"))
        {
            http_get(get);
        }
    }
    let ports = container.get_mut("ports").and_then(Value::as_array_mut);
    for port in ports.into_iter().flatten() {
        set_default(port, "protocol", || json!("TCP"));
    }
    let variables = container.get_mut("env").and_then(Value::as_array_mut);
    for variable in variables.into_iter().flatten() {
        if let Some(field) = variable
            .get_mut("valueFrom")
            .and_then(|source| source.get_mut("fieldRef"))
        {
            set_default(field, "apiVersion", || json!("v1"));
        }
        if let Some(resource) = variable
            .get_mut("valueFrom")
            .and_then(|source| source.get_mut("resourceFieldRef"))
        {
            set_default(resource, "divisor", || json!("0"));
        }
    }
}

/// Whether an image is one whose content changes under its name.
fn latest(image: &str) -> bool {
    if image.contains('@') {
        return false;
    }
    let name = image.rsplit_once('/').map_or(image, |(_, name)| name);
    name.split_once(':').is_none_or(|(_, tag)| tag == "latest")
}

fn probe(probe: &mut Value) {
    set_default(probe, "timeoutSeconds", || json!(1));
    set_default(probe, "periodSeconds", || json!(10));
    set_default(probe, "successThreshold", || json!(1));
    set_default(probe, "failureThreshold", || json!(3));
    if let Some(get) = probe.get_mut("httpGet") {
        http_get(get);
    }
    if let Some(grpc) = probe.get_mut("grpc") {
        set_default(grpc, "service", || json!(""));
    }
}

fn http_get(get: &mut Value) {
    set_default(get, "path", || json!("/"));
    set_default(get, "scheme", || json!("HTTP"));
}

fn volume(volume: &mut Value) {
    for source in ["secret", "configMap", "downwardAPI", "projected"] {
        if let Some(each) = volume.get_mut(source) {
            set_default(each, "defaultMode", || json!(420));
        }
    }
    if let Some(path) = volume.get_mut("hostPath") {
        set_default(path, "type", || json!(""));
    }
    let items = volume
        .pointer_mut("/downwardAPI/items")
        .and_then(Value::as_array_mut);
    for item in items.into_iter().flatten() {
        field_version(item);
    }
    let sources = volume
        .pointer_mut("/projected/sources")
        .and_then(Value::as_array_mut);
    for source in sources.into_iter().flatten() {
        if let Some(token) = source.get_mut("serviceAccountToken") {
            set_default(token, "expirationSeconds", || json!(3_600));
        }
        let items = source
            .pointer_mut("/downwardAPI/items")
            .and_then(Value::as_array_mut);
        for item in items.into_iter().flatten() {
            field_version(item);
        }
    }
    let sources = volume.as_object().map_or(0, |map| map.len());
    if sources == 1 {
        set_default(volume, "emptyDir", || json!({}));
    }
}

fn field_version(item: &mut Value) {
    if let Some(field) = item.get_mut("fieldRef") {
        set_default(field, "apiVersion", || json!("v1"));
    }
}

/// The class of a pod by its requests and limits (Kubernetes: "Pod Quality of Service Classes").
pub(crate) fn quality_of_service(pod: &Value) -> &'static str {
    let amount = |container: &Value, kind: &str, name: &str| {
        quantity::nanos(text_at(container, &["resources", kind, name])).filter(|nanos| *nanos > 0)
    };
    let mut any = false;
    let mut guaranteed = true;
    let containers = items_at(pod, &["spec", "containers"]);
    for container in containers
        .iter()
        .chain(items_at(pod, &["spec", "initContainers"]))
    {
        for name in ["cpu", "memory"] {
            let (request, limit) = (
                amount(container, "requests", name),
                amount(container, "limits", name),
            );
            any |= request.is_some() || limit.is_some();
            guaranteed &= limit.is_some() && request == limit;
        }
    }
    match (any, guaranteed) {
        (true, true) => "Guaranteed",
        (true, false) => "Burstable",
        (false, _) => "BestEffort",
    }
}
