//! How large an object may be.

use serde_json::Value;

use super::kind::Key;

/// The most bytes of a status, in which the whole record is. etcd keeps up to 1.5 MiB of one object ("System limits"),
/// and the spec is a part of it.
pub(super) const LARGEST_STATUS: usize = 1_000_000;
/// The most bytes of a spec.
pub(super) const LARGEST_SPEC: usize = 400_000;

/// That a part of an object is larger than a cluster keeps it, if it is.
pub(super) fn too_large(key: &Key, what: &str, value: &Value, largest: usize) -> Option<String> {
    let size = value.to_string().len();
    (size > largest).then(|| {
        format!(
            "the {what} of {key} would have {size} bytes, and a cluster keeps at most {largest} of it: \
             use fewer units or a smaller charm, or a state in a file"
        )
    })
}
