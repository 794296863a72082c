//! Ways to a cluster that lead nowhere: each is told with what to do.

use std::net::TcpListener;

use pilotage_core::state::ApplicationCommand;
use pilotage_interpreter::cluster::Timing;
use pilotage_tests::charms::own;
use pilotage_tests::control_plane::{Call, NEWCOMER, Players, STRANGER, kind, shared};
use pilotage_tests::house::House;
use pilotage_tests::patience::until;
use pilotage_tests::program::{Desk, texts};
use serde_json::{Value, json};

/// What `run` says, which must fail with that exit code.
fn refused(desk: &Desk, cluster: &str, code: i32) -> String {
    let output = desk.call(&format!("run --cluster {cluster}"));
    let (_, words) = texts(&output);
    assert_eq!(output.status.code(), Some(code), "{cluster}: {words}");
    words
}

#[test]
fn a_cluster_that_cannot_be_found_is_told_with_what_to_do() {
    let mut desk = Desk::new();
    desk.set("KUBECONFIG", "/nowhere/kubeconfig");
    let words = refused(&desk, "kubeconfig", 1);
    assert!(words.contains("there is no kubeconfig"), "{words}");
    assert!(words.contains("/nowhere/kubeconfig"), "{words}");
    let words = refused(&desk, "in-cluster", 1);
    assert!(words.contains("not in a pod of a cluster"), "{words}");
    let words = refused(&desk, "elsewhere", 2);
    assert!(
        words.contains("there is no cluster \"elsewhere\""),
        "{words}"
    );

    let port = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let server = format!("https://{}", port.local_addr().unwrap());
    drop(port);
    let kubeconfig = format!(
        "clusters: [{{name: gone, cluster: {{server: '{server}'}}}}]\n\
         users: [{{name: me, user: {{token: me}}}}]\n\
         contexts: [{{name: old, context: {{cluster: gone, user: me}}}}]\n"
    );
    desk.write("kubeconfig", &kubeconfig);
    desk.set(
        "KUBECONFIG",
        &desk.folder().join("kubeconfig").display().to_string(),
    );
    let words = refused(&desk, "kubeconfig", 1);
    assert!(
        words.contains("no current context") && words.contains("it has old"),
        "{words}"
    );
    let words = refused(&desk, "kubeconfig:new", 1);
    assert!(words.contains("no context \"new\"; it has old"), "{words}");
    let words = refused(&desk, "kubeconfig:old", 1);
    assert!(
        words.contains(&format!("the cluster at {server} is not reached")),
        "{words}"
    );
    assert!(words.contains("Connection refused"), "{words}");
}

#[test]
fn a_cluster_that_says_no_and_one_that_is_another_are_told() {
    let Some(cluster) = shared("a_cluster_that_says_no") else {
        return;
    };
    let desk = Desk::on(&cluster, STRANGER);
    let words = refused(&desk, "kubeconfig", 1);
    assert!(
        words.contains("does not let us read its namespace kube-system (403)"),
        "{words}"
    );
    assert!(words.contains("stranger"), "{words}");

    let text = cluster.kubeconfig_of("pilotage", None);
    let mut distrustful: Value = serde_json::from_str(&text).expect("JSON");
    let server = &mut distrustful["clusters"][0]["cluster"];
    server["certificate-authority"].take();
    desk.write("kubeconfig", &distrustful.to_string());
    let words = refused(&desk, "kubeconfig", 1);
    assert!(
        words.contains("is not reached") && words.contains("certificate"),
        "{words}"
    );

    let desk = Desk::on(&cluster, "pilotage");
    let service = desk.start("run --cluster kubeconfig:local");
    until_running(&desk);
    service.stop();
    let words = refused(&desk, "embedded", 1);
    assert!(words.contains("belongs to the cluster with uid"), "{words}");
    assert!(words.contains("name its cluster with --cluster"), "{words}");
    let founded = desk.folder().join("state.db.cluster");
    assert!(!founded.exists(), "a cluster was founded beside it");
    let mut status = desk.command("status --format json");
    let output = status.env_remove("PILOTAGE_CLUSTER").output();
    let output = output.expect("it runs");
    let status: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(status["model"]["cloud"], "local", "as it was run on");
}

fn until_running(desk: &Desk) {
    until("the provisioner runs", || {
        let words = std::fs::read_to_string(desk.folder().join("run.err")).ok()?;
        words.contains("provisioner runs on").then_some(())
    });
}

/// The role in the README's section on real clusters.
fn role() -> Value {
    let readme = std::fs::read_to_string(own("README.md")).expect("the README");
    let (_, block) = readme.split_once("```yaml\n").expect("a block of YAML");
    let (yaml, _) = block.split_once("```").expect("its end");
    serde_yaml_ng::from_str(yaml).expect("YAML")
}

#[test]
fn the_permissions_of_the_readme_suffice_for_a_whole_life() {
    let Some(cluster) = shared("the_permissions_of_the_readme") else {
        return;
    };
    let ask = |who, method, path: &str, body: Option<&Value>| {
        let call = Call {
            who,
            method,
            path,
            query: &[],
            content_type: if body.is_some() {
                "application/json"
            } else {
                ""
            },
            body,
        };
        cluster.client().call(&call).expect("the server answers")
    };
    let binding = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
        "metadata": { "name": "pilotage" },
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "pilotage" },
        "subjects": [{ "apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": NEWCOMER }],
    });
    let rules = kind("ClusterRole").collection("");
    ask("alice", "POST", &rules, Some(&role())).expect(201);
    let bindings = kind("ClusterRoleBinding").collection("");
    ask("alice", "POST", &bindings, Some(&binding)).expect(201);
    until("the role is in force", || {
        let answer = ask(NEWCOMER, "GET", &kind("StatefulSet").collection(""), None);
        (answer.status == 200).then_some(())
    });

    let _players = Players::start(&cluster, "narrow");
    let kubeconfig = cluster.kubeconfig_of(NEWCOMER, None);
    let mut house = House::new(&cluster, "narrow", Some(kubeconfig), Timing::default());
    let ledger = house.deploy("ledger", 2);
    house.until_active(ledger, 2);
    house.application(ledger, ApplicationCommand::SetTrust { trust: true });
    house.application(ledger, ApplicationCommand::SetScale { scale: 1 });
    house.until_active(ledger, 1);
    // Nothing else would show that these could not be written.
    let answer = ask("alice", "GET", "/api/v1/namespaces/narrow/events", None);
    let events = answer.body["items"].as_array().cloned().unwrap_or_default();
    let ours = events
        .iter()
        .filter(|event| event["involvedObject"]["kind"] == "Application");
    let told: Vec<&str> = ours.filter_map(|event| event["reason"].as_str()).collect();
    for reason in ["Deployed", "Updated", "ScaledDown"] {
        assert!(told.contains(&reason), "{reason} in {told:?}");
    }
    house.remove(ledger);
    house.destroy();
    assert_eq!(house.names(), Vec::<String>::new());
    house.end();
}
