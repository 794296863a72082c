//! Whether a live object is what its manifest wants (design, section 4, "Drift").
//!
//! The server adds defaults and other people add fields of their own, so a live object has more than its manifest says.
//! What the manifest names must be there; what is there beyond it is no drift, but where it could be something that we
//! once set and no longer name, only `managedFields` can tell: that is [`Match::Surplus`].

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::String;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::manifest::Manifest;
use super::quantity;
use super::read::Object;

/// How a live object compares with its manifest.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Match {
    /// It is what we want.
    Satisfied,
    /// It is what we want, and has something of a sort that we could have set before: the field's path.
    Surplus(Box<str>),
    /// A field is not what we want: its path.
    Differs(Box<str>),
}

/// Compares a live object with its manifest, birth fields left out.
pub fn compare(live: &Object, manifest: &Manifest) -> Match {
    let wanted = manifest.without_birth_fields();
    let mut comparison = Comparison { surplus: None };
    let metadata = live.metadata();
    let result = (|| {
        for (field, labels) in [
            ("labels", &metadata.labels),
            ("annotations", &metadata.annotations),
        ] {
            let Some(Value::Object(named)) = wanted.pointer("/metadata").and_then(|m| m.get(field))
            else {
                continue;
            };
            for (key, value) in named {
                if labels.get(key) != value.as_str() {
                    return Err(alloc::format!("metadata.{field}.{key}"));
                }
            }
        }
        for (part, value) in parts(live) {
            match (wanted.get(part), value) {
                (Some(wanted), value) => comparison.value(part, &value, wanted)?,
                (None, value) if value.is_null() => {}
                (None, _) => comparison.note(part),
            }
        }
        Ok(())
    })();
    match (result, comparison.surplus) {
        (Err(field), _) => Match::Differs(field.into()),
        (Ok(()), Some(field)) => Match::Surplus(field.into()),
        (Ok(()), None) => Match::Satisfied,
    }
}

