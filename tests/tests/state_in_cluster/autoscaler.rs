//! A HorizontalPodAutoscaler of the cluster's own controller: it writes the scale, and nobody else does.

use pilotage_tests::control_plane::Kubectl;
use pilotage_tests::patience::until;
use serde_json::{Value, json};

use crate::kubectl::{begin, hello, wait_ready, with};

fn autoscaler(least: u32, most: u32) -> Value {
    json!({
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": { "name": "hello", "namespace": "stretched" },
        "spec": {
            "scaleTargetRef": { "apiVersion": "pilotage.dev/v1alpha1", "kind": "Application", "name": "hello" },
            "minReplicas": least,
            "maxReplicas": most,
            "metrics": [{
                "type": "Resource",
                "resource": { "name": "cpu", "target": { "type": "Utilization", "averageUtilization": 80 } },
            }],
        },
    })
}

/// Waits until the application has so many units by the autoscaler's word, and is ready with them.
fn units(kubectl: &Kubectl, count: u32) {
    until(&format!("the autoscaler asks for {count}"), || {
        let object = kubectl.json("get app/hello -n stretched");
        (object["spec"]["scale"] == count).then_some(())
    });
    wait_ready(kubectl, "app/hello -n stretched");
    let pods = kubectl.json("get pods -n stretched");
    let pods = pods["items"].as_array().map_or(0, Vec::len);
    assert_eq!(pods, count as usize);
}

#[test]
fn an_autoscaler_drives_the_units_between_its_least_and_its_most() {
    let Some((_stage, kubectl, service)) = begin("an_autoscaler_drives", "stretched") else {
        return;
    };
    with(&kubectl, "apply", &hello("stretched", 1, "nginx:1")).expect("an application");
    wait_ready(&kubectl, "app/hello -n stretched");
    // There is no API of metrics here: what it does is what its bounds say.
    with(&kubectl, "apply", &autoscaler(3, 5)).expect("an autoscaler");
    units(&kubectl, 3);
    with(&kubectl, "apply", &autoscaler(1, 1)).expect("an autoscaler");
    units(&kubectl, 1);
    let object = kubectl.json("get hpa/hello -n stretched");
    let conditions = object["status"]["conditions"].as_array();
    let able = conditions
        .into_iter()
        .flatten()
        .find(|one| one["type"] == "AbleToScale");
    assert_eq!(able.map(|one| &one["status"]), Some(&json!("True")));
    kubectl.ok("delete hpa/hello -n stretched");
    kubectl.ok("delete app/hello -n stretched --timeout=60s");
    kubectl.ok("delete storages --all --timeout=60s");
    kubectl.ok("delete model stretched --timeout=60s");
    let (_, words, well) = service.stop();
    assert!(well && !words.contains("WARNING"), "{words}");
}
