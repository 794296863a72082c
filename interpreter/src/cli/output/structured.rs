//! JSON and YAML of the same value: fields in the order of the types; the keys of maps in byte order in JSON, in natural
//! order in YAML.

use serde::Serialize;
use serde::ser::{SerializeMap, SerializeSeq};
use serde_content::{Data, Value};

use super::super::text::natural;

/// One line of JSON and its newline.
pub fn json(value: &impl Serialize) -> String {
    // The values that are shown are our own structs with texts as keys: they always have a JSON form.
    let mut text = serde_json::to_string(value).unwrap_or_default();
    text.push('\n');
    text
}

/// YAML, with one final newline.
pub fn yaml(value: &impl Serialize) -> String {
    let content = serde_content::Serializer::new()
        .human_readable()
        .serialize(value)
        .unwrap_or(Value::Unit);
    let options = serde_saphyr::ser_options! { compact_list_indent: true };
    let mut text = String::new();
    let _ = serde_saphyr::to_fmt_writer_with_options(&mut text, &Ordered(&content), options);
    format!("{}\n", text.trim_end_matches('\n'))
}

/// A value whose maps are written in natural order of their keys.
struct Ordered<'a>(&'a Value<'a>);

impl Serialize for Ordered<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Map(pairs) => {
                let mut pairs: Vec<(&str, &Value<'_>)> = pairs
                    .iter()
                    .filter_map(|(key, value)| match key {
                        Value::String(key) => Some((&**key, value)),
                        _ => None,
                    })
                    .collect();
                pairs.sort_by(|a, b| natural(a.0, b.0));
                fields(serializer, pairs.into_iter())
            }
            Value::Struct(inner) => match &inner.data {
                Data::Struct { fields: all } => {
                    fields(serializer, all.iter().map(|(key, value)| (&**key, value)))
                }
                Data::NewType { value } => Ordered(value).serialize(serializer),
                _ => serializer.serialize_unit(),
            },
            Value::Enum(inner) => match &inner.data {
                Data::Unit => serializer.serialize_str(&inner.variant),
                Data::NewType { value } => Ordered(value).serialize(serializer),
                _ => serializer.serialize_unit(),
            },
            Value::Seq(items) | Value::Tuple(items) => {
                let mut list = serializer.serialize_seq(Some(items.len()))?;
                for item in items {
                    list.serialize_element(&Ordered(item))?;
                }
                list.end()
            }
            Value::Option(Some(value)) => Ordered(value).serialize(serializer),
            Value::Option(None) => serializer.serialize_unit(),
            other => other.serialize(serializer),
        }
    }
}

fn fields<'a, S: serde::Serializer>(
    serializer: S,
    pairs: impl Iterator<Item = (&'a str, &'a Value<'a>)>,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    for (key, value) in pairs {
        map.serialize_entry(key, &Ordered(value))?;
    }
    map.end()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[derive(Serialize)]
    struct Shown {
        zeta: u32,
        alpha: bool,
        empty: Vec<u32>,
        list: Vec<&'static str>,
        units: BTreeMap<&'static str, Option<f64>>,
        none: BTreeMap<&'static str, u32>,
    }

    fn shown() -> Shown {
        Shown {
            zeta: 1,
            alpha: true,
            empty: vec![],
            list: vec!["x", "true", "10", "multi\nline", "a: b"],
            units: [("a/10", Some(1.5)), ("a/2", None)].into(),
            none: BTreeMap::new(),
        }
    }

    #[test]
    fn json_is_one_line_with_maps_in_byte_order() {
        assert_eq!(
            json(&shown()),
            "{\"zeta\":1,\"alpha\":true,\"empty\":[],\"list\":[\"x\",\"true\",\"10\",\"multi\\nline\",\"a: b\"],\
             \"units\":{\"a/10\":1.5,\"a/2\":null},\"none\":{}}\n"
        );
    }

    #[test]
    fn yaml_has_the_same_data_with_maps_in_natural_order() {
        insta::assert_snapshot!(yaml(&shown()));
    }

    #[test]
    fn a_bare_text_in_yaml_is_a_line() {
        assert_eq!(yaml(&"active"), "active\n");
    }
}
