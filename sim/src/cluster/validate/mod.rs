//! Whether an object may be stored: codes, reasons and messages as the real server gives them, for what is checked.

mod claim;
mod metadata;
mod names;
mod pod;
mod service;
mod workload;

use alloc::format;
use alloc::vec::Vec;

use serde_json::Value;

use super::failure::Problem;
use super::object::{at, flag_at, items_at, text_at};
use super::request::Subresource;
use super::resource::Resource;

/// What is wrong with a new object.
pub(crate) fn create(resource: Resource, value: &Value) -> Vec<Problem> {
    let mut problems = Vec::new();
    metadata::create(resource, value, &mut problems);
    match resource {
        Resource::Pod => {
            if let Some(spec) = value.get("spec") {
                pod::spec(spec, "spec", &[], &mut problems);
            }
        }
        Resource::StatefulSet => {
            workload::create(resource, value, &mut problems);
            workload::create_service_name(value, &mut problems);
        }
        Resource::Deployment | Resource::DaemonSet | Resource::ReplicaSet => {
            workload::create(resource, value, &mut problems);
        }
        Resource::Service => {
            service::create(value, &mut problems);
            service::node_ports(value, &mut problems);
        }
        Resource::PersistentVolumeClaim => claim::create(value, &mut problems),
        Resource::PersistentVolume => claim::create_volume(value, &mut problems),
        Resource::StorageClass if text_at(value, &["provisioner"]).is_empty() => {
            problems.push(Problem::required("provisioner", ""));
        }
        Resource::Role | Resource::ClusterRole => rules(value, &mut problems),
        Resource::RoleBinding | Resource::ClusterRoleBinding => binding(value, &mut problems),
        _ => {}
    }
    problems
}

/// What is wrong with a new state of an object.
pub(crate) fn update(
    resource: Resource,
    subresource: Option<Subresource>,
    old: &Value,
    new: &Value,
) -> Vec<Problem> {
    let mut problems = Vec::new();
    metadata::update(old, new, &mut problems);
    if subresource.is_some() {
        return problems;
    }
    match resource {
        Resource::Pod => pod::update(old, new, &mut problems),
        Resource::StatefulSet
        | Resource::Deployment
        | Resource::DaemonSet
        | Resource::ReplicaSet => workload::update(resource, old, new, &mut problems),
        Resource::Service => service::update(old, new, &mut problems),
        Resource::PersistentVolumeClaim => claim::update(old, new, &mut problems),
        Resource::PersistentVolume => claim::update_volume(old, new, &mut problems),
        Resource::Secret => secret(old, new, &mut problems),
        Resource::Role | Resource::ClusterRole => rules(new, &mut problems),
        Resource::RoleBinding | Resource::ClusterRoleBinding => {
            binding(new, &mut problems);
            immutable(old, new, "roleRef", "cannot change roleRef", &mut problems);
        }
        Resource::ControllerRevision => {
            immutable(old, new, "data", "field is immutable", &mut problems);
        }
        Resource::StorageClass => {
            for key in ["parameters", "provisioner", "reclaimPolicy"] {
                if old.get(key) != new.get(key) {
                    problems.push(Problem::forbidden(
                        key,
                        &format!("updates to {key} are forbidden."),
                    ));
                }
            }
        }
        _ => {}
    }
    problems
}

fn immutable(old: &Value, new: &Value, key: &str, detail: &str, problems: &mut Vec<Problem>) {
    if old.get(key) != new.get(key) {
        let value = new.get(key).cloned().unwrap_or(Value::Null);
        problems.push(Problem::invalid(key, value, detail));
    }
}

fn secret(old: &Value, new: &Value, problems: &mut Vec<Problem>) {
    immutable(old, new, "type", "field is immutable", problems);
    if flag_at(old, &["immutable"]) {
        for key in ["immutable", "data"] {
            if old.get(key) != new.get(key) {
                problems.push(Problem::forbidden(
                    key,
                    "field is immutable when `immutable` is set",
                ));
            }
        }
    }
}

fn rules(value: &Value, problems: &mut Vec<Problem>) {
    for (index, rule) in items_at(value, &["rules"]).iter().enumerate() {
        let field = |key: &str| pod::below("rules", index, key);
        let given = |key: &str| !items_at(rule, &[key]).is_empty();
        if !given("verbs") {
            problems.push(Problem::required(
                field("verbs"),
                "verbs must contain at least one value",
            ));
        }
        if given("nonResourceURLs") {
            continue;
        }
        if !given("apiGroups") {
            problems.push(Problem::required(
                field("apiGroups"),
                "resource rules must supply at least one api group",
            ));
        }
        if !given("resources") {
            problems.push(Problem::required(
                field("resources"),
                "resource rules must supply at least one resource",
            ));
        }
    }
}

fn binding(value: &Value, problems: &mut Vec<Problem>) {
    let kind = text_at(value, &["roleRef", "kind"]);
    if !matches!(kind, "Role" | "ClusterRole") {
        problems.push(Problem::unsupported(
            "roleRef.kind",
            kind,
            &["Role", "ClusterRole"],
        ));
    }
    if text_at(value, &["roleRef", "name"]).is_empty() {
        problems.push(Problem::required("roleRef.name", ""));
    }
    for (index, subject) in items_at(value, &["subjects"]).iter().enumerate() {
        let field = |key: &str| pod::below("subjects", index, key);
        if text_at(subject, &["name"]).is_empty() {
            problems.push(Problem::required(field("name"), ""));
        }
        let kind = text_at(subject, &["kind"]);
        if !matches!(kind, "ServiceAccount" | "User" | "Group") {
            problems.push(Problem::unsupported(
                field("kind"),
                kind,
                &["ServiceAccount", "User", "Group"],
            ));
        }
        if kind == "ServiceAccount" && at(subject, &["namespace"]).is_none() {
            problems.push(Problem::required(field("namespace"), ""));
        }
    }
}
