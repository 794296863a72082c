//! What `pilotage manifests` prints, on a real API server: taken as it is, and enough for a whole life, no more.

use pilotage_tests::control_plane::{ControlPlane, Kubectl, Players, kind, shared};
use pilotage_tests::installed::installed;
use pilotage_tests::life::{active, hello, left, model};
use pilotage_tests::patience::until;
use pilotage_tests::program::Desk;
use serde_json::{Value, json};

use super::leader::ask;

/// Whether the role of the application allows everything.
fn everything(cluster: &ControlPlane, path: &str) -> bool {
    let (_, role) = ask(cluster, "GET", path, None);
    role["rules"][0]["verbs"] == json!(["*"])
}

fn message(status: &Value) -> &str {
    let message = &status["applications"]["hello"]["application-status"]["message"];
    message.as_str().unwrap_or_default()
}

/// A whole life under the rights of one mode.
fn life(trust: &str, run: &str) {
    let test = format!("what_is_printed_suffices_for_trust_{trust}");
    let Some(cluster) = shared(&test) else {
        return;
    };
    let Some(kubectl) = Kubectl::find(&test, &cluster, "alice") else {
        return;
    };
    let own = format!("own-{trust}");
    let name = format!("trust-{trust}");
    let token = installed(&cluster, &kubectl, trust, &own);
    let desk = Desk::on(&cluster, &token);
    let _players = Players::start(&cluster, &name);
    let mut service = desk.start(run);
    service.until_it_says("provisioner runs on");
    assert!(
        service.said().contains("lease: pilotage-system/pilotage-"),
        "{}",
        service.said()
    );
    desk.ok(&format!("add-model {name}"));
    let uid = model(&desk);
    desk.ok(&format!("deploy {} hello", hello()));
    desk.ok("scale-application hello 2");
    desk.wait("two active units", |status| active(status, 2));

    let role = kind("Role").object(&name, "hello");
    let cluster_role = kind("ClusterRole").object("", &format!("pilotage:{name}:hello"));
    desk.ok("trust hello --scope cluster");
    if trust == "none" {
        desk.wait("the refusal is in the status", |status| {
            message(status).contains("attempting to grant RBAC permissions not currently held")
        });
        assert!(!everything(&cluster, &role) && !everything(&cluster, &cluster_role));
        desk.ok("trust hello --remove --scope cluster");
    } else {
        until("it is trusted", || {
            (everything(&cluster, &role)
                && everything(&cluster, &cluster_role) == (trust == "cluster"))
                .then_some(())
        });
    }
    desk.ok("scale-application hello 1");
    desk.wait("one active unit", |status| active(status, 1));
    desk.ok(&format!("refresh hello --path {}", hello()));
    desk.wait("the new revision is active", |status| {
        status["applications"]["hello"]["charm-rev"] == 1 && active(status, 1)
    });
    assert_eq!(everything(&cluster, &role), trust != "none");
    assert_eq!(everything(&cluster, &cluster_role), trust == "cluster");

    desk.ok("remove-application hello --no-prompt --destroy-storage");
    desk.wait("nothing is left", |status| {
        status["applications"] == json!({}) && status["storage"] == json!({})
    });
    desk.ok(&format!("destroy-model {name} --no-prompt"));
    assert_eq!(left(&cluster, uid), Vec::<String>::new());
    let (_, words, well) = service.stop();
    assert!(well, "{words}");
    assert!(!words.contains("WARNING"), "{words}");
    kubectl.ok(&format!("delete namespace {own} --wait=false"));
}

#[test]
fn what_is_printed_suffices_for_trust_none() {
    life("none", "run");
}

#[test]
fn what_is_printed_suffices_for_trust_namespace() {
    life("namespace", "run --trust-scope namespace");
}

#[test]
fn what_is_printed_suffices_for_trust_cluster() {
    life("cluster", "run");
}
