//! Making what a state needs: the definitions, namespaces, a place of Pilotage's own.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use pilotage_core::kubernetes::write;
use pilotage_core::state::Model;
use serde_json::{Value, json};

use super::api::{Failed, Write};
use super::definitions::{REVISION, REVISION_KEY, definitions};
use super::link::Link;
use crate::cluster::kube::{OWN_NAMESPACE, encode};
use crate::store::StoreError;

/// The namespace of what belongs to the state as a whole.
pub const HOME: &str = OWN_NAMESPACE;

/// How long the server may take to serve what was defined.
const PATIENCE: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(100);

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

impl Link {
    /// Makes the definitions, where they are not there or those of an earlier release, and waits until they are served.
    pub(super) async fn install(&self) -> Result<(), StoreError> {
        let api = self.api().await?;
        let cannot = |failed: Failed| {
            match failed.code() {
            403 => self.error(format!(
                "the cluster does not know Pilotage's custom resources, and does not let us define them: {}; \
                 let its administrator apply what `pilotage manifests` prints",
                failed.words()
            )),
            _ => self.failed("define the custom resources", &failed),
        }
        };
        let mut changed = false;
        for definition in definitions() {
            let name = definition["metadata"]["name"].as_str().unwrap_or_default();
            let path = format!("{DEFINITIONS}/{name}");
            let there = match api.get::<Value>(&path).await {
                Ok(there) => revision(&there),
                Err(failed) if failed.is_missing() => None,
                Err(failed) => return Err(cannot(failed)),
            };
            if there.is_none_or(|there| there < REVISION) {
                let write = Write::Apply(&definition);
                api.write::<Value>(&path, write).await.map_err(cannot)?;
                changed = true;
            }
        }
        if changed || !self.installed.load(Ordering::SeqCst) {
            self.wait_until_served().await?;
        }
        Ok(())
    }

    async fn wait_until_served(&self) -> Result<(), StoreError> {
        let end = Instant::now() + PATIENCE;
        loop {
            if self.list().await?.is_some() {
                return Ok(());
            }
            if Instant::now() > end {
                return Err(self.error("the custom resources are defined, and not served"));
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Makes the namespace of a model, as its worker would.
    pub(super) async fn make_namespace(&self, model: &Model) -> Result<(), Failed> {
        let view = model.view();
        if !view.owns_namespace {
            return Ok(());
        }
        self.make("/api/v1/namespaces", &write::namespace(&view).body)
            .await
    }

    /// Makes the namespace of what belongs to the state as a whole.
    pub(super) async fn make_home(&self) -> Result<(), Failed> {
        let namespace = json!({
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": { "name": HOME },
        });
        self.make("/api/v1/namespaces", &namespace).await
    }

    /// Makes an object, unless one of its name is there.
    pub(super) async fn make(&self, path: &str, body: &Value) -> Result<(), Failed> {
        let api = self.api().await;
        let api = api.map_err(|error| Failed::NotSent(error.to_string()))?;
        match api.write::<Value>(path, Write::Create(body)).await {
            Ok(_) => Ok(()),
            Err(failed) if failed.code() == 409 => Ok(()),
            Err(failed) => Err(failed),
        }
    }
}

fn revision(definition: &Value) -> Option<u64> {
    let said = &definition["metadata"]["annotations"][REVISION_KEY];
    // Somebody's definition of that name without our word on it is replaced.
    Some(
        said.as_str()
            .and_then(|text| text.parse().ok())
            .unwrap_or(0),
    )
}

/// The address of a Secret.
pub(super) fn secret_path(namespace: &str, name: &str) -> String {
    format!("{}/{}", secrets_path(namespace), encode(name))
}

/// The address of the Secrets of a namespace.
pub(super) fn secrets_path(namespace: &str) -> String {
    format!("/api/v1/namespaces/{}/secrets", encode(namespace))
}
