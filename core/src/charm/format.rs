//! Which of the two formats a charm has.

use alloc::format;
use alloc::vec::Vec;

use super::Format;
use super::document::{At, Value};
use super::mistake::Report;

/// Tells the format by its markers.
///
/// Version 1 (pod specifications) is marked by `series` with `kubernetes`, by `deployment` and by `min-juju-version`;
/// version 2 (sidecar containers) by `containers`, `assumes` and `charm-user`. Markers of both, or none, are refused:
/// guessing would run a charm in a way that its author did not mean. Whether the charm has a `charmcraft.yaml` says
/// nothing.
pub(super) fn detect(root: &At<'_>, report: &mut Report) -> Option<Format> {
    let found = |keys: &[&str]| -> Vec<At<'_>> {
        keys.iter()
            .filter_map(|key| root.get_or_null(key))
            .collect()
    };
    let mut pod_spec = found(&["deployment", "min-juju-version"]);
    let series = root.get("series").filter(names_kubernetes);
    pod_spec.extend(series);
    let sidecar = found(&["containers", "assumes", "charm-user"]);
    match (pod_spec.first(), sidecar.first()) {
        (Some(old), Some(_)) => {
            report.error(
                old.key,
                &old.path,
                format!(
                    "the charm has keys of both formats: {} (pod spec, v1) and {} (sidecar, v2)",
                    quoted(&pod_spec),
                    quoted(&sidecar)
                ),
                format!(
                    "for a sidecar charm remove {}, and say with \"assumes\" which Juju it needs; for a pod-spec charm \
                     remove {}",
                    quoted(&pod_spec),
                    quoted(&sidecar)
                ),
            );
            None
        }
        (None, Some(_)) => Some(Format::Sidecar),
        (Some(old), None) => {
            report.error(
                old.key,
                &old.path,
                format!(
                    "pod-spec charms are not supported yet, and {} makes this one",
                    quoted(&pod_spec)
                ),
                "use a sidecar version of the charm, one with \"containers\"",
            );
            Some(Format::PodSpec)
        }
        (None, None) => {
            report.error(
                root.key,
                "",
                "nothing says which format the charm has",
                "add \"containers\" with what the charm runs or, for a charm without a workload, \"assumes: [k8s-api]\"",
            );
            None
        }
    }
}

/// `series: [kubernetes]`, or the same without a list.
fn names_kubernetes(at: &At<'_>) -> bool {
    let is = |value: &Value| matches!(value, Value::Scalar(scalar) if scalar.text == "kubernetes");
    match &at.node.value {
        Value::List(items) => items.iter().any(|item| is(&item.value)),
        value => is(value),
    }
}

fn quoted(markers: &[At<'_>]) -> alloc::string::String {
    let keys: Vec<_> = markers.iter().map(|at| format!("{:?}", at.path)).collect();
    keys.join(", ")
}
