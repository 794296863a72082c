//! The API server against the recorded facts (K1 to K35), and what must hold for all inputs.

mod basics;
mod effects;
mod facts_apply;
mod facts_guards;
mod facts_objects;

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::ToString;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use pilotage_core::time::Timestamp;
use serde_json::{Value, json};

use super::Cluster;
use super::object::Stored;
use super::request::{Failure, Propagation, Request, Response, Subresource, Verb};
use super::resource::Resource;
use super::settings::Settings;

/// A cluster with the namespace `here` and its default account, and a clock that goes on a second with every request.
pub(super) struct Server {
    pub(super) cluster: Cluster,
    pub(super) now: Timestamp,
    pub(super) manager: Box<str>,
}

impl Server {
    pub(super) fn new() -> Self {
        let mut server = Server {
            cluster: Cluster::new(Settings::default()),
            now: Timestamp(1_800_000_000_000),
            manager: "pilotage".into(),
        };
        server.made(Resource::Namespace, json!({"metadata": {"name": "here"}}));
        server.made(
            Resource::ServiceAccount,
            json!({"metadata": {"name": "default"}}),
        );
        server
    }

    pub(super) fn by(&mut self, manager: &str) -> &mut Self {
        self.manager = manager.into();
        self
    }

    pub(super) fn ask(
        &mut self,
        resource: Resource,
        name: &str,
        subresource: Option<Subresource>,
        verb: Verb,
    ) -> Response {
        self.now = Timestamp(self.now.0 + 1_000);
        let namespace = resource.namespaced().then(|| "here".into());
        self.cluster.request(
            self.now,
            Request {
                manager: self.manager.clone(),
                resource,
                namespace,
                name: name.into(),
                subresource,
                verb,
            },
        )
    }

    pub(super) fn create(&mut self, resource: Resource, body: Value) -> Response {
        self.ask(resource, "", None, Verb::Create { body })
    }

    pub(super) fn made(&mut self, resource: Resource, body: Value) -> Arc<Stored> {
        self.create(resource, body).made()
    }

    pub(super) fn apply(&mut self, resource: Resource, body: Value) -> Response {
        self.apply_with(resource, body, false)
    }

    pub(super) fn force(&mut self, resource: Resource, body: Value) -> Response {
        self.apply_with(resource, body, true)
    }

    fn apply_with(&mut self, resource: Resource, mut body: Value, force: bool) -> Response {
        body["apiVersion"] = resource.api_version().into();
        body["kind"] = resource.kind().into();
        let name: Box<str> = body["metadata"]["name"].as_str().unwrap().into();
        self.ask(resource, &name, None, Verb::Apply { body, force })
    }

    pub(super) fn update(&mut self, resource: Resource, name: &str, body: Value) -> Response {
        self.ask(resource, name, None, Verb::Update { body })
    }

    pub(super) fn merge(&mut self, resource: Resource, name: &str, body: Value) -> Response {
        self.ask(resource, name, None, Verb::MergePatch { body })
    }

    pub(super) fn patch(&mut self, resource: Resource, name: &str, operations: Value) -> Response {
        self.ask(resource, name, None, Verb::JsonPatch { operations })
    }

    pub(super) fn get(&mut self, resource: Resource, name: &str) -> Response {
        self.ask(resource, name, None, Verb::Get)
    }

    pub(super) fn delete(&mut self, resource: Resource, name: &str) -> Response {
        self.ask(
            resource,
            name,
            None,
            Verb::Delete {
                uid: None,
                version: None,
                propagation: Propagation::Background,
                grace: None,
            },
        )
    }

    pub(super) fn list(&mut self, resource: Resource) -> (u64, Vec<Arc<Stored>>) {
        match self.ask(
            resource,
            "",
            None,
            Verb::List {
                labels: vec![],
                fields: vec![],
            },
        ) {
            Response::List { version, items } => (version, items),
            other => panic!("a list was answered with {other:?}"),
        }
    }
}

impl Response {
    /// The object of a request that must have gone well.
    pub(super) fn made(self) -> Arc<Stored> {
        match self {
            Response::Object { object, .. } => object,
            other => panic!("instead of an object: {other:?}"),
        }
    }

    /// The refusal of a request that must have failed.
    pub(super) fn refused(self) -> Failure {
        match self {
            Response::Failure(failure) => failure,
            other => panic!("instead of a refusal: {other:?}"),
        }
    }

    /// The status code.
    pub(super) fn code(&self) -> u16 {
        match self {
            Response::Object { code, .. } | Response::Value { code, .. } => *code,
            Response::List { .. } => 200,
            Response::Failure(failure) => failure.code,
        }
    }
}

/// A StatefulSet as the plain shape makes it.
pub(super) fn stateful_set(name: &str) -> Value {
    json!({
        "metadata": {"name": name, "labels": {"app": name}},
        "spec": {
            "replicas": 2,
            "serviceName": "endpoints",
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [
                    {"name": "web", "image": "nginx:1"},
                    {"name": "side", "image": "side:1"},
                ]},
            },
        },
    })
}

/// A pod with one container.
pub(super) fn pod(name: &str) -> Value {
    json!({
        "metadata": {"name": name, "labels": {"app": "web"}},
        "spec": {"containers": [{"name": "web", "image": "nginx:1"}]},
    })
}
