//! A manifest: what we want an object to be.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::ToString;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::digest::Digest;
use crate::name::{Uid, Version};

use super::Key;

/// What we want an object to be, and which of its fields are *birth fields*: set when it is made, and from then on
/// left to whoever changes them (design, section 4).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Manifest {
    /// Where the object is found.
    pub key: Key,
    /// JSON pointers of the birth fields.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub birth: Vec<Box<str>>,
    /// The whole object as it is sent in a `Create`. Values of secrets are placeholders.
    pub body: Value,
}

impl Manifest {
    /// Names what is wanted after birth: the same until something about the object is to change.
    pub fn digest(&self) -> Digest {
        Digest::of(&*self.without_birth_fields())
    }

    /// What an apply names: everything but the birth fields.
    pub fn without_birth_fields(&self) -> Cow<'_, Value> {
        if self.birth.is_empty() {
            return Cow::Borrowed(&self.body);
        }
        let mut body = self.body.clone();
        for pointer in &self.birth {
            let Some((parent, field)) = pointer.rsplit_once('/') else {
                continue;
            };
            if let Some(Value::Object(parent)) = body.pointer_mut(parent) {
                parent.remove(field);
            }
        }
        Cow::Owned(body)
    }

    /// The body of a guarded apply: it can change the object with this uid at this version, and no other (facts K2,
    /// K3, K6).
    pub fn guarded(&self, uid: Uid, version: Version) -> Value {
        let mut body = self.without_birth_fields().into_owned();
        if let Some(Value::Object(metadata)) = body.get_mut("metadata") {
            metadata.insert("uid".into(), Value::String(uid.to_string()));
            metadata.insert("resourceVersion".into(), Value::String(version.to_string()));
        }
        body
    }
}
