//! Server-side apply: adoption, ownership, repetition, take-over.

use serde_json::{Value, json};

use crate::recorder::manifests::{
    birthless_stateful_set, container, data, service, stateful_set, with,
};
use crate::recorder::{Recorder, Script};

pub(super) const SCRIPTS: &[Script] = &[
    Script {
        name: "k01-apply-over-foreign",
        shows: "An apply without precondition and without force over somebody else's object adopts it silently",
        facts: &["K1"],
        watched: &["ConfigMap"],
        play: over_foreign,
    },
    Script {
        name: "k07-apply-after-post",
        shows: "An apply after a POST of the same manager cannot drop what the POST set",
        facts: &["K7"],
        watched: &["StatefulSet"],
        play: after_post,
    },
    Script {
        name: "k08-take-over-stateful-set",
        shows: "A JSON patch of managedFields turns our POST into an apply and releases the birth field; then applies can drop, and replicas stay whoever set them",
        facts: &["K8"],
        watched: &["StatefulSet"],
        play: take_over_stateful_set,
    },
    Script {
        name: "k08-take-over-service",
        shows: "The same for a Service: ports and type are released, and stay as the charm sets them",
        facts: &["K8", "K25"],
        watched: &["Service"],
        play: take_over_service,
    },
    Script {
        name: "k09-apply-twice",
        shows: "The same apply again changes nothing, not even the version",
        facts: &["K9"],
        watched: &["ConfigMap", "Service", "ServiceAccount"],
        play: twice,
    },
    Script {
        name: "k10-replicas-by-apply",
        shows: "Replicas that an apply does not name become 1, also those that it named before",
        facts: &["K10", "K11"],
        watched: &["StatefulSet"],
        play: replicas_by_apply,
    },
    Script {
        name: "k24-replicas-after-scale",
        shows: "A scale takes replicas over: an apply that no longer names them keeps the number",
        facts: &["K24"],
        watched: &["StatefulSet"],
        play: replicas_after_scale,
    },
    Script {
        name: "k25-service-birth-fields",
        shows: "An apply that names a Service's type and ports takes back what somebody changed; one that leaves out ports of ours alone is invalid",
        facts: &["K25"],
        watched: &["Service"],
        play: service_birth_fields,
    },
    Script {
        name: "k29-container-of-two",
        shows: "A container that somebody else applied too stays when we drop it",
        facts: &["K29"],
        watched: &["StatefulSet"],
        play: container_of_two,
    },
    Script {
        name: "k30-order-of-environment",
        shows: "Another order of environment variables is another generation",
        facts: &["K30"],
        watched: &["StatefulSet"],
        play: order_of_environment,
    },
    Script {
        name: "apply-conflicts",
        shows: "Two managers of one field: conflict without force, taken with it, shared when they agree, gone when the last one drops it",
        facts: &[],
        watched: &["ConfigMap"],
        play: conflicts,
    },
];

const CONTAINERS: &str = "/spec/template/spec/containers";

fn containers(names: &[&str]) -> Value {
    names
        .iter()
        .map(|name| container(name, "registry.example/app:1"))
        .collect()
}

fn over_foreign(recorder: &mut Recorder<'_>) {
    let foreign = with(
        data("ConfigMap", "web", "theirs", "1"),
        "/metadata/labels",
        json!({ "app": "theirs" }),
    );
    recorder.by("alice").create(foreign).expect(201);
    let ours = with(
        data("ConfigMap", "web", "ours", "2"),
        "/metadata/labels",
        json!({ "managed": "ours" }),
    );
    recorder
        .by("pilotage")
        .apply_without_force(ours)
        .expect(200);
    recorder.by("alice").get("ConfigMap", "web").expect(200);
}

