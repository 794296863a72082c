//! How things end: deletes with propagation, garbage, finalizers, namespaces.

use serde_json::{Value, json};

use crate::recorder::manifests::{data, service, stateful_set, stateful_set_with_claims, with};
use crate::recorder::{Recorder, Script};

pub(super) const SCRIPTS: &[Script] = &[
    Script {
        name: "stateful-set-recreate",
        shows: "Deleted with its pods orphaned and made anew, a set adopts them; a claim template that they lack is not given to them until they are deleted by hand, the lowest first",
        facts: &[],
        watched: &[
            "StatefulSet",
            "ControllerRevision",
            "Pod",
            "PersistentVolumeClaim",
        ],
        play: recreate,
    },
    Script {
        name: "stateful-set-delete",
        shows: "Deleted in the background, the set goes first; in the foreground it waits for its pods",
        facts: &[],
        watched: &["StatefulSet", "ControllerRevision", "Pod"],
        play: delete,
    },
    Script {
        name: "garbage-collection",
        shows: "Dependents go after their owners: chains, two owners, owners that never were, foreground, orphans",
        facts: &[],
        watched: &["ConfigMap", "Secret"],
        play: garbage,
    },
    Script {
        name: "finalizers",
        shows: "An object with finalizers ends when the last one is taken off; meanwhile it can be read and written",
        facts: &[],
        watched: &["ConfigMap"],
        play: finalizers,
    },
    Script {
        name: "namespace-ending",
        shows: "A namespace that ends takes everything in it along, waits for what is held, and says so",
        facts: &[],
        watched: &[
            "Namespace",
            "StatefulSet",
            "Pod",
            "ConfigMap",
            "Secret",
            "Service",
            "ServiceAccount",
            "PersistentVolumeClaim",
        ],
        play: namespace_ending,
    },
];

/// Waits until the set is gone and its pods are nobody's.
fn orphaned(recorder: &mut Recorder<'_>, until: &str) {
    recorder.rest(until, |live| {
        live.count("StatefulSet") == 0
            && live.count("Pod") == 2
            && live
                .field("Pod web-0", "/metadata/ownerReferences")
                .is_null()
            && live
                .field("Pod web-1", "/metadata/ownerReferences")
                .is_null()
    });
}

fn recreate(recorder: &mut Recorder<'_>) {
    let set = recorder.by("pilotage").create(stateful_set(2)).expect(201);
    recorder.rest("two pods are there", |live| live.count("Pod") == 2);
    recorder.run_each(&["web-0", "web-1"]);
    let in_order = with(
        stateful_set(2),
        "/spec/podManagementPolicy",
        json!("OrderedReady"),
    );
    recorder.by("pilotage").apply(in_order.clone()).expect(422);
    let orphaning = json!({ "propagationPolicy": "Orphan", "preconditions": { "uid": set["metadata"]["uid"] } });
    recorder
        .by("pilotage")
        .delete("StatefulSet", "web", orphaning)
        .expect(200);
    orphaned(recorder, "the set is gone, the pods are orphans");
    recorder.by("pilotage").list("Pod", "").expect(200);
    recorder.by("pilotage").create(in_order).expect(201);
    recorder.rest("the pods are adopted, and none is replaced", |live| {
        !live
            .field("Pod web-0", "/metadata/ownerReferences")
            .is_null()
            && !live
                .field("Pod web-1", "/metadata/ownerReferences")
                .is_null()
    });
    recorder
        .by("pilotage")
        .delete(
            "StatefulSet",
            "web",
            json!({ "propagationPolicy": "Orphan" }),
        )
        .expect(200);
    orphaned(recorder, "the pods are orphans again");
    recorder
        .by("pilotage")
        .create(stateful_set_with_claims(2, "1Gi"))
        .expect(201);
    recorder.rest(
        "the pods are adopted, and none is replaced, though they lack their claims",
        |live| {
            live.count("PersistentVolumeClaim") > 0 && !live.ends("web-0") && !live.ends("web-1")
        },
    );
    recorder
        .by("pilotage")
        .get("StatefulSet", "web")
        .expect(200);
    // The controller stops at the first pod that it cannot mend: a later one would not be made anew.
    for (pod, claim) in [("web-0", "data-web-0"), ("web-1", "data-web-1")] {
        recorder
            .by("pilotage")
            .delete("Pod", pod, json!({}))
            .expect(200);
        recorder.rest("it is to end", |live| live.ends(pod));
        recorder.end(pod);
        recorder.rest("it is new, with a claim", |live| {
            live.has(&format!("PersistentVolumeClaim {claim}"))
                && live.has(&format!("Pod {pod}"))
                && !live.ends(pod)
        });
        recorder.provide(claim, "1Gi");
        recorder.run_each(&[pod]);
    }
    recorder
        .by("pilotage")
        .get("StatefulSet", "web")
        .expect(200);
    recorder.by("pilotage").list("Pod", "").expect(200);
}

