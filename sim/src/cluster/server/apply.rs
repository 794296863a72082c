//! Server-side apply (facts K1 to K11 and K20 to K30).

use alloc::format;

use serde_json::Value;

use super::Context;
use super::update::{forget_reset, keep_rest};
use crate::cluster::Cluster;
use crate::cluster::defaults;
use crate::cluster::fields::{FieldSet, check, compare, merge, named, prune};
use crate::cluster::object::{at, text_at};
use crate::cluster::request::{Failure, Response, Subresource};
use crate::cluster::schema::zero_object;

impl Cluster {
    /// PATCH with an apply configuration.
    pub(super) fn apply(
        &mut self,
        context: &Context<'_>,
        body: Value,
        force: bool,
    ) -> Result<Response, Failure> {
        let resource = context.resource;
        check_shape(context, &body)?;
        let Some(old) = self
            .store
            .get(resource, context.namespace, context.name)
            .cloned()
        else {
            return self.apply_new(context, body);
        };
        check_fields(context, &body)?;
        let writer = context.writer();
        let mut managers = old.managers.read();
        if managers.is_empty() {
            // Fields that nobody was recorded for belong to whoever came before.
            let mut comparison = compare(&zero_object(resource), &old.value, resource.schema());
            forget_reset(context, &mut comparison);
            let before = super::Writer {
                name: "before-first-apply",
                ..writer
            };
            managers.record_update(&before, comparison);
        }
        let last = managers.applied(&writer);
        let wanted = named_by(context, &body);
        let mut new = old.value.clone();
        merge(&mut new, &body, resource.schema());
        managers.set_applied(&writer, wanted);
        if let Some(last) = last {
            let mut owned = managers.owned();
            // The apply names the object, so its metadata stays whatever else it stops naming there.
            owned.keep_metadata();
            prune(&mut new, &last, &owned, resource.schema());
        }
        let mut comparison = compare(&old.value, &new, resource.schema());
        forget_reset(context, &mut comparison);
        if !force {
            let conflicts = managers.conflicts(&writer, &comparison);
            if !conflicts.is_empty() {
                return Err(Failure::apply_conflict(&conflicts));
            }
        }
        // An apply that changes nothing but owners leaves the time of its entry as it was, or without one.
        managers.record_apply(&writer, &comparison, !comparison.is_empty());
        super::create::decode(resource, &mut new)?;
        defaults::apply(resource, &mut new);
        keep_rest(context, &old, &mut new);
        self.keep(context, &old, new, managers)
    }

    /// An apply that finds nothing makes the object, unless it names the uid of the object that it means (fact K2). The
    /// version that it names does not matter (facts K4 and K6).
    fn apply_new(&mut self, context: &Context<'_>, mut body: Value) -> Result<Response, Failure> {
        if context.subresource.is_some() {
            return Err(context.not_found());
        }
        let uid = text_at(&body, &["metadata", "uid"]);
        if !uid.is_empty() {
            return Err(Failure::conflict(
                context.resource,
                context.name,
                &format!(
                    "uid mismatch: the provided object specified uid {uid}, and no existing object was found"
                ),
            ));
        }
        check_fields(context, &body)?;
        crate::cluster::object::remove_at(&mut body, &["metadata", "resourceVersion"]);
        crate::cluster::object::set_at(&mut body, &["metadata", "name"], Value::from(context.name));
        self.create_with(context, body, None)
    }
}

/// The fields that an apply to this path names: the status belongs to its own path.
pub(super) fn named_by(context: &Context<'_>, body: &Value) -> FieldSet {
    let mut set = named(body, context.resource.schema());
    match context.subresource {
        Some(Subresource::Status) => {
            for key in ["metadata", "spec"] {
                set.cut(&[key]);
            }
        }
        _ if context.resource.schema().field("status").is_some() => set.cut(&["status"]),
        _ => {}
    }
    set
}

/// Checks what the server looks at before it knows the kind's fields.
fn check_shape(context: &Context<'_>, body: &Value) -> Result<(), Failure> {
    for (key, wanted) in [
        ("apiVersion", context.resource.api_version()),
        ("kind", context.resource.kind()),
    ] {
        if body.get(key).and_then(Value::as_str) != Some(wanted) {
            return Err(Failure::bad_request(format!(
                "an apply must say {key:?}: {wanted:?}"
            )));
        }
    }
    super::update::check_place(context, body)?;
    if context.manager.is_empty() {
        return Err(Failure::invalid(
            context.resource,
            context.name,
            &[crate::cluster::failure::Problem::required(
                "fieldManager",
                "is required for apply patch",
            )],
        ));
    }
    if at(body, &["metadata", "managedFields"]).is_some() {
        return Err(Failure::bad_request("metadata.managedFields must be nil"));
    }
    Ok(())
}

/// 500: the configuration names a field that is not there, or an item twice (fact K19).
fn check_fields(context: &Context<'_>, body: &Value) -> Result<(), Failure> {
    check(body, context.resource.schema()).map_err(|mistake| {
        Failure::internal(format!(
            "failed to create typed patch object ({}/{}; {}, Kind={}): {mistake}",
            context.namespace,
            context.name,
            context.resource.api_version(),
            context.resource.kind(),
        ))
    })
}
