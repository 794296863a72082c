//! What a write changed, and what an apply names.

use alloc::vec::Vec;

use serde_json::{Map, Value};

use super::element::{Element, Name, Scalar};
use super::set::FieldSet;
use crate::cluster::schema::Type;

/// What differs between two states of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Comparison {
    /// Fields that are gone.
    pub(crate) removed: FieldSet,
    /// Fields that are new or have another value.
    pub(crate) changed: FieldSet,
}

impl Comparison {
    /// Whether nothing differs.
    pub(crate) fn is_empty(&self) -> bool {
        self.removed.is_empty() && self.changed.is_empty()
    }

    /// Forgets everything at and below a path of field names.
    pub(crate) fn cut(&mut self, path: &[&str]) {
        self.removed.cut(path);
        self.changed.cut(path);
    }
}

/// Compares two states field by field. What the server itself keeps in the metadata is left out.
pub(crate) fn compare(old: &Value, new: &Value, ty: &'static Type) -> Comparison {
    let mut comparison = Comparison::default();
    walk(
        Some(old),
        Some(new),
        ty,
        &mut comparison.removed,
        &mut comparison.changed,
    );
    for path in UNOWNED {
        comparison.cut(path);
    }
    comparison
}

/// The fields that nobody owns: identity, and what the server keeps.
const UNOWNED: &[&[&str]] = &[
    &["apiVersion"],
    &["kind"],
    &["metadata", "name"],
    &["metadata", "namespace"],
    &["metadata", "creationTimestamp"],
    &["metadata", "selfLink"],
    &["metadata", "uid"],
    &["metadata", "generation"],
    &["metadata", "managedFields"],
    &["metadata", "resourceVersion"],
    &["metadata", "deletionTimestamp"],
    &["metadata", "deletionGracePeriodSeconds"],
];

fn map(value: Option<&Value>) -> Option<&Map<String, Value>> {
    value.and_then(Value::as_object)
}
use alloc::string::String;

fn is_empty(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => true,
        Some(Value::Object(map)) => map.is_empty(),
        Some(Value::Array(items)) => items.is_empty(),
        Some(_) => false,
    }
}

fn leaf(old: Option<&Value>, new: Option<&Value>, removed: &mut FieldSet, changed: &mut FieldSet) {
    match (old, new) {
        (_, None) => removed.member = true,
        (None, _) => changed.member = true,
        (Some(old), Some(new)) if old != new => changed.member = true,
        _ => {}
    }
}

fn walk(
    old: Option<&Value>,
    new: Option<&Value>,
    ty: &'static Type,
    removed: &mut FieldSet,
    changed: &mut FieldSet,
) {
    let mut below = |element: Element, old: Option<&Value>, new: Option<&Value>, ty| {
        if old == new {
            return;
        }
        let (mut less, mut more) = (FieldSet::default(), FieldSet::default());
        walk(old, new, ty, &mut less, &mut more);
        if !less.is_empty() {
            removed.attach(element.clone(), less);
        }
        if !more.is_empty() {
            changed.attach(element, more);
        }
    };
    let empty = is_empty(old) && is_empty(new);
    let records = [old, new]
        .iter()
        .all(|side| side.is_none_or(|value| value.is_object() || value.is_null()));
    match ty {
        Type::Struct(_) | Type::Map(_) | Type::Any if !empty && records => {
            for_both(map(old), map(new), |key, old, new| {
                let (name, ty) = match ty {
                    Type::Map(item) => (Name::from(key), *item),
                    Type::Any => (Name::from(key), ty),
                    _ => match ty.field(key) {
                        Some(field) => (Name::Static(field.name), field.ty),
                        None => return,
                    },
                };
                below(Element::Field(name), old, new, ty);
            });
        }
        Type::Keyed(keys, item) if !empty => {
            both_lists(
                old,
                new,
                |value| Element::key(keys, value).ok(),
                |element, old, new| below(element, old, new, item),
            );
        }
        Type::Set(item) if !empty => {
            both_lists(
                old,
                new,
                |value| Scalar::of(value).map(Element::Value),
                |element, old, new| below(element, old, new, item),
            );
        }
        _ => {
            leaf(old, new, removed, changed);
            return;
        }
    }
    match (old, new) {
        (Some(_), None) => removed.member = true,
        (None, Some(_)) => changed.member = true,
        _ => {}
    }
}

