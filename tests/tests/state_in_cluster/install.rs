//! The service as it is installed: with the arguments of its Deployment, by the token of its account.

use pilotage_tests::control_plane::Kubectl;
use pilotage_tests::installed::installed;
use pilotage_tests::life::life;
use pilotage_tests::listener::{address, page};
use pilotage_tests::patience::until;
use serde_json::Value;

use crate::stage::{Stage, desk};

const OWN: &str = "pilotage-system";

#[test]
fn what_is_installed_lives_a_whole_life_with_its_state_in_the_cluster() {
    let test = "what_is_installed_lives_a_whole_life";
    let Some(stage) = Stage::new(test, "installed") else {
        return;
    };
    let Some(kubectl) = Kubectl::find(test, &stage.cluster, "alice") else {
        return;
    };
    let token = installed(&stage.cluster, &kubectl, "cluster", OWN);
    let deployment = kubectl.json(&format!("get deployment pilotage --namespace {OWN}"));
    let container = &deployment["spec"]["template"]["spec"]["containers"][0];
    let arguments = container["args"].as_array().expect("its arguments");
    let words: Vec<&str> = arguments
        .iter()
        .filter_map(Value::as_str)
        // Here it is in no pod, and the port may be taken.
        .map(|word| match word {
            "--cluster=in-cluster" => "--cluster=kubeconfig",
            "--listen=:8080" => "--listen=127.0.0.1:0",
            other => other,
        })
        .collect();
    assert!(words.contains(&"--state=kubernetes"), "{words:?}");
    let pod = desk(&stage.cluster, &token);
    let mut service = pod.start(&words.join(" "));
    let address = address(&mut service);
    until("it is ready", || {
        (page(&address, "/readyz").0 == 200).then_some(())
    });
    // The users are others, with rights of their own.
    life(&stage.desk, &stage.cluster, "installed", &|| {});
    let (_, words, well) = service.stop();
    assert!(well, "{words}");
    assert!(!words.contains("forbidden"), "{words}");
    kubectl.ok(&format!("delete deployment pilotage --namespace {OWN}"));
}
