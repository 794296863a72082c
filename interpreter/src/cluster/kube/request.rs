//! Requests as HTTP: the address, the query, the body. What they say was decided in
//! [`pilotage_sim::cluster::effects`], which the simulated cluster is asked by as well.

use std::fmt::Write as _;

use ::kube::client::Body;
use http::Method;
use http::header::{ACCEPT, CONTENT_TYPE};
use pilotage_core::kubernetes::Kind;
use pilotage_sim::cluster::effects;
use pilotage_sim::cluster::request::{Propagation, Request, Subresource, Verb};
use pilotage_sim::cluster::resource::Resource;
use serde_json::{Value, json};

const JSON: &str = "application/json";
/// Only the metadata of objects, where the server can; for kinds of which nothing else is looked at.
const METADATA: &str =
    "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
/// The same for lists, which are a kind of their own.
const METADATA_LIST: &str =
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";

/// The request as it is sent.
pub(super) fn http(request: &Request) -> Result<http::Request<Body>, http::Error> {
    let path = path(request);
    let mut query = String::new();
    let write = format!("?fieldManager={}&fieldValidation=Strict", request.manager);
    let (method, content, body) = match &request.verb {
        Verb::Get => (Method::GET, "", None),
        Verb::List { labels, fields } => {
            query = format!("?labelSelector={}", selector(labels));
            if !fields.is_empty() {
                let _ = write!(query, "&fieldSelector={}", selector(fields));
            }
            (Method::GET, "", None)
        }
        Verb::Create { body } => {
            query = write;
            (Method::POST, JSON, Some(body.to_string()))
        }
        Verb::Update { body } => {
            query = write;
            (Method::PUT, JSON, Some(body.to_string()))
        }
        Verb::Apply { body, force } => {
            query = format!("{write}&force={force}");
            let apply = "application/apply-patch+yaml";
            (Method::PATCH, apply, Some(body.to_string()))
        }
        Verb::JsonPatch { operations } => {
            query = write;
            let patch = "application/json-patch+json";
            (Method::PATCH, patch, Some(operations.to_string()))
        }
        Verb::MergePatch { body } => {
            query = write;
            let patch = "application/merge-patch+json";
            (Method::PATCH, patch, Some(body.to_string()))
        }
        Verb::Delete {
            uid,
            version,
            propagation,
            grace,
        } => {
            let options = delete(uid.as_deref(), version.as_deref(), *propagation, *grace);
            (Method::DELETE, JSON, Some(options.to_string()))
        }
    };
    let mut builder = http::Request::builder()
        .method(method)
        .uri(path + &query)
        .header(ACCEPT, JSON);
    if !content.is_empty() {
        builder = builder.header(CONTENT_TYPE, content);
    }
    builder.body(Body::from(body.unwrap_or_default().into_bytes()))
}

/// Where a kind is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Everywhere.
    Everywhere,
    /// In one namespace.
    Namespace(Box<str>),
    /// The one object of this name.
    Named(Box<str>),
}

impl Place {
    /// Where a kind is read by who watches these namespaces: a namespace by its name, what is in none everywhere.
    pub(super) fn of(kind: Kind, namespaces: &[Box<str>]) -> Vec<Self> {
        let each = |place: fn(Box<str>) -> Place| namespaces.iter().cloned().map(place).collect();
        match kind {
            _ if namespaces.is_empty() => vec![Place::Everywhere],
            Kind::Namespace => each(Place::Named),
            kind if kind.namespaced() => each(Place::Namespace),
            _ => vec![Place::Everywhere],
        }
    }
}

/// A read of all that is ours of a kind in a place; `more` is what the query says beside the selection.
pub(super) fn read_all(
    kind: Kind,
    place: &Place,
    more: &str,
) -> Result<http::Request<Body>, http::Error> {
    let namespace = match place {
        Place::Namespace(namespace) => Some(&**namespace),
        Place::Everywhere | Place::Named(_) => None,
    };
    let path = collection(effects::resource(kind), namespace);
    let mut selector = selector(&effects::ours());
    if let Place::Named(name) = place {
        let _ = write!(selector, "&fieldSelector=metadata.name%3D{}", encode(name));
    }
    let accept = match kind {
        Kind::Namespace if more.contains("watch=true") => METADATA,
        Kind::Namespace => METADATA_LIST,
        _ => JSON,
    };
    http::Request::builder()
        .uri(format!("{path}?labelSelector={selector}{more}"))
        .header(ACCEPT, accept)
        .body(Body::empty())
}