fn after_post(recorder: &mut Recorder<'_>) {
    let two = with(stateful_set(0), CONTAINERS, containers(&["app", "side"]));
    recorder.by("pilotage").create(two).expect(201);
    recorder.rest("the controller has seen it", |_| true);
    let one = with(birthless_stateful_set(), CONTAINERS, containers(&["app"]));
    let answer = recorder.by("pilotage").apply(one).expect(200);
    let left = answer
        .pointer(CONTAINERS)
        .and_then(Value::as_array)
        .map(Vec::len);
    assert_eq!(left, Some(2), "the dropped container stays");
}

/// The index of the entry that a POST left.
fn post_entry(object: &Value) -> usize {
    let entries = object["metadata"]["managedFields"]
        .as_array()
        .expect("there are entries");
    let ours = |entry: &Value| {
        entry["manager"] == "pilotage"
            && entry["operation"] == "Update"
            && entry["subresource"].is_null()
    };
    entries
        .iter()
        .position(ours)
        .expect("the POST left an entry")
}

fn take_over(object: &Value, released: &[&str]) -> Value {
    let entry = format!("/metadata/managedFields/{}", post_entry(object));
    let mut operations = vec![
        json!({ "op": "replace", "path": "/metadata/resourceVersion", "value": object["metadata"]["resourceVersion"] }),
        json!({ "op": "replace", "path": format!("{entry}/operation"), "value": "Apply" }),
    ];
    for field in released {
        operations
            .push(json!({ "op": "remove", "path": format!("{entry}/fieldsV1/f:spec/{field}") }));
    }
    operations.into()
}

fn take_over_stateful_set(recorder: &mut Recorder<'_>) {
    let born = with(stateful_set(2), CONTAINERS, containers(&["app", "side"]));
    recorder.by("pilotage").create(born).expect(201);
    recorder.rest("the controller has made the pods", |live| {
        live.count("Pod") == 2
    });
    let stale = recorder
        .by("pilotage")
        .get("StatefulSet", "web")
        .expect(200);
    // Somebody moves the version.
    recorder.by("alice").merge_patch(
        "StatefulSet",
        "web",
        json!({ "metadata": { "annotations": { "note": "seen" } } }),
    );
    recorder.rest("the controller has seen it", |_| true);
    // Of the patch that is too late only what does not count in the entries: their order may have changed too, and then it is 422.
    let late = json!([
        { "op": "replace", "path": "/metadata/resourceVersion", "value": stale["metadata"]["resourceVersion"] },
        { "op": "replace", "path": "/metadata/annotations/note", "value": "never" },
    ]);
    recorder
        .by("pilotage")
        .json_patch("StatefulSet", "web", late)
        .expect(409);
    let tested = json!([
        { "op": "test", "path": "/metadata/resourceVersion", "value": stale["metadata"]["resourceVersion"] },
        { "op": "replace", "path": "/metadata/annotations/note", "value": "never" },
    ]);
    recorder
        .by("pilotage")
        .json_patch("StatefulSet", "web", tested)
        .expect(422);
    let live = recorder
        .by("pilotage")
        .get("StatefulSet", "web")
        .expect(200);
    recorder
        .by("pilotage")
        .json_patch("StatefulSet", "web", take_over(&live, &["f:replicas"]))
        .expect(200);
    recorder.rest("the controller has seen it", |_| true);
    let one = with(birthless_stateful_set(), CONTAINERS, containers(&["app"]));
    let answer = recorder.by("pilotage").apply(one.clone()).expect(200);
    assert_eq!(
        answer
            .pointer(CONTAINERS)
            .and_then(Value::as_array)
            .map(Vec::len),
        Some(1)
    );
    assert_eq!(answer["spec"]["replicas"], 2);
    recorder.rest("one pod has the new template", |_| true);
    let answer = recorder
        .by("pilotage")
        .get("StatefulSet", "web")
        .expect(200);
    let metadata = &answer["metadata"];
    let (uid, version) = (metadata["uid"].clone(), metadata["resourceVersion"].clone());
    recorder.by("pilotage").scale("web", 3, uid, version);
    recorder.rest("the controller has seen it", |_| true);
    recorder.by("pilotage").apply(one).expect(200);
    recorder
        .by("pilotage")
        .get("StatefulSet", "web")
        .expect(200);
}

