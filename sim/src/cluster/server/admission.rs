//! The admission that every cluster has: namespaces, service accounts, growth of claims, defaults of pods.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use serde_json::{Value, json};

use super::Context;
use crate::cluster::Cluster;
use crate::cluster::object::{Stored, at, flag_at, items_at, set_at, set_default, text_at};
use crate::cluster::quantity;
use crate::cluster::request::Failure;
use crate::cluster::resource::Resource;

/// Where a container finds the token of its account.
const TOKEN_PATH: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

impl Cluster {
    /// Lets a new object in, or says why not.
    pub(super) fn admit_create(
        &mut self,
        context: &Context<'_>,
        value: &mut Value,
    ) -> Result<(), Failure> {
        let resource = context.resource;
        if resource.namespaced() {
            let Some(namespace) = self.store.get(Resource::Namespace, "", context.namespace) else {
                return Err(Failure::not_found(Resource::Namespace, context.namespace));
            };
            if namespace.deleting() {
                let name = text_at(value, &["metadata", "name"]);
                return Err(Failure::terminating(resource, name, context.namespace));
            }
        }
        if resource == Resource::Pod {
            self.admit_pod(context, value)?;
        }
        match resource {
            Resource::Namespace => {
                set_at(value, &["spec", "finalizers"], json!(["kubernetes"]));
            }
            Resource::PersistentVolumeClaim => {
                self.choose_class(value);
                protect(value, "kubernetes.io/pvc-protection");
            }
            Resource::PersistentVolume => protect(value, "kubernetes.io/pv-protection"),
            _ => {}
        }
        Ok(())
    }

    /// Lets a change in, or says why not.
    pub(super) fn admit_update(
        &self,
        context: &Context<'_>,
        old: &Stored,
        new: &Value,
    ) -> Result<(), Failure> {
        if context.resource == Resource::PersistentVolumeClaim && context.subresource.is_none() {
            let request = |value| text_at(value, &["spec", "resources", "requests", "storage"]);
            let (before, after) = (request(&old.value), request(new));
            let grows = quantity::nanos(after) > quantity::nanos(before);
            if grows && text_at(&old.value, &["status", "phase"]) == "Bound" && !self.expands(new) {
                return Err(Failure::forbidden(
                    context.resource,
                    old.name(),
                    "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize",
                ));
            }
        }
        Ok(())
    }

    /// Whether the class of a claim lets it grow.
    fn expands(&self, claim: &Value) -> bool {
        let class = text_at(claim, &["spec", "storageClassName"]);
        self.store
            .get(Resource::StorageClass, "", class)
            .is_some_and(|class| flag_at(&class.value, &["allowVolumeExpansion"]))
    }

    /// A claim that names no class gets the newest default class.
    fn choose_class(&self, value: &mut Value) {
        if at(value, &["spec", "storageClassName"]).is_some() {
            return;
        }
        let class = self
            .store
            .iter(Resource::StorageClass, None)
            .filter(|class| {
                class.at(&[
                    "metadata",
                    "annotations",
                    "storageclass.kubernetes.io/is-default-class",
                ]) == Some(&Value::from("true"))
            })
            .max_by_key(|class| text_at(&class.value, &["metadata", "creationTimestamp"]));
        if let Some(class) = class {
            set_at(
                value,
                &["spec", "storageClassName"],
                Value::from(class.name()),
            );
        }
    }

    /// A pod runs as an account that must be there (fact K18), finds its token, and tolerates a short loss of its node.
    fn admit_pod(&mut self, context: &Context<'_>, value: &mut Value) -> Result<(), Failure> {
        let name = String::from(text_at(value, &["metadata", "name"]));
        if text_at(value, &["spec", "serviceAccountName"]).is_empty() {
            for key in ["serviceAccount", "serviceAccountName"] {
                set_at(value, &["spec", key], Value::from("default"));
            }
        }
        let account_name = String::from(text_at(value, &["spec", "serviceAccountName"]));
        let account = self
            .store
            .get(Resource::ServiceAccount, context.namespace, &account_name)
            .cloned()
            .ok_or_else(|| {
                Failure::forbidden(
                    Resource::Pod,
                    &name,
                    &format!(
                        "error looking up service account {}/{account_name}: serviceaccount {account_name:?} not found",
                        context.namespace
                    ),
                )
            })?;
        self.mount_token(value, &account);
        if items_at(value, &["spec", "imagePullSecrets"]).is_empty()
            && let Some(secrets) = account.at(&["imagePullSecrets"])
        {
            set_at(value, &["spec", "imagePullSecrets"], secrets.clone());
        }
        if let Some(spec) = value.get_mut("spec") {
            set_default(spec, "priority", || Value::from(0));
            set_default(spec, "preemptionPolicy", || {
                Value::from("PreemptLowerPriority")
            });
        }
        tolerate(value);
        Ok(())
    }

