//! The vault: for each application that needs one a Secret of its own, beside it, which goes with it.
//!
//! Values are written before the record that names them, so that no record names a value that is not there. The Secret
//! belongs to the application's object, so the cluster takes it away with it; one that a crash left without an owner is
//! swept by the next provisioner.

use std::collections::{BTreeMap, BTreeSet};

use pilotage_core::digest::DigestKey;
use pilotage_core::kubernetes::labels::API_VERSION;
use pilotage_core::name::Uid;
use pilotage_core::secret::{SecretRef, base64};
use pilotage_core::time::{Span, Timestamp};
use serde::Deserialize;
use serde_json::{Value, json};

use super::api::{Failed, Write};
use super::install::{HOME, secret_path, secrets_path};
use super::kind::Kind;
use super::link::Link;
use super::status::moment;
use crate::clock;
use crate::identity::draw_key;
use crate::store::StoreError;

/// Label: the application whose values a Secret holds.
const OF: &str = "pilotage.dev/vault";
/// The type of our Secrets.
const TYPE: &str = "pilotage.dev/vault";
/// The Secret that holds the key of fingerprints.
const KEY: &str = "pilotage-fingerprints";

#[derive(Debug, Deserialize)]
struct Secret {
    metadata: Metadata,
    #[serde(default)]
    data: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    name: String,
    #[serde(default)]
    namespace: String,
    uid: String,
    resource_version: String,
    #[serde(default)]
    labels: BTreeMap<String, String>,
    creation_timestamp: Option<String>,
    #[serde(default)]
    owner_references: Vec<Value>,
}

impl Metadata {
    /// Whether whoever made it may still be about to make what it is for.
    fn is_young(&self, now: Timestamp) -> bool {
        let made = self.creation_timestamp.as_deref().and_then(moment);
        made.is_some_and(|made| now.since(made) < Span::seconds(600))
    }
}

#[derive(Deserialize)]
struct Secrets {
    items: Vec<Secret>,
}

/// Whose values they are.
#[derive(Clone, Debug)]
pub(super) struct Owner {
    pub(super) application: Uid,
    pub(super) name: Box<str>,
    pub(super) namespace: Box<str>,
    /// The object's own uid, once it is there.
    pub(super) object: Option<Uid>,
}

impl Owner {
    fn secret(&self) -> String {
        format!("pilotage-vault-{}", self.application)
    }

    fn references(&self) -> Value {
        match self.object {
            Some(uid) => json!([{
                "apiVersion": API_VERSION,
                "kind": Kind::Application.name(),
                "name": self.name,
                "uid": uid,
            }]),
            None => json!([]),
        }
    }
}

/// The key of a value in its Secret: letters, digits, `-`, `_` and `.` as they are, others by their codes.
fn entry(secret: &SecretRef) -> String {
    let mut key = String::new();
    for character in secret.name.chars() {
        match character {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '-' => key.push(character),
            other => key.push_str(&format!("_{:x}_", u32::from(other))),
        }
    }
    format!("{key}.{}", secret.generation)
}

impl Link {
    /// Keeps values. The first one under a name stays: whoever names it again means the same.
    pub(super) async fn keep_secrets(
        &self,
        owner: &Owner,
        secrets: &[(SecretRef, String)],
    ) -> Result<(), Failed> {
        if secrets.is_empty() {
            return Ok(());
        }
        let api = self.reached().await?;
        let data: BTreeMap<String, String> = secrets
            .iter()
            .map(|(secret, value)| (entry(secret), base64(value.as_bytes())))
            .collect();
        let body = json!({
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {
                "name": owner.secret(),
                "namespace": owner.namespace,
                "labels": { OF: owner.application },
                "ownerReferences": owner.references(),
            },
            "type": TYPE,
            "data": data,
        });
        let path = secrets_path(&owner.namespace);
        match api.write::<Value>(&path, Write::Create(&body)).await {
            Ok(_) => return Ok(()),
            Err(failed) if failed.code() == 409 => {}
            Err(failed) => return Err(failed),
        }
        let path = secret_path(&owner.namespace, &owner.secret());
        let there: Secret = api.get(&path).await?;
        let mut patch = vec![guard(&there.metadata.resource_version)];
        if there.data.is_empty() {
            patch.push(json!({ "op": "add", "path": "/data", "value": {} }));
        }
        let missing = data
            .iter()
            .filter(|(key, _)| !there.data.contains_key(*key));
        patch.extend(missing.map(
            |(key, value)| json!({ "op": "add", "path": format!("/data/{key}"), "value": value }),
        ));
        if patch.len() == 1 {
            return Ok(());
        }
        api.write::<Value>(&path, Write::Patch(&json!(patch)))
            .await
            .map(drop)
    }

