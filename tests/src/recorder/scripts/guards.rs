//! Preconditions: what uid and version guard, and what they don't.

use serde_json::{Value, json};

use crate::recorder::manifests::{
    account, birthless_stateful_set, claim, data, guarded, labels, selector, service, stateful_set,
    with,
};
use crate::recorder::{Recorder, Script, wrong_uid};

pub(super) const SCRIPTS: &[Script] = &[
    Script {
        name: "k02-apply-with-uid",
        shows: "An apply that names a uid never creates, and never changes another object of that name",
        facts: &["K2", "K3", "K22"],
        watched: &["ConfigMap"],
        play: with_uid,
    },
    Script {
        name: "k05-create-only-apply",
        shows: "An apply with version 1 creates and never changes, for every kind that we write",
        facts: &["K4", "K5"],
        watched: &["ConfigMap", "Secret", "ServiceAccount", "Service", "Role"],
        play: create_only,
    },
    Script {
        name: "k06-apply-with-version",
        shows: "A version does not keep an apply from making anew what was removed",
        facts: &["K6"],
        watched: &["ConfigMap"],
        play: with_version,
    },
    Script {
        name: "k12-scale-guards",
        shows: "A scale with a wrong version or uid is refused; a right one moves replicas to an entry of its own",
        facts: &["K12"],
        watched: &["StatefulSet"],
        play: scale_guards,
    },
    Script {
        name: "k13-delete-guards",
        shows: "A delete with a wrong uid or version is refused, of a missing object is not found",
        facts: &["K13"],
        watched: &["ConfigMap"],
        play: delete_guards,
    },
    Script {
        name: "k20-create-only-on-terminating",
        shows: "A create-only apply on an object that exists or is ending is a conflict, a POST already exists",
        facts: &["K20"],
        watched: &["ConfigMap"],
        play: create_only_on_terminating,
    },
    Script {
        name: "k21-missing-namespace",
        shows: "Writes into a namespace that is missing or ending",
        facts: &["K21"],
        watched: &["Namespace"],
        play: missing_namespace,
    },
    Script {
        name: "k23-status-moves-the-version",
        shows: "A status write between read and write makes the write a conflict; after a new read it passes",
        facts: &["K23"],
        watched: &["StatefulSet", "Pod"],
        play: status_moves_the_version,
    },
];

fn with_uid(recorder: &mut Recorder<'_>) {
    let object = || data("ConfigMap", "web", "key", "value");
    recorder
        .by("pilotage")
        .apply(guarded(object(), wrong_uid(), Value::Null))
        .expect(409);
    let made = recorder.by("pilotage").create(object()).expect(201);
    let (uid, version) = (
        made["metadata"]["uid"].clone(),
        made["metadata"]["resourceVersion"].clone(),
    );
    recorder
        .by("pilotage")
        .apply(guarded(object(), wrong_uid(), Value::Null))
        .expect(422);
    recorder
        .by("pilotage")
        .apply(guarded(object(), uid.clone(), version.clone()))
        .expect(200);
    recorder
        .by("alice")
        .merge_patch("ConfigMap", "web", json!({ "data": { "more": "x" } }))
        .expect(200);
    recorder
        .by("pilotage")
        .apply(guarded(object(), wrong_uid(), version.clone()))
        .expect(409);
    recorder
        .by("pilotage")
        .apply(guarded(object(), uid.clone(), version.clone()))
        .expect(409);
    recorder
        .by("alice")
        .delete("ConfigMap", "web", json!({}))
        .expect(200);
    recorder
        .by("pilotage")
        .apply(guarded(object(), uid.clone(), Value::Null))
        .expect(409);
    recorder.by("alice").create(object()).expect(201);
    // The successor of that name is not the one that we knew.
    recorder
        .by("pilotage")
        .apply(guarded(object(), uid.clone(), Value::Null))
        .expect(422);
    recorder
        .by("pilotage")
        .apply(guarded(object(), uid, version))
        .expect(409);
}

