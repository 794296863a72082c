//! What the server fills in, so that a stored object says it (Kubernetes: API reference, "Defaults to").

mod pod;
mod service;
mod workload;

use alloc::string::String;
use alloc::vec::Vec;

use serde_json::{Value, json};

use super::object::{items_at, remove_at, set_at, set_default, text_at};
use super::resource::Resource;

pub(crate) use self::pod::quality_of_service;

/// Fills in the defaults of a kind. The object must be clean.
pub(crate) fn apply(resource: Resource, value: &mut Value) {
    match resource {
        Resource::Pod => {
            if let Some(spec) = value.get_mut("spec") {
                pod::spec(spec);
                pod::limits_to_requests(spec);
            }
        }
        Resource::StatefulSet
        | Resource::Deployment
        | Resource::DaemonSet
        | Resource::ReplicaSet => workload::apply(resource, value),
        Resource::Service => service::apply(value),
        Resource::PersistentVolumeClaim => claim(value),
        Resource::PersistentVolume => volume(value),
        Resource::StorageClass => {
            set_default(value, "reclaimPolicy", || json!("Delete"));
            set_default(value, "volumeBindingMode", || json!("Immediate"));
        }
        Resource::Namespace => namespace(value),
        Resource::Secret => secret(value),
        Resource::RoleBinding | Resource::ClusterRoleBinding => binding(value),
        _ => {}
    }
}

/// A claim, also as a template of a StatefulSet.
fn claim(value: &mut Value) {
    if let Some(spec) = value.get_mut("spec") {
        set_default(spec, "volumeMode", || json!("Filesystem"));
    }
    let pending = value
        .get("status")
        .is_none_or(|status| status.as_object().is_some_and(|status| status.is_empty()));
    if pending {
        set_at(value, &["status", "phase"], json!("Pending"));
    }
}

fn volume(value: &mut Value) {
    if let Some(spec) = value.get_mut("spec") {
        set_default(spec, "persistentVolumeReclaimPolicy", || json!("Retain"));
        set_default(spec, "volumeMode", || json!("Filesystem"));
        if let Some(path) = spec.get_mut("hostPath") {
            set_default(path, "type", || json!(""));
        }
    }
}

fn namespace(value: &mut Value) {
    let name = String::from(text_at(value, &["metadata", "name"]));
    if !name.is_empty() {
        set_at(
            value,
            &["metadata", "labels", "kubernetes.io/metadata.name"],
            Value::String(name),
        );
    }
}

/// `stringData` is written into `data` and never shown (fact K31).
fn secret(value: &mut Value) {
    set_default(value, "type", || json!("Opaque"));
    if let Some(Value::Object(texts)) = remove_at(value, &["stringData"]) {
        for (key, text) in texts {
            let text = text.as_str().unwrap_or("");
            set_at(
                value,
                &["data", key.as_str()],
                Value::String(base64(text.as_bytes())),
            );
        }
    }
}

/// Base64 with padding (RFC 4648, section 4).
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let bits = group
            .iter()
            .fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte))
            << (8 * (3 - group.len()));
        for place in 0..4 {
            if place <= group.len() {
                let six = (bits >> (18 - 6 * place) & 0x3f) as usize;
                text.push(char::from(LETTERS[six]));
            } else {
                text.push('=');
            }
        }
    }
    text
}

/// Checks base64 with padding; fails with the place of the first byte that does not belong there.
pub(crate) fn check_base64(text: &str) -> Result<(), usize> {
    let body = text.trim_end_matches('=');
    let padding = text.len() - body.len();
    let wrong = body
        .bytes()
        .position(|byte| !byte.is_ascii_alphanumeric() && byte != b'+' && byte != b'/');
    match wrong {
        Some(place) => Err(place),
        None if !text.len().is_multiple_of(4) || padding > 2 => Err(body.len()),
        None => Ok(()),
    }
}

fn binding(value: &mut Value) {
    if let Some(role) = value.get_mut("roleRef")
        && text_at(role, &["apiGroup"]).is_empty()
    {
        set_at(role, &["apiGroup"], json!("rbac.authorization.k8s.io"));
    }
    let mut subjects: Vec<Value> = items_at(value, &["subjects"]).to_vec();
    for subject in &mut subjects {
        if text_at(subject, &["kind"]) != "ServiceAccount" {
            set_default(subject, "apiGroup", || json!("rbac.authorization.k8s.io"));
        }
    }
    if !subjects.is_empty() {
        set_at(value, &["subjects"], Value::Array(subjects));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_pads_as_the_standard_says() {
        for (plain, coded) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(plain.as_bytes()), coded);
            assert_eq!(check_base64(coded), Ok(()));
        }
        for (wrong, place) in [("a", 1), ("ab-=", 2), ("Zg=", 2), ("Z===", 1), ("é", 0)] {
            assert_eq!(check_base64(wrong), Err(place), "{wrong}");
        }
    }
}
