//! What a charm assumes to be there: `assumes`.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

/// One thing that a charm assumes, or a choice of things.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Assumption {
    /// A feature by name, such as `k8s-api`.
    Feature(String),
    /// A feature in a range of versions, such as `juju >= 3.4`.
    Version {
        /// Name of the feature.
        feature: String,
        /// How its version compares with the one named.
        comparison: Comparison,
        /// Major, minor and patch number; numbers not written are 0.
        version: [u32; 3],
    },
    /// One of these is enough.
    AnyOf(Vec<Assumption>),
    /// All of these are needed.
    AllOf(Vec<Assumption>),
}

/// How a version compares with another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Comparison {
    /// `>=`
    #[serde(rename = ">=")]
    AtLeast,
    /// `<`
    #[serde(rename = "<")]
    Below,
}
