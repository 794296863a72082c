//! Maps whose keys are no texts, in JSON: a list of pairs, by key. For `#[serde(with = "crate::pairs")]`.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Writes the pairs, by key.
///
/// # Errors
/// The serializer's own.
pub fn serialize<K: Serialize, V: Serialize, S: Serializer>(
    map: &BTreeMap<K, V>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(map)
}

/// Reads pairs; the last of equal keys wins.
///
/// # Errors
/// The deserializer's own.
pub fn deserialize<'de, K, V, D>(deserializer: D) -> Result<BTreeMap<K, V>, D::Error>
where
    K: Deserialize<'de> + Ord,
    V: Deserialize<'de>,
    D: Deserializer<'de>,
{
    let pairs: Vec<(K, V)> = Vec::deserialize(deserializer)?;
    Ok(pairs.into_iter().collect())
}
