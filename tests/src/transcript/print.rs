//! JSON for people: what fits on a line stands on one.

use serde_json::{Map, Value};

const WIDTH: usize = 160;

/// What a reader looks for first; other keys follow in the order of the alphabet.
const FIRST: &[&str] = &[
    "name",
    "shows",
    "facts",
    "watched",
    "rest",
    "compact",
    "who",
    "method",
    "watch",
    "path",
    "query",
    "contentType",
    "op",
    "event",
    "of",
    "like",
    "same",
    "apiVersion",
    "kind",
    "metadata",
    "spec",
];

/// The value as text, ending with a newline; keys in the order in which they are read best.
pub fn print(value: &Value) -> String {
    let mut text = String::new();
    write(value, 0, 0, &mut text);
    text.push('\n');
    text
}

/// `before` is how much of the line is taken already.
fn write(value: &Value, indent: usize, before: usize, text: &mut String) {
    let line = one_line(value);
    if before + line.len() <= WIDTH {
        text.push_str(&line);
        return;
    }
    let pad = " ".repeat(indent + 1);
    let parts: Vec<(String, &Value)> = match value {
        Value::Object(fields) => in_order(fields)
            .map(|(key, value)| (format!("{}: ", Value::from(key)), value))
            .collect(),
        Value::Array(items) => items.iter().map(|item| (String::new(), item)).collect(),
        _ => {
            text.push_str(&line);
            return;
        }
    };
    let (open, close) = if value.is_object() {
        ('{', '}')
    } else {
        ('[', ']')
    };
    text.push(open);
    for (index, (key, value)) in parts.iter().enumerate() {
        text.push_str(if index == 0 { "\n" } else { ",\n" });
        text.push_str(&pad);
        text.push_str(key);
        write(value, indent + 1, indent + 1 + key.len(), text);
    }
    text.push('\n');
    text.push_str(&" ".repeat(indent));
    text.push(close);
}

fn in_order(fields: &Map<String, Value>) -> impl Iterator<Item = (&str, &Value)> {
    let mut keys: Vec<&str> = fields.keys().map(String::as_str).collect();
    keys.sort_by_key(|key| {
        (
            FIRST
                .iter()
                .position(|first| first == key)
                .unwrap_or(FIRST.len()),
            *key,
        )
    });
    keys.into_iter()
        .filter_map(|key| Some((key, fields.get(key)?)))
}

fn one_line(value: &Value) -> String {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            let parts: Vec<String> = in_order(fields)
                .map(|(key, value)| format!("{}: {}", Value::from(key), one_line(value)))
                .collect();
            format!("{{ {} }}", parts.join(", "))
        }
        Value::Array(items) => {
            format!(
                "[{}]",
                items.iter().map(one_line).collect::<Vec<_>>().join(", ")
            )
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_printed_reads_back_as_the_same() {
        let value = json!({ "a": ["x".repeat(100), "y".repeat(100), {}], "b": { "c": [] } });
        let text = print(&value);
        assert!(text.lines().count() > 3, "{text}");
        assert_eq!(
            serde_json::from_str::<Value>(&text).expect("it is JSON"),
            value
        );
    }
}