fn create_only(recorder: &mut Recorder<'_>) {
    let own = recorder.namespace();
    let template = json!({ "metadata": { "labels": labels() }, "spec": { "containers": [{ "name": "app", "image": "registry.example/app:1" }] } });
    let rules = json!([{ "apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"] }]);
    let group = "rbac.authorization.k8s.io";
    let subjects = json!([{ "kind": "ServiceAccount", "name": "web", "namespace": own }]);
    let rbac = format!("{group}/v1");
    let cluster_name = format!("{own}-web");
    let objects = [
        service(),
        account("web"),
        data("Secret", "web", "key", "dmFsdWU="),
        data("ConfigMap", "web", "key", "value"),
        claim("web", "1Gi"),
        json!({ "apiVersion": rbac, "kind": "Role", "metadata": { "name": "web" }, "rules": rules }),
        json!({ "apiVersion": rbac, "kind": "RoleBinding", "metadata": { "name": "web" }, "subjects": subjects,
            "roleRef": { "apiGroup": group, "kind": "Role", "name": "web" } }),
        json!({ "apiVersion": rbac, "kind": "ClusterRole", "metadata": { "name": cluster_name }, "rules": rules }),
        json!({ "apiVersion": rbac, "kind": "ClusterRoleBinding", "metadata": { "name": cluster_name }, "subjects": subjects,
            "roleRef": { "apiGroup": group, "kind": "ClusterRole", "name": cluster_name } }),
        json!({ "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": "web" },
            "spec": { "replicas": 0, "selector": { "matchLabels": selector() }, "template": template } }),
        stateful_set(0),
        json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": cluster_name } }),
        json!({ "apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": { "name": "web" },
            "spec": { "holderIdentity": "one", "leaseDurationSeconds": 15 } }),
    ];
    for object in objects {
        let object = guarded(object, Value::Null, json!("1"));
        recorder.by("pilotage").apply(object.clone()).expect(201);
        recorder.by("pilotage").apply(object).expect(409);
    }
}

fn with_version(recorder: &mut Recorder<'_>) {
    let object = || data("ConfigMap", "web", "key", "value");
    recorder
        .by("pilotage")
        .apply(guarded(object(), Value::Null, json!("7")))
        .expect(201);
    recorder
        .by("pilotage")
        .apply(guarded(object(), Value::Null, json!("7")))
        .expect(409);
    let made = recorder.by("pilotage").get("ConfigMap", "web").expect(200);
    let version = made["metadata"]["resourceVersion"].clone();
    recorder
        .by("alice")
        .delete("ConfigMap", "web", json!({}))
        .expect(200);
    recorder
        .by("pilotage")
        .apply(guarded(object(), Value::Null, version))
        .expect(201);
}

fn scale_guards(recorder: &mut Recorder<'_>) {
    let set = recorder.by("pilotage").create(stateful_set(0)).expect(201);
    recorder.rest("the controller has seen it", |_| true);
    let (uid, old) = (
        set["metadata"]["uid"].clone(),
        set["metadata"]["resourceVersion"].clone(),
    );
    recorder
        .by("pilotage")
        .scale("web", 2, Value::Null, old)
        .expect(409);
    recorder
        .by("pilotage")
        .scale("web", 2, wrong_uid(), Value::Null)
        .expect(409);
    let live = recorder
        .by("pilotage")
        .get("StatefulSet", "web")
        .expect(200);
    let version = live["metadata"]["resourceVersion"].clone();
    recorder
        .by("pilotage")
        .scale("web", 2, uid, version)
        .expect(200);
    recorder
        .by("pilotage")
        .get("StatefulSet", "web/scale")
        .expect(200);
    recorder.rest("two pods are there", |live| live.count("Pod") == 2);
    recorder
        .by("pilotage")
        .scale("none", 2, Value::Null, Value::Null)
        .expect(404);
}

fn delete_guards(recorder: &mut Recorder<'_>) {
    let made = recorder
        .by("pilotage")
        .create(data("ConfigMap", "web", "key", "value"))
        .expect(201);
    let (uid, version) = (
        made["metadata"]["uid"].clone(),
        made["metadata"]["resourceVersion"].clone(),
    );
    let only = |uid: &Value, version: Value| json!({ "preconditions": { "uid": uid, "resourceVersion": version } });
    recorder
        .by("alice")
        .merge_patch("ConfigMap", "web", json!({ "data": { "more": "x" } }))
        .expect(200);
    recorder
        .by("pilotage")
        .delete(
            "ConfigMap",
            "web",
            json!({ "preconditions": { "uid": wrong_uid() } }),
        )
        .expect(409);
    recorder
        .by("pilotage")
        .delete("ConfigMap", "web", only(&uid, version))
        .expect(409);
    recorder
        .by("pilotage")
        .delete(
            "ConfigMap",
            "web",
            json!({ "preconditions": { "uid": uid } }),
        )
        .expect(200);
    recorder
        .by("pilotage")
        .delete(
            "ConfigMap",
            "web",
            json!({ "preconditions": { "uid": uid } }),
        )
        .expect(404);
    recorder.by("pilotage").get("ConfigMap", "web").expect(404);
}

