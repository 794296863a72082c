//! Merge patches (RFC 7386), and the places in which two values differ.

use serde_json::{Map, Value};

/// The merge patch that makes `after` of `before`; none if there is no such patch, because `after` holds a null.
pub fn merge_patch(before: &Value, after: &Value) -> Option<Value> {
    let (Value::Object(old), Value::Object(new)) = (before, after) else {
        return (!holds_null(after)).then(|| after.clone());
    };
    let mut patch = Map::new();
    for (key, value) in new {
        match old.get(key) {
            Some(same) if same == value => {}
            Some(other @ Value::Object(_)) if value.is_object() => {
                patch.insert(key.clone(), merge_patch(other, value)?);
            }
            // Merging into what is no object starts from an empty one, so a null in it would vanish.
            _ if holds_null(value) => return None,
            _ => {
                patch.insert(key.clone(), value.clone());
            }
        }
    }
    for key in old.keys().filter(|key| !new.contains_key(*key)) {
        patch.insert(key.clone(), Value::Null);
    }
    Some(Value::Object(patch))
}

/// Applies a merge patch.
pub fn merge(target: &Value, patch: &Value) -> Value {
    let Value::Object(patch) = patch else {
        return patch.clone();
    };
    let mut merged = target.as_object().cloned().unwrap_or_default();
    for (key, value) in patch {
        if value.is_null() {
            merged.remove(key);
        } else {
            let old = merged.get(key).cloned().unwrap_or_default();
            merged.insert(key.clone(), merge(&old, value));
        }
    }
    Value::Object(merged)
}

/// Whether a merge would lose a null: one in a list is safe, lists are taken whole.
fn holds_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(fields) => fields.values().any(holds_null),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(json!({})),
            Just(json!([null, { "in a list": null }])),
            any::<bool>().prop_map(Value::from),
            (0..3u8).prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 24, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                prop::collection::btree_map("[a-c]", inner, 0..3)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn the_patch_from_one_value_to_another_makes_the_other(before in values(), after in values()) {
            let patch = merge_patch(&before, &after).expect("nulls are in lists only");
            prop_assert_eq!(merge(&before, &patch), after);
        }
    }

    #[test]
    fn a_value_with_a_null_has_no_patch() {
        assert_eq!(
            merge_patch(&json!({}), &json!({ "a": { "b": null } })),
            None
        );
    }
}
