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

/// The owner that a reference names, if it is there and no successor of its name.
pub(super) fn find<'a>(
    api: &'a Cluster,
    namespace: &str,
    owner: &Owner<'_>,
) -> Option<&'a Arc<Stored>> {
    let resource = Resource::of(owner.api_version, owner.kind)?;
    let namespace = if resource.namespaced() { namespace } else { "" };
    api.peek(resource, namespace, owner.name)
        .filter(|found| found.uid() == owner.uid)
}

fn waits(stored: &Stored) -> bool {
    stored.deleting()
        && stored
            .finalizers()
            .any(|name| matches!(name, FOREGROUND | ORPHAN))
}

fn standing(api: &Cluster, namespace: &str, owner: &Owner<'_>) -> Standing {
    if Resource::of(owner.api_version, owner.kind).is_none() {
        return Standing::There;
    }
    match find(api, namespace, owner) {
        None => Standing::Gone,
        Some(found) if found.deleting() && found.finalizers().any(|name| name == FOREGROUND) => {
            Standing::Waiting
        }
        Some(_) => Standing::There,
    }
}

/// Whether an owner of the object is gone. One that waits for its dependents looks for them itself.
pub(super) fn lost_an_owner(api: &Cluster, stored: &Stored) -> bool {
    stored
        .owners()
        .any(|owner| standing(api, stored.namespace(), &owner) == Standing::Gone)
}

/// Whether a write made an object wait for its dependents.
pub(super) fn begins_to_wait(before: Option<&Stored>, after: &Stored) -> bool {
    waits(after) && !before.is_some_and(waits)
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
    let dependents = turn.client(CONTROLLER_MANAGER).dependents(owner.uid());
    let deleted = dependents
        .iter()
        .filter(|dependent| !dependent.deleting())
        .fold(Next::Settled, |next, dependent| {
            next.or(collect(turn, dependent))
        });
    let blocked = turn.api.dependents(owner.uid()).any(|dependent| {
        dependent
            .owners()
            .any(|reference| reference.uid == owner.uid() && reference.blocks)
    });
    let freed = if blocked {
        Next::Settled
    } else {
        drop_finalizer(turn, owner, FOREGROUND)
    };
    match deleted.or(freed) {
        // What went during this pass was counted already.
        Next::Settled => Next::Seen,
        next => next,
    }
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