/// Goes through two sorted maps side by side.
fn for_both<'a>(
    old: Option<&'a Map<String, Value>>,
    new: Option<&'a Map<String, Value>>,
    mut visit: impl FnMut(&str, Option<&'a Value>, Option<&'a Value>),
) {
    let mut olds = old.into_iter().flatten().peekable();
    let mut news = new.into_iter().flatten().peekable();
    loop {
        match (olds.peek(), news.peek()) {
            (Some((old_key, old)), Some((new_key, new))) if old_key == new_key => {
                visit(old_key, Some(old), Some(new));
                olds.next();
                news.next();
            }
            (Some((old_key, old)), other) if other.is_none_or(|(new_key, _)| old_key < new_key) => {
                visit(old_key, Some(old), None);
                olds.next();
            }
            (_, Some((new_key, new))) => {
                visit(new_key, None, Some(new));
                news.next();
            }
            _ => return,
        }
    }
}

fn elements<'a>(
    value: Option<&'a Value>,
    element: &impl Fn(&Value) -> Option<Element>,
) -> Vec<(Element, &'a Value)> {
    value
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|item| Some((element(item)?, item)))
        .collect()
}

/// Pairs the items of two lists. Of items that stand there twice the last counts: a stored list may hold such, an apply
/// may not.
fn both_lists<'a>(
    old: Option<&'a Value>,
    new: Option<&'a Value>,
    element: impl Fn(&Value) -> Option<Element>,
    mut visit: impl FnMut(Element, Option<&'a Value>, Option<&'a Value>),
) {
    let olds = elements(old, &element);
    let news = elements(new, &element);
    let find = |list: &[(Element, &'a Value)], wanted: &Element| {
        list.iter()
            .rev()
            .find(|(own, _)| own == wanted)
            .map(|(_, value)| *value)
    };
    for (own, _) in &olds {
        visit(own.clone(), find(&olds, own), find(&news, own));
    }
    for (own, value) in &news {
        if find(&olds, own).is_none() {
            visit(own.clone(), None, Some(*value));
        }
    }
}

/// The fields that an apply names, `apiVersion` and identity left out.
pub(crate) fn named(config: &Value, ty: &'static Type) -> FieldSet {
    let mut set = FieldSet::default();
    name(config, ty, &mut set);
    for path in UNOWNED {
        set.cut(path);
    }
    set
}

fn name(value: &Value, ty: &'static Type, set: &mut FieldSet) {
    match (ty, value) {
        (Type::Struct(_), Value::Object(map)) => {
            for (key, value) in map {
                if let Some(field) = ty.field(key) {
                    let mut child = FieldSet::default();
                    name(value, field.ty, &mut child);
                    child.member |= is_empty(Some(value)) && !value.is_array();
                    set.attach(Element::Field(Name::Static(field.name)), child);
                }
            }
        }
        (Type::Map(_) | Type::Any, Value::Object(map)) => {
            let item = match ty {
                Type::Map(item) => item,
                _ => ty,
            };
            for (key, value) in map {
                let mut child = FieldSet::default();
                name(value, item, &mut child);
                child.member = true;
                set.attach(Element::Field(Name::from(key.as_str())), child);
            }
        }
        (Type::Keyed(keys, item), Value::Array(items)) => {
            for value in items {
                if let Ok(element) = Element::key(keys, value) {
                    let mut child = FieldSet::default();
                    name(value, item, &mut child);
                    child.member = true;
                    set.attach(element, child);
                }
            }
        }
        (Type::Set(_), Value::Array(items)) => {
            for value in items {
                if let Some(scalar) = Scalar::of(value) {
                    set.attach(Element::Value(scalar), FieldSet::leaf());
                }
            }
        }
        (Type::Keyed(..) | Type::Set(_) | Type::Map(_) | Type::Struct(_), Value::Null) => {}
        _ => set.member = true,
    }
}