    /// Forgets the values of an application that it no longer needs. A user's command looks what there is; whoever acts
    /// on the records has seen it, and looks only where there may be something to forget.
    pub(super) async fn forget_secrets(
        &self,
        owner: &Owner,
        needs: &BTreeSet<&SecretRef>,
        by_user: bool,
    ) -> Result<(), Failed> {
        let needs: BTreeSet<String> = needs.iter().map(|secret| entry(secret)).collect();
        let known = self.kept().get(&owner.application).cloned();
        let looks = match &known {
            Some(known) => !known.is_subset(&needs),
            None => by_user,
        };
        if looks {
            let api = self.reached().await?;
            let path = secret_path(&owner.namespace, &owner.secret());
            match api.get::<Secret>(&path).await {
                Ok(there) => {
                    let mut patch = vec![guard(&there.metadata.resource_version)];
                    let former = there.data.keys().filter(|key| !needs.contains(*key));
                    patch.extend(
                        former.map(|key| json!({ "op": "remove", "path": format!("/data/{key}") })),
                    );
                    if patch.len() > 1 {
                        let patch = json!(patch);
                        api.write::<Value>(&path, Write::Patch(&patch)).await?;
                    }
                }
                Err(failed) if failed.is_missing() => {}
                Err(failed) => return Err(failed),
            }
        }
        if known.is_some() || !needs.is_empty() {
            self.kept().insert(owner.application, needs);
        }
        Ok(())
    }

    /// Gives the values of a new application to its object, so that they go with it.
    pub(super) async fn own_secrets(&self, owner: &Owner) -> Result<(), Failed> {
        let api = self.reached().await?;
        let path = secret_path(&owner.namespace, &owner.secret());
        let patch = json!([{
            "op": "add",
            "path": "/metadata/ownerReferences",
            "value": owner.references(),
        }]);
        api.write::<Value>(&path, Write::Patch(&patch))
            .await
            .map(drop)
    }

    /// Takes back what was kept for an application that did not come about.
    pub(super) async fn drop_secrets(&self, owner: &Owner) -> Result<(), Failed> {
        let api = self.reached().await?;
        let path = secret_path(&owner.namespace, &owner.secret());
        match api.write::<Value>(&path, Write::Delete(&json!({}))).await {
            Ok(_) => Ok(()),
            Err(failed) if failed.is_missing() => Ok(()),
            Err(failed) => Err(failed),
        }
    }

    /// A value, if its application is there.
    pub(super) async fn find_secret(
        &self,
        secret: &SecretRef,
    ) -> Result<Option<String>, StoreError> {
        self.begin().await?;
        let place = self.cache().place(Kind::Application, secret.application);
        let Some(place) = place else {
            return Ok(None);
        };
        let owner = Owner {
            application: secret.application,
            name: place.name.clone(),
            namespace: place.namespace.clone(),
            object: None,
        };
        let path = secret_path(&owner.namespace, &owner.secret());
        let found = match self.api().await?.get::<Secret>(&path).await {
            Ok(found) => found,
            Err(failed) if failed.is_missing() => return Ok(None),
            Err(failed) => return Err(self.failed("read the vault", &failed)),
        };
        let value = found.data.get(&entry(secret));
        value
            .map(|text| {
                let bytes = unbase64(text);
                bytes
                    .and_then(|bytes| String::from_utf8(bytes).ok())
                    .ok_or_else(|| self.error(format!("the vault's {path} is no text")))
            })
            .transpose()
    }

