//! Merging an apply into an object, and taking away what it stopped naming.

use alloc::vec::Vec;

use serde_json::Value;

use super::element::{Element, Name, Scalar};
use super::set::FieldSet;
use crate::cluster::schema::Type;

/// How the items of a list are told apart, if they are.
fn element_of(ty: &'static Type, item: &Value) -> Option<Element> {
    match ty {
        Type::Keyed(keys, _) => Element::key(keys, item).ok(),
        Type::Set(_) => Scalar::of(item).map(Element::Value),
        _ => None,
    }
}

fn item_type(ty: &'static Type) -> &'static Type {
    match ty {
        Type::Keyed(_, item) | Type::Set(item) | Type::List(item) | Type::Map(item) => item,
        other => other,
    }
}

fn below(ty: &'static Type, key: &str) -> Option<(Name, &'static Type)> {
    match ty {
        Type::Struct(_) => ty
            .field(key)
            .map(|field| (Name::Static(field.name), field.ty)),
        Type::Map(item) => Some((Name::from(key), item)),
        Type::Any => Some((Name::from(key), ty)),
        _ => None,
    }
}

/// Puts what `config` names into `target`.
pub(crate) fn merge(target: &mut Value, config: &Value, ty: &'static Type) {
    match (ty, &mut *target, config) {
        (Type::Struct(_) | Type::Map(_) | Type::Any, Value::Object(own), Value::Object(theirs)) => {
            for (key, value) in theirs {
                match (own.get_mut(key), below(ty, key)) {
                    (Some(place), Some((_, ty))) => merge(place, value, ty),
                    _ => {
                        own.insert(key.clone(), value.clone());
                    }
                }
            }
        }
        (Type::Keyed(..) | Type::Set(_), Value::Array(own), Value::Array(theirs)) => {
            *own = merge_items(core::mem::take(own), theirs, ty);
        }
        _ => *target = config.clone(),
    }
}

/// Merges two lists: the items of the apply in its order, the others between them where they stood.
fn merge_items(own: Vec<Value>, theirs: &[Value], ty: &'static Type) -> Vec<Value> {
    let mut own: Vec<(Option<Element>, Option<Value>)> = own
        .into_iter()
        .map(|item| (element_of(ty, &item), Some(item)))
        .collect();
    let theirs: Vec<(Option<Element>, &Value)> = theirs
        .iter()
        .map(|item| (element_of(ty, item), item))
        .collect();
    let places: Vec<Option<usize>> = theirs
        .iter()
        .map(|(element, _)| own.iter().position(|(own, _)| own == element))
        .collect();
    let shared = |element: &Option<Element>| theirs.iter().any(|(their, _)| their == element);
    let mut merged = Vec::with_capacity(own.len() + theirs.len());
    let (mut left, mut right) = (0, 0);
    loop {
        let next_common = places.iter().skip(right).find_map(|place| *place);
        if let Some((element, value)) = own.get_mut(left) {
            if !shared(element) {
                merged.extend(value.take());
                left += 1;
                continue;
            }
            // A common item that the apply has at another place: it comes when its turn comes.
            if next_common != Some(left) {
                left += 1;
                continue;
            }
        }
        let Some((_, item)) = theirs.get(right) else {
            return merged;
        };
        let place = places.get(right).copied().flatten();
        let before = place
            .and_then(|place| own.get_mut(place))
            .and_then(|(_, value)| value.take());
        merged.push(match before {
            Some(mut value) => {
                merge(&mut value, item, item_type(ty));
                value
            }
            None => (*item).clone(),
        });
        right += 1;
        if place == Some(left) {
            left += 1;
        }
    }
}

/// Takes away what `last` named and nobody owns any more. Gives back whether something went.
///
/// A record or an item that nobody owns goes with all that is in it, defaults too.
pub(crate) fn prune(
    target: &mut Value,
    last: &FieldSet,
    owned: &FieldSet,
    ty: &'static Type,
) -> bool {
    match (ty, target) {
        (Type::Struct(_) | Type::Map(_) | Type::Any, Value::Object(map)) => {
            let before = map.len();
            let mut deeper = false;
            for (element, last) in &last.children {
                let Element::Field(name) = element else {
                    continue;
                };
                let key = name.as_str();
                let (Some(value), Some((_, ty))) = (map.get_mut(key), below(ty, key)) else {
                    continue;
                };
                match owned.get(element) {
                    None => {
                        map.remove(key);
                    }
                    Some(owned) => {
                        if prune(value, last, owned, ty) {
                            deeper = true;
                            // What somebody owns as a whole stays, though it is not kept empty: so it stays owned, too.
                            let empty = matches!(value, Value::Object(map) if map.is_empty())
                                || matches!(value, Value::Array(items) if items.is_empty());
                            if empty && !owned.member {
                                map.remove(key);
                            }
                        }
                    }
                }
            }
            deeper || map.len() != before
        }
        (Type::Keyed(..) | Type::Set(_), Value::Array(items)) => {
            let before = items.len();
            let mut deeper = false;
            items.retain_mut(|item| {
                let Some(element) = element_of(ty, item) else {
                    return true;
                };
                let Some(last) = last.get(&element) else {
                    return true;
                };
                match owned.get(&element) {
                    None if last.member => false,
                    None => {
                        deeper |= prune(item, last, &FieldSet::default(), item_type(ty));
                        true
                    }
                    Some(owned) => {
                        deeper |= prune(item, last, owned, item_type(ty));
                        true
                    }
                }
            });
            deeper || items.len() != before
        }
        _ => false,
    }
}