fn delete(
    uid: Option<&str>,
    version: Option<&str>,
    propagation: Propagation,
    grace: Option<u64>,
) -> Value {
    let mut options = json!({
        "apiVersion": "v1",
        "kind": "DeleteOptions",
    });
    let policy = match propagation {
        Propagation::Background => Some("Background"),
        Propagation::Foreground => Some("Foreground"),
        Propagation::Orphan => Some("Orphan"),
        Propagation::Unsaid => None,
    };
    if let Some(policy) = policy {
        options["propagationPolicy"] = json!(policy);
    }
    if uid.is_some() || version.is_some() {
        options["preconditions"] = json!({});
    }
    if let Some(uid) = uid {
        options["preconditions"]["uid"] = json!(uid);
    }
    if let Some(version) = version {
        options["preconditions"]["resourceVersion"] = json!(version);
    }
    if let Some(seconds) = grace {
        options["gracePeriodSeconds"] = json!(seconds);
    }
    options
}

fn path(request: &Request) -> String {
    let mut path = collection(request.resource, request.namespace.as_deref());
    if !request.name.is_empty() {
        path.push('/');
        path.push_str(&encode(&request.name));
    }
    match request.subresource {
        None => {}
        Some(Subresource::Status) => path.push_str("/status"),
        Some(Subresource::Scale) => path.push_str("/scale"),
        Some(Subresource::Binding) => path.push_str("/binding"),
        Some(Subresource::Finalize) => path.push_str("/finalize"),
    }
    path
}

fn collection(resource: Resource, namespace: Option<&str>) -> String {
    let root = if resource.group().is_empty() {
        "api"
    } else {
        "apis"
    };
    let mut path = format!("/{root}/{}", resource.api_version());
    if let Some(namespace) = namespace {
        let _ = write!(path, "/namespaces/{}", encode(namespace));
    }
    let _ = write!(path, "/{}", resource.plural());
    path
}

fn selector(labels: &[(Box<str>, Box<str>)]) -> String {
    let pairs = labels.iter().map(|(key, value)| format!("{key}={value}"));
    encode(&pairs.collect::<Vec<_>>().join(","))
}

/// Percent-encodes all but the characters that RFC 3986 leaves alone.
pub(crate) fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                encoded.push(char::from(byte));
            }
            other => {
                let _ = write!(encoded, "%{other:02X}");
            }
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;
    use pilotage_core::effect::Action;
    use pilotage_core::kubernetes::Key;
    use pilotage_core::name::{Uid, Version};
    use pilotage_core::time::Timestamp;

    fn line(action: &Action) -> String {
        let request = effects::request(action, Timestamp(0), &|_| None).unwrap();
        let sent = http(&request).unwrap();
        format!("{} {}", sent.method(), sent.uri())
    }

    #[test]
    fn addresses_are_those_of_the_kubernetes_api() {
        let web = Key::new(Kind::StatefulSet, "shop", "web");
        let scale = Action::Scale {
            key: web.clone(),
            uid: Uid(1),
            version: Version(7),
            replicas: 3,
        };
        assert_eq!(
            line(&scale),
            "PUT /apis/apps/v1/namespaces/shop/statefulsets/web/scale?fieldManager=pilotage&fieldValidation=Strict"
        );
        assert_eq!(
            line(&Action::Get { key: web }),
            "GET /apis/apps/v1/namespaces/shop/statefulsets/web"
        );
        let role = Key::new(Kind::ClusterRole, "", "pilotage:shop:web");
        assert_eq!(
            line(&Action::Get { key: role }),
            "GET /apis/rbac.authorization.k8s.io/v1/clusterroles/pilotage%3Ashop%3Aweb"
        );
        let list = Action::List {
            kind: Kind::Pod,
            namespace: None,
        };
        assert_eq!(
            line(&list),
            "GET /api/v1/pods?labelSelector=app.kubernetes.io%2Fmanaged-by%3Dpilotage"
        );
    }
}
