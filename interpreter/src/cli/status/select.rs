//! Selectors: which applications and units `status` shows (command line, 2.6).

use super::view::{Shown, StatusView, UnitView};

/// Leaves in the view what any of the selectors matches. No selector leaves everything.
pub fn select(view: &mut StatusView, selectors: &[String]) {
    if selectors.is_empty() {
        return;
    }
    view.applications.retain(|name, application| {
        let whole = selectors.iter().any(|selector| {
            glob(selector, name)
                || match selector.as_str() {
                    "exposed" => application.read().is_some_and(|shown| shown.exposed),
                    "not exposed" => application.read().is_some_and(|shown| !shown.exposed),
                    _ => false,
                }
        });
        if whole {
            return true;
        }
        let Shown::Read(application) = application else {
            return false;
        };
        application
            .units
            .retain(|unit, shown| selectors.iter().any(|s| matches_unit(s, name, unit, shown)));
        !application.units.is_empty()
    });
    let shown = |unit: &String| {
        let mut read = view.applications.values().filter_map(Shown::read);
        read.any(|application| application.units.contains_key(unit))
    };
    let storage = &mut view.storage;
    storage.storage.retain(|_, entry| {
        entry
            .attachments
            .as_ref()
            .is_some_and(|attachments| attachments.units.keys().any(shown))
    });
    let kept = &storage.storage;
    storage
        .filesystems
        .retain(|_, filesystem| kept.contains_key(&filesystem.storage));
    storage
        .volumes
        .retain(|_, volume| kept.contains_key(&volume.storage));
}

fn matches_unit(selector: &str, application: &str, name: &str, unit: &UnitView) -> bool {
    glob(selector, name)
        || (unit.leader && selector == format!("{application}/leader"))
        || selector == unit.workload_status.current
        || selector == unit.juju_status.current
        || unit
            .open_ports
            .iter()
            .any(|port| port.eq_ignore_ascii_case(selector))
}

/// Whether a pattern with `*` matches a whole text; `*` does not cross a `/`, as in a path.
fn glob(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((before, after)) => {
            let Some(rest) = text.strip_prefix(before) else {
                return false;
            };
            let reach = rest.find('/').unwrap_or(rest.len());
            (0..=reach)
                .filter(|at| rest.is_char_boundary(*at))
                .any(|at| glob(after, &rest[at..]))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_anything_but_a_slash() {
        assert!(glob("led*", "ledger"));
        assert!(glob("ledger/*", "ledger/10"));
        assert!(glob("*", "ledger"));
        assert!(glob("*/0", "ledger/0"));
        assert!(!glob("led*", "ledger/0"));
        assert!(!glob("led", "ledger"));
    }
}
