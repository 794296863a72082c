//! PUT, and what every change of an object that exists goes through.

use alloc::sync::Arc;

use serde_json::Value;

use super::create::{decode, raises_generation};
use super::{Context, expect_kind, object};
use crate::cluster::Cluster;
use crate::cluster::defaults;
use crate::cluster::fields::{Comparison, Managers, compare, forget_empty};
use crate::cluster::object::{Stored, at, number_at, remove_at, set_at, text_at};
use crate::cluster::request::{Failure, Response, Subresource};
use crate::cluster::resource::Resource;
use crate::cluster::schema::zero_object;
use crate::cluster::validate;
use crate::cluster::watch::{at_version, stamp};

impl Cluster {
    /// PUT of an object or of its status.
    pub(super) fn replace(
        &mut self,
        context: &Context<'_>,
        mut body: Value,
    ) -> Result<Response, Failure> {
        expect_kind(context.resource, &mut body)?;
        check_place(context, &body)?;
        let old = self.find(context)?.clone();
        let uid = text_at(&body, &["metadata", "uid"]);
        if !uid.is_empty() && uid != old.uid() {
            return Err(uid_conflict(context, uid, old.uid()));
        }
        self.change(context, &old, body)
    }

    /// Takes a whole new state of an object, as PUT and the patches make it: cleans it, records who changed what, keeps it.
    pub(super) fn change(
        &mut self,
        context: &Context<'_>,
        old: &Arc<Stored>,
        mut new: Value,
    ) -> Result<Response, Failure> {
        let resource = context.resource;
        let given = remove_at(&mut new, &["metadata", "managedFields"]);
        decode(resource, &mut new)?;
        defaults::apply(resource, &mut new);
        keep_rest(context, old, &mut new);
        let mut managers = match given {
            Some(entries) if context.subresource.is_none() => brought(&entries, old),
            _ => old.managers.read(),
        };
        let mut comparison = compare(&old.value, &new, resource.schema());
        forget_reset(context, &mut comparison);
        // An object whose entries were taken away is not tracked again before its first apply.
        if !managers.is_empty() || !old.managers.is_empty() {
            managers.record_update(&context.writer(), comparison);
        }
        self.keep(context, old, new, managers)
    }

    /// Validates and keeps a new state. A state that says nothing new makes no version (fact K9).
    pub(super) fn keep(
        &mut self,
        context: &Context<'_>,
        old: &Arc<Stored>,
        mut new: Value,
        mut managers: Managers,
    ) -> Result<Response, Failure> {
        let resource = context.resource;
        let name = old.name();
        let version = text_at(&new, &["metadata", "resourceVersion"]);
        if !version.is_empty() && version != "0" && version.parse::<u64>().ok() != Some(old.version)
        {
            return Err(Failure::modified(resource, name));
        }
        keep_identity(old, &mut new);
        if resource == Resource::Pod && context.subresource.is_none() {
            super::admission::tolerate(&mut new);
        }
        let problems = validate::update(resource, context.subresource, &old.value, &new);
        if !problems.is_empty() {
            return Err(Failure::invalid(resource, name, &problems));
        }
        self.admit_update(context, old, &new)?;
        self.allocate(resource, &mut new, Some(&old.value))?;
        if context.subresource.is_none() && raises_generation(resource, &old.value, &new) {
            set_at(
                &mut new,
                &["metadata", "generation"],
                Value::from(old.generation() + 1),
            );
        }
        forget_empty(resource, &mut new);
        if new == old.value && managers.same_but_times(&old.managers) {
            return Ok(object(200, old.clone()));
        }
        if managers == old.managers {
            managers = old.managers.clone();
        }
        let version = self.store.next_version();
        stamp(&mut new, version);
        let stored = Stored {
            resource,
            version,
            value: new,
            managers,
        };
        Ok(object(200, self.put_or_end(old, stored)))
    }

    /// Keeps a new state, or ends the object if it was only waiting for that. Watches see the end of an object in the state
    /// before; the answer shows the last write, which never got a version of its own.
    fn put_or_end(&mut self, old: &Arc<Stored>, mut new: Stored) -> Arc<Stored> {
        if ends(&new) {
            self.end(old);
            new.version = old.version;
            stamp(&mut new.value, old.version);
            return Arc::new(new);
        }
        let stored = Arc::new(new);
        self.store.put(stored.clone());
        stored
    }

    /// Writes a state of the server's own making: no owner is recorded, nothing is validated. An object that was only
    /// waiting for that is gone.
    pub(super) fn keep_as_server(&mut self, old: &Arc<Stored>, mut value: Value) -> Arc<Stored> {
        let version = self.store.next_version();
        stamp(&mut value, version);
        let stored = Stored {
            resource: old.resource,
            version,
            value,
            managers: old.managers.clone(),
        };
        self.put_or_end(old, stored)
    }

    /// Writes the mark of a pod that is being deleted, even if nothing is left to wait for.
    pub(super) fn keep_marked(&mut self, old: &Arc<Stored>, mut value: Value) -> Arc<Stored> {
        let version = self.store.next_version();
        stamp(&mut value, version);
        let marked = Arc::new(Stored {
            resource: old.resource,
            version,
            value,
            managers: old.managers.clone(),
        });
        self.store.put(marked.clone());
        marked
    }

