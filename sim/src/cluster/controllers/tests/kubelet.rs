//! What the kubelet reports of pods that do not simply run.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use pilotage_core::time::Span;
use serde_json::{Value, json};

use super::super::instruction::{Behaviour, Incident, Rule};
use super::house::House;
use crate::cluster::object::{items_at, text_at};
use crate::cluster::request::Propagation;
use crate::cluster::resource::Resource;

/// The conditions of a pod, by type.
fn conditions(pod: &Value) -> Vec<String> {
    let mut all: Vec<String> = items_at(pod, &["status", "conditions"])
        .iter()
        .map(|condition| {
            let text = |field| text_at(condition, &[field]);
            let (kind, state) = (text("type"), text("status"));
            format!("{kind} {state} {} {}", text("reason"), text("message"))
                .trim_end()
                .to_string()
        })
        .collect();
    all.sort();
    all
}

fn one(house: &mut House) {
    house.stateful_set("a", |set| set["spec"]["replicas"] = json!(1));
}

#[test]
fn a_new_pod_is_scheduled_then_creates_its_containers_then_runs() {
    let mut house = House::new();
    one(&mut house);
    house.wait(Span(100));
    let pod = house.pod("a-0");
    assert_eq!(text_at(&pod, &["status", "phase"]), "Pending");
    assert_eq!(
        conditions(&pod),
        [
            "ContainersReady False ContainersNotReady containers with unready status: [work]",
            "Initialized True",
            "PodReadyToStartContainers False",
            "PodScheduled True",
            "Ready False ContainersNotReady containers with unready status: [work]",
        ]
    );
    assert_eq!(house.pods(), ["a-0 0/1 ContainerCreating"]);
    house.rest();
    let pod = house.pod("a-0");
    assert_eq!(text_at(&pod, &["status", "phase"]), "Running");
    assert_eq!(
        conditions(&pod),
        [
            "ContainersReady True",
            "Initialized True",
            "PodReadyToStartContainers True",
            "PodScheduled True",
            "Ready True",
        ]
    );
    assert_eq!(text_at(&pod, &["status", "podIP"]), "10.128.0.1");
}

#[test]
fn an_image_that_cannot_be_pulled_is_an_error_then_a_back_off_and_in_the_end_runs() {
    let mut house = House::new();
    let behaviour = Behaviour::PullFails { times: Some(2) };
    house.rule(Rule::image("work:*", behaviour));
    one(&mut house);
    house.wait(Span(1_500));
    assert_eq!(house.pods(), ["a-0 0/1 ErrImagePull"]);
    house.wait(Span::seconds(2));
    assert_eq!(house.pods(), ["a-0 0/1 ImagePullBackOff"]);
    let took = house.rest();
    assert_eq!(house.pods(), ["a-0 1/1 Running"]);
    // Waits of 10 and 20 seconds.
    assert!(
        took > Span::seconds(28) && took < Span::seconds(35),
        "{took:?}"
    );
}

#[test]
fn a_container_that_crashes_waits_longer_each_time() {
    let mut house = House::new();
    house.pod_rule(
        "a-0",
        Behaviour::Exits {
            after: Span::seconds(1),
            times: Some(3),
            code: 137,
            reason: "OOMKilled".into(),
        },
    );
    one(&mut house);
    house.wait(Span(3_000));
    assert_eq!(house.pods(), ["a-0 0/1 OOMKilled"]);
    house.wait(Span::seconds(4));
    assert_eq!(house.pods(), ["a-0 0/1 CrashLoopBackOff 1 restarts"]);
    let status = &house.pod("a-0")["status"]["containerStatuses"][0];
    assert!(
        text_at(status, &["state", "waiting", "message"])
            .starts_with("back-off 10s restarting failed container=work pod=a-0_m(")
    );
    assert_eq!(
        text_at(status, &["lastState", "terminated", "reason"]),
        "OOMKilled"
    );
    house.rest();
    assert_eq!(house.pods(), ["a-0 1/1 Running 3 restarts"]);
}

#[test]
fn a_container_that_is_never_ready_runs_until_the_rule_is_taken_back() {
    let mut house = House::new();
    house.pod_rule("a-*", Behaviour::NeverReady);
    one(&mut house);
    house.rest();
    assert_eq!(house.pods(), ["a-0 0/1 Running"]);
    house.no_rules();
    house.rest();
    assert_eq!(house.pods(), ["a-0 1/1 Running"]);
}

