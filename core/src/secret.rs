//! Secrets without their values: references, placeholders, and the one function that fills them in (design, section 6).

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::digest::{Digest, DigestKey};
use crate::name::Uid;

/// Names one value in the store's vault.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SecretRef {
    /// Whose it is.
    pub application: Uid,
    /// What it is for, unique in the application.
    pub name: Box<str>,
    /// Rises when the value changes, so a changed value changes the manifest.
    pub generation: u32,
}

/// How a value appears in a Secret's `data`. A closed set: nothing else is ever filled in.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "form", rename_all = "kebab-case")]
pub enum Placeholder {
    /// The value itself.
    Plain {
        /// Which value.
        secret: SecretRef,
    },
    /// A `.dockerconfigjson` with one registry (Kubernetes: "Pull an Image from a Private Registry").
    DockerConfig {
        /// The password.
        secret: SecretRef,
        /// The registry's host.
        registry: Box<str>,
        /// Who logs in.
        username: Box<str>,
    },
}

/// The only key of the JSON object that stands for a value.
const PLACEHOLDER: &str = "pilotage.dev/placeholder";

impl Placeholder {
    /// As it stands in a manifest.
    pub fn to_value(&self) -> Value {
        json!({ PLACEHOLDER: self })
    }

    /// Which value it stands for.
    pub fn secret(&self) -> &SecretRef {
        match self {
            Placeholder::Plain { secret } | Placeholder::DockerConfig { secret, .. } => secret,
        }
    }

    fn read(value: &Map<String, Value>) -> Option<Self> {
        let inner = value.get(PLACEHOLDER)?;
        Placeholder::deserialize(inner).ok()
    }

    /// The base64 text that a Secret's `data` holds.
    pub fn render(&self, value: &str) -> String {
        match self {
            Placeholder::Plain { .. } => base64(value.as_bytes()),
            Placeholder::DockerConfig {
                registry, username, ..
            } => {
                let auth = base64(alloc::format!("{username}:{value}").as_bytes());
                let config = json!({"auths": {&**registry: {
                    "auth": auth, "password": value, "username": username,
                }}});
                base64(alloc::format!("{config}").as_bytes())
            }
        }
    }
}

/// A value that a manifest needs and the vault does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the vault has no value for secret \"{}\" (generation {})", .0.name, .0.generation)]
pub struct Missing(pub SecretRef);

/// Puts values in the place of every placeholder of a manifest.
///
/// # Errors
/// The first value that is missing.
pub fn fill(
    manifest: &Value,
    values: &impl Fn(&SecretRef) -> Option<String>,
) -> Result<Value, Missing> {
    Ok(match manifest {
        Value::Object(map) => match Placeholder::read(map) {
            Some(placeholder) => {
                let secret = placeholder.secret();
                let value = values(secret).ok_or_else(|| Missing(secret.clone()))?;
                Value::String(placeholder.render(&value))
            }
            None => {
                let mut filled = Map::new();
                for (key, value) in map {
                    filled.insert(key.clone(), fill(value, values)?);
                }
                Value::Object(filled)
            }
        },
        Value::Array(items) => {
            let items: Result<Vec<Value>, Missing> =
                items.iter().map(|item| fill(item, values)).collect();
            Value::Array(items?)
        }
        other => other.clone(),
    })
}

/// What stands for the `data` of a Secret wherever the core can see it: a digest under the state's own key.
pub fn fingerprint(key: DigestKey, data: &Value) -> Digest {
    Digest::keyed(key, data)
}

/// Takes a live Secret's data out, and puts its fingerprint in the place where
/// [`read::Secret`](crate::kubernetes::read::Secret) looks for it. Without data it is the fingerprint of an empty map.
pub fn redact(key: DigestKey, secret: &mut Value) {
    if let Value::Object(secret) = secret {
        let data = match secret.remove("data") {
            None | Some(Value::Null) => Value::Object(Map::new()),
            Some(data) => data,
        };
        secret.remove("stringData");
        let fingerprint = fingerprint(key, &data);
        secret.insert("fingerprint".into(), Value::String(fingerprint.into()));
    }
}

/// Bytes as text (RFC 4648, section 4), as a Secret's `data` holds them.
pub fn base64(bytes: &[u8]) -> String {
    const DIGITS: [char; 64] = {
        let mut digits = ['A'; 64];
        let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut at = 0;
        #[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]
        // Evaluated by the compiler.
        while at < 64 {
            digits[at] = letters[at] as char;
            at += 1;
        }
        digits
    };
    let mut text = String::with_capacity(bytes.len().div_ceil(3).saturating_mul(4));
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
        let group = (byte(0) << 16) | (byte(1) << 8) | byte(2);
        for (at, shift) in [18_u32, 12, 6, 0].into_iter().enumerate() {
            if at <= chunk.len() {
                let digit = usize::try_from((group >> shift) & 63).unwrap_or(0);
                text.push(DIGITS.get(digit).copied().unwrap_or('='));
            } else {
                text.push('=');
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_follows_the_test_vectors_of_rfc_4648() {
        let vectors = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ];
        for (plain, encoded) in vectors {
            assert_eq!(base64(plain.as_bytes()), encoded);
        }
    }

    #[test]
    fn every_placeholder_is_filled_and_a_missing_value_is_named() {
        let secret = SecretRef {
            application: Uid(7),
            name: "web".into(),
            generation: 1,
        };
        let placeholder = Placeholder::Plain {
            secret: secret.clone(),
        };
        let manifest =
            json!({"data": {"a": placeholder.to_value()}, "list": [placeholder.to_value()]});
        let filled = fill(&manifest, &|_| Some("foo".into()));
        assert_eq!(filled, Ok(json!({"data": {"a": "Zm9v"}, "list": ["Zm9v"]})));
        assert_eq!(fill(&manifest, &|_| None), Err(Missing(secret)));
    }

    #[test]
    fn a_redacted_secret_holds_a_fingerprint_that_only_its_key_and_its_data_change() {
        let mut secrets = [
            (DigestKey::default(), json!({"data": {"a": "Zm9v"}})),
            (DigestKey::default(), json!({"data": {"a": "Zm9w"}})),
            (DigestKey([1; 16]), json!({"data": {"a": "Zm9v"}})),
            (DigestKey::default(), json!({"stringData": {"a": "foo"}})),
        ];
        let mut seen = Vec::new();
        for (key, secret) in &mut secrets {
            redact(*key, secret);
            let text = alloc::format!("{secret}");
            assert!(!text.contains("Zm9") && !text.contains("foo"), "{text}");
            assert!(!seen.contains(&text), "{text}");
            seen.push(text);
        }
        let mut again = json!({"data": {"a": "Zm9v"}});
        redact(DigestKey::default(), &mut again);
        assert_eq!(alloc::format!("{again}"), seen[0]);
    }
}
