//! Invariant 7: at rest, access rules are exactly those of the trust asked for (reference, 12.1; KAPP-11, KAPP-14).

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use pilotage_core::life::Life;
use pilotage_core::state::Application;
use serde_json::{Value, json};

use crate::cluster::object::{at, text_at};
use crate::cluster::resource::Resource;
use crate::world::World;

use super::{Broken, holds};

pub(super) fn exact(world: &World) -> Result<(), Broken> {
    let alive = world
        .store
        .applications()
        .filter(|one| one.status.life == Life::Alive);
    for application in alive {
        let model = world
            .store
            .models()
            .find(|one| one.uid == application.model);
        if let Some(model) = model {
            one(world, application, &model.name)?;
        }
    }
    Ok(())
}

fn one(world: &World, application: &Application, namespace: &str) -> Result<(), Broken> {
    let name = &*application.name;
    let wide = format!("pilotage:{namespace}:{name}");
    let all = json!([{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]);
    let (inside, outside) = if application.spec.trust {
        (all.clone(), all)
    } else {
        (
            json!([
                {"apiGroups": [""], "resources": ["namespaces"], "resourceNames": [namespace], "verbs": ["get", "list"]},
                {"apiGroups": [""], "resources": ["pods", "services"], "verbs": ["get", "list", "patch"]},
                {"apiGroups": [""], "resources": ["pods/exec"], "verbs": ["create"]},
            ]),
            json!([{"apiGroups": [""], "resources": ["namespaces"], "verbs": ["get", "list"]}]),
        )
    };
    let roles = [
        (Resource::Role, namespace, name, inside),
        (Resource::ClusterRole, "", wide.as_str(), outside),
    ];
    for (resource, place, name, wanted) in roles {
        let role = world.cluster.peek(resource, place, name);
        let rules = role.and_then(|role| at(&role.value, &["rules"]));
        holds(7, rules == Some(&wanted), || {
            format!("{resource:?} {name} has the rules {rules:?}")
        })?;
    }
    let bindings = [
        (Resource::RoleBinding, namespace, name, "Role"),
        (
            Resource::ClusterRoleBinding,
            "",
            wide.as_str(),
            "ClusterRole",
        ),
    ];
    for (resource, place, bound, kind) in bindings {
        let binding = world.cluster.peek(resource, place, bound);
        let right = binding.is_some_and(|binding| {
            let value = &binding.value;
            let role = (
                text_at(value, &["roleRef", "kind"]),
                text_at(value, &["roleRef", "name"]),
            );
            let subjects: Vec<String> = subjects(value);
            role == (kind, bound) && subjects == [format!("ServiceAccount {namespace}/{name}")]
        });
        holds(7, right, || {
            format!("{resource:?} {bound} does not bind the application's account")
        })?;
    }
    Ok(())
}

fn subjects(binding: &Value) -> Vec<String> {
    let subjects = at(binding, &["subjects"]).and_then(Value::as_array);
    let text = |subject: &Value| {
        format!(
            "{} {}/{}",
            text_at(subject, &["kind"]),
            text_at(subject, &["namespace"]),
            text_at(subject, &["name"])
        )
    };
    subjects.into_iter().flatten().map(text).collect()
}
