//! Bringing what a client sent into the form in which the server keeps it (fact K16), and checking what an apply names.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde_json::{Map, Value};

use super::element::{Element, Scalar};
use crate::cluster::quantity;
use crate::cluster::resource::Resource;
use crate::cluster::schema::{Shown, Type};

/// A value that does not fit its field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mistake {
    /// The path of the field.
    pub(crate) path: String,
    /// What is wrong.
    pub(crate) problem: String,
}

impl Mistake {
    fn new(problem: impl Into<String>) -> Self {
        Mistake {
            path: String::new(),
            problem: problem.into(),
        }
    }

    fn below(mut self, step: impl core::fmt::Display) -> Self {
        self.path = format!("{step}{}", self.path);
        self
    }
}

impl core::fmt::Display for Mistake {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}: {}", self.path, self.problem)
    }
}

/// The Go name of what a JSON value is, as decoding errors say it.
fn what(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn wrong(expected: &str, value: &Value) -> Mistake {
    Mistake::new(format!("expected {expected}, got {}", what(value)))
}

/// Brings a value into the form in which it is kept: unknown fields, nulls and empty lists go, quantities become canonical,
/// records that are always shown appear.
pub(crate) fn clean(value: &mut Value, ty: &'static Type) -> Result<(), Mistake> {
    match (ty, &mut *value) {
        (Type::Text | Type::Time, Value::String(_))
        | (Type::Flag, Value::Bool(_))
        | (Type::Any, _) => Ok(()),
        (Type::Number, Value::Number(number)) if number.is_i64() => Ok(()),
        (Type::Port, Value::Number(number)) if number.is_i64() => Ok(()),
        (Type::Port, Value::String(_)) => Ok(()),
        (Type::Quantity, Value::String(text)) => {
            match quantity::canonical(text) {
                Some(canonical) if canonical != *text => *text = canonical,
                Some(_) => {}
                None => {
                    return Err(Mistake::new(format!(
                        "quantities must match the regular expression '{}'",
                        quantity::PATTERN
                    )));
                }
            }
            Ok(())
        }
        (Type::Quantity, Value::Number(number)) => {
            let text = number.to_string();
            let canonical = quantity::canonical(&text)
                .ok_or_else(|| Mistake::new("a quantity cannot be that number"))?;
            *value = Value::String(canonical);
            Ok(())
        }
        (Type::Atomic(inner), _) => clean(value, inner),
        (Type::Struct(fields), Value::Object(map)) => {
            let mut wrong = None;
            map.retain(|key, value| {
                let Some(field) = ty.field(key) else {
                    return false;
                };
                if value.is_null() {
                    return false;
                }
                if let Err(mistake) = clean(value, field.ty) {
                    wrong.get_or_insert(mistake.below(format_args!(".{key}")));
                }
                field.shown != Shown::NonZero || !is_zero(value)
            });
            for field in *fields {
                if field.shown == Shown::Always && !map.contains_key(field.name) {
                    map.insert(field.name.to_string(), zero(field.ty));
                }
            }
            wrong.map_or(Ok(()), Err)
        }
        (Type::Map(item) | Type::AtomicMap(item), Value::Object(map)) => {
            for (key, value) in map.iter_mut() {
                if value.is_null() {
                    *value = zero(item);
                }
                clean(value, item).map_err(|mistake| mistake.below(format_args!(".{key}")))?;
            }
            Ok(())
        }
        (Type::List(item) | Type::Set(item) | Type::Keyed(_, item), Value::Array(items)) => {
            for (index, value) in items.iter_mut().enumerate() {
                if value.is_null() {
                    *value = zero(item);
                }
                clean(value, item).map_err(|mistake| mistake.below(format_args!("[{index}]")))?;
            }
            Ok(())
        }
        _ => Err(wrong(expected(ty), value)),
    }
}

/// What is lost when an object is kept: the store does not tell an empty list from none. Only rules are shown without any;
/// a write that names none still changes them.
pub(crate) fn forget_empty(resource: Resource, value: &mut Value) {
    if matches!(resource, Resource::Role | Resource::ClusterRole)
        && let Some(rules) = value.get_mut("rules")
        && rules.as_array().is_some_and(Vec::is_empty)
    {
        *rules = Value::Null;
    }
}

fn expected(ty: &Type) -> &'static str {
    match ty {
        Type::Text | Type::Time | Type::Quantity => "string",
        Type::Number => "numeric (int or float)",
        Type::Port => "number or string",
        Type::Flag => "boolean",
        Type::List(_) | Type::Set(_) | Type::Keyed(..) => "list",
        _ => "map",
    }
}

fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(flag) => !flag,
        Value::Number(number) => number.as_i64() == Some(0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
    }
}

/// What a field of that type holds if nobody says more.
pub(crate) fn zero(ty: &'static Type) -> Value {
    match ty {
        Type::Text => Value::String(String::new()),
        Type::Number => Value::from(0),
        Type::Flag => Value::Bool(false),
        Type::Quantity => Value::String("0".into()),
        Type::Atomic(inner) => zero(inner),
        Type::Struct(_) => {
            let mut value = Value::Object(Map::new());
            // An empty record fits every record type.
            let _ = clean(&mut value, ty);
            value
        }
        Type::Time | Type::Any | Type::Port | Type::Map(_) | Type::AtomicMap(_) => Value::Null,
        Type::List(_) | Type::Set(_) | Type::Keyed(..) => Value::Null,
    }
}

/// Checks what an apply names: every field must be known, of its type, and no item named twice (fact K19).
pub(crate) fn check(value: &Value, ty: &'static Type) -> Result<(), Mistake> {
    match (ty, value) {
        (_, Value::Null) | (Type::Any, _) => Ok(()),
        (Type::Text | Type::Time, Value::String(_)) | (Type::Flag, Value::Bool(_)) => Ok(()),
        (Type::Number, Value::Number(_)) => Ok(()),
        (Type::Quantity | Type::Port, Value::String(_) | Value::Number(_)) => Ok(()),
        (Type::Atomic(inner), _) => check(value, inner),
        (Type::Struct(_), Value::Object(map)) => {
            for (key, value) in map {
                let step = format_args!(".{key}");
                match ty.field(key) {
                    Some(field) => check(value, field.ty).map_err(|wrong| wrong.below(step))?,
                    None => return Err(Mistake::new("field not declared in schema").below(step)),
                }
            }
            Ok(())
        }
        (Type::Map(item) | Type::AtomicMap(item), Value::Object(map)) => {
            for (key, value) in map {
                check(value, item).map_err(|wrong| wrong.below(format_args!(".{key}")))?;
            }
            Ok(())
        }
        (Type::List(item), Value::Array(items)) => {
            for (index, value) in items.iter().enumerate() {
                check(value, item).map_err(|wrong| wrong.below(format_args!("[{index}]")))?;
            }
            Ok(())
        }
        (Type::Keyed(_, item) | Type::Set(item), Value::Array(items)) => {
            let mut seen: Vec<Element> = Vec::with_capacity(items.len());
            for (index, value) in items.iter().enumerate() {
                let element = match ty {
                    Type::Keyed(keys, _) => Element::key(keys, value).map_err(|key| {
                        Mistake::new(format!(
                            "element {index}: associative list with keys has an element that omits key field {key:?} (and doesn't have default value)"
                        ))
                    })?,
                    _ => Scalar::of(value)
                        .map(Element::Value)
                        .ok_or_else(|| wrong("scalar", value))?,
                };
                if seen.contains(&element) {
                    return Err(Mistake::new(format!("duplicate entries for key {element}")));
                }
                check(value, item).map_err(|wrong| wrong.below(&element))?;
                seen.push(element);
            }
            Ok(())
        }
        _ => Err(wrong(expected(ty), value)),
    }
}