fn create_only_on_terminating(recorder: &mut Recorder<'_>) {
    let object = || data("ConfigMap", "web", "key", "value");
    let held = with(
        object(),
        "/metadata/finalizers",
        json!(["pilotage.dev/held"]),
    );
    recorder.by("alice").create(held).expect(201);
    recorder.by("pilotage").create(object()).expect(409);
    recorder
        .by("pilotage")
        .apply(guarded(object(), Value::Null, json!("1")))
        .expect(409);
    recorder
        .by("alice")
        .delete("ConfigMap", "web", json!({}))
        .expect(200);
    recorder
        .by("pilotage")
        .apply(guarded(object(), Value::Null, json!("1")))
        .expect(409);
    recorder.by("pilotage").create(object()).expect(409);
    // An object that is ending can still be written, but gets no new finalizer.
    recorder
        .by("pilotage")
        .apply(data("ConfigMap", "web", "late", "x"))
        .expect(200);
    let more = json!({ "metadata": { "finalizers": ["pilotage.dev/held", "pilotage.dev/more"] } });
    recorder
        .by("alice")
        .merge_patch("ConfigMap", "web", more)
        .expect(422);
    recorder
        .by("alice")
        .merge_patch(
            "ConfigMap",
            "web",
            json!({ "metadata": { "finalizers": null } }),
        )
        .expect(200);
    recorder
        .by("pilotage")
        .apply(guarded(object(), Value::Null, json!("1")))
        .expect(201);
}

fn missing_namespace(recorder: &mut Recorder<'_>) {
    let other = format!("{}-other", recorder.namespace());
    let object = with(
        data("ConfigMap", "web", "key", "value"),
        "/metadata/namespace",
        json!(other),
    );
    recorder.by("pilotage").apply(object.clone()).expect(404);
    recorder.by("pilotage").create(object.clone()).expect(404);
    recorder
        .by("alice")
        .create(json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": other } }))
        .expect(201);
    let held = with(
        object.clone(),
        "/metadata/finalizers",
        json!(["pilotage.dev/held"]),
    );
    recorder.by("alice").create(held).expect(201);
    recorder
        .by("alice")
        .delete("Namespace", &other, json!({}))
        .expect(200);
    let mut late = object.clone();
    late["metadata"]["name"] = json!("late");
    recorder.by("pilotage").apply(late.clone()).expect(403);
    recorder.by("pilotage").create(late).expect(403);
    let path = format!("/api/v1/namespaces/{other}/configmaps/web");
    let free = json!({ "metadata": { "finalizers": null } });
    recorder
        .by("alice")
        .request(
            "PATCH",
            &path,
            &[],
            "application/merge-patch+json",
            Some(free),
        )
        .expect(200);
    recorder.rest("the other namespace is gone", move |live| {
        !live.has(&format!("Namespace {other}"))
    });
}

fn status_moves_the_version(recorder: &mut Recorder<'_>) {
    recorder.by("pilotage").create(stateful_set(1)).expect(201);
    recorder.rest("the pod is there", |live| live.count("Pod") == 1);
    let read = recorder
        .by("pilotage")
        .get("StatefulSet", "web")
        .expect(200);
    recorder.run_each(&["web-0"]);
    let (uid, version) = (
        read["metadata"]["uid"].clone(),
        read["metadata"]["resourceVersion"].clone(),
    );
    let newer = with(
        birthless_stateful_set(),
        "/metadata/annotations/note",
        json!("x"),
    );
    recorder
        .by("pilotage")
        .apply(guarded(newer.clone(), uid.clone(), version.clone()))
        .expect(409);
    recorder
        .by("pilotage")
        .scale("web", 2, uid.clone(), version)
        .expect(409);
    let read = recorder
        .by("pilotage")
        .get("StatefulSet", "web")
        .expect(200);
    let version = read["metadata"]["resourceVersion"].clone();
    recorder
        .by("pilotage")
        .apply(guarded(newer, uid, version))
        .expect(200);
}
