//! POST, and the second half of an apply that finds nothing.

use alloc::format;
use alloc::sync::Arc;

use serde_json::Value;

use super::{Context, expect_kind, object};
use crate::cluster::Cluster;
use crate::cluster::defaults;
use crate::cluster::failure::Problem;
use crate::cluster::fields::{Managers, clean, compare, forget_empty};
use crate::cluster::moment;
use crate::cluster::object::{Stored, at, remove_at, set_at, text_at};
use crate::cluster::request::{Failure, Response};
use crate::cluster::resource::Resource;
use crate::cluster::schema::zero_object;
use crate::cluster::validate;
use crate::cluster::watch::stamp;

impl Cluster {
    /// POST of an object.
    pub(super) fn create(
        &mut self,
        context: &Context<'_>,
        mut body: Value,
    ) -> Result<Response, Failure> {
        if !text_at(&body, &["metadata", "resourceVersion"]).is_empty() {
            return Err(Failure::internal(
                "resourceVersion should not be set on objects to be created",
            ));
        }
        let managers = remove_at(&mut body, &["metadata", "managedFields"])
            .and_then(|entries| Managers::parse(&entries))
            .unwrap_or_default();
        self.create_with(context, body, Some(managers))
    }

    /// Makes an object. `posted` are the entries that a POST brings along; an apply gives none and sets its own.
    pub(super) fn create_with(
        &mut self,
        context: &Context<'_>,
        mut body: Value,
        posted: Option<Managers>,
    ) -> Result<Response, Failure> {
        let resource = context.resource;
        expect_kind(resource, &mut body)?;
        let named = match &posted {
            Some(_) => None,
            None => Some(super::apply::named_by(context, &body)),
        };
        decode(resource, &mut body)?;
        self.take_place(context, &mut body)?;
        defaults::apply(resource, &mut body);
        super::update::reset_status(resource, &mut body);
        let managers = match (posted, named) {
            (_, Some(named)) => {
                let mut managers = Managers::default();
                managers.set_applied(&context.writer(), named);
                managers.record_apply(&context.writer(), &Default::default(), true);
                managers
            }
            (posted, None) => {
                let mut managers = posted.unwrap_or_default();
                let mut comparison = compare(&zero_object(resource), &body, resource.schema());
                super::update::forget_reset(context, &mut comparison);
                managers.record_update(&context.writer(), comparison);
                managers
            }
        };
        self.admit_create(context, &mut body)?;
        let name = text_at(&body, &["metadata", "name"]);
        let problems = validate::create(resource, &body);
        if !problems.is_empty() {
            return Err(Failure::invalid(resource, name, &problems));
        }
        if self.store.get(resource, context.namespace, name).is_some() {
            return Err(Failure::already_exists(resource, name));
        }
        self.allocate(resource, &mut body, None)?;
        let uid = self.draw_uid();
        set_at(&mut body, &["metadata", "uid"], Value::String(uid));
        set_at(
            &mut body,
            &["metadata", "creationTimestamp"],
            Value::String(moment::text(context.at)),
        );
        if resource == Resource::PersistentVolume {
            set_at(
                &mut body,
                &["status", "lastPhaseTransitionTime"],
                Value::String(moment::text(context.at)),
            );
        }
        if counts_generation(resource) {
            set_at(&mut body, &["metadata", "generation"], Value::from(1));
        }
        forget_empty(resource, &mut body);
        let version = self.store.next_version();
        stamp(&mut body, version);
        let stored = Arc::new(Stored {
            resource,
            version,
            value: body,
            managers,
        });
        self.store.put(stored.clone());
        Ok(object(201, stored))
    }

    /// Gives the object its name and namespace, and takes away what only the server says.
    fn take_place(&mut self, context: &Context<'_>, body: &mut Value) -> Result<(), Failure> {
        for field in [
            "uid",
            "creationTimestamp",
            "deletionTimestamp",
            "deletionGracePeriodSeconds",
            "generation",
            "selfLink",
            "resourceVersion",
            "managedFields",
        ] {
            remove_at(body, &["metadata", field]);
        }
        if context.resource.namespaced() {
            let given = text_at(body, &["metadata", "namespace"]);
            if !given.is_empty() && given != context.namespace {
                return Err(Failure::bad_request(
                    "the namespace of the provided object does not match the namespace sent on the request",
                ));
            }
            set_at(
                body,
                &["metadata", "namespace"],
                Value::from(context.namespace),
            );
        } else {
            remove_at(body, &["metadata", "namespace"]);
        }
        if text_at(body, &["metadata", "name"]).is_empty() {
            let base = text_at(body, &["metadata", "generateName"]);
            if base.is_empty() {
                return Err(Failure::invalid(
                    context.resource,
                    "",
                    &[Problem::required(
                        "metadata.name",
                        "name or generateName is required",
                    )],
                ));
            }
            let base = alloc::string::String::from(base);
            let name = self.draw_name(&base);
            set_at(body, &["metadata", "name"], Value::String(name));
        }
        Ok(())
    }
}

/// Brings a body into the form in which it is kept.
pub(super) fn decode(resource: Resource, body: &mut Value) -> Result<(), Failure> {
    clean(body, resource.schema()).map_err(|mistake| undecodable(resource, &mistake))?;
    if resource == Resource::Secret {
        let data = body.get("data").and_then(Value::as_object);
        for text in data
            .into_iter()
            .flatten()
            .filter_map(|(_, text)| text.as_str())
        {
            defaults::check_base64(text).map_err(|place| {
                let problem = format!("illegal base64 data at input byte {place}");
                undecodable(resource, &problem)
            })?;
        }
    }
    Ok(())
}

/// 400: the body is no object of that kind.
fn undecodable(resource: Resource, problem: &impl core::fmt::Display) -> Failure {
    let kind = resource.kind();
    Failure::bad_request(format!(
        "{kind} in version {:?} cannot be handled as a {kind}: {problem}",
        version_of(resource),
    ))
}

fn version_of(resource: Resource) -> &'static str {
    resource
        .api_version()
        .rsplit_once('/')
        .map_or(resource.api_version(), |(_, version)| version)
}

/// Whether the server counts changes of the spec in `metadata.generation`.
pub(super) fn counts_generation(resource: Resource) -> bool {
    resource.has_template() || resource == Resource::Pod
}

/// Whether two states differ in what the generation counts.
pub(super) fn raises_generation(resource: Resource, old: &Value, new: &Value) -> bool {
    if !counts_generation(resource) {
        return false;
    }
    let annotations = |value| at(value, &["metadata", "annotations"]).cloned();
    at(old, &["spec"]) != at(new, &["spec"])
        || (resource == Resource::Deployment && annotations(old) != annotations(new))
}