    /// Mounts the account's token into every container that has nothing at its path.
    fn mount_token(&mut self, value: &mut Value, account: &Arc<Stored>) {
        let wanted = at(value, &["spec", "automountServiceAccountToken"])
            .or_else(|| account.at(&["automountServiceAccountToken"]))
            != Some(&Value::Bool(false));
        if !wanted {
            return;
        }
        let volume = items_at(value, &["spec", "volumes"])
            .iter()
            .map(|volume| text_at(volume, &["name"]))
            .find(|name| name.starts_with("kube-api-access-"))
            .map(ToString::to_string);
        let name = match &volume {
            Some(name) => name.clone(),
            None => self.draw_name("kube-api-access-"),
        };
        let mut mounted = false;
        for list in ["initContainers", "containers"] {
            let containers = value
                .get_mut("spec")
                .and_then(|spec| spec.get_mut(list))
                .and_then(Value::as_array_mut);
            for container in containers.into_iter().flatten() {
                let mut mounts: Vec<Value> = items_at(container, &["volumeMounts"]).to_vec();
                if mounts
                    .iter()
                    .any(|mount| text_at(mount, &["mountPath"]) == TOKEN_PATH)
                {
                    continue;
                }
                mounts.push(json!({"mountPath": TOKEN_PATH, "name": name, "readOnly": true}));
                set_at(container, &["volumeMounts"], Value::Array(mounts));
                mounted = true;
            }
        }
        if mounted && volume.is_none() {
            let mut volumes = items_at(value, &["spec", "volumes"]).to_vec();
            volumes.push(token_volume(&name));
            set_at(value, &["spec", "volumes"], Value::Array(volumes));
        }
    }
}

/// A claim or volume in use must not go: its controller takes the finalizer off when nobody uses it.
fn protect(value: &mut Value, finalizer: &str) {
    let mut finalizers = items_at(value, &["metadata", "finalizers"]).to_vec();
    if !finalizers.iter().any(|own| own == finalizer) {
        finalizers.push(Value::from(finalizer));
        set_at(value, &["metadata", "finalizers"], Value::Array(finalizers));
    }
}

fn token_volume(name: &str) -> Value {
    json!({
        "name": name,
        "projected": {
            "defaultMode": 420,
            "sources": [
                {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
                {"configMap": {
                    "items": [{"key": "ca.crt", "path": "ca.crt"}],
                    "name": "kube-root-ca.crt",
                }},
                {"downwardAPI": {"items": [{
                    "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"},
                    "path": "namespace",
                }]}},
            ],
        },
    })
}

/// A pod stays five minutes on a node that is not ready or not reachable, unless it says otherwise.
pub(super) fn tolerate(pod: &mut Value) {
    const PATH: &[&str] = &["spec", "tolerations"];
    let mut tolerations = items_at(pod, PATH).to_vec();
    let before = tolerations.len();
    for key in [
        "node.kubernetes.io/not-ready",
        "node.kubernetes.io/unreachable",
    ] {
        let tolerated = tolerations.iter().any(|toleration| {
            let (own, effect) = (
                text_at(toleration, &["key"]),
                text_at(toleration, &["effect"]),
            );
            (own == key || own.is_empty()) && (effect == "NoExecute" || effect.is_empty())
        });
        if !tolerated {
            tolerations.push(json!({
                "effect": "NoExecute",
                "key": key,
                "operator": "Exists",
                "tolerationSeconds": 300,
            }));
        }
    }
    if tolerations.len() > before {
        set_at(pod, PATH, Value::Array(tolerations));
    }
}
