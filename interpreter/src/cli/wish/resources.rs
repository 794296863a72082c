//! From what a user gave for a resource to what a record keeps, and what the vault keeps.

use std::collections::BTreeMap;

use pilotage_core::digest::{Digest, DigestKey};
use pilotage_core::kubernetes::write::registry;
use pilotage_core::name::Uid;
use pilotage_core::secret::{Placeholder, SecretRef};
use pilotage_core::state::{Login, Resource, ResourceValue};
use serde_json::json;

use super::super::bounded;
use super::super::failure::Failure;
use crate::charm::GivenResource;
use crate::store::StoreError;

/// Resources as a record keeps them, and the passwords among them for the vault.
pub type Kept = (BTreeMap<String, ResourceValue>, Vec<(SecretRef, String)>);

/// Makes records of resources. A login whose password is the same as before keeps its secret. The key of fingerprints is
/// asked for only where there is a login: to draw it makes the state.
///
/// # Errors
/// A file cannot be read, or there is no key.
pub fn kept(
    key: impl Fn() -> Result<DigestKey, StoreError>,
    application: Uid,
    given: &BTreeMap<String, GivenResource>,
    before: &BTreeMap<String, Resource>,
) -> Result<Kept, Failure> {
    let (mut values, mut secrets) = Kept::default();
    for (name, given) in given {
        let value = match given {
            GivenResource::File(path) => {
                let content = bounded::bytes_of_file(path).map_err(|error| {
                    Failure::failed(format!(
                        "resource \"{name}\": cannot read {}: {error}",
                        path.display()
                    ))
                })?;
                ResourceValue::File {
                    path: path.display().to_string(),
                    size: content.len() as u64,
                    digest: Digest::of_bytes(&content),
                }
            }
            GivenResource::Image(details) => {
                let path = details.registry_path.clone();
                let login = match (&details.username, &details.password) {
                    (Some(username), Some(password)) => {
                        let key = key()?;
                        let before = login_of(before.get(name));
                        let login =
                            login(application, name, &path, (username, password), before, key);
                        if Some(&login) != before {
                            secrets.push((login.secret.clone(), password.clone()));
                        }
                        Some(login)
                    }
                    _ => None,
                };
                ResourceValue::Image { path, login }
            }
        };
        values.insert(name.clone(), value);
    }
    Ok((values, secrets))
}

fn login_of(resource: Option<&Resource>) -> Option<&Login> {
    match &resource?.value {
        ResourceValue::Image { login, .. } => login.as_ref(),
        ResourceValue::File { .. } => None,
    }
}

fn login(
    application: Uid,
    name: &str,
    image: &str,
    (username, password): (&str, &str),
    before: Option<&Login>,
    key: DigestKey,
) -> Login {
    let secret = |generation| SecretRef {
        application,
        name: name.into(),
        generation,
    };
    let with = |generation| {
        let placeholder = Placeholder::DockerConfig {
            secret: secret(generation),
            registry: registry(image).into(),
            username: username.into(),
        };
        let data = json!({".dockerconfigjson": placeholder.render(password)});
        Login {
            username: username.into(),
            secret: secret(generation),
            fingerprint: Digest::keyed(key, &data),
        }
    };
    let generation = before.map_or(0, |login| login.secret.generation);
    let same = with(generation);
    match before {
        Some(before) if *before == same => same,
        Some(_) => with(generation + 1),
        None => same,
    }
}
