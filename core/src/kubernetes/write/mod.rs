//! The manifests: one file per object.
//!
//! Everything on which an invariant rests is named, defaults too; lists are built in a fixed order; nothing random and
//! no time goes in, so equal wishes give equal bytes.

mod access;
mod affinity;
mod namespace;
mod secret;
mod service;
mod workload;

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde_json::{Map, Value, json};

pub use access::{cluster_role, cluster_role_binding, role, role_binding, service_account};
pub use namespace::namespace;
pub use secret::{pull_secret, registry};
pub use service::{endpoints, service};
pub use workload::{CHARM_REVISION, stateful_set};

use crate::name::Uid;
use crate::state::ModelView;

use super::labels::{self, Labels};
use super::manifest::Manifest;
use super::{Key, Kind};

/// Whose objects are built, and where.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    /// The application's name.
    pub application: &'a str,
    /// The application's uid.
    pub uid: Uid,
    /// The model.
    pub model: &'a ModelView,
}

impl Site<'_> {
    fn key(&self, kind: Kind, name: &str) -> Key {
        Key::new(kind, &self.model.namespace, name)
    }

    /// The four labels of every object, pod template and claim template.
    fn labels(&self) -> Labels {
        Labels::of_application(self.application, self.uid, self.model.uid)
    }

    /// What selects the pods, and through them reaches the claims (fact K17).
    fn selector(&self) -> Value {
        json!({ labels::NAME: self.application, labels::APPLICATION_UID: self.uid })
    }

    /// A manifest of `parts` under the metadata that every object of the application has. Resource tags go here and
    /// never into a template, so that a change of them restarts nothing (B111).
    fn manifest(&self, kind: Kind, name: &str, parts: Value) -> Manifest {
        let key = self.key(kind, name);
        let tagged: Labels = (self.model.resource_tags.iter())
            .chain(self.labels().iter())
            .map(|(key, value)| (key.to_string(), value.to_string()))
            .collect();
        build(key, &tagged, parts)
    }
}

fn build(key: Key, labels: &Labels, parts: Value) -> Manifest {
    let mut metadata = json!({ "name": key.name, "labels": labels });
    if let (Some(namespace), Value::Object(metadata)) = (&key.namespace, &mut metadata) {
        metadata.insert("namespace".into(), Value::String(namespace.to_string()));
    }
    let mut body = Map::new();
    body.insert(
        "apiVersion".into(),
        Value::String(key.kind.api_version().into()),
    );
    body.insert("kind".into(), Value::String(key.kind.name().into()));
    body.insert("metadata".into(), metadata);
    if let Value::Object(parts) = parts {
        body.extend(parts);
    }
    Manifest {
        key,
        birth: Vec::new(),
        body: Value::Object(body),
    }
}

/// A JSON object without the fields that are null: what is not wanted is not named.
fn object<const N: usize>(fields: [(&str, Value); N]) -> Value {
    let named = fields.into_iter().filter(|(_, value)| !value.is_null());
    Value::Object(
        named
            .map(|(key, value)| (String::from(key), value))
            .collect(),
    )
}

/// A list, or nothing if it is empty: the server drops empty lists (fact K16).
fn list(items: Vec<Value>) -> Value {
    if items.is_empty() {
        Value::Null
    } else {
        Value::Array(items)
    }
}

fn pointers<const N: usize>(pointers: [&str; N]) -> Vec<Box<str>> {
    pointers.into_iter().map(Into::into).collect()
}
