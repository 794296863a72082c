//! Files of values that users give: `--config FILE` and their like.

use std::collections::BTreeMap;

use pilotage_core::charm::Severity;
use pilotage_core::charm::document::{Node, Scalar, Value};

use super::places::{Located, Places};
use super::yaml;

/// Reads a file of values: a map of keys to scalars, below `under` if that is named.
///
/// # Errors
/// It is not YAML, or has another form; with file, line and column.
pub fn read_values(
    text: &str,
    file: &str,
    under: Option<&str>,
) -> Result<BTreeMap<String, Scalar>, Located> {
    let mut places = Places::default();
    let documents = yaml::read(text, file, &mut places)?;
    let refuse = |node: Option<&Node>, path: &str, problem: String| {
        let mut located = Located {
            file: file.into(),
            line: 0,
            column: 0,
            path: path.into(),
            problem,
            advice: String::new(),
            severity: Severity::Error,
        };
        if let Some((line, column)) = node.and_then(|node| places.position(node.place)) {
            (located.line, located.column) = (line, column);
        }
        Err(located)
    };
    let Some(root) = documents.first() else {
        return refuse(None, "", "there is nothing in it".into());
    };
    let map = match under {
        None => root,
        Some(name) => match root.entry(name) {
            Some(entry) => &entry.node,
            None => return refuse(Some(root), "", format!("no settings found for \"{name}\"")),
        },
    };
    let path = under.unwrap_or_default();
    let Value::Map(entries) = &map.value else {
        let problem = format!("there is {} where keys and values belong", map.described());
        return refuse(Some(map), path, problem);
    };
    let mut values = BTreeMap::new();
    for entry in entries {
        let Value::Scalar(scalar) = &entry.node.value else {
            let problem = format!(
                "there is {} where one value belongs",
                entry.node.described()
            );
            return refuse(Some(&entry.node), &entry.key, problem);
        };
        values.insert(entry.key.clone(), scalar.clone());
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_below_the_name_of_their_application() {
        let text = "ledger:\n  port: 5433\n  note: \"7\"\nother:\n  x: 1\n";
        let values = read_values(text, "f.yaml", Some("ledger")).unwrap();
        assert_eq!(values["port"], Scalar::plain("5433"));
        assert_eq!(values["note"], Scalar::quoted("7"));
        assert_eq!(values.len(), 2);
    }

    #[test]
    fn what_is_no_value_is_refused_where_it_stands() {
        let told = |text: &str| {
            read_values(text, "f.yaml", Some("ledger"))
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            told("ledger:\n  ports: [1, 2]\n"),
            "f.yaml:2:10: ports: there is a list where one value belongs"
        );
        assert_eq!(
            told("web: {}\n"),
            "f.yaml:1:1: no settings found for \"ledger\""
        );
    }
}