    /// Deletes values of applications that are not there, and gives those of applications that are there to them.
    pub(super) async fn sweep_secrets(&self) -> Result<(), StoreError> {
        let api = self.api().await?;
        let path = format!("/api/v1/secrets?labelSelector={}", OF.replace('/', "%2F"));
        let failed = |failed: Failed| self.failed("sweep the vault", &failed);
        let all: Secrets = api.get(&path).await.map_err(failed)?;
        for secret in all.items {
            let metadata = &secret.metadata;
            let Some(application) = metadata.labels.get(OF).and_then(|uid| uid.parse().ok()) else {
                continue;
            };
            let keys = secret.data.keys().cloned().collect();
            self.kept().insert(application, keys);
            let owner = {
                let cache = self.cache();
                let place = cache.place(Kind::Application, application);
                place.and_then(|place| {
                    Some(Owner {
                        application,
                        object: Some(cache.entry(&place)?.object.uid),
                        name: place.name,
                        namespace: place.namespace,
                    })
                })
            };
            let swept = match owner {
                Some(owner) if metadata.owner_references.is_empty() => {
                    self.own_secrets(&owner).await
                }
                Some(_) => Ok(()),
                None if metadata.is_young(clock::now()) => Ok(()),
                None => {
                    let path = secret_path(&metadata.namespace, &metadata.name);
                    let options = json!({ "preconditions": {
                        "uid": metadata.uid,
                        "resourceVersion": metadata.resource_version,
                    }});
                    let deleted = api.write::<Value>(&path, Write::Delete(&options)).await;
                    deleted.map(drop)
                }
            };
            match swept {
                Err(gone) if gone.is_missing() || gone.is_conflict() => {}
                other => other.map_err(failed)?,
            }
        }
        Ok(())
    }

    /// The key of this state's fingerprints, if somebody has drawn it.
    pub(super) async fn drawn_key(&self) -> Result<Option<DigestKey>, StoreError> {
        let path = secret_path(HOME, KEY);
        let secret = match self.api().await?.get::<Secret>(&path).await {
            Ok(secret) => secret,
            Err(failed) if failed.is_missing() => return Ok(None),
            Err(failed) => return Err(self.failed("read the key of fingerprints", &failed)),
        };
        let text = secret.data.get("key").and_then(|text| unbase64(text));
        let key = text.and_then(|text| serde_json::from_slice(&text).ok());
        let unreadable = || self.error(format!("the key of fingerprints in {path} cannot be read"));
        key.ok_or_else(unreadable).map(Some)
    }

    /// The key of this state's fingerprints, drawn by whoever needs it first.
    pub(super) async fn key(&self) -> Result<DigestKey, StoreError> {
        let failed = |failed: Failed| self.failed("keep the key of fingerprints", &failed);
        for _ in 0..2 {
            if let Some(key) = self.drawn_key().await? {
                return Ok(key);
            }
            let key = serde_json::to_vec(&draw_key()?).unwrap_or_default();
            let body = json!({
                "apiVersion": "v1",
                "kind": "Secret",
                "metadata": { "name": KEY, "namespace": HOME },
                "type": TYPE,
                "data": { "key": base64(&key) },
            });
            self.make_home().await.map_err(failed)?;
            self.make(&secrets_path(HOME), &body)
                .await
                .map_err(failed)?;
        }
        Err(self.error("the key of fingerprints was made and is not there"))
    }
}

fn guard(version: &str) -> Value {
    json!({ "op": "replace", "path": "/metadata/resourceVersion", "value": version })
}

/// What [`base64`] wrote.
fn unbase64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut group, mut bits) = (0_u32, 0);
    for byte in text.trim_end_matches('=').bytes() {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        group = (group << 6) | u32::from(digit);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push(u8::try_from((group >> bits) & 0xff).ok()?);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_read_as_it_was_written() {
        for text in ["", "f", "fo", "foo", "foob", "fooba", "foobar", "Grüße ✓"] {
            let written = base64(text.as_bytes());
            assert_eq!(unbase64(&written).as_deref(), Some(text.as_bytes()));
        }
        assert_eq!(base64(b"fooba"), "Zm9vYmE=");
        assert_eq!(unbase64("Zm9v!"), None);
    }

    #[test]
    fn names_of_values_are_keys_that_a_secret_can_have() {
        let key = |name: &str| {
            entry(&SecretRef {
                application: Uid(1),
                name: name.into(),
                generation: 2,
            })
        };
        assert_eq!(key("ledger-image"), "ledger-image.2");
        assert_eq!(key("a/b_c"), "a_2f_b_5f_c.2");
    }
}