fn delete(recorder: &mut Recorder<'_>) {
    recorder.by("pilotage").create(stateful_set(2)).expect(201);
    recorder.rest("two pods are there", |live| live.count("Pod") == 2);
    recorder.run_each(&["web-0", "web-1"]);
    recorder
        .by("pilotage")
        .delete(
            "StatefulSet",
            "web",
            json!({ "propagationPolicy": "Background" }),
        )
        .expect(200);
    recorder.rest("the set is gone, its pods are to end", |live| {
        live.count("StatefulSet") == 0 && live.ends("web-0") && live.ends("web-1")
    });
    // The next of that name comes while the pods of the last one end. It has one pod: of two that end at one moment the controller
    // sometimes tells at once and sometimes one by one.
    let next = recorder.by("pilotage").create(stateful_set(1)).expect(201);
    recorder.rest("it waits for the name of its pod", |live| {
        live.count("StatefulSet") == 1
    });
    recorder
        .by("pilotage")
        .get("StatefulSet", "web")
        .expect(200);
    recorder.end("web-0");
    recorder.rest("web-0 is new", |live| {
        live.has("Pod web-0") && !live.ends("web-0")
    });
    recorder.end("web-1");
    recorder.rest("web-1 is gone", |live| !live.has("Pod web-1"));
    recorder.run_each(&["web-0"]);
    let foreground =
        |uid: Value| json!({ "propagationPolicy": "Foreground", "preconditions": { "uid": uid } });
    let wrong = foreground(crate::recorder::wrong_uid());
    recorder
        .by("pilotage")
        .delete("StatefulSet", "web", wrong)
        .expect(409);
    let right = foreground(next["metadata"]["uid"].clone());
    recorder
        .by("pilotage")
        .delete("StatefulSet", "web", right.clone())
        .expect(200);
    recorder.rest("the set waits for its pod", |live| {
        live.count("StatefulSet") == 1 && live.ends("web-0")
    });
    recorder
        .by("pilotage")
        .get("StatefulSet", "web")
        .expect(200);
    recorder.by("pilotage").create(stateful_set(2)).expect(409);
    recorder
        .by("pilotage")
        .delete("StatefulSet", "web", right)
        .expect(200);
    recorder.rest("a second delete changes nothing", |live| live.ends("web-0"));
    recorder.end("web-0");
    recorder.rest("all of it is gone", |live| live.count("StatefulSet") == 0);
    recorder
        .by("pilotage")
        .get("StatefulSet", "web")
        .expect(404);
    recorder
        .by("pilotage")
        .list("ControllerRevision", "")
        .expect(200);
    recorder.by("pilotage").list("Pod", "").expect(200);
}

/// A config map or secret that belongs to `owners`.
fn owned(kind: &str, name: &str, owners: &[&Value]) -> Value {
    let references: Vec<Value> = owners
        .iter()
        .map(|owner| {
            json!({ "apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": owner["metadata"]["name"],
                "uid": owner["metadata"]["uid"], "blockOwnerDeletion": true })
        })
        .collect();
    let mut object = data(kind, name, "key", "dmFsdWU=");
    if !references.is_empty() {
        object["metadata"]["ownerReferences"] = references.into();
    }
    object
}

