//! Digests of what is written down: SipHash-2-4 with 128 bits over canonical JSON.
//!
//! `core::hash` is for maps inside one process; a digest must be the same on every machine and in every release.

use alloc::string::String;
use core::fmt;
use core::hash::Hasher;

use serde::{Deserialize, Serialize};
use siphasher::sip128::{Hasher128, SipHasher24};

/// A keyed digest. With the default key it names a content; with a secret key it is a fingerprint.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Digest(pub u128);

/// The key of a [`Digest`].
#[derive(Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DigestKey(pub [u8; 16]);

impl fmt::Debug for DigestKey {
    // The key makes fingerprints of secrets useless to whoever does not have it: it is shown nowhere.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DigestKey(…)")
    }
}

impl Digest {
    /// The digest of a value's JSON. `serde_json` writes maps of `Value` in key order and structs in field order, so
    /// equal values have equal bytes.
    ///
    /// # Errors
    /// None for the types of this crate: they are all representable as JSON. A value that is not gives the digest of
    /// nothing.
    pub fn of(value: &impl Serialize) -> Self {
        Self::keyed(DigestKey::default(), value)
    }

    /// The digest of a value's JSON under a key.
    pub fn keyed(key: DigestKey, value: &impl Serialize) -> Self {
        Self::keyed_bytes(key, &serde_json::to_vec(value).unwrap_or_default())
    }

    /// The digest of bytes.
    pub fn of_bytes(bytes: &[u8]) -> Self {
        Self::keyed_bytes(DigestKey::default(), bytes)
    }

    fn keyed_bytes(key: DigestKey, bytes: &[u8]) -> Self {
        let mut hasher = SipHasher24::new_with_key(&key.0);
        hasher.write(bytes);
        Digest(hasher.finish128().as_u128())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> String {
        alloc::format!("{digest}")
    }
}

/// A text that is no digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a digest of 32 hexadecimal digits")]
pub struct NotDigest;

impl TryFrom<String> for Digest {
    type Error = NotDigest;

    fn try_from(text: String) -> Result<Self, NotDigest> {
        u128::from_str_radix(&text, 16)
            .map(Digest)
            .map_err(|_| NotDigest)
    }
}
