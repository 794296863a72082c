//! Empties a namespace that is deleted, then lets it go.

use serde_json::json;

use super::client::{Address, CONTROLLER_MANAGER};
use super::{Next, Turn};
use crate::cluster::moment;
use crate::cluster::object::{items_at, set_at};
use crate::cluster::request::{Propagation, Subresource, Verb};
use crate::cluster::resource::Resource;

/// The finalizer in `spec.finalizers` that is this controller's.
const OURS: &str = "kubernetes";

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
    let mut next = Next::Settled;
    for resource in Resource::ALL
        .iter()
        .filter(|resource| resource.namespaced())
    {
        for stored in client.list(*resource, Some(name)) {
            if !stored.deleting()
                && client
                    .delete(&stored, Propagation::Background, None)
                    .is_err_and(|failure| failure.code != 404)
            {
                next = Next::Retry;
            }
        }
    }
    let mut kinds = alloc::vec::Vec::new();
    let mut finalizers: alloc::collections::BTreeMap<alloc::string::String, usize> =
        Default::default();
    for resource in Resource::ALL
        .iter()
        .filter(|resource| resource.namespaced())
    {
        let left = client.list(*resource, Some(name));
        if !left.is_empty() {
            let group = match resource.group() {
                "" => alloc::string::String::new(),
                group => alloc::format!(".{group}"),
            };
            kinds.push(alloc::format!(
                "{}{group} has {} resource instances",
                resource.plural(),
                left.len()
            ));
        }
        for stored in &left {
            for finalizer in stored.finalizers() {
                *finalizers.entry(finalizer.into()).or_default() += 1;
            }
        }
    }
    let holding = finalizers
        .iter()
        .map(|(name, count)| alloc::format!("{name} in {count} resource instances"))
        .collect::<alloc::vec::Vec<_>>()
        .join(", ");
    let mut status = namespace
        .value
        .get("status")
        .cloned()
        .unwrap_or_else(|| json!({}));
    let conditions = [
        (
            "NamespaceDeletionDiscoveryFailure",
            false,
            "ResourcesDiscovered",
            "All resources successfully discovered".into(),
        ),
        (
            "NamespaceDeletionGroupVersionParsingFailure",
            false,
            "ParsedGroupVersions",
            "All legacy kube types successfully parsed".into(),
        ),
        (
            "NamespaceDeletionContentFailure",
            false,
            "ContentDeleted",
            "All content successfully deleted, may be waiting on finalization".into(),
        ),
        if kinds.is_empty() {
            (
                "NamespaceContentRemaining",
                false,
                "ContentRemoved",
                "All content successfully removed".into(),
            )
        } else {
            (
                "NamespaceContentRemaining",
                true,
                "SomeResourcesRemain",
                alloc::format!("Some resources are remaining: {}", kinds.join(", ")),
            )
        },
        if holding.is_empty() {
            (
                "NamespaceFinalizersRemaining",
                false,
                "ContentHasNoFinalizers",
                "All content-preserving finalizers finished".into(),
            )
        } else {
            (
                "NamespaceFinalizersRemaining",
                true,
                "SomeFinalizersRemain",
                alloc::format!("Some content in the namespace has finalizers remaining: {holding}"),
            )
        },
    ];
    let conditions = conditions
        .into_iter()
        .map(
            |(kind, state, reason, message): (_, _, _, alloc::string::String)| {
                let state = if state { "True" } else { "False" };
                let since = super::conditions::since(&status, kind, state)
                    .unwrap_or_else(|| moment::text(at));
                json!({
                    "type": kind,
                    "status": state,
                    "reason": reason,
                    "message": message,
                    "lastTransitionTime": since,
                })
            },
        )
        .collect();
    set_at(&mut status, &["conditions"], conditions);
    next = next.or(Next::after(client.set_status(&namespace, &status)));
    if kinds.is_empty() && next == Next::Settled {
        let Some(namespace) = client.peek(address) else {
            return next;
        };
        let mut body = namespace.value.clone();
        let rest = items_at(&namespace.value, &["spec", "finalizers"])
            .iter()
            .filter(|finalizer| *finalizer != OURS)
            .cloned()
            .collect();
        set_at(&mut body, &["spec", "finalizers"], rest);
        next =
            Next::after(client.send(address, Some(Subresource::Finalize), Verb::Update { body }));
    }
    next
}