fn garbage(recorder: &mut Recorder<'_>) {
    let create = |recorder: &mut Recorder<'_>, kind: &str, name: &str, owners: &[&Value]| {
        recorder
            .by("alice")
            .create(owned(kind, name, owners))
            .expect(201)
    };
    let one = create(recorder, "ConfigMap", "one", &[]);
    let two = create(recorder, "ConfigMap", "two", &[]);
    let child = create(recorder, "ConfigMap", "child", &[&one]);
    create(recorder, "Secret", "grandchild", &[&child]);
    create(recorder, "ConfigMap", "of-both", &[&one, &two]);
    recorder.rest("all of them are there", |live| live.count("ConfigMap") == 4);
    recorder
        .by("alice")
        .delete(
            "ConfigMap",
            "one",
            json!({ "propagationPolicy": "Background" }),
        )
        .expect(200);
    recorder.rest("the chain is gone, what has another owner stays", |live| {
        !live.has("ConfigMap child")
            && !live.has("Secret grandchild")
            && live.has("ConfigMap of-both")
    });
    recorder.by("alice").get("ConfigMap", "of-both").expect(200);
    recorder
        .by("alice")
        .delete("ConfigMap", "two", json!({}))
        .expect(200);
    recorder.rest("the last owner is gone, so is it", |live| {
        !live.has("ConfigMap of-both")
    });
    // The owner that is named was replaced by another of that name.
    let mut gone = one.clone();
    gone["metadata"]["uid"] = crate::recorder::wrong_uid();
    create(recorder, "ConfigMap", "one", &[]);
    create(recorder, "Secret", "of-nobody", &[&gone]);
    recorder.rest("what belongs to nobody goes", |live| {
        !live.has("Secret of-nobody")
    });
    let three = create(recorder, "ConfigMap", "three", &[]);
    create(recorder, "Secret", "orphan", &[&three]);
    recorder.rest("both are there", |live| live.has("Secret orphan"));
    recorder
        .by("alice")
        .delete(
            "ConfigMap",
            "three",
            json!({ "propagationPolicy": "Orphan" }),
        )
        .expect(200);
    recorder.rest("the owner is gone, the dependent stays", |live| {
        !live.has("ConfigMap three")
            && live
                .field("Secret orphan", "/metadata/ownerReferences")
                .is_null()
    });
    let four = create(recorder, "ConfigMap", "four", &[]);
    let held = with(
        owned("Secret", "held", &[&four]),
        "/metadata/finalizers",
        json!(["pilotage.dev/held"]),
    );
    recorder.by("alice").create(held).expect(201);
    recorder.rest("both are there", |live| live.has("Secret held"));
    recorder
        .by("alice")
        .delete(
            "ConfigMap",
            "four",
            json!({ "propagationPolicy": "Foreground" }),
        )
        .expect(200);
    recorder.rest("the owner waits", |live| {
        live.has("ConfigMap four")
            && !live
                .field("Secret held", "/metadata/deletionTimestamp")
                .is_null()
    });
    let free = json!({ "metadata": { "finalizers": null } });
    recorder
        .by("alice")
        .merge_patch("Secret", "held", free)
        .expect(200);
    recorder.rest("both are gone", |live| {
        !live.has("ConfigMap four") && !live.has("Secret held")
    });
    // An owner given later.
    let five = create(recorder, "ConfigMap", "five", &[]);
    let adopted = owned("Secret", "orphan", &[&five]);
    recorder
        .by("alice")
        .merge_patch(
            "Secret",
            "orphan",
            json!({ "metadata": { "ownerReferences": adopted["metadata"]["ownerReferences"] } }),
        )
        .expect(200);
    recorder
        .by("alice")
        .delete("ConfigMap", "five", json!({}))
        .expect(200);
    recorder.rest("it goes after its new owner", |live| {
        !live.has("Secret orphan")
    });
    recorder.by("alice").list("ConfigMap", "").expect(200);
    recorder.by("alice").list("Secret", "").expect(200);
}

fn finalizers(recorder: &mut Recorder<'_>) {
    let mut object = data("ConfigMap", "web", "key", "value");
    object["metadata"]["finalizers"] = json!(["pilotage.dev/one", "pilotage.dev/two"]);
    let made = recorder.by("alice").create(object).expect(201);
    let uid = made["metadata"]["uid"].clone();
    recorder
        .by("alice")
        .delete("ConfigMap", "web", json!({}))
        .expect(200);
    recorder.by("alice").get("ConfigMap", "web").expect(200);
    // A second delete is as good as the first.
    recorder
        .by("alice")
        .delete(
            "ConfigMap",
            "web",
            json!({ "preconditions": { "uid": uid } }),
        )
        .expect(200);
    recorder
        .by("alice")
        .merge_patch("ConfigMap", "web", json!({ "data": { "late": "x" } }))
        .expect(200);
    let remove =
        |index: usize| json!([{ "op": "remove", "path": format!("/metadata/finalizers/{index}") }]);
    recorder
        .by("alice")
        .json_patch("ConfigMap", "web", remove(0))
        .expect(200);
    recorder
        .by("alice")
        .json_patch("ConfigMap", "web", remove(7))
        .expect(422);
    recorder
        .by("alice")
        .json_patch("ConfigMap", "web", remove(0))
        .expect(200);
    recorder.by("alice").get("ConfigMap", "web").expect(404);
    recorder
        .by("alice")
        .json_patch("ConfigMap", "web", remove(0))
        .expect(404);
    recorder
        .by("alice")
        .merge_patch("ConfigMap", "web", json!({ "data": {} }))
        .expect(404);
    // A finalizer that an apply set and drops.
    let held = with(
        data("ConfigMap", "web", "key", "value"),
        "/metadata/finalizers",
        json!(["pilotage.dev/one"]),
    );
    recorder.by("pilotage").apply(held).expect(201);
    recorder
        .by("alice")
        .delete("ConfigMap", "web", json!({}))
        .expect(200);
    recorder
        .by("pilotage")
        .apply(data("ConfigMap", "web", "key", "value"))
        .expect(200);
    recorder.by("alice").get("ConfigMap", "web").expect(404);
    // An update with an old version, one without.
    let made = recorder
        .by("alice")
        .create(data("ConfigMap", "web", "key", "value"))
        .expect(201);
    let mut changed = made.clone();
    changed["data"]["key"] = json!("new");
    recorder.by("alice").replace(changed.clone()).expect(200);
    changed["data"]["key"] = json!("newer");
    recorder.by("alice").replace(changed.clone()).expect(409);
    changed["metadata"]
        .as_object_mut()
        .expect("metadata")
        .remove("resourceVersion");
    changed["metadata"]
        .as_object_mut()
        .expect("metadata")
        .remove("managedFields");
    recorder.by("alice").replace(changed).expect(200);
    recorder
        .by("alice")
        .delete("ConfigMap", "web", json!({}))
        .expect(200);
}