    /// Takes an object away for good.
    pub(super) fn end(&mut self, old: &Arc<Stored>) -> Arc<Stored> {
        let last = at_version(old, self.store.next_version());
        self.store.remove(last.clone());
        last
    }
}

/// The entries that a write brings along in the body: an empty one resets all, what cannot be read changes nothing.
fn brought(entries: &Value, old: &Stored) -> Managers {
    let resets = match entries.as_array().map(alloc::vec::Vec::as_slice) {
        Some([]) => true,
        Some([Value::Object(entry)]) => entry.is_empty(),
        _ => false,
    };
    if resets {
        return Managers::default();
    }
    match Managers::parse(entries) {
        Some(managers) if !managers.is_empty() => managers,
        _ => old.managers.clone(),
    }
}

/// 409: the object that has the name is another one (fact K13).
pub(super) fn uid_conflict(context: &Context<'_>, wanted: &str, found: &str) -> Failure {
    Failure::conflict(
        context.resource,
        context.name,
        &alloc::format!(
            "Precondition failed: UID in precondition: {wanted}, UID in object meta: {found}"
        ),
    )
}

/// Checks that a body speaks of the object of the path.
pub(super) fn check_place(context: &Context<'_>, body: &Value) -> Result<(), Failure> {
    let name = text_at(body, &["metadata", "name"]);
    if !name.is_empty() && name != context.name {
        return Err(Failure::bad_request(alloc::format!(
            "the name of the object ({name}) does not match the name on the URL ({})",
            context.name
        )));
    }
    let namespace = text_at(body, &["metadata", "namespace"]);
    if !namespace.is_empty() && namespace != context.namespace {
        return Err(Failure::bad_request(
            "the namespace of the provided object does not match the namespace sent on the request",
        ));
    }
    Ok(())
}

/// Puts back what a write through this path does not change: the status, or everything but the status.
pub(super) fn keep_rest(context: &Context<'_>, old: &Stored, new: &mut Value) {
    let keep = |new: &mut Value, key: &str| match old.value.get(key) {
        Some(value) => {
            if new.get(key) != Some(value) {
                set_at(new, &[key], value.clone());
            }
        }
        None => {
            remove_at(new, &[key]);
        }
    };
    match context.subresource {
        Some(Subresource::Status) => {
            let guards =
                ["uid", "resourceVersion"].map(|key| (key, at(new, &["metadata", key]).cloned()));
            let status = remove_at(new, &["status"]);
            let rest = old.value.as_object().into_iter().flatten();
            *new = rest
                .filter(|(part, _)| *part != "status")
                .map(|(part, value)| (part.clone(), value.clone()))
                .collect();
            for (key, guard) in guards {
                match guard {
                    Some(guard) => set_at(new, &["metadata", key], guard),
                    None => {
                        remove_at(new, &["metadata", key]);
                    }
                }
            }
            match status {
                Some(status) => set_at(new, &["status"], status),
                None => {
                    remove_at(new, &["status"]);
                }
            }
        }
        _ if old.resource.schema().field("status").is_some() => {
            keep(new, "status");
            if old.resource == Resource::Namespace {
                keep(new, "spec");
            }
        }
        _ => {}
    }
}

/// Drops from a comparison what a write through this path cannot own.
pub(super) fn forget_reset(context: &Context<'_>, comparison: &mut Comparison) {
    if context.subresource.is_none() && context.resource.schema().field("status").is_some() {
        comparison.cut(&["status"]);
    }
}

/// Sets the status to that of an object just made.
pub(super) fn reset_status(resource: Resource, value: &mut Value) {
    if resource.schema().field("status").is_none() {
        return;
    }
    let mut zero = zero_object(resource);
    let status = match resource {
        Resource::Pod => serde_json::json!({
            "phase": "Pending",
            "qosClass": defaults::quality_of_service(value),
        }),
        Resource::Namespace => serde_json::json!({"phase": "Active"}),
        Resource::PersistentVolume | Resource::PersistentVolumeClaim => {
            serde_json::json!({"phase": "Pending"})
        }
        Resource::Node => match value.get("status") {
            Some(status) => status.clone(),
            None => zero["status"].take(),
        },
        _ => zero["status"].take(),
    };
    set_at(value, &["status"], status);
}

/// Puts back what only the server says, where the write says nothing.
fn keep_identity(old: &Stored, new: &mut Value) {
    for key in [
        "name",
        "namespace",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "generation",
        "selfLink",
        "resourceVersion",
    ] {
        match at(&old.value, &["metadata", key]) {
            Some(value) if at(new, &["metadata", key]) == Some(value) => {}
            Some(value) => set_at(new, &["metadata", key], value.clone()),
            None => {
                remove_at(new, &["metadata", key]);
            }
        }
    }
    if text_at(new, &["metadata", "uid"]).is_empty() {
        set_at(new, &["metadata", "uid"], Value::from(old.uid()));
    }
}

/// Whether an object that was being deleted has nothing left to wait for.
pub(super) fn ends(stored: &Stored) -> bool {
    stored.deleting()
        && stored.finalizers().next().is_none()
        && number_at(&stored.value, &["metadata", "deletionGracePeriodSeconds"]).unwrap_or(0) == 0
        && (stored.resource != Resource::Namespace
            || crate::cluster::object::items_at(&stored.value, &["spec", "finalizers"]).is_empty())
}
