//! The claims of a pod of a StatefulSet: made once, never deleted by the set itself.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde_json::{Value, json};

use super::super::client::Client;
use super::super::values::entries;
use super::{Member, Set, identity};
use crate::cluster::object::{Stored, items_at, remove_at, set_at, text_at};
use crate::cluster::request::Failure;
use crate::cluster::resource::Resource;

pub(super) fn templates<'a>(set: &Set<'a>) -> &'a [Value] {
    items_at(&set.stored.value, &["spec", "volumeClaimTemplates"])
}

pub(super) fn template_name(template: &Value) -> &str {
    text_at(template, &["metadata", "name"])
}

/// `<template>-<set>-<ordinal>`.
pub(super) fn name(set: &Set<'_>, template: &Value, ordinal: u64) -> String {
    format!(
        "{}-{}",
        template_name(template),
        identity::pod_name(set, ordinal)
    )
}

/// Whether a pod has a volume for each claim of its ordinal.
pub(super) fn mounted(set: &Set<'_>, member: &Member) -> bool {
    let volumes = items_at(&member.pod.value, &["spec", "volumes"]);
    templates(set).iter().all(|template| {
        let wanted = name(set, template, member.ordinal);
        volumes.iter().any(|volume| {
            text_at(volume, &["name"]) == template_name(template)
                && text_at(volume, &["persistentVolumeClaim", "claimName"]) == wanted
        })
    })
}

/// Whether a claim of the ordinal is being deleted: its pod waits until it is gone, or it would hold the old one.
pub(super) fn leaving(client: &Client<'_>, set: &Set<'_>, ordinal: u64) -> bool {
    templates(set).iter().any(|template| {
        client
            .peek_in(
                Resource::PersistentVolumeClaim,
                set.namespace,
                &name(set, template, ordinal),
            )
            .is_some_and(|claim| claim.deleting())
    })
}

/// Makes the claims of an ordinal that are missing, with the selector's labels (fact K17).
pub(super) fn create(client: &mut Client<'_>, set: &Set<'_>, ordinal: u64) -> Result<(), Failure> {
    for template in templates(set) {
        let name = name(set, template, ordinal);
        if client
            .peek_in(Resource::PersistentVolumeClaim, set.namespace, &name)
            .is_some()
        {
            continue;
        }
        let mut claim = template.clone();
        remove_at(&mut claim, &["status"]);
        set_at(&mut claim, &["apiVersion"], json!("v1"));
        set_at(&mut claim, &["kind"], json!("PersistentVolumeClaim"));
        set_at(&mut claim, &["metadata", "name"], json!(name));
        set_at(&mut claim, &["metadata", "namespace"], json!(set.namespace));
        for (key, value) in entries(&set.stored.value, &["spec", "selector", "matchLabels"]) {
            set_at(&mut claim, &["metadata", "labels", key], value.clone());
        }
        let made = client.create(Resource::PersistentVolumeClaim, set.namespace, claim);
        if let Err(failure) = made
            && &*failure.reason != "AlreadyExists"
        {
            let text = format!(
                "create Claim {name} for Pod {} in StatefulSet {} failed error: {}",
                identity::pod_name(set, ordinal),
                set.name,
                failure.message
            );
            client.warn(set.stored, "FailedCreate", &text);
            return Err(failure);
        }
    }
    Ok(())
}

/// Gives the claims of a pod the owner that the set's retention policy wants: the set, if they end with it; the pod, once it is
/// scaled away and they end with that; else nobody. Claims that somebody else controls are left alone.
pub(super) fn own(
    client: &mut Client<'_>,
    set: &Set<'_>,
    ordinal: u64,
    pod: &Stored,
) -> Result<(), Failure> {
    let policy = |when: &str| {
        let path = ["spec", "persistentVolumeClaimRetentionPolicy", when];
        text_at(&set.stored.value, &path) == "Delete"
    };
    let scaled_away = !set.wants(ordinal);
    let by_pod = policy("whenScaled") && scaled_away;
    let by_set = policy("whenDeleted") && !(policy("whenScaled") && scaled_away);
    for template in templates(set) {
        let Some(claim) = client.peek_in(
            Resource::PersistentVolumeClaim,
            set.namespace,
            &name(set, template, ordinal),
        ) else {
            continue;
        };
        let namesake = |kind: &str, name: &str| {
            (kind == "StatefulSet" && name == set.name) || (kind == "Pod" && name == pod.name())
        };
        let stale = claim.owners().any(|owner| {
            namesake(owner.kind, owner.name) && owner.uid != set.uid && owner.uid != pod.uid()
        });
        let foreign = claim
            .owners()
            .any(|owner| owner.controller && !namesake(owner.kind, owner.name));
        if stale || (foreign && (by_pod || by_set)) {
            continue;
        }
        let mut owners: Vec<Value> = items_at(&claim.value, &["metadata", "ownerReferences"])
            .iter()
            .filter(|owner| !namesake(text_at(owner, &["kind"]), text_at(owner, &["name"])))
            .cloned()
            .collect();
        if by_set {
            owners.push(identity::owner_reference(set));
        }
        if by_pod {
            owners.push(json!({
                "apiVersion": "v1",
                "kind": "Pod",
                "name": pod.name(),
                "uid": pod.uid(),
                "controller": true,
                "blockOwnerDeletion": true,
            }));
        }
        if owners == items_at(&claim.value, &["metadata", "ownerReferences"]) {
            continue;
        }
        let mut after = claim.value.clone();
        if owners.is_empty() {
            remove_at(&mut after, &["metadata", "ownerReferences"]);
        } else {
            set_at(&mut after, &["metadata", "ownerReferences"], owners.into());
        }
        client.change(&claim, &after)?;
    }
    Ok(())
}
