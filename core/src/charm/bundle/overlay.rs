//! What an overlay changes of a bundle.

use alloc::format;
use alloc::vec::Vec;

use crate::charm::document::{Node, Value};
use crate::charm::mistake::Report;

/// Lays an overlay over a bundle, or over a bundle with overlays on it.
pub(super) fn lay(base: &mut Node, overlay: &Node, report: &mut Report) {
    lay_over(base, overlay, Level::Bundle, report);
}

/// How deep an overlay has got: that decides how values are put together.
#[derive(Clone, Copy)]
enum Level {
    Bundle,
    Applications,
    Application,
    Values,
}

fn lay_over(base: &mut Node, overlay: &Node, level: Level, report: &mut Report) {
    if overlay.is_null() {
        return;
    }
    let Value::Map(changes) = &overlay.value else {
        report.error(
            overlay.place,
            "",
            format!("an overlay has {} where a map belongs", overlay.described()),
            "write it in the form of the bundle",
        );
        return;
    };
    if base.is_null() {
        base.value = Value::Map(Vec::new());
    }
    let Value::Map(entries) = &mut base.value else {
        return;
    };
    for change in changes {
        // Of a key that comes twice the last one counts, here as everywhere.
        let position = entries.iter().rposition(|entry| entry.key == change.key);
        let present = position.and_then(|position| entries.get_mut(position));
        match (present, level, change.key.as_str()) {
            (_, Level::Applications | Level::Application | Level::Values, _)
                if change.node.is_null() =>
            {
                entries.retain(|entry| entry.key != change.key);
            }
            (Some(entry), Level::Bundle, "applications") => {
                lay_over(&mut entry.node, &change.node, Level::Applications, report);
            }
            (Some(entry), Level::Bundle, "relations") => append(&mut entry.node, &change.node),
            (Some(entry), Level::Applications, _) => {
                lay_over(&mut entry.node, &change.node, Level::Application, report);
            }
            (
                Some(entry),
                Level::Application,
                "options" | "resources" | "storage" | "devices" | "annotations",
            ) => {
                lay_over(&mut entry.node, &change.node, Level::Values, report);
            }
            (Some(entry), ..) => *entry = change.clone(),
            (None, ..) => entries.push(change.clone()),
        }
    }
}

fn append(list: &mut Node, more: &Node) {
    match (&mut list.value, &more.value) {
        (Value::List(items), Value::List(more)) => items.extend(more.iter().cloned()),
        _ => *list = more.clone(),
    }
}
