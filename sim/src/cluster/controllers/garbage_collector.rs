//! Deletes what lost its owners, and ends deletes that wait for dependents (Kubernetes: "Garbage Collection").
//!
//! Owners of kinds that the server does not serve are taken to be there.

use alloc::sync::Arc;

use serde_json::Value;

use super::client::{Address, CONTROLLER_MANAGER};
use super::{Next, Turn};
use crate::cluster::Cluster;
use crate::cluster::object::{Owner, Stored, items_at, set_at, text_at};
use crate::cluster::request::Propagation;
use crate::cluster::resource::Resource;

const FOREGROUND: &str = "foregroundDeletion";
const ORPHAN: &str = "orphan";

/// What has become of an owner.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Standing {
    There,
    /// Being deleted in the foreground: waits for its dependents.
    Waiting,
    Gone,
}

fn standing(api: &Cluster, namespace: &str, owner: &Owner<'_>) -> Standing {
    let Some(resource) = Resource::of(owner.api_version, owner.kind) else {
        return Standing::There;
    };
    let namespace = if resource.namespaced() { namespace } else { "" };
    match api.peek(resource, namespace, owner.name) {
        Some(found) if found.uid() == owner.uid => {
            if found.deleting() && found.finalizers().any(|name| name == FOREGROUND) {
                Standing::Waiting
            } else {
                Standing::There
            }
        }
        _ => Standing::Gone,
    }
}

/// Whether some owner of the object is not simply there.
pub(super) fn suspicious(api: &Cluster, stored: &Stored) -> bool {
    stored
        .owners()
        .any(|owner| standing(api, stored.namespace(), &owner) != Standing::There)
}

pub(super) fn reconcile(
    turn: &mut Turn<'_>,
    resource: Resource,
    namespace: &str,
    name: &str,
) -> Next {
    let address = Address {
        resource,
        namespace,
        name,
    };
    let Some(stored) = turn.client(CONTROLLER_MANAGER).peek(address) else {
        return Next::Settled;
    };
    if stored.deleting() {
        let finalizer = |wanted: &str| stored.finalizers().any(|name| name == wanted);
        if finalizer(ORPHAN) {
            return release_dependents(turn, &stored);
        }
        if finalizer(FOREGROUND) {
            return end_dependents(turn, &stored);
        }
    }
    collect(turn, &stored)
}

/// Deletes an object all of whose owners are gone, or drops those that are.
fn collect(turn: &mut Turn<'_>, stored: &Arc<Stored>) -> Next {
    let (mut there, mut waiting, mut gone) = (false, false, false);
    for owner in stored.owners() {
        match standing(turn.api, stored.namespace(), &owner) {
            Standing::There => there = true,
            Standing::Waiting => waiting = true,
            Standing::Gone => gone = true,
        }
    }
    if !waiting && !gone {
        return Next::Settled;
    }
    if there {
        let mut after = stored.value.clone();
        keep_owners(&mut after, |reference| {
            let owner = stored
                .owners()
                .find(|owner| owner.uid == text_at(reference, &["uid"]));
            owner.is_some_and(|owner| {
                standing(turn.api, stored.namespace(), &owner) == Standing::There
            })
        });
        return Next::after(turn.client(CONTROLLER_MANAGER).change(stored, &after));
    }
    if stored.deleting() {
        return Next::Settled;
    }
    let has_dependents = turn.api.dependents(stored.uid()).next().is_some();
    let finalizer = |wanted: &str| stored.finalizers().any(|name| name == wanted);
    let propagation = if waiting && has_dependents {
        Propagation::Foreground
    } else if finalizer(ORPHAN) {
        Propagation::Orphan
    } else if finalizer(FOREGROUND) {
        Propagation::Foreground
    } else {
        Propagation::Background
    };
    Next::after(
        turn.client(CONTROLLER_MANAGER)
            .delete(stored, propagation, None),
    )
}

/// Takes the owner out of its dependents, then lets the owner go.
fn release_dependents(turn: &mut Turn<'_>, owner: &Arc<Stored>) -> Next {
    let mut client = turn.client(CONTROLLER_MANAGER);
    for dependent in client.dependents(owner.uid()) {
        let mut after = dependent.value.clone();
        keep_owners(&mut after, |reference| {
            text_at(reference, &["uid"]) != owner.uid()
        });
        if client.change(&dependent, &after).is_err() {
            return Next::Retry;
        }
    }
    drop_finalizer(turn, owner, ORPHAN)
}

/// Deletes the dependents, and lets the owner go when none is left that blocks it.
fn end_dependents(turn: &mut Turn<'_>, owner: &Arc<Stored>) -> Next {
    let mut blocked = false;
    let mut next = Next::Settled;
    let dependents = turn.client(CONTROLLER_MANAGER).dependents(owner.uid());
    for dependent in dependents {
        blocked |= dependent
            .owners()
            .any(|reference| reference.uid == owner.uid() && reference.blocks);
        if !dependent.deleting() {
            next = next.or(collect(turn, &dependent));
        }
    }
    if blocked {
        return next;
    }
    next.or(drop_finalizer(turn, owner, FOREGROUND))
}

fn keep_owners(value: &mut Value, keep: impl Fn(&Value) -> bool) {
    let kept: alloc::vec::Vec<Value> = items_at(value, &["metadata", "ownerReferences"])
        .iter()
        .filter(|reference| keep(reference))
        .cloned()
        .collect();
    if kept.is_empty() {
        crate::cluster::object::remove_at(value, &["metadata", "ownerReferences"]);
    } else {
        set_at(value, &["metadata", "ownerReferences"], Value::Array(kept));
    }
}

fn drop_finalizer(turn: &mut Turn<'_>, stored: &Arc<Stored>, finalizer: &str) -> Next {
    Next::after(
        turn.client(CONTROLLER_MANAGER)
            .drop_finalizer(stored, finalizer),
    )
}
