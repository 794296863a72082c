//! Empties a namespace that is deleted, then lets it go: the pods first, then everything else.
//!
//! The controller looks again after growing waits, and at once when the last object is gone.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use pilotage_core::time::{Span, Timestamp};
use serde_json::{Value, json};

use super::client::{Address, CONTROLLER_MANAGER, Client};
use super::conditions::{since, status_of};
use super::{Next, Turn};
use crate::cluster::moment;
use crate::cluster::object::{items_at, set_at};
use crate::cluster::request::{Propagation, Subresource, Verb};
use crate::cluster::resource::Resource;

/// The finalizer in `spec.finalizers` that is this controller's.
const OURS: &str = "kubernetes";
/// When content that finalizers hold is looked at again.
const HELD: Span = Span::seconds(8);

pub(super) fn reconcile(turn: &mut Turn<'_>, name: &str) -> Next {
    let at = turn.at;
    let mut client = turn.client(CONTROLLER_MANAGER);
    let address = Address {
        resource: Resource::Namespace,
        namespace: "",
        name,
    };
    let Some(namespace) = client.peek(address) else {
        return Next::Settled;
    };
    let ours = items_at(&namespace.value, &["spec", "finalizers"])
        .iter()
        .any(|finalizer| finalizer == OURS);
    if !namespace.deleting() || !ours {
        return Next::Settled;
    }
    let content = empty(&mut client, name);
    let mut status = status_of(&namespace.value);
    set_conditions(&mut status, at, &content);
    if client.set_status(&namespace, &status).is_err() || content.failed() {
        return Next::Retry;
    }
    if !content.left.is_empty() {
        return Next::At(at.after(HELD));
    }
    let Some(namespace) = client.peek(address) else {
        return Next::Settled;
    };
    let mut body = namespace.value.clone();
    let rest = items_at(&namespace.value, &["spec", "finalizers"])
        .iter()
        .filter(|finalizer| *finalizer != OURS)
        .cloned()
        .collect();
    set_at(&mut body, &["spec", "finalizers"], rest);
    Next::after(client.send(address, Some(Subresource::Finalize), Verb::Update { body }))
}

/// What a pass over the content found.
#[derive(Default)]
struct Content {
    /// Why not everything was deleted.
    failures: Vec<String>,
    /// What is left, by kind.
    left: Vec<String>,
    /// What holds it, and how often.
    finalizers: BTreeMap<String, usize>,
}

impl Content {
    fn failed(&self) -> bool {
        !self.failures.is_empty()
    }
}

/// Deletes everything in a namespace. While there are pods, nothing else is touched.
fn empty(client: &mut Client<'_>, namespace: &str) -> Content {
    let mut content = Content::default();
    delete_all(client, Resource::Pod, namespace, &mut content);
    if !content.failed() && !client.list(Resource::Pod, Some(namespace)).is_empty() {
        content.failures.push(format!(
            "unexpected items still remain in namespace: {namespace} for gvr: /v1, Resource=pods"
        ));
    }
    if content.failed() {
        return content;
    }
    let kinds = Resource::ALL
        .iter()
        .copied()
        .filter(|resource| resource.namespaced());
    let mut kinds: Vec<Resource> = kinds.collect();
    kinds.sort_by_key(|resource| (resource.plural(), resource.group()));
    for resource in &kinds {
        delete_all(client, *resource, namespace, &mut content);
    }
    for resource in &kinds {
        let left = client.list(*resource, Some(namespace));
        if !left.is_empty() {
            let (kind, group) = (resource.plural(), resource.group());
            content.left.push(format!(
                "{kind}.{group} has {} resource instances",
                left.len()
            ));
        }
        for finalizer in left.iter().flat_map(|stored| stored.finalizers()) {
            *content.finalizers.entry(finalizer.into()).or_default() += 1;
        }
    }
    content
}

fn delete_all(client: &mut Client<'_>, resource: Resource, namespace: &str, content: &mut Content) {
    for stored in client.list(resource, Some(namespace)) {
        if stored.deleting() {
            continue;
        }
        if let Err(failure) = client.delete(&stored, Propagation::Background, None)
            && failure.code != 404
        {
            content.failures.push(failure.message.into());
        }
    }
}

fn set_conditions(status: &mut Value, at: Timestamp, content: &Content) {
    let holding = content
        .finalizers
        .iter()
        .map(|(name, count)| format!("{name} in {count} resource instances"))
        .collect::<Vec<_>>()
        .join(", ");
    let failed = content.failed().then(|| {
        format!(
            "Failed to delete all resource types, {} remaining: {}",
            content.failures.len(),
            content.failures.join(", ")
        )
    });
    let remaining = (!content.left.is_empty())
        .then(|| format!("Some resources are remaining: {}", content.left.join(", ")));
    let held = (!holding.is_empty())
        .then(|| format!("Some content in the namespace has finalizers remaining: {holding}"));
    let conditions = [
        (
            "NamespaceDeletionDiscoveryFailure",
            None,
            "",
            (
                "ResourcesDiscovered",
                "All resources successfully discovered",
            ),
        ),
        (
            "NamespaceDeletionGroupVersionParsingFailure",
            None,
            "",
            (
                "ParsedGroupVersions",
                "All legacy kube types successfully parsed",
            ),
        ),
        (
            "NamespaceDeletionContentFailure",
            failed,
            "ContentDeletionFailed",
            (
                "ContentDeleted",
                "All content successfully deleted, may be waiting on finalization",
            ),
        ),
        (
            "NamespaceContentRemaining",
            remaining,
            "SomeResourcesRemain",
            ("ContentRemoved", "All content successfully removed"),
        ),
        (
            "NamespaceFinalizersRemaining",
            held,
            "SomeFinalizersRemain",
            (
                "ContentHasNoFinalizers",
                "All content-preserving finalizers finished",
            ),
        ),
    ];
    let conditions = conditions
        .into_iter()
        .map(|(kind, problem, reason, well)| {
            let (state, reason, message) = match &problem {
                Some(problem) => ("True", reason, problem.as_str()),
                None => ("False", well.0, well.1),
            };
            json!({
                "type": kind,
                "status": state,
                "reason": reason,
                "message": message,
                "lastTransitionTime": since(status, kind, state).unwrap_or_else(|| moment::text(at)),
            })
        })
        .collect();
    set_at(status, &["conditions"], conditions);
}
