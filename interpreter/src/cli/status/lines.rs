//! `status` as lines and as a summary (command line, 2.6).

use std::collections::BTreeMap;

use super::super::text::natural;
use super::tabular::ports;
use super::view::{StatusView, UnitView};

fn units(view: &StatusView) -> Vec<(&String, &UnitView)> {
    let mut units: Vec<(&String, &UnitView)> = view.units().collect();
    units.sort_by(|a, b| natural(a.0, b.0));
    units
}

/// A line for each unit. Its public address, empty on Kubernetes, stands after the name.
pub fn lines(view: &StatusView) -> String {
    let mut text = String::new();
    for (name, unit) in units(view) {
        let line = format!(
            "- {name}:  (agent:{}, workload:{}) {}",
            unit.juju_status.current,
            unit.workload_status.current,
            unit.open_ports.join(", ")
        );
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Counts of everything.
pub fn summary(view: &StatusView) -> String {
    let units = units(view);
    let open: Vec<String> = units
        .iter()
        .flat_map(|(_, unit)| unit.open_ports.clone())
        .collect();
    let mut states: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, unit) in &units {
        *states.entry(&unit.workload_status.current).or_default() += 1;
    }
    let mut rows: Vec<(String, String)> = vec![
        ("Utilizing ports:".into(), ports(&open)),
        ("# Machines:".into(), "(0)".into()),
        ("# Units:".into(), format!("({})", units.len())),
    ];
    rows.extend(
        states
            .into_iter()
            .map(|(state, count)| (format!("{state}:"), count.to_string())),
    );
    rows.push((
        "# Applications:".into(),
        format!("({})", view.applications.len()),
    ));
    let mut names: Vec<&String> = view.applications.keys().collect();
    names.sort_by(|a, b| natural(a, b));
    rows.extend(
        names
            .into_iter()
            .map(|name| (name.clone(), "0/1  exposed".to_owned())),
    );
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    rows.into_iter()
        .map(|(name, value)| format!("{name:>width$}  {value}").trim_end().to_owned() + "\n")
        .collect()
}
