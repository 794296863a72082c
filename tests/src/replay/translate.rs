//! Between HTTP, as transcripts write it, and the simulated API server.

use pilotage_sim::cluster::Cluster;
use pilotage_sim::cluster::request::{Failure, Propagation, Request, Response, Subresource, Verb};
use pilotage_sim::cluster::resource::Resource;
use serde_json::{Value, json};

use super::compare::Bindings;
use crate::control_plane::kind_of_path;
use crate::transcript;
use crate::transcript::normal::entry_label;

/// The request as the simulated server takes it, or why it has no such thing.
pub(super) fn request(
    request: &transcript::Request,
    bindings: &Bindings,
    cluster: &Cluster,
) -> Result<Request, String> {
    let (kind, namespace, name, subresource) =
        kind_of_path(&request.path).ok_or("no kind has that path")?;
    let resource = resource(kind.name).ok_or_else(|| format!("{} is not served", kind.name))?;
    let subresource = match subresource.as_str() {
        "" => None,
        "status" => Some(Subresource::Status),
        "scale" => Some(Subresource::Scale),
        "binding" => Some(Subresource::Binding),
        "finalize" => Some(Subresource::Finalize),
        other => return Err(format!("the subresource {other} is not served")),
    };
    let query = |name: &str| {
        request
            .query
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    };
    let mut body = bindings.fill(&request.body)?;
    let verb = match (request.method.as_str(), request.content_type.as_str()) {
        ("GET", _) if name.is_empty() => Verb::List {
            labels: labels(query("labelSelector").unwrap_or_default()),
            fields: vec![],
        },
        ("GET", _) => Verb::Get,
        ("POST", _) => Verb::Create { body },
        ("PUT", _) => Verb::Update { body },
        ("PATCH", "application/apply-patch+yaml") => Verb::Apply {
            body,
            force: query("force") == Some("true"),
        },
        ("PATCH", "application/merge-patch+json") => Verb::MergePatch { body },
        ("PATCH", "application/json-patch+json") => {
            let live = cluster
                .peek(resource, &namespace, &name)
                .map(|stored| stored.whole());
            number_entries(&mut body, &live.unwrap_or_default())?;
            Verb::JsonPatch { operations: body }
        }
        ("DELETE", _) => delete(&body),
        (method, content_type) => return Err(format!("{method} of {content_type} is not served")),
    };
    Ok(Request {
        manager: request.who.as_str().into(),
        resource,
        namespace: (!namespace.is_empty()).then(|| namespace.into()),
        name: name.into(),
        subresource,
        verb,
    })
}

fn delete(options: &Value) -> Verb {
    let guard = |name: &str| options["preconditions"][name].as_str().map(Box::from);
    Verb::Delete {
        uid: guard("uid"),
        version: guard("resourceVersion"),
        propagation: match options["propagationPolicy"].as_str() {
            Some("Foreground") => Propagation::Foreground,
            Some("Orphan") => Propagation::Orphan,
            Some(_) => Propagation::Background,
            None => Propagation::Unsaid,
        },
        grace: options["gracePeriodSeconds"].as_u64(),
    }
}

/// Entries of `managedFields` are named in transcripts; the patch wants their number.
fn number_entries(operations: &mut Value, live: &Value) -> Result<(), String> {
    for operation in operations.as_array_mut().into_iter().flatten() {
        let path = operation["path"].as_str().unwrap_or_default().to_owned();
        let Some(rest) = path.strip_prefix("/metadata/managedFields/<") else {
            continue;
        };
        let (label, rest) = rest.split_once('>').ok_or("an entry without an end")?;
        let entries = live["metadata"]["managedFields"].as_array();
        let label = label.replace("~1", "/");
        let place = entries
            .into_iter()
            .flatten()
            .position(|entry| entry_label(entry) == label);
        let place = place.ok_or_else(|| format!("there is no entry {label}"))?;
        operation["path"] = format!("/metadata/managedFields/{place}{rest}").into();
    }
    Ok(())
}

/// Status code and body of an answer; `resource` is the kind that was asked for.
pub(super) fn response(response: Response, resource: Resource) -> (u16, Value) {
    match response {
        Response::Object { code, object } => (code, object.whole()),
        Response::Value { code, body } => (code, body),
        Response::List { version, items } => {
            // The recorded control plane runs no publisher of certificates.
            let recorded = items
                .iter()
                .filter(|stored| stored.name() != "kube-root-ca.crt");
            let items: Vec<Value> = recorded.map(|stored| stored.whole()).collect();
            let list = json!({
                "apiVersion": resource.api_version(),
                "kind": format!("{}List", resource.kind()),
                "metadata": { "resourceVersion": version.to_string() },
                "items": items,
            });
            (200, list)
        }
        Response::Failure(refusal) => (refusal.code, failure(&refusal)),
    }
}

/// The Status that says no.
pub(super) fn failure(failure: &Failure) -> Value {
    let causes: Vec<Value> = failure
        .causes
        .iter()
        .map(|(reason, field, message)| json!({ "reason": reason, "field": field, "message": message }))
        .collect();
    let mut status = json!({
        "apiVersion": "v1", "kind": "Status", "status": "Failure",
        "code": failure.code, "message": failure.message, "details": { "causes": causes },
    });
    // A failure that the server has no name for comes without the field.
    if !failure.reason.is_empty() {
        status["reason"] = json!(failure.reason);
    }
    status
}

/// The kind and namespace of a collection's path.
pub(super) fn collection(path: &str) -> Option<(Resource, Option<String>)> {
    let (kind, namespace, _, _) = kind_of_path(path)?;
    Some((
        resource(kind.name)?,
        (!namespace.is_empty()).then_some(namespace),
    ))
}

/// `a=b,c=d` as pairs.
pub(super) fn labels(selector: &str) -> Vec<(Box<str>, Box<str>)> {
    let pairs = selector.split(',').filter_map(|pair| pair.split_once('='));
    pairs
        .map(|(key, value)| (key.into(), value.into()))
        .collect()
}

fn resource(kind: &str) -> Option<Resource> {
    Resource::ALL
        .iter()
        .copied()
        .find(|resource| resource.kind() == kind)
}
