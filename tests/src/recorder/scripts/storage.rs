//! Claims and volumes.

use serde_json::{Value, json};

use crate::recorder::manifests::{claim, pod, stateful_set_with_claims, with};
use crate::recorder::{Recorder, Script};

pub(super) const SCRIPTS: &[Script] = &[
    Script {
        name: "k34-claims-grow",
        shows: "What can be changed of a bound claim: growing needs a class that allows it; a request is never below the capacity, and never left out again",
        facts: &["K34"],
        watched: &["PersistentVolumeClaim", "PersistentVolume"],
        play: grow,
    },
    Script {
        name: "claims-kept",
        shows: "Claims outlive scale-down and the StatefulSet; a pod that comes back finds its own again",
        facts: &[],
        watched: &[
            "StatefulSet",
            "Pod",
            "PersistentVolumeClaim",
            "PersistentVolume",
        ],
        play: kept,
    },
    Script {
        name: "claims-deleted",
        shows: "A claim in use is deleted only after its pod; its volume is released; a StatefulSet makes the claim anew",
        facts: &[],
        watched: &[
            "StatefulSet",
            "Pod",
            "PersistentVolumeClaim",
            "PersistentVolume",
        ],
        play: deleted,
    },
    Script {
        name: "claims-retention-delete",
        shows: "With retention Delete claims go with the scale-down and with the StatefulSet",
        facts: &[],
        watched: &["StatefulSet", "Pod", "PersistentVolumeClaim"],
        play: retention_delete,
    },
];

fn class(name: &str, expands: bool) -> Value {
    json!({ "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": { "name": name },
        "provisioner": "kubernetes.io/no-provisioner", "allowVolumeExpansion": expands })
}

fn grow(recorder: &mut Recorder<'_>) {
    let (fixed, expands) = (
        format!("{}-fixed", recorder.namespace()),
        format!("{}-grows", recorder.namespace()),
    );
    recorder
        .by("alice")
        .create(class(&fixed, false))
        .expect(201);
    recorder
        .by("alice")
        .create(class(&expands, true))
        .expect(201);
    let sized = |name: &str, class: &str, size: &str| {
        with(claim(name, size), "/spec/storageClassName", json!(class))
    };
    recorder
        .by("pilotage")
        .apply(sized("fixed", &fixed, "1Gi"))
        .expect(201);
    recorder
        .by("pilotage")
        .apply(sized("grows", &expands, "1Gi"))
        .expect(201);
    recorder.rest("the claims wait", |_| true);
    // A claim that is not bound yet cannot change at all.
    recorder
        .by("pilotage")
        .apply(sized("fixed", &fixed, "2Gi"))
        .expect(422);
    recorder.provide("fixed", "1Gi");
    recorder.provide("grows", "1Gi");
    recorder
        .by("pilotage")
        .apply(sized("fixed", &fixed, "2Gi"))
        .expect(403);
    let hand = json!({ "spec": { "resources": { "requests": { "storage": "5Gi" } } } });
    recorder
        .by("alice")
        .merge_patch("PersistentVolumeClaim", "grows", hand)
        .expect(200);
    recorder
        .by("pilotage")
        .apply(sized("grows", &expands, "2Gi"))
        .expect(200);
    recorder
        .by("pilotage")
        .apply(sized("grows", &expands, "512Mi"))
        .expect(422);
    let mut without = sized("grows", &expands, "1Gi");
    without["spec"]
        .as_object_mut()
        .expect("a spec")
        .remove("resources");
    recorder.by("pilotage").apply(without).expect(422);
    recorder
        .by("pilotage")
        .apply(sized("grows", &expands, "2Gi"))
        .expect(200);
}

fn both_bound(recorder: &mut Recorder<'_>) {
    recorder
        .by("pilotage")
        .create(stateful_set_with_claims(2, "1Gi"))
        .expect(201);
    recorder.rest("two pods wait for their claims", |live| {
        live.count("Pod") == 2
    });
    recorder.provide("data-web-0", "1Gi");
    recorder.provide("data-web-1", "1Gi");
    recorder.run_each(&["web-0", "web-1"]);
}

fn kept(recorder: &mut Recorder<'_>) {
    both_bound(recorder);
    recorder
        .by("pilotage")
        .scale("web", 1, Value::Null, Value::Null)
        .expect(200);
    recorder.rest("web-1 is to end", |live| live.ends("web-1"));
    recorder.end("web-1");
    recorder.rest("web-1 is gone", |live| live.count("Pod") == 1);
    recorder
        .by("pilotage")
        .list("PersistentVolumeClaim", "")
        .expect(200);
    recorder
        .by("pilotage")
        .scale("web", 2, Value::Null, Value::Null)
        .expect(200);
    recorder.rest("web-1 is back", |live| live.has("Pod web-1"));
    recorder.run_each(&["web-1"]);
    recorder
        .by("pilotage")
        .delete(
            "StatefulSet",
            "web",
            json!({ "propagationPolicy": "Background" }),
        )
        .expect(200);
    recorder.rest("the pods are to end", |live| {
        live.ends("web-0") && live.ends("web-1")
    });
    recorder.end("web-0");
    recorder.rest("web-0 is gone", |live| !live.has("Pod web-0"));
    recorder.end("web-1");
    recorder.rest("the pods are gone", |live| live.count("Pod") == 0);
    let claims = recorder
        .by("pilotage")
        .list("PersistentVolumeClaim", "")
        .expect(200);
    assert_eq!(claims["items"].as_array().map(Vec::len), Some(2));
    recorder
        .by("pilotage")
        .create(stateful_set_with_claims(1, "1Gi"))
        .expect(201);
    recorder.rest("web-0 is back", |live| live.has("Pod web-0"));
    recorder.run_each(&["web-0"]);
    recorder
        .by("pilotage")
        .get("PersistentVolumeClaim", "data-web-0")
        .expect(200);
}

