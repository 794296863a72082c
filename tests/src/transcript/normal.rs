//! The form in which objects are compared.

use serde_json::{Map, Value, json};

/// An object, a list or a Status in normal form: `managedFields` as a map, items of a list with their kind.
pub fn normal(mut value: Value) -> Value {
    let kind = value["kind"].as_str().unwrap_or_default().to_owned();
    if let (Some(item_kind), true) = (kind.strip_suffix("List"), value["items"].is_array()) {
        let api_version = value["apiVersion"].clone();
        for item in value["items"].as_array_mut().into_iter().flatten() {
            item["kind"] = json!(item_kind);
            item["apiVersion"] = api_version.clone();
            *item = normal(item.take());
        }
        return value;
    }
    if let Some(entries) = value.pointer_mut("/metadata/managedFields") {
        *entries = managed_fields(entries);
    }
    value
}

/// The label under which an entry of `managedFields` stands in the map.
pub fn entry_label(entry: &Value) -> String {
    let text = |key: &str| entry[key].as_str().unwrap_or_default();
    let label = format!(
        "{} {} {}",
        text("manager"),
        text("operation"),
        text("apiVersion")
    );
    match text("subresource") {
        "" => label,
        subresource => format!("{label} {subresource}"),
    }
}

fn managed_fields(entries: &Value) -> Value {
    let mut map = Map::new();
    for entry in entries.as_array().into_iter().flatten() {
        let mut label = entry_label(entry);
        // Two entries of one label would be a mistake of the server; it must not go unseen.
        while map.contains_key(&label) {
            label.push_str(" again");
        }
        if entry["fieldsType"] != "FieldsV1" {
            label.push_str(" (without type)");
        }
        if !entry["time"].is_string() {
            label.push_str(" (without time)");
        }
        map.insert(label, entry["fieldsV1"].clone());
    }
    Value::Object(map)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_managed_fields_does_not_matter_but_every_entry_does() {
        let entry = |manager: &str| {
            json!({ "manager": manager, "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1",
                "fieldsV1": { "f:data": {} }, "time": "2026-01-01T00:00:00Z" })
        };
        let object =
            |entries: Value| json!({ "kind": "Secret", "metadata": { "managedFields": entries } });
        let one = normal(object(json!([entry("a"), entry("b")])));
        assert_eq!(one, normal(object(json!([entry("b"), entry("a")]))));
        assert_ne!(one, normal(object(json!([entry("a")]))));
        assert_ne!(
            one,
            normal(object(json!([entry("a"), entry("b"), entry("b")])))
        );
    }
}
