//! The API server: one function per verb, one pipeline for all writes.

mod admission;
mod apply;
mod bootstrap;
mod create;
mod delete;
mod identity;
mod patch;
mod scale;
mod service;
mod subresource;
mod update;

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

use pilotage_core::time::Timestamp;
use serde_json::Value;

use super::Cluster;
use super::fields::Writer;
use super::object::{Stored, text_at};
use super::request::{Failure, Request, Response, Subresource, Verb};
use super::resource::Resource;

/// What a request says beside its verb.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context<'a> {
    at: Timestamp,
    manager: &'a str,
    resource: Resource,
    namespace: &'a str,
    name: &'a str,
    subresource: Option<Subresource>,
}

impl<'a> Context<'a> {
    fn writer(&self) -> Writer<'a> {
        Writer {
            name: self.manager,
            subresource: self.subresource.map(|subresource| match subresource {
                Subresource::Status => "status",
                Subresource::Scale => "scale",
                Subresource::Binding => "binding",
                Subresource::Finalize => "finalize",
            }),
            api_version: self.resource.api_version(),
            at: self.at,
        }
    }

    fn not_found(&self) -> Failure {
        Failure::not_found(self.resource, self.name)
    }
}

fn object(code: u16, object: Arc<Stored>) -> Response {
    Response::Object { code, object }
}

impl Cluster {
    /// Answers a request that no rule refused.
    pub(super) fn serve(&mut self, at: Timestamp, request: Request) -> Result<Response, Failure> {
        let Request {
            manager,
            resource,
            namespace,
            name,
            subresource,
            verb,
        } = request;
        let whole_kind = matches!(verb, Verb::List { .. });
        if resource.namespaced() != namespace.is_some() && !(whole_kind && resource.namespaced()) {
            return Err(Failure::not_served(if resource.namespaced() {
                "a namespace is missing in the path"
            } else {
                "the kind has no namespaces"
            }));
        }
        let context = Context {
            at,
            manager: &manager,
            resource,
            namespace: namespace.as_deref().unwrap_or(""),
            name: &name,
            subresource,
        };
        if !served(resource, subresource) {
            return Err(Failure::not_served("the kind has no such subresource"));
        }
        match (subresource, verb) {
            (Some(Subresource::Scale), verb) => self.scale(&context, verb),
            (Some(Subresource::Binding), Verb::Create { body }) => self.bind(&context, &body),
            (Some(Subresource::Finalize), Verb::Update { body }) => self.finalize(&context, body),
            (None | Some(Subresource::Status), Verb::Get) => self
                .find(&context)
                .map(|stored| object(200, stored.clone())),
            (None, Verb::List { labels, fields }) => {
                Ok(self.list(resource, namespace.as_deref(), &labels, &fields))
            }
            (None, Verb::Create { body }) => self.create(&context, body),
            (None | Some(Subresource::Status), Verb::Update { body }) => {
                self.replace(&context, body)
            }
            (None | Some(Subresource::Status), Verb::Apply { body, force }) => {
                self.apply(&context, body, force)
            }
            (None | Some(Subresource::Status), Verb::JsonPatch { operations }) => {
                self.json_patch(&context, &operations)
            }
            (None | Some(Subresource::Status), Verb::MergePatch { body }) => {
                self.merge_patch(&context, &body)
            }
            (
                None,
                Verb::Delete {
                    uid,
                    version,
                    propagation,
                    grace,
                },
            ) => self.delete(
                &context,
                uid.as_deref(),
                version.as_deref(),
                propagation,
                grace,
            ),
            _ => Err(Failure::not_allowed()),
        }
    }

    fn find(&self, context: &Context<'_>) -> Result<&Arc<Stored>, Failure> {
        self.store
            .get(context.resource, context.namespace, context.name)
            .ok_or_else(|| context.not_found())
    }

    fn list(
        &self,
        resource: Resource,
        namespace: Option<&str>,
        labels: &[(Box<str>, Box<str>)],
        fields: &[(Box<str>, Box<str>)],
    ) -> Response {
        let has = |stored: &Stored, (path, value): &(Box<str>, Box<str>)| {
            let path: Vec<&str> = path.split('.').collect();
            text_at(&stored.value, &path) == &**value
        };
        Response::List {
            version: self.store.version(),
            items: self
                .store
                .iter(resource, namespace)
                .filter(|stored| stored.has_labels(labels))
                .filter(|stored| fields.iter().all(|field| has(stored, field)))
                .cloned()
                .collect(),
        }
    }
}

/// Whether the kind has that subresource.
fn served(resource: Resource, subresource: Option<Subresource>) -> bool {
    match subresource {
        None => true,
        Some(Subresource::Status) => resource.schema().field("status").is_some(),
        Some(Subresource::Scale) => resource.scalable(),
        Some(Subresource::Binding) => resource == Resource::Pod,
        Some(Subresource::Finalize) => resource == Resource::Namespace,
    }
}

/// Checks that a body is an object of the kind that the path names, and says so itself from now on.
fn expect_kind(resource: Resource, body: &mut Value) -> Result<(), Failure> {
    use alloc::format;
    let Value::Object(map) = body else {
        return Err(Failure::bad_request("the body is not an object"));
    };
    for (key, wanted) in [
        ("apiVersion", resource.api_version()),
        ("kind", resource.kind()),
    ] {
        match map.get(key) {
            None => {
                map.insert(key.into(), Value::from(wanted));
            }
            Some(Value::String(given)) if given == wanted => {}
            Some(given) => {
                return Err(Failure::bad_request(format!(
                    "the {key} in the data ({given}) does not match the expected {key} ({wanted})"
                )));
            }
        }
    }
    Ok(())
}
