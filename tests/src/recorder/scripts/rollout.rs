//! StatefulSets: up, down, roll, stuck, a pod lost.

use serde_json::{Value, json};

use crate::recorder::manifests::{stateful_set, with};
use crate::recorder::{Recorder, Script};

pub(super) const SCRIPTS: &[Script] = &[
    Script {
        name: "stateful-set-up",
        shows: "A StatefulSet of three, all at once: pods are made, scheduled and ready one after the other; then it grows to five",
        facts: &[],
        watched: &["StatefulSet", "ControllerRevision", "Pod"],
        play: up,
    },
    Script {
        name: "stateful-set-up-in-order",
        shows: "The same in order: each pod waits for the one before it to be ready, and the last one ends first",
        facts: &[],
        watched: &["StatefulSet", "Pod"],
        play: up_in_order,
    },
    Script {
        name: "stateful-set-down",
        shows: "Three, one, none, and up again while pods still end: a pod that ends is not replaced before it is gone",
        facts: &[],
        watched: &["StatefulSet", "Pod"],
        play: down,
    },
    Script {
        name: "stateful-set-roll",
        shows: "A new template: pods are replaced from the highest ordinal, one at a time, each when the one before is ready",
        facts: &[],
        watched: &["StatefulSet", "ControllerRevision", "Pod"],
        play: roll,
    },
    Script {
        name: "stateful-set-stuck-roll",
        shows: "A template whose pod never becomes ready stops the roll; a better template does not help until the pod is deleted by hand",
        facts: &[],
        watched: &["StatefulSet", "Pod"],
        play: stuck_roll,
    },
    Script {
        name: "stateful-set-partition",
        shows: "A partition keeps the pods below it at the old template; going back to an old template revives its revision",
        facts: &[],
        watched: &["StatefulSet", "ControllerRevision", "Pod"],
        play: partition,
    },
    Script {
        name: "pod-deleted-by-hand",
        shows: "A pod deleted by hand comes back under its name with another uid, after it is gone; so does one that failed",
        facts: &[],
        watched: &["StatefulSet", "Pod"],
        play: pod_deleted,
    },
];

const IMAGE: &str = "/spec/template/spec/containers/0/image";

fn up(recorder: &mut Recorder<'_>) {
    recorder.by("pilotage").create(stateful_set(3)).expect(201);
    recorder.rest("three pods are there", |live| live.count("Pod") == 3);
    recorder.run_each(&["web-0", "web-1", "web-2"]);
    let set = recorder
        .by("pilotage")
        .get("StatefulSet", "web")
        .expect(200);
    let (uid, version) = (
        set["metadata"]["uid"].clone(),
        set["metadata"]["resourceVersion"].clone(),
    );
    recorder
        .by("pilotage")
        .scale("web", 5, uid, version)
        .expect(200);
    recorder.rest("five pods are there", |live| live.count("Pod") == 5);
    recorder.run_each(&["web-3", "web-4"]);
    recorder.by("pilotage").list("Pod", "").expect(200);
    // A pod that is no longer ready counts no longer, and is left alone.
    recorder.report("web-1", "Running", false);
    recorder.rest("web-1 does not count", |live| {
        live.field("StatefulSet web", "/status/readyReplicas") == 4
    });
    recorder.report("web-1", "Running", true);
    recorder.rest("web-1 counts again", |live| {
        live.field("StatefulSet web", "/status/readyReplicas") == 5
    });
    recorder
        .by("pilotage")
        .get("StatefulSet", "web")
        .expect(200);
    recorder
        .by("pilotage")
        .get("StatefulSet", "web/scale")
        .expect(200);
    recorder
        .by("pilotage")
        .list(
            "Pod",
            "app.kubernetes.io/name=web,pilotage.dev/application-uid=77aa",
        )
        .expect(200);
    recorder
        .by("pilotage")
        .list("Pod", "app.kubernetes.io/name=other")
        .expect(200);
}

