//! Storage directives: what a user asks for with `--storage NAME=DIRECTIVE`.

use alloc::string::String;

use serde::{Deserialize, Serialize};

/// What a user asks of one storage; at least one part is given. What is not given, the charm and the model decide.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct StorageDirective {
    /// Name of a pool or of a storage class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<String>,
    /// Number of filesystems for each unit, at least 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// Size of each in MiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_mib: Option<u64>,
}
