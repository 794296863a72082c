//! What is told of an application: Kubernetes Events, found by who describes it.

use pilotage_tests::control_plane::{Call, Kubectl};
use pilotage_tests::life::{active, hello as charm};
use pilotage_tests::patience::until;
use serde_json::Value;

use crate::kubectl::{begin, hello, wait_ready, with};
use crate::stage::Stage;

/// Events of an object, by what names it in them.
fn events(stage: &Stage, namespace: &str, object: &Value) -> Vec<Value> {
    let fields = format!(
        "involvedObject.uid={},involvedObject.kind=Application,involvedObject.name={}",
        object["metadata"]["uid"].as_str().expect("a uid"),
        object["metadata"]["name"].as_str().expect("a name"),
    );
    let call = Call {
        who: "alice",
        method: "GET",
        path: &format!("/api/v1/namespaces/{namespace}/events"),
        query: &[("fieldSelector".to_owned(), fields)],
        content_type: "",
        body: None,
    };
    let answer = stage.cluster.client().call(&call);
    let list = answer.expect("the server answers").expect(200);
    list["items"].as_array().cloned().unwrap_or_default()
}

/// Looks at it as a person does.
fn told(stage: &Stage, kubectl: &Kubectl, namespace: &str, reason: &str) {
    let object = kubectl.json(&format!("get app/hello -n {namespace}"));
    let event = until(&format!("{reason} is told of {object:#}"), || {
        let all = events(stage, namespace, &object);
        all.into_iter().find(|event| event["reason"] == reason)
    });
    assert_eq!(event["involvedObject"]["apiVersion"], object["apiVersion"]);
    let described = kubectl.ok(&format!("describe app/hello -n {namespace}"));
    let (_, events) = described.split_once("Events:").expect("a list of events");
    assert!(events.contains(reason), "{described}");
}

#[test]
fn kubectl_describe_tells_what_happened_to_an_application_whoever_made_it() {
    let Some((stage, kubectl, service)) = begin("kubectl_describe_tells", "told") else {
        return;
    };
    // By kubectl its identity is its object's; through Pilotage it is drawn before there is an object.
    with(&kubectl, "apply", &hello("told", 1, "nginx:1")).expect("an application");
    wait_ready(&kubectl, "app/hello -n told");
    told(&stage, &kubectl, "told", "Deployed");
    kubectl.ok("scale app/hello -n told --replicas=2");
    told(&stage, &kubectl, "told", "ScaledUp");
    kubectl.ok("delete app/hello -n told --timeout=60s");
    kubectl.ok("delete storages --all --timeout=60s");

    stage.desk.ok("switch told");
    stage.desk.ok(&format!("deploy {} hello", charm()));
    stage
        .desk
        .wait("an active unit", |status| active(status, 1));
    told(&stage, &kubectl, "told", "Deployed");
    stage.desk.ok("scale-application hello 2");
    told(&stage, &kubectl, "told", "ScaledUp");
    kubectl.ok("delete app/hello -n told --timeout=60s");
    kubectl.ok("delete model told --timeout=60s");
    let (_, words, well) = service.stop();
    assert!(well && !words.contains("WARNING"), "{words}");
}
