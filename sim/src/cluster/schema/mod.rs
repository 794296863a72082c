//! The fields of every kind: their types, how lists and maps merge, and which fields are shown when they are empty.
//!
//! Names, list kinds, merge keys and defaults of keys are those of the published OpenAPI document of Kubernetes 1.36. The
//! volume sources of removed in-tree drivers are known by name alone.

use serde_json::Value;

use super::resource::Resource;

mod access;
mod claim;
mod cluster;
mod container;
mod meta;
mod node;
mod pod;
mod pod_status;
mod scheduling;
mod service;
mod volume;
mod workload;

pub(crate) use self::access::*;
pub(crate) use self::claim::*;
pub(crate) use self::cluster::*;
pub(crate) use self::container::*;
pub(crate) use self::meta::*;
pub(crate) use self::node::*;
pub(crate) use self::pod::*;
pub(crate) use self::pod_status::*;
pub(crate) use self::scheduling::*;
pub(crate) use self::service::*;
pub(crate) use self::volume::*;
pub(crate) use self::workload::*;

/// What a value may be, and how two writers share it.
#[derive(Debug)]
pub(crate) enum Type {
    /// A string.
    Text,
    /// An integer.
    Number,
    /// A boolean.
    Flag,
    /// An amount with a unit, kept in its canonical form (fact K16).
    Quantity,
    /// A number or a name.
    Port,
    /// A point in time or a duration, as text.
    Time,
    /// Free JSON: maps merge by key, everything else is replaced whole.
    Any,
    /// A record, each field with an owner of its own. Sorted by name.
    Struct(&'static [Field]),
    /// A record or map that is replaced whole.
    Atomic(&'static Type),
    /// Entries with owners of their own.
    Map(&'static Type),
    /// A map that is replaced whole.
    AtomicMap(&'static Type),
    /// A list that is replaced whole.
    List(&'static Type),
    /// A list of scalars, each with an owner of its own.
    Set(&'static Type),
    /// A list of records that are told apart by these fields, each with owners of its own.
    Keyed(&'static [&'static str], &'static Type),
}

/// A field of a record.
#[derive(Debug)]
pub(crate) struct Field {
    /// Its name in JSON.
    pub(crate) name: &'static str,
    /// What it holds.
    pub(crate) ty: &'static Type,
    /// When it is part of a stored object.
    pub(crate) shown: Shown,
}

/// When a field is part of a stored object (fact K16).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// Always, with its zero value if need be.
    Always,
    /// If it was given, zero values too.
    Given,
    /// If it is not empty, zero or false.
    NonZero,
}

/// Shown always.
const fn always(name: &'static str, ty: &'static Type) -> Field {
    Field {
        name,
        ty,
        shown: Shown::Always,
    }
}

/// Shown if given.
const fn given(name: &'static str, ty: &'static Type) -> Field {
    Field {
        name,
        ty,
        shown: Shown::Given,
    }
}

/// Shown if neither empty, zero nor false.
const fn nonzero(name: &'static str, ty: &'static Type) -> Field {
    Field {
        name,
        ty,
        shown: Shown::NonZero,
    }
}

impl Type {
    /// The field of that name, if this is a record that has it.
    pub(crate) fn field(&self, name: &str) -> Option<&'static Field> {
        match self {
            Type::Struct(fields) => fields
                .binary_search_by(|field| field.name.cmp(name))
                .ok()
                .and_then(|index| fields.get(index)),
            Type::Atomic(inner) => inner.field(name),
            _ => None,
        }
    }
}

/// What an object of a kind holds before anybody says anything.
pub(crate) fn zero_object(resource: Resource) -> Value {
    super::fields::zero(resource.schema())
}

static TEXT: Type = Type::Text;
static NUMBER: Type = Type::Number;
static FLAG: Type = Type::Flag;
static QUANTITY: Type = Type::Quantity;
static PORT: Type = Type::Port;
static TIME: Type = Type::Time;
static ANY: Type = Type::Any;

#[cfg(test)]
mod tests {
    use super::*;

    fn check(ty: &Type, depth: usize) {
        assert!(depth < 40, "the schema has no cycles");
        match ty {
            Type::Struct(fields) => {
                assert!(fields.is_sorted_by(|left, right| left.name < right.name));
                for field in *fields {
                    check(field.ty, depth + 1);
                }
            }
            Type::Keyed(keys, item) => {
                for key in *keys {
                    assert!(item.field(key).is_some(), "{key} is a field of the item");
                }
                check(item, depth + 1);
            }
            Type::Atomic(inner)
            | Type::Map(inner)
            | Type::AtomicMap(inner)
            | Type::List(inner)
            | Type::Set(inner) => check(inner, depth + 1),
            _ => {}
        }
    }

    #[test]
    fn fields_are_sorted_and_keys_exist() {
        for resource in Resource::ALL {
            check(resource.schema(), 0);
            assert!(resource.schema().field("metadata").is_some());
        }
    }
}