fn up_in_order(recorder: &mut Recorder<'_>) {
    let in_order = with(
        stateful_set(3),
        "/spec/podManagementPolicy",
        json!("OrderedReady"),
    );
    recorder.by("pilotage").create(in_order).expect(201);
    recorder.rest("the first pod is there", |live| live.count("Pod") == 1);
    recorder.schedule("web-0");
    recorder.report("web-0", "Running", false);
    recorder.rest("the second waits until it is ready", |live| {
        live.count("Pod") == 1
    });
    recorder.report("web-0", "Running", true);
    recorder.rest("the second is there", |live| live.count("Pod") == 2);
    recorder.run("web-1");
    recorder.rest("the third is there", |live| live.count("Pod") == 3);
    recorder.run_each(&["web-2"]);
    recorder.report("web-0", "Running", false);
    recorder.rest("the first is not ready", |_| true);
    // Nothing goes on while one of them is not ready.
    recorder
        .by("pilotage")
        .scale("web", 4, Value::Null, Value::Null)
        .expect(200);
    recorder.rest("no fourth yet", |live| live.count("Pod") == 3);
    recorder.report("web-0", "Running", true);
    recorder.rest("the fourth is there", |live| live.count("Pod") == 4);
    recorder.run_each(&["web-3"]);
    recorder
        .by("pilotage")
        .scale("web", 2, Value::Null, Value::Null)
        .expect(200);
    recorder.rest("the last is to end, and no other", |live| {
        live.ends("web-3") && !live.ends("web-2")
    });
    recorder.end("web-3");
    recorder.rest("the next is to end", |live| live.ends("web-2"));
    recorder.end("web-2");
    recorder.rest("two are left", |live| live.count("Pod") == 2);
    recorder.by("pilotage").list("Pod", "").expect(200);
    recorder
        .by("pilotage")
        .get("StatefulSet", "web")
        .expect(200);
    recorder
        .by("pilotage")
        .get("StatefulSet", "web/scale")
        .expect(200);
    recorder.by("pilotage").get("Pod", "web-1").expect(200);
}

fn down(recorder: &mut Recorder<'_>) {
    recorder.by("pilotage").create(stateful_set(3)).expect(201);
    recorder.rest("three pods are there", |live| live.count("Pod") == 3);
    recorder.run_each(&["web-0", "web-1", "web-2"]);
    recorder
        .by("pilotage")
        .scale("web", 1, Value::Null, Value::Null)
        .expect(200);
    recorder.rest("two are to end", |live| {
        live.ends("web-1") && live.ends("web-2")
    });
    // Up again while they end: nothing can be made under a name that is taken.
    recorder
        .by("pilotage")
        .scale("web", 3, Value::Null, Value::Null)
        .expect(200);
    recorder.rest("they end all the same", |live| live.count("Pod") == 3);
    recorder.end("web-2");
    recorder.rest("web-2 is new", |live| {
        live.has("Pod web-2") && !live.ends("web-2")
    });
    recorder.end("web-1");
    recorder.rest("web-1 is new", |live| {
        live.has("Pod web-1") && !live.ends("web-1")
    });
    recorder.run_each(&["web-1", "web-2"]);
    recorder
        .by("pilotage")
        .scale("web", 0, Value::Null, Value::Null)
        .expect(200);
    recorder.rest("all are to end", |live| {
        live.ends("web-0") && live.ends("web-1") && live.ends("web-2")
    });
    // A second delete changes nothing; one without grace ends it.
    recorder
        .by("alice")
        .delete("Pod", "web-0", json!({}))
        .expect(200);
    recorder.rest("nothing changes", |live| live.ends("web-0"));
    recorder
        .by("alice")
        .delete("Pod", "web-0", json!({ "gracePeriodSeconds": 0 }))
        .expect(200);
    recorder.rest("web-0 is gone", |live| !live.has("Pod web-0"));
    recorder.end("web-1");
    recorder.rest("web-1 is gone", |live| !live.has("Pod web-1"));
    recorder.end("web-2");
    recorder.rest("no pod is left", |live| live.count("Pod") == 0);
    recorder
        .by("pilotage")
        .get("StatefulSet", "web")
        .expect(200);
}