fn take_over_service(recorder: &mut Recorder<'_>) {
    let born = recorder.by("pilotage").create(service()).expect(201);
    let patch = take_over(&born, &["f:ports", "f:type"]);
    recorder
        .by("pilotage")
        .json_patch("Service", "web", patch)
        .expect(200);
    let mut ours = service();
    ours["spec"] = json!({ "selector": ours["spec"]["selector"] });
    recorder.by("pilotage").apply(ours.clone()).expect(200);
    let ports = json!([{ "name": "http", "port": 80, "protocol": "TCP", "targetPort": 8080 }]);
    recorder
        .by("operator")
        .merge_patch("Service", "web", json!({ "spec": { "ports": ports } }))
        .expect(200);
    let answer = recorder.by("pilotage").apply(ours.clone()).expect(200);
    assert_eq!(answer["spec"]["ports"][0]["port"], 80);
    recorder
        .by("operator")
        .merge_patch(
            "Service",
            "web",
            json!({ "spec": { "type": "LoadBalancer" } }),
        )
        .expect(200);
    ours["metadata"]["annotations"] = json!({ "note": "new" });
    let answer = recorder.by("pilotage").apply(ours).expect(200);
    assert_eq!(answer["spec"]["type"], "LoadBalancer");
}

fn twice(recorder: &mut Recorder<'_>) {
    for object in [
        data("ConfigMap", "web", "key", "value"),
        service(),
        crate::recorder::manifests::account("web"),
    ] {
        recorder.by("pilotage").apply(object.clone()).expect(201);
        recorder.by("pilotage").apply(object.clone()).expect(200);
        recorder.by("pilotage").apply(object).expect(200);
    }
}

fn replicas_by_apply(recorder: &mut Recorder<'_>) {
    recorder
        .by("pilotage")
        .apply(birthless_stateful_set())
        .expect(201);
    recorder.rest("one pod is there", |live| live.count("Pod") == 1);
    recorder.by("pilotage").apply(stateful_set(0)).expect(200);
    recorder.rest("no pod is there", |live| live.count("Pod") == 0);
    recorder
        .by("pilotage")
        .apply(birthless_stateful_set())
        .expect(200);
    recorder.rest("one pod is there", |live| live.count("Pod") == 1);
    recorder.by("pilotage").apply(stateful_set(3)).expect(200);
    recorder.rest("three pods are there", |live| live.count("Pod") == 3);
    recorder
        .by("pilotage")
        .apply(birthless_stateful_set())
        .expect(200);
    recorder.rest("one pod is there", |live| live.count("Pod") == 1);
}

fn replicas_after_scale(recorder: &mut Recorder<'_>) {
    let born = recorder.by("pilotage").apply(stateful_set(0)).expect(201);
    recorder.rest("the controller has seen it", |_| true);
    recorder
        .by("pilotage")
        .scale("web", 2, born["metadata"]["uid"].clone(), Value::Null)
        .expect(200);
    recorder.rest("two pods are there", |live| live.count("Pod") == 2);
    let answer = recorder
        .by("pilotage")
        .apply(birthless_stateful_set())
        .expect(200);
    assert_eq!(answer["spec"]["replicas"], 2);
    recorder.rest("nothing changes", |live| live.count("Pod") == 2);
}

fn service_birth_fields(recorder: &mut Recorder<'_>) {
    recorder.by("pilotage").apply(service()).expect(201);
    let mut without = service();
    without["spec"] = json!({ "selector": without["spec"]["selector"] });
    recorder.by("pilotage").apply(without.clone()).expect(422);
    let other =
        json!({ "spec": { "type": "NodePort", "ports": [{ "name": "http", "port": 80 }] } });
    recorder
        .by("alice")
        .merge_patch("Service", "web", other)
        .expect(200);
    recorder.by("pilotage").apply(service()).expect(200);
    let ports = json!([{ "op": "replace", "path": "/spec/ports", "value": [{ "name": "http", "port": 80 }] }]);
    recorder
        .by("alice")
        .json_patch("Service", "web", ports)
        .expect(200);
    recorder.by("pilotage").apply(without).expect(200);
}

