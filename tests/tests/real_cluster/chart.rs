//! The chart: it renders what the program prints, is taken by a real API server as it is, and is upgraded.

use std::collections::BTreeMap;

use pilotage_tests::control_plane::{Kubectl, shared};
use pilotage_tests::helm::{Helm, objects};
use pilotage_tests::program::Desk;
use serde_json::{Value, json};

/// By kind and name.
fn named(objects: Vec<Value>) -> BTreeMap<String, Value> {
    let name = |object: &Value| format!("{} {}", object["kind"], object["metadata"]["name"]);
    let pairs = objects.into_iter().map(|object| (name(&object), object));
    pairs.collect()
}

#[test]
fn the_chart_renders_what_the_program_prints() {
    let desk = Desk::new();
    let Some(helm) = Helm::find("the_chart_renders", desk.folder()) else {
        return;
    };
    for trust in ["none", "namespace", "cluster"] {
        let settings = format!("--trust {trust} --namespace here --image registry.example/p:1");
        let mut printed = named(objects(&desk.ok(&format!("manifests {settings}"))));
        let namespace = printed.remove("\"Namespace\" \"here\"");
        assert!(namespace.is_some(), "helm makes the namespace itself");
        let rendered = helm.ok(&format!(
            "template pilotage CHART --namespace here --set trust={trust} --set image=registry.example/p:1"
        ));
        let mut rendered = named(objects(&rendered));
        for (name, object) in &mut rendered {
            // What is not the chart's alone stays.
            if name.contains("CustomResourceDefinition") || name.contains("Namespace") {
                let annotations = object["metadata"]["annotations"].as_object_mut();
                let annotations = annotations.expect("annotations");
                let keep = annotations.remove("helm.sh/resource-policy");
                assert_eq!(keep, Some(json!("keep")), "{name}");
                if annotations.is_empty() {
                    object["metadata"]["annotations"].take();
                    object["metadata"]
                        .as_object_mut()
                        .map(|all| all.remove("annotations"));
                }
            }
        }
        let names = |all: &BTreeMap<String, Value>| all.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&rendered), names(&printed), "{trust}");
        for (name, object) in printed {
            assert_eq!(rendered[&name], object, "{trust}: {name}");
        }
    }
    let (_, words, well) = helm.call("template pilotage CHART --set trust=everywhere");
    assert!(!well && words.contains("trust"), "{words}");
    assert!(helm.ok("lint CHART").contains("0 chart(s) failed"));
}

#[test]
fn the_chart_is_installed_upgraded_and_uninstalled_and_leaves_the_definitions() {
    let test = "the_chart_is_installed";
    let Some(cluster) = shared(test) else {
        return;
    };
    let Some(kubectl) = Kubectl::find(test, &cluster, "alice") else {
        return;
    };
    let Some(helm) = Helm::find(test, kubectl.home()) else {
        return;
    };
    // The server refuses what is not as its schema says, rather than to leave it out.
    let rendered = helm.ok("template pilotage CHART --namespace charted");
    kubectl.write("rendered.yaml", &rendered);
    kubectl.ok("create namespace charted");
    kubectl.ok("label namespace charted pod-security.kubernetes.io/enforce=restricted");
    kubectl.ok(
        "apply --server-side --dry-run=server --force-conflicts --validate=strict -f rendered.yaml",
    );

    let upgrade =
        "upgrade pilotage CHART --install --namespace charted --take-ownership --force-conflicts";
    let said = helm.ok(upgrade);
    assert!(
        said.contains("Applications that are trusted are refused"),
        "{said}"
    );
    let role = "get clusterrole pilotage:charted";
    let grants = || kubectl.json(role).to_string().contains("escalate");
    assert!(!grants());
    let said = helm.ok(&format!("{upgrade} --set trust=cluster"));
    assert!(said.contains("may do everything in the cluster"), "{said}");
    assert!(grants());
    kubectl.ok("wait --for=jsonpath={.status.replicas}=2 deployment/pilotage --namespace charted --timeout=60s");

    // An older release's definition, as it were: the upgrade brings it up to date.
    let definition = "customresourcedefinition applications.pilotage.dev";
    kubectl.ok(&format!(
        "annotate {definition} pilotage.dev/definitions=0 --overwrite"
    ));
    helm.ok(upgrade);
    let now = kubectl.json(&format!("get {definition}"));
    assert_ne!(
        now["metadata"]["annotations"]["pilotage.dev/definitions"],
        "0"
    );

    helm.ok("uninstall pilotage --namespace charted");
    kubectl.ok(&format!("get {definition}"));
    kubectl.fails(role);
    kubectl.ok("delete namespace charted --wait=false");
}