fn namespace_ending(recorder: &mut Recorder<'_>) {
    let own = recorder.namespace();
    let quick = with(
        stateful_set_with_claims(1, "1Gi"),
        "/spec/template/spec/terminationGracePeriodSeconds",
        json!(4),
    );
    recorder.by("pilotage").create(quick).expect(201);
    recorder.rest("pod and claim are there", |live| live.count("Pod") == 1);
    recorder.provide("data-web-0", "1Gi");
    recorder.run_each(&["web-0"]);
    recorder.by("pilotage").create(service()).expect(201);
    recorder
        .by("pilotage")
        .create(data("Secret", "web", "key", "dmFsdWU="))
        .expect(201);
    let held = with(
        data("ConfigMap", "held", "key", "value"),
        "/metadata/finalizers",
        json!(["pilotage.dev/held"]),
    );
    recorder.by("alice").create(held).expect(201);
    recorder
        .by("alice")
        .create(data("ConfigMap", "free", "key", "value"))
        .expect(201);
    recorder.rest("all of it is there", |live| live.count("ConfigMap") == 2);
    let namespace = recorder.by("pilotage").get("Namespace", own).expect(200);
    let uid = namespace["metadata"]["uid"].clone();
    let wrong = json!({ "preconditions": { "uid": crate::recorder::wrong_uid() } });
    recorder
        .by("pilotage")
        .delete("Namespace", own, wrong)
        .expect(409);
    let only = json!({ "preconditions": { "uid": uid } });
    recorder
        .by("pilotage")
        .delete("Namespace", own, only)
        .expect(200);
    recorder.rest(
        "the pod is to end first, everything else waits for it",
        |live| {
            live.ends("web-0")
                && live.has("Service web")
                && live.has("Secret web")
                && live.has("ConfigMap free")
        },
    );
    recorder
        .by("pilotage")
        .create(data("ConfigMap", "late", "key", "value"))
        .expect(403);
    recorder
        .by("pilotage")
        .merge_patch("ConfigMap", "held", json!({ "data": { "late": "x" } }))
        .expect(200);
    recorder
        .by("pilotage")
        .create(json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": own } }))
        .expect(409);
    recorder
        .by("pilotage")
        .delete("Namespace", own, json!({}))
        .expect(200);
    recorder.end("web-0");
    recorder.rest("everything is gone but what is held", |live| {
        live.count("Pod")
            + live.count("StatefulSet")
            + live.count("PersistentVolumeClaim")
            + live.count("Service")
            + live.count("Secret")
            == 0
            && live.count("ConfigMap") == 1
            && live.field(&format!("Namespace {own}"), "/status/conditions/3/status") == "True"
    });
    recorder.by("pilotage").get("Namespace", own).expect(200);
    let free = json!({ "metadata": { "finalizers": null } });
    recorder
        .by("alice")
        .merge_patch("ConfigMap", "held", free)
        .expect(200);
    recorder.rest("the namespace is gone", move |live| {
        !live.has(&format!("Namespace {own}"))
    });
    recorder.by("pilotage").get("Namespace", own).expect(404);
    recorder.by("pilotage").list("ConfigMap", "").expect(200);
    recorder
        .by("pilotage")
        .create(data("ConfigMap", "late", "key", "value"))
        .expect(404);
}
