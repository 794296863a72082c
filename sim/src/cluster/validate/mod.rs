//! Whether an object may be stored.

use alloc::vec::Vec;

use serde_json::Value;

use super::failure::Problem;
use super::request::Subresource;
use super::resource::Resource;

/// What is wrong with a new object.
pub(crate) fn create(_resource: Resource, _value: &Value) -> Vec<Problem> {
    Vec::new()
}

/// What is wrong with a new state of an object.
pub(crate) fn update(
    _resource: Resource,
    _subresource: Option<Subresource>,
    old: &Value,
    new: &Value,
) -> Vec<Problem> {
    super::server::check_uid(old, new).into_iter().collect()
}