fn roll(recorder: &mut Recorder<'_>) {
    recorder.by("pilotage").apply(stateful_set(3)).expect(201);
    recorder.rest("three pods are there", |live| live.count("Pod") == 3);
    recorder.run_each(&["web-0", "web-1", "web-2"]);
    // A change outside of the template rolls nothing.
    let annotated = with(stateful_set(3), "/metadata/annotations/note", json!("new"));
    recorder.by("pilotage").apply(annotated).expect(200);
    recorder.rest("no pod is replaced", |live| live.count("Pod") == 3);
    let newer = with(stateful_set(3), IMAGE, json!("registry.example/app:2"));
    recorder.by("pilotage").apply(newer).expect(200);
    recorder.rest("the last is to end, and no other", |live| {
        live.ends("web-2") && !live.ends("web-1")
    });
    recorder.end("web-2");
    recorder.rest("the last is new", |live| {
        live.has("Pod web-2") && !live.ends("web-2")
    });
    recorder.schedule("web-2");
    recorder.report("web-2", "Running", false);
    recorder.rest("the next waits until it is ready", |live| {
        !live.ends("web-1")
    });
    recorder.report("web-2", "Running", true);
    recorder.rest("the next is to end", |live| {
        live.ends("web-1") && !live.ends("web-0")
    });
    recorder.end("web-1");
    recorder.rest("the next is new", |live| {
        live.has("Pod web-1") && !live.ends("web-1")
    });
    recorder.run("web-1");
    recorder.rest("the first is to end", |live| live.ends("web-0"));
    recorder.end("web-0");
    recorder.rest("the first is new", |live| {
        live.has("Pod web-0") && !live.ends("web-0")
    });
    recorder.run("web-0");
    recorder.rest("the roll is done", |live| {
        live.field("StatefulSet web", "/status/currentRevision")
            == live.field("StatefulSet web", "/status/updateRevision")
    });
    recorder
        .by("pilotage")
        .get("StatefulSet", "web")
        .expect(200);
    recorder.by("pilotage").list("Pod", "").expect(200);
}

fn stuck_roll(recorder: &mut Recorder<'_>) {
    recorder.by("pilotage").apply(stateful_set(3)).expect(201);
    recorder.rest("three pods are there", |live| live.count("Pod") == 3);
    recorder.run_each(&["web-0", "web-1", "web-2"]);
    let broken = with(stateful_set(3), IMAGE, json!("registry.example/none:1"));
    recorder.by("pilotage").apply(broken).expect(200);
    recorder.rest("the last is to end", |live| live.ends("web-2"));
    recorder.end("web-2");
    recorder.rest("the last is new", |live| {
        live.has("Pod web-2") && !live.ends("web-2")
    });
    recorder.schedule("web-2");
    recorder.report("web-2", "Pending", false);
    recorder.rest("it does not become ready, and nothing goes on", |live| {
        !live.ends("web-1")
    });
    let mended = with(stateful_set(3), IMAGE, json!("registry.example/app:3"));
    recorder.by("pilotage").apply(mended).expect(200);
    recorder.rest("the controller has seen it", |_| true);
    recorder
        .by("pilotage")
        .get("StatefulSet", "web")
        .expect(200);
    if !recorder.sees(|live| live.ends("web-2")) {
        let pod = recorder.by("pilotage").get("Pod", "web-2").expect(200);
        let only = json!({ "preconditions": { "uid": pod["metadata"]["uid"] } });
        recorder
            .by("pilotage")
            .delete("Pod", "web-2", only)
            .expect(200);
    }
    recorder.end("web-2");
    recorder.rest("the last has the new template", |live| {
        live.has("Pod web-2") && !live.ends("web-2")
    });
    recorder.run("web-2");
    recorder.rest("the next is to end", |live| live.ends("web-1"));
    recorder.end("web-1");
    recorder.rest("the next is new", |live| {
        live.has("Pod web-1") && !live.ends("web-1")
    });
    recorder.run("web-1");
    recorder.rest("the first is to end", |live| live.ends("web-0"));
    recorder.end("web-0");
    recorder.rest("the first is new", |live| {
        live.has("Pod web-0") && !live.ends("web-0")
    });
    recorder.run("web-0");
    recorder.rest("the roll is done", |live| {
        live.field("StatefulSet web", "/status/updatedReplicas") == 3
    });
    recorder
        .by("pilotage")
        .get("StatefulSet", "web")
        .expect(200);
}