/// The parts of a live object that its manifest speaks of.
fn parts(live: &Object) -> impl Iterator<Item = (&'static str, Cow<'_, Value>)> {
    let kept = Cow::Borrowed;
    let parts: [Option<(&'static str, Cow<'_, Value>)>; 2] = match live {
        Object::ServiceAccount(account) => {
            let automount = Cow::Owned(account.automount.into());
            [Some(("automountServiceAccountToken", automount)), None]
        }
        Object::Role(role) => [Some(("rules", kept(&role.rules))), None],
        Object::ClusterRole(role) => [Some(("rules", kept(&role.rules))), None],
        Object::RoleBinding(binding) => [
            Some(("roleRef", kept(&binding.role_ref))),
            Some(("subjects", kept(&binding.subjects))),
        ],
        Object::ClusterRoleBinding(binding) => [
            Some(("roleRef", kept(&binding.role_ref))),
            Some(("subjects", kept(&binding.subjects))),
        ],
        Object::Service(service) => [Some(("spec", kept(&service.spec))), None],
        Object::StatefulSet(set) => [Some(("spec", kept(&set.spec.whole))), None],
        Object::Secret(secret) => {
            let text = Cow::Owned(Value::String((*secret.r#type).into()));
            [Some(("type", text)), None]
        }
        Object::Namespace(_) | Object::PersistentVolumeClaim(_) | Object::Pod(_) => [None, None],
    };
    parts.into_iter().flatten()
}

struct Comparison {
    surplus: Option<String>,
}

impl Comparison {
    fn note(&mut self, path: &str) {
        self.surplus.get_or_insert_with(|| path.into());
    }

    fn value(&mut self, path: &str, live: &Value, wanted: &Value) -> Result<(), String> {
        match (live, wanted) {
            (Value::Object(live), Value::Object(wanted)) => self.object(path, live, wanted),
            (Value::Array(live), Value::Array(wanted)) => self.list(path, live, wanted),
            (Value::String(live), Value::String(wanted))
                if live == wanted || quantity::same(live, wanted) =>
            {
                Ok(())
            }
            // The server leaves zeros and empty things out.
            (Value::Null, wanted) if is_zero(wanted) => Ok(()),
            (live, wanted) if live == wanted => Ok(()),
            _ => Err(path.into()),
        }
    }

    fn object(
        &mut self,
        path: &str,
        live: &Map<String, Value>,
        wanted: &Map<String, Value>,
    ) -> Result<(), String> {
        for (key, wanted) in wanted {
            let path = alloc::format!("{path}.{key}");
            self.value(&path, live.get(key).unwrap_or(&Value::Null), wanted)?;
        }
        for key in live.keys().filter(|key| !wanted.contains_key(*key)) {
            if could_be_ours(path, key) {
                self.note(&alloc::format!("{path}.{key}"));
            }
        }
        Ok(())
    }

    fn list(&mut self, path: &str, live: &[Value], wanted: &[Value]) -> Result<(), String> {
        let Some(key) = merge_key(path) else {
            // The server keeps it as one value.
            if live.len() != wanted.len() {
                return Err(path.into());
            }
            return live
                .iter()
                .zip(wanted)
                .enumerate()
                .try_for_each(|(at, (live, wanted))| {
                    self.value(&alloc::format!("{path}[{at}]"), live, wanted)
                });
        };
        for wanted in wanted {
            let name = wanted.get(key).unwrap_or(&Value::Null);
            let path = alloc::format!("{path}[{}]", name.as_str().unwrap_or("?"));
            let live = live.iter().find(|item| item.get(key) == Some(name));
            self.value(&path, live.unwrap_or(&Value::Null), wanted)?;
        }
        for live in live {
            let name = live.get(key).unwrap_or(&Value::Null);
            if !wanted.iter().any(|item| item.get(key) == Some(name)) {
                self.note(&alloc::format!("{path}[{}]", name.as_str().unwrap_or("?")));
            }
        }
        Ok(())
    }
}

fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(value) => !value,
        Value::Number(number) => number.as_u64() == Some(0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.values().all(is_zero),
    }
}

/// By what the items of a list are told apart; none for lists that are one value.
fn merge_key(path: &str) -> Option<&'static str> {
    let field = path.rsplit('.').next().unwrap_or(path);
    match field {
        "containers" | "initContainers" | "volumes" | "env" | "imagePullSecrets" => Some("name"),
        "volumeMounts" => Some("mountPath"),
        _ => None,
    }
}

/// Fields that our builders name at some times and not at others. Beyond these, what a manifest does not name was never
/// ours, but the server's default.
pub(super) fn could_be_ours(path: &str, key: &str) -> bool {
    let parent = path.rsplit('.').next().unwrap_or(path);
    match key {
        "affinity" | "nodeSelector" | "imagePullSecrets" | "volumes" | "volumeMounts" => true,
        "limits" | "requests" => parent == "resources",
        "memory" | "cpu" => parent == "limits" || parent == "requests",
        "runAsUser" | "runAsGroup" | "fsGroup" => parent == "securityContext",
        "externalIPs" | "loadBalancerIP" | "loadBalancerSourceRanges" | "externalName" => true,
        _ => parent == "nodeSelector" || (parent == "annotations" && path.contains("template")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn compared(live: Value, wanted: Value) -> Match {
        let mut comparison = Comparison { surplus: None };
        match (comparison.value("spec", &live, &wanted), comparison.surplus) {
            (Err(field), _) => Match::Differs(field.into()),
            (Ok(()), Some(field)) => Match::Surplus(field.into()),
            (Ok(()), None) => Match::Satisfied,
        }
    }

    #[test]
    fn defaults_of_the_server_and_other_peoples_fields_are_no_drift() {
        let live = json!({"a": 1, "b": {"c": "1Gi", "d": true}, "ports": []});
        assert_eq!(
            compared(live, json!({"b": {"c": "1024Mi"}, "zero": 0})),
            Match::Satisfied
        );
    }

    #[test]
    fn a_field_that_differs_is_named() {
        let live = json!({"containers": [{"name": "web", "image": "a:2"}]});
        let wanted = json!({"containers": [{"name": "web", "image": "a:1"}]});
        assert_eq!(
            compared(live, wanted),
            Match::Differs("spec.containers[web].image".into())
        );
    }

    #[test]
    fn a_container_that_the_manifest_does_not_name_may_be_ours_or_not() {
        let live = json!({"containers": [{"name": "web"}, {"name": "old"}]});
        let wanted = json!({"containers": [{"name": "web"}]});
        assert_eq!(
            compared(live, wanted),
            Match::Surplus("spec.containers[old]".into())
        );
    }
}
