//! What lives that were drawn at random found: see [`crate::conformance`].

use serde_json::{Value, json};

use crate::recorder::manifests::{account, claim, data, pod, service, stateful_set};
use crate::recorder::{Recorder, Script};

pub(super) const SCRIPTS: &[Script] = &[
    Script {
        name: "written-again",
        shows: "A patch that says what is there already makes no version, but for the first one of a claim",
        facts: &[],
        watched: &["PersistentVolumeClaim"],
        play: written_again,
    },
    Script {
        name: "no-rules",
        shows: "A role without rules is kept with a null in their place, and a list of none is a change of it, once",
        facts: &[],
        watched: &["Role"],
        play: no_rules,
    },
    Script {
        name: "map-emptied",
        shows: "A map that one entry owns as a whole stays owned when an apply stops naming all that is in it",
        facts: &[],
        watched: &["ConfigMap"],
        play: map_emptied,
    },
    Script {
        name: "map-of-two-emptied",
        shows: "An empty map that two name is not kept, so the next apply that names it takes it from the other, once",
        facts: &[],
        watched: &["ConfigMap"],
        play: map_of_two_emptied,
    },
    Script {
        name: "scale-to-the-same",
        shows: "A Scale that says nothing new takes the replicas out of entries of updates, and the next write forgets them",
        facts: &[],
        watched: &["StatefulSet"],
        play: scale_to_the_same,
    },
    Script {
        name: "deleted-again",
        shows: "A later delete that does not say what becomes of dependents leaves it as an earlier one said",
        facts: &[],
        watched: &["ConfigMap"],
        play: deleted_again,
    },
    Script {
        name: "pod-deleted-twice",
        shows: "A second delete of a pod that has no time left can still say what becomes of dependents",
        facts: &[],
        watched: &["Pod"],
        play: pod_deleted_twice,
    },
];

fn role(rules: Value) -> Value {
    json!({ "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": { "name": "web" }, "rules": rules })
}

fn written_again(recorder: &mut Recorder<'_>) {
    let rules = json!([{ "apiGroups": [""], "resources": ["pods"], "verbs": ["get"] }]);
    let objects = [
        service(),
        account("web"),
        data("Secret", "web", "key", "dmFsdWU="),
        data("ConfigMap", "web", "key", "value"),
        claim("web", "1Gi"),
        role(rules),
        stateful_set(0),
        pod("web"),
    ];
    for object in objects {
        recorder.by("alice").create(object.clone()).expect(201);
        recorder.rest("the controllers have seen it", |_| true);
        let kind = object["kind"].as_str().unwrap_or_default();
        let same = json!({ "metadata": { "name": "web" } });
        for who in ["operator", "alice"] {
            recorder
                .by(who)
                .merge_patch(kind, "web", same.clone())
                .expect(200);
        }
    }
}

fn no_rules(recorder: &mut Recorder<'_>) {
    let made = recorder.by("pilotage").create(role(json!([]))).expect(201);
    assert!(made["rules"].is_null());
    let none = json!({ "rules": [] });
    for who in ["alice", "alice", "pilotage"] {
        recorder
            .by(who)
            .merge_patch("Role", "web", none.clone())
            .expect(200);
    }
    recorder.by("operator").apply(role(json!([]))).expect(200);
}

fn map_emptied(recorder: &mut Recorder<'_>) {
    recorder
        .by("pilotage")
        .create(data("ConfigMap", "web", "key", "value"))
        .expect(201);
    recorder
        .by("pilotage")
        .apply(data("ConfigMap", "web", "key", "other"))
        .expect(200);
    let bare = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "web" } });
    let left = recorder.by("pilotage").apply(bare.clone()).expect(200);
    assert!(left["data"].is_null());
    recorder.by("pilotage").apply(bare).expect(200);
    recorder
        .by("alice")
        .merge_patch("ConfigMap", "web", json!({ "data": { "more": "x" } }))
        .expect(200);
}

fn map_of_two_emptied(recorder: &mut Recorder<'_>) {
    let empty = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "web" }, "data": {} });
    recorder
        .by("pilotage")
        .apply(data("ConfigMap", "web", "key", "value"))
        .expect(201);
    recorder.by("alice").apply(empty.clone()).expect(200);
    for _ in 0..3 {
        recorder.by("pilotage").apply(empty.clone()).expect(200);
    }
    recorder.by("alice").apply(empty).expect(200);
}

fn scale_to_the_same(recorder: &mut Recorder<'_>) {
    recorder.by("alice").create(stateful_set(1)).expect(201);
    recorder.rest("the pod is there", |live| live.count("Pod") == 1);
    let scale = |recorder: &mut Recorder<'_>, replicas| {
        let hand = &mut recorder.by("pilotage");
        hand.scale("web", replicas, Value::Null, Value::Null)
            .expect(200);
    };
    scale(recorder, 1);
    scale(recorder, 1);
    recorder
        .by("operator")
        .merge_patch(
            "StatefulSet",
            "web",
            json!({ "metadata": { "annotations": { "note": "x" } } }),
        )
        .expect(200);
    scale(recorder, 2);
    recorder.rest("two pods are there", |live| live.count("Pod") == 2);
    scale(recorder, 2);
    recorder.rest("nothing changed", |_| true);
}

fn pod_deleted_twice(recorder: &mut Recorder<'_>) {
    let mut held = pod("web");
    held["metadata"]["finalizers"] = json!(["pilotage.dev/held"]);
    recorder.by("alice").create(held).expect(201);
    for propagation in ["Background", "Background", "Orphan", "Foreground"] {
        recorder
            .by("alice")
            .delete("Pod", "web", json!({ "propagationPolicy": propagation }))
            .expect(200);
        recorder.rest("the collector is done", |_| true);
    }
    recorder
        .by("alice")
        .merge_patch("Pod", "web", json!({ "metadata": { "finalizers": null } }))
        .expect(200);
}

fn deleted_again(recorder: &mut Recorder<'_>) {
    let made = recorder
        .by("alice")
        .create(data("ConfigMap", "web", "key", "value"))
        .expect(201);
    let mut dependent = data("ConfigMap", "held", "key", "value");
    dependent["metadata"]["finalizers"] = json!(["pilotage.dev/held"]);
    dependent["metadata"]["ownerReferences"] = json!([{
        "apiVersion": "v1", "kind": "ConfigMap", "name": "web", "uid": made["metadata"]["uid"],
        "blockOwnerDeletion": true,
    }]);
    recorder.by("alice").create(dependent).expect(201);
    recorder.rest("the collector has seen both", |_| true);
    let foreground = json!({ "propagationPolicy": "Foreground" });
    recorder
        .by("alice")
        .delete("ConfigMap", "web", foreground)
        .expect(200);
    recorder.rest("it waits for its dependent", |live| {
        !live
            .field("ConfigMap held", "/metadata/deletionTimestamp")
            .is_null()
    });
    recorder
        .by("alice")
        .delete("ConfigMap", "web", json!({}))
        .expect(200);
    recorder
        .by("alice")
        .delete(
            "ConfigMap",
            "web",
            json!({ "propagationPolicy": "Background" }),
        )
        .expect(200);
    recorder.rest("it does not wait any more", |live| {
        !live.has("ConfigMap web")
    });
    recorder
        .by("alice")
        .merge_patch(
            "ConfigMap",
            "held",
            json!({ "metadata": { "finalizers": null } }),
        )
        .expect(200);
}
