//! What pods request and nodes have, in thousand-millionths of a core, byte or pod.

use serde_json::Value;

use crate::cluster::object::{at, items_at, text_at};
use crate::cluster::quantity;

/// The quantity at a path; 0 if there is none.
pub(super) fn nanos(value: &Value, path: &[&str]) -> i128 {
    quantity::nanos(text_at(value, path)).unwrap_or(0)
}

/// What a pod requests of `cpu` or `memory`: the sum of its containers, or its largest init container if that is more.
pub(super) fn requested(pod: &Value, resource: &str) -> i128 {
    let request = |container: &Value| {
        if at(container, &["resources", "requests", resource]).is_some() {
            nanos(container, &["resources", "requests", resource])
        } else {
            nanos(container, &["resources", "limits", resource])
        }
    };
    let together: i128 = items_at(pod, &["spec", "containers"])
        .iter()
        .map(request)
        .sum();
    let largest = items_at(pod, &["spec", "initContainers"])
        .iter()
        .map(request)
        .max()
        .unwrap_or(0);
    together.max(largest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_pod_requests_the_sum_of_its_containers_or_its_largest_init_container() {
        let container = |cpu: &str| json!({"resources": {"requests": {"cpu": cpu}}});
        let containers = [container("100m"), container("200m")];
        let pod = json!({"spec": {"containers": containers}});
        assert_eq!(requested(&pod, "cpu"), 300_000_000);
        let pod = json!({"spec": {"containers": containers, "initContainers": [container("1")]}});
        assert_eq!(requested(&pod, "cpu"), 1_000_000_000);
        assert_eq!(requested(&pod, "memory"), 0);
    }
}
