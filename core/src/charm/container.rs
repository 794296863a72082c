//! Workload containers: `containers`.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

/// One workload container.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Container {
    /// Name of the container, a DNS label.
    pub name: String,
    /// Name of the resource of kind `oci-image` that it runs.
    pub resource: String,
    /// Where it sees the charm's storages, in the order written.
    pub mounts: Vec<Mount>,
    /// User id that it runs as: 0 to 999, or from 10000. `None` leaves it to the image, which is not 0.
    pub uid: Option<u32>,
    /// Group id, with the same bounds.
    pub gid: Option<u32>,
}

/// A storage as one container sees it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Mount {
    /// Name of the storage.
    pub storage: String,
    /// Absolute path in the container, without a slash at its end. `None`: the storage's own path.
    pub location: Option<String>,
}
