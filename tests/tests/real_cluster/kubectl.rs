//! kubectl, of the control plane's version, speaks to it.

use pilotage_tests::control_plane::{Kubectl, STRANGER, shared};
use serde_json::json;

#[test]
fn kubectl_applies_shows_and_deletes_as_the_user_that_it_is_given() {
    let Some(cluster) = shared("kubectl_applies_shows_and_deletes") else {
        return;
    };
    let test = "kubectl_applies_shows_and_deletes";
    let (Some(alice), Some(stranger)) = (
        Kubectl::find(test, &cluster, "alice"),
        Kubectl::find(test, &cluster, STRANGER),
    ) else {
        return;
    };
    let versions = alice.json("version");
    assert_eq!(
        versions["clientVersion"]["gitVersion"], versions["serverVersion"]["gitVersion"],
        "kubectl and server are of one version"
    );

    alice.ok("create namespace kubectl");
    let object = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "note", "namespace": "kubectl" },
        "data": { "key": "value" } });
    let applied = alice.with("apply --server-side", &object);
    assert!(applied.status.success(), "{applied:?}");
    let shown = alice.json("get configmap note -n kubectl");
    assert_eq!(shown["data"], json!({ "key": "value" }));
    assert!(
        alice
            .ok("describe configmap note -n kubectl")
            .contains("value")
    );

    let refused = stranger.fails("get configmap note -n kubectl");
    assert!(refused.contains("Forbidden"), "{refused}");

    alice.ok("delete namespace kubectl");
    assert!(alice.fails("get namespace kubectl").contains("(NotFound)"));
}