fn partition(recorder: &mut Recorder<'_>) {
    recorder.by("pilotage").apply(stateful_set(3)).expect(201);
    recorder.rest("three pods are there", |live| live.count("Pod") == 3);
    recorder.run_each(&["web-0", "web-1", "web-2"]);
    let held = json!({ "spec": { "updateStrategy": { "rollingUpdate": { "partition": 2 } } } });
    recorder
        .by("alice")
        .merge_patch("StatefulSet", "web", held)
        .expect(200);
    recorder.rest("the controller has seen it", |_| true);
    let newer = with(stateful_set(3), IMAGE, json!("registry.example/app:2"));
    recorder.by("pilotage").apply(newer).expect(200);
    recorder.rest("the last is to end, and no other", |live| {
        live.ends("web-2") && !live.ends("web-1")
    });
    recorder.end("web-2");
    recorder.rest("the last is new", |live| {
        live.has("Pod web-2") && !live.ends("web-2")
    });
    recorder.run("web-2");
    recorder.rest("the others stay", |live| {
        !live.ends("web-1") && !live.ends("web-0")
    });
    recorder
        .by("pilotage")
        .get("StatefulSet", "web")
        .expect(200);
    // A pod below the partition that is lost comes back with the old template.
    recorder
        .by("alice")
        .delete("Pod", "web-0", json!({}))
        .expect(200);
    recorder.rest("web-0 is to end", |live| live.ends("web-0"));
    recorder.end("web-0");
    recorder.rest("web-0 has the old template", |live| {
        live.field("Pod web-0", "/spec/containers/0/image") == "registry.example/app:1"
            && !live.ends("web-0")
    });
    recorder.run_each(&["web-0"]);
    // Back to the first template: its revision is taken again.
    recorder.by("pilotage").apply(stateful_set(3)).expect(200);
    recorder.rest("the last is to end", |live| live.ends("web-2"));
    recorder.end("web-2");
    recorder.rest("the last is new", |live| {
        live.has("Pod web-2") && !live.ends("web-2")
    });
    recorder.run("web-2");
    recorder.rest("all are of the first template", |live| {
        live.field("StatefulSet web", "/status/readyReplicas") == 3
    });
    recorder
        .by("pilotage")
        .get("StatefulSet", "web")
        .expect(200);
}

fn pod_deleted(recorder: &mut Recorder<'_>) {
    recorder.by("pilotage").create(stateful_set(2)).expect(201);
    recorder.rest("two pods are there", |live| live.count("Pod") == 2);
    recorder.run_each(&["web-0", "web-1"]);
    let pod = recorder.by("alice").get("Pod", "web-0").expect(200);
    let old = json!({ "preconditions": { "uid": pod["metadata"]["uid"] } });
    recorder
        .by("alice")
        .delete("Pod", "web-0", old.clone())
        .expect(200);
    recorder.rest("web-0 is to end", |live| live.ends("web-0"));
    recorder.report("web-0", "Running", false);
    recorder.rest("it is not ready any more", |_| true);
    recorder.end("web-0");
    recorder.rest("web-0 is new", |live| {
        live.has("Pod web-0") && !live.ends("web-0")
    });
    // Whoever meant the old one does not hit the new one.
    recorder.by("alice").delete("Pod", "web-0", old).expect(409);
    recorder.run_each(&["web-0"]);
    // A pod without a node would go at once, and the controller would tell that in one write or in two.
    recorder
        .by("pilotage")
        .scale("web", 3, Value::Null, Value::Null)
        .expect(200);
    recorder.rest("web-2 is there", |live| live.has("Pod web-2"));
    recorder.schedule("web-2");
    recorder.rest("web-2 has a node", |_| true);
    recorder
        .by("alice")
        .delete("Pod", "web-2", json!({}))
        .expect(200);
    recorder.rest("web-2 is to end", |live| live.ends("web-2"));
    recorder.end("web-2");
    recorder.rest("web-2 is new", |live| {
        live.has("Pod web-2") && !live.ends("web-2")
    });
    recorder.run_each(&["web-2"]);
    // One that failed is replaced.
    recorder.report("web-1", "Failed", false);
    recorder.rest("web-1 is replaced", |live| {
        live.field("Pod web-1", "/status/phase") == "Pending" || live.ends("web-1")
    });
    if recorder.sees(|live| live.ends("web-1")) {
        recorder.end("web-1");
        recorder.rest("web-1 is new", |live| {
            live.has("Pod web-1") && !live.ends("web-1")
        });
    }
    recorder.run_each(&["web-1"]);
    recorder
        .by("alice")
        .delete("Pod", "web-1", json!({ "gracePeriodSeconds": 5 }))
        .expect(200);
    recorder.rest("web-1 is to end", |live| live.ends("web-1"));
    recorder.end("web-1");
    recorder.rest("web-1 is new", |live| {
        live.has("Pod web-1") && !live.ends("web-1")
    });
    recorder.by("alice").list("Pod", "").expect(200);
}