#[test]
fn an_evicted_pod_fails_and_is_replaced() {
    let mut house = House::new();
    one(&mut house);
    house.rest();
    let uid = house.get(Resource::Pod, "a-0").unwrap().uid().to_string();
    house.befall(Incident::PodEvicted {
        namespace: "m".into(),
        pod: "a-0".into(),
    });
    house.wait(Span(1));
    let pod = house.pod("a-0");
    assert_eq!(text_at(&pod, &["status", "phase"]), "Failed");
    assert_eq!(text_at(&pod, &["status", "reason"]), "Evicted");
    house.rest();
    assert_eq!(house.pods(), ["a-0 1/1 Running"]);
    assert_ne!(house.get(Resource::Pod, "a-0").unwrap().uid(), uid);
}

#[test]
fn a_pod_that_ends_slowly_is_killed_when_its_grace_is_over() {
    let mut house = House::new();
    house.pod_rule("a-*", Behaviour::TerminationTakes(Span::seconds(3_600)));
    one(&mut house);
    house.rest();
    house.scale("a", 0);
    house.wait(Span::seconds(29));
    assert_eq!(house.pods(), ["a-0 1/1 Terminating"]);
    house.wait(Span::seconds(2));
    assert!(house.pods().is_empty());
}

#[test]
fn pods_on_a_lost_node_are_not_ready_then_end_when_it_returns() {
    let mut house = House::new();
    one(&mut house);
    house.rest();
    let uid = house.get(Resource::Pod, "a-0").unwrap().uid().to_string();
    let node = "node-0";
    house.befall(Incident::NodeLost { node: node.into() });
    house.wait(Span::seconds(51));
    let lost = house.value(Resource::Node, node);
    assert!(conditions(&lost).contains(
        &"Ready Unknown NodeStatusUnknown Kubelet stopped posting node status.".to_string()
    ));
    assert!(
        conditions(&house.pod("a-0"))
            .iter()
            .any(|text| text.starts_with("Ready False"))
    );
    house.wait(Span::seconds(301));
    assert_eq!(house.pods(), ["a-0 1/1 Terminating"]);
    house.wait(Span::seconds(3_600));
    assert_eq!(house.pods(), ["a-0 1/1 Terminating"]);
    house.befall(Incident::NodeReturned { node: node.into() });
    house.rest();
    assert_eq!(house.pods(), ["a-0 1/1 Running"]);
    assert_ne!(house.get(Resource::Pod, "a-0").unwrap().uid(), uid);
}

#[test]
fn a_pod_that_fits_no_node_says_so_until_one_fits() {
    let mut house = House::new();
    house.stateful_set("a", |set| {
        set["spec"]["replicas"] = json!(1);
        set["spec"]["template"]["spec"]["nodeSelector"] = json!({ "kubernetes.io/arch": "arm64" });
    });
    house.rest();
    assert!(conditions(&house.pod("a-0"))[0].starts_with(
        "PodScheduled False Unschedulable 0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector."
    ));
    house.patch(
        Resource::Node,
        "node-0",
        json!({ "metadata": { "labels": { "kubernetes.io/arch": "arm64" } } }),
    );
    house.rest();
    assert_eq!(house.pods(), ["a-0 1/1 Running"]);
}

#[test]
fn a_container_without_its_secret_is_not_made_until_the_secret_is_there() {
    let mut house = House::new();
    house.stateful_set("a", |set| {
        set["spec"]["replicas"] = json!(1);
        set["spec"]["template"]["spec"]["containers"][0]["env"] = json!([
            { "name": "A", "valueFrom": { "secretKeyRef": { "name": "s", "key": "k" } } }
        ]);
    });
    house.wait(Span::seconds(5));
    assert_eq!(house.pods(), ["a-0 0/1 CreateContainerConfigError"]);
    house.create(
        Resource::Secret,
        json!({ "metadata": { "name": "s" }, "data": { "k": "dg==" } }),
    );
    house.rest();
    assert_eq!(house.pods(), ["a-0 1/1 Running"]);
}

#[test]
fn a_deleted_pod_that_was_never_placed_is_gone_at_once() {
    let mut house = House::new();
    house.stateful_set("a", |set| {
        set["spec"]["replicas"] = json!(1);
        set["spec"]["template"]["spec"]["nodeSelector"] = json!({ "no": "where" });
    });
    house.rest();
    house.scale("a", 0);
    house.delete(Resource::Pod, "a-0", Propagation::Background);
    assert!(house.pods().is_empty());
}
