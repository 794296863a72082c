//! A pod as a real API server sent it.

use std::path::Path;

use serde_json::Value;

/// The largest pod of the transcripts, `managedFields` included, with numbers where the transcript has symbols.
pub fn pod() -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/transcripts");
    let mut found: Option<String> = None;
    for entry in std::fs::read_dir(folder).expect("the transcripts") {
        let text = std::fs::read_to_string(entry.expect("an entry").path()).expect("a transcript");
        let transcript = serde_json::from_str(&text).expect("JSON");
        pods(&transcript, &mut |pod| {
            let text = filled(pod).to_string();
            if found
                .as_ref()
                .is_none_or(|known| (known.len(), known) < (text.len(), &text))
            {
                found = Some(text);
            }
        });
    }
    found.expect("a pod with managedFields")
}

fn pods(value: &Value, found: &mut impl FnMut(&Value)) {
    match value {
        Value::Object(fields) => {
            let managed = value.pointer("/metadata/managedFields").is_some();
            if managed && value.pointer("/spec/containers").is_some() {
                found(value);
            }
            fields.values().for_each(|field| pods(field, found));
        }
        Value::Array(items) => items.iter().for_each(|item| pods(item, found)),
        _ => {}
    }
}

fn filled(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields = fields
                .iter()
                .map(|(key, value)| (key.clone(), filled(value)));
            Value::Object(fields.collect())
        }
        Value::Array(items) => items.iter().map(filled).collect(),
        Value::String(text) if text.starts_with("<version") => "1000001".into(),
        Value::String(text) if text.starts_with("<uid") => {
            "5a1f0f0e-5b0c-4b52-9a53-0d6c2f1f7b11".into()
        }
        other => other.clone(),
    }
}
