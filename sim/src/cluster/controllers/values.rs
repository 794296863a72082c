//! Comparing JSON: patches and selectors.

use alloc::string::String;

use serde_json::{Map, Value};

use crate::cluster::object::{at, items_at, text_at};

/// The entries of the map at `path`, none if there is no map.
pub(super) fn entries<'a>(
    value: &'a Value,
    path: &[&str],
) -> impl Iterator<Item = (&'a String, &'a Value)> {
    at(value, path)
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
}

/// The merge patch (RFC 7386) that turns the map `before` into `after`; nothing if they are equal.
/// Lists are replaced whole.
pub(super) fn difference(before: &Value, after: &Value) -> Option<Value> {
    let (Value::Object(before), Value::Object(after)) = (before, after) else {
        return (before != after).then(|| after.clone());
    };
    let mut patch = Map::new();
    for (key, new) in after {
        match before.get(key) {
            Some(old) => {
                if let Some(change) = difference(old, new) {
                    patch.insert(key.clone(), change);
                }
            }
            None => {
                patch.insert(key.clone(), new.clone());
            }
        }
    }
    for key in before.keys().filter(|key| !after.contains_key(*key)) {
        patch.insert(key.clone(), Value::Null);
    }
    (!patch.is_empty()).then_some(Value::Object(patch))
}

/// Whether a label selector (`matchLabels`, `matchExpressions`) selects these labels. An absent selector selects nothing.
pub(super) fn selects(selector: Option<&Value>, labels: Option<&Value>) -> bool {
    let Some(selector) = selector.filter(|selector| selector.is_object()) else {
        return false;
    };
    let label = |key: &str| labels.and_then(|labels| labels.get(key));
    entries(selector, &["matchLabels"]).all(|(key, value)| label(key) == Some(value))
        && items_at(selector, &["matchExpressions"])
            .iter()
            .all(|requirement| meets(requirement, label(text_at(requirement, &["key"]))))
}

/// Whether a label meets one requirement (`operator`, `values`) of a selector or a node affinity.
pub(super) fn meets(requirement: &Value, label: Option<&Value>) -> bool {
    let values = items_at(requirement, &["values"]);
    let within = label.is_some_and(|label| values.contains(label));
    let compare = |wanted: fn(i64, i64) -> bool| {
        let parse = |value: Option<&Value>| {
            value
                .and_then(Value::as_str)
                .and_then(|text| text.parse::<i64>().ok())
        };
        matches!((parse(label), parse(values.first())), (Some(a), Some(b)) if wanted(a, b))
    };
    match text_at(requirement, &["operator"]) {
        "In" => within,
        "NotIn" => !within,
        "Exists" => label.is_some(),
        "DoesNotExist" => label.is_none(),
        "Gt" => compare(|a, b| a > b),
        "Lt" => compare(|a, b| a < b),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_difference_of_two_maps_is_a_merge_patch() {
        let before = json!({"a": 1, "b": {"c": 1, "d": 2}, "e": [1]});
        let after = json!({"b": {"c": 1, "d": 3}, "e": [2], "f": {}});
        assert_eq!(
            difference(&before, &after),
            Some(json!({"a": null, "b": {"d": 3}, "e": [2], "f": {}}))
        );
        assert_eq!(difference(&after, &after), None);
    }

    #[test]
    fn a_selector_needs_all_its_labels_and_expressions() {
        let labels = json!({"app": "a", "tier": "2"});
        let selects = |selector: Value| selects(Some(&selector), Some(&labels));
        assert!(selects(json!({"matchLabels": {"app": "a"}})));
        assert!(!selects(json!({"matchLabels": {"app": "b"}})));
        assert!(selects(json!({"matchExpressions": [
            {"key": "app", "operator": "In", "values": ["a", "b"]},
            {"key": "tier", "operator": "Gt", "values": ["1"]},
            {"key": "gone", "operator": "DoesNotExist"},
        ]})));
        assert!(!selects(
            json!({"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["a"]}]})
        ));
        assert!(!super::selects(None, Some(&labels)));
    }
}