fn deleted(recorder: &mut Recorder<'_>) {
    both_bound(recorder);
    // In use: it waits for its pod.
    recorder
        .by("alice")
        .delete("PersistentVolumeClaim", "data-web-1", json!({}))
        .expect(200);
    recorder.rest("it is in use", |live| {
        live.has("PersistentVolumeClaim data-web-1")
    });
    recorder
        .by("pilotage")
        .scale("web", 1, Value::Null, Value::Null)
        .expect(200);
    recorder.rest("web-1 is to end", |live| live.ends("web-1"));
    recorder.end("web-1");
    recorder.rest("the claim is gone and its volume released", |live| {
        !live.has("PersistentVolumeClaim data-web-1")
            && live.field(
                "PersistentVolume claims-deleted-data-web-1",
                "/status/phase",
            ) == "Released"
    });
    recorder
        .by("provisioner")
        .delete("PersistentVolume", "claims-deleted-data-web-1", json!({}))
        .expect(200);
    recorder.rest("the volume is gone", |live| {
        !live.has("PersistentVolume claims-deleted-data-web-1")
    });
    recorder
        .by("pilotage")
        .scale("web", 2, Value::Null, Value::Null)
        .expect(200);
    recorder.rest("there is a new claim", |live| {
        live.has("PersistentVolumeClaim data-web-1")
    });
    recorder.provide("data-web-1", "1Gi");
    recorder.run_each(&["web-1"]);
    recorder
        .by("pilotage")
        .delete("StatefulSet", "web", json!({}))
        .expect(200);
    recorder.rest("the pods are to end", |live| {
        live.ends("web-0") && live.ends("web-1")
    });
    recorder.end("web-0");
    recorder.rest("web-0 is gone", |live| !live.has("Pod web-0"));
    recorder.end("web-1");
    recorder.rest("the pods are gone", |live| live.count("Pod") == 0);
    // Nobody uses them: they go at once.
    recorder
        .by("pilotage")
        .delete("PersistentVolumeClaim", "data-web-0", json!({}))
        .expect(200);
    recorder
        .by("pilotage")
        .delete("PersistentVolumeClaim", "data-web-1", json!({}))
        .expect(200);
    recorder.rest("the claims are gone", |live| {
        live.count("PersistentVolumeClaim") == 0
    });
    // A volume that is bound cannot be taken from under a claim.
    recorder
        .by("alice")
        .create(claim("alone", "1Gi"))
        .expect(201);
    recorder.rest("the claim waits", |live| {
        live.has("PersistentVolumeClaim alone")
    });
    recorder.provide("alone", "2Gi");
    recorder
        .by("alice")
        .delete("PersistentVolume", "claims-deleted-alone", json!({}))
        .expect(200);
    recorder.rest("the volume waits for its claim", |live| {
        live.has("PersistentVolume claims-deleted-alone")
    });
    let mut user = pod("user");
    user["spec"]["volumes"] =
        json!([{ "name": "v", "persistentVolumeClaim": { "claimName": "alone" } }]);
    recorder.by("alice").create(user).expect(201);
    recorder.run("user");
    recorder.rest("the pod runs", |_| true);
    recorder
        .by("alice")
        .delete("PersistentVolumeClaim", "alone", json!({}))
        .expect(200);
    recorder.rest("the claim waits for its pod", |live| {
        live.has("PersistentVolumeClaim alone")
    });
    recorder
        .by("alice")
        .delete("Pod", "user", json!({}))
        .expect(200);
    recorder.end("user");
    recorder.rest("all of it is gone", |live| {
        !live.has("PersistentVolumeClaim alone")
            && !live.has("PersistentVolume claims-deleted-alone")
    });
}

fn retention_delete(recorder: &mut Recorder<'_>) {
    let mut set = stateful_set_with_claims(2, "1Gi");
    set["spec"]["persistentVolumeClaimRetentionPolicy"] =
        json!({ "whenDeleted": "Delete", "whenScaled": "Delete" });
    recorder.by("pilotage").create(set).expect(201);
    recorder.rest("two pods wait for their claims", |live| {
        live.count("Pod") == 2
    });
    recorder.provide("data-web-0", "1Gi");
    recorder.provide("data-web-1", "1Gi");
    recorder.run_each(&["web-0", "web-1"]);
    recorder
        .by("pilotage")
        .scale("web", 1, Value::Null, Value::Null)
        .expect(200);
    recorder.rest("web-1 is to end", |live| live.ends("web-1"));
    recorder.end("web-1");
    recorder.rest("its claim is gone too", |live| {
        !live.has("Pod web-1") && !live.has("PersistentVolumeClaim data-web-1")
    });
    recorder
        .by("pilotage")
        .delete("StatefulSet", "web", json!({}))
        .expect(200);
    recorder.rest("web-0 is to end", |live| live.ends("web-0"));
    recorder.end("web-0");
    recorder.rest("nothing is left", |live| {
        live.count("PersistentVolumeClaim") == 0
    });
}
