//! What a pod needs before it can start: volumes, and values for its environment.

use alloc::format;
use alloc::string::String;

use serde_json::Value;

use super::super::client::Client;
use crate::cluster::object::{Stored, at, flag_at, items_at, text_at};
use crate::cluster::resource::Resource;

/// The first volume that cannot be mounted, as a real kubelet words it.
pub(super) fn missing(client: &Client<'_>, pod: &Stored) -> Option<String> {
    let namespace = pod.namespace();
    items_at(&pod.value, &["spec", "volumes"])
        .iter()
        .find_map(|volume| {
            let name = text_at(volume, &["name"]);
            let claim = text_at(volume, &["persistentVolumeClaim", "claimName"]);
            if !claim.is_empty() {
                let bound = client
                    .peek_in(Resource::PersistentVolumeClaim, namespace, claim)
                    .is_some_and(|claim| text_at(&claim.value, &["status", "phase"]) == "Bound");
                return (!bound).then(|| {
                    format!("Unable to attach or mount volumes: unmounted volumes=[{name}]: claim \"{claim}\" is not bound")
                });
            }
            let source = [
                (Resource::Secret, "secret", "secretName"),
                (Resource::ConfigMap, "configMap", "name"),
            ];
            source.into_iter().find_map(|(resource, field, key)| {
                let source = volume.get(field)?;
                let wanted = text_at(source, &[key]);
                let there = flag_at(source, &["optional"])
                    || client.peek_in(resource, namespace, wanted).is_some();
                (!there).then(|| {
                    format!(
                        "MountVolume.SetUp failed for volume \"{name}\" : {} \"{wanted}\" not found",
                        field.to_lowercase()
                    )
                })
            })
        })
}

/// The first value of a container's environment that cannot be found.
pub(super) fn environment(client: &Client<'_>, pod: &Stored, container: &Value) -> Option<String> {
    let find = |resource: Resource, reference: &Value, key: Option<&str>| {
        let (kind, name) = (
            match resource {
                Resource::Secret => "secret",
                _ => "configmap",
            },
            text_at(reference, &["name"]),
        );
        if flag_at(reference, &["optional"]) {
            return None;
        }
        match client.peek_in(resource, pod.namespace(), name) {
            None => Some(format!("{kind} \"{name}\" not found")),
            Some(found) => key
                .filter(|key| at(&found.value, &["data", key]).is_none())
                .map(|key| {
                    format!(
                        "couldn't find key {key} in {kind} {}/{name}",
                        pod.namespace()
                    )
                }),
        }
    };
    let named = items_at(container, &["env"]).iter().find_map(|variable| {
        let from = variable.get("valueFrom")?;
        let (resource, reference) = match (from.get("secretKeyRef"), from.get("configMapKeyRef")) {
            (Some(reference), _) => (Resource::Secret, reference),
            (None, Some(reference)) => (Resource::ConfigMap, reference),
            (None, None) => return None,
        };
        find(resource, reference, Some(text_at(reference, &["key"])))
    });
    named.or_else(|| {
        items_at(container, &["envFrom"]).iter().find_map(|source| {
            match (source.get("secretRef"), source.get("configMapRef")) {
                (Some(reference), _) => find(Resource::Secret, reference, None),
                (None, Some(reference)) => find(Resource::ConfigMap, reference, None),
                (None, None) => None,
            }
        })
    })
}