fn container_of_two(recorder: &mut Recorder<'_>) {
    let two = with(stateful_set(0), CONTAINERS, containers(&["app", "side"]));
    recorder.by("pilotage").apply(two).expect(201);
    recorder.rest("the controller has seen it", |_| true);
    let mut theirs = stateful_set(0);
    theirs["metadata"] = json!({ "name": "web" });
    theirs["spec"] = json!({ "template": { "spec": { "containers": containers(&["side"]) } } });
    recorder.by("operator").apply(theirs).expect(200);
    recorder.rest("the controller has seen it", |_| true);
    let one = with(stateful_set(0), CONTAINERS, containers(&["app"]));
    let answer = recorder.by("pilotage").apply(one).expect(200);
    assert_eq!(
        answer
            .pointer(CONTAINERS)
            .and_then(Value::as_array)
            .map(Vec::len),
        Some(2)
    );
}

fn order_of_environment(recorder: &mut Recorder<'_>) {
    let environment = |names: [&str; 2]| -> Value {
        names
            .iter()
            .map(|name| json!({ "name": name, "value": "x" }))
            .collect()
    };
    let pointer = "/spec/template/spec/containers/0/env";
    recorder
        .by("pilotage")
        .apply(with(stateful_set(0), pointer, environment(["A", "B"])))
        .expect(201);
    recorder.rest("the controller has seen it", |_| true);
    recorder
        .by("pilotage")
        .apply(with(stateful_set(0), pointer, environment(["A", "B"])))
        .expect(200);
    let other =
        recorder
            .by("pilotage")
            .apply(with(stateful_set(0), pointer, environment(["B", "A"])));
    assert_eq!(other.expect(200)["metadata"]["generation"], 2);
}

fn conflicts(recorder: &mut Recorder<'_>) {
    let mut ours = data("ConfigMap", "web", "shared", "ours");
    ours["data"]["only-ours"] = json!("x");
    let theirs = |value: &str| data("ConfigMap", "web", "shared", value);
    recorder.by("pilotage").apply(ours.clone()).expect(201);
    recorder
        .by("operator")
        .apply_without_force(theirs("theirs"))
        .expect(409);
    recorder
        .by("operator")
        .apply_without_force(theirs("ours"))
        .expect(200);
    // Shared: whoever changes it alone meets a conflict.
    ours["data"]["shared"] = json!("new");
    recorder
        .by("pilotage")
        .apply_without_force(ours.clone())
        .expect(409);
    recorder.by("pilotage").apply(ours.clone()).expect(200);
    recorder.by("operator").apply(theirs("theirs")).expect(200);
    recorder
        .by("pilotage")
        .apply_without_force(ours)
        .expect(409);
    // Dropped by us, it is still theirs.
    recorder
        .by("pilotage")
        .apply(data("ConfigMap", "web", "only-ours", "x"))
        .expect(200);
    // Dropped by them too, it is gone.
    let mut nothing = data("ConfigMap", "web", "x", "x");
    nothing["data"] = json!({});
    recorder.by("operator").apply(nothing).expect(200);
    // An update takes what it changes, without asking.
    recorder
        .by("alice")
        .merge_patch("ConfigMap", "web", json!({ "data": { "only-ours": "y" } }))
        .expect(200);
    recorder
        .by("pilotage")
        .apply_without_force(data("ConfigMap", "web", "only-ours", "x"))
        .expect(409);
    recorder
        .by("pilotage")
        .apply(data("ConfigMap", "web", "only-ours", "x"))
        .expect(200);
    recorder
        .by("alice")
        .merge_patch("ConfigMap", "web", json!({ "data": { "only-ours": null } }))
        .expect(200);
    recorder.by("pilotage").get("ConfigMap", "web").expect(200);
}
