//! What the server makes of single objects: defaults, validation, admission.

use serde_json::{Value, json};

use crate::recorder::manifests::{
    account, birthless_stateful_set, container, data, pod, stateful_set, stateful_set_with_claims,
    with,
};
use crate::recorder::{Recorder, Script};

pub(super) const SCRIPTS: &[Script] = &[
    Script {
        name: "k14-template-without-containers",
        shows: "A pod template without containers is invalid",
        facts: &["K14"],
        watched: &["StatefulSet"],
        play: without_containers,
    },
    Script {
        name: "k15-long-claim-template",
        shows: "The name of a claim template is the name of a volume: at most 63 letters",
        facts: &["K15"],
        watched: &["StatefulSet"],
        play: long_claim_template,
    },
    Script {
        name: "k16-stored-form",
        shows: "Quantities are stored in their canonical form; empty values and empty lists are dropped",
        facts: &["K16"],
        watched: &["StatefulSet"],
        play: stored_form,
    },
    Script {
        name: "k17-labels-of-claims",
        shows: "Claims of a StatefulSet carry the labels of its selector beside those of the claim template",
        facts: &["K17"],
        watched: &["StatefulSet", "PersistentVolumeClaim", "Pod"],
        play: labels_of_claims,
    },
    Script {
        name: "k18-missing-account",
        shows: "No pod without its account: a pod is refused, a StatefulSet waits for it",
        facts: &["K18"],
        watched: &["Pod", "StatefulSet"],
        play: missing_account,
    },
    Script {
        name: "k19-untypable-apply",
        shows: "An apply that the schema cannot read is answered with 500: an unknown field, two mounts at one path",
        facts: &["K19"],
        watched: &["StatefulSet"],
        play: untypable_apply,
    },
    Script {
        name: "k26-unnamed-defaults",
        shows: "Defaults that an apply does not name belong to whoever changes them: first ordinal, what becomes of claims",
        facts: &["K26"],
        watched: &["StatefulSet", "Pod"],
        play: unnamed_defaults,
    },
    Script {
        name: "k27-admission-rewrites",
        shows: "A field that an admission policy rewrites stays rewritten: our apply again changes nothing",
        facts: &["K27"],
        watched: &["ConfigMap"],
        play: admission_rewrites,
    },
    Script {
        name: "k28-excluding-edits",
        shows: "A hand's edit that excludes what we set makes our forced apply invalid for ever",
        facts: &["K28"],
        watched: &["StatefulSet"],
        play: excluding_edits,
    },
    Script {
        name: "k31-string-data",
        shows: "A key given as stringData stays in data when the apply drops it",
        facts: &["K31"],
        watched: &["Secret"],
        play: string_data,
    },
    Script {
        name: "k33-image-pull-secrets",
        shows: "imagePullSecrets of an account are replaced whole, whoever added to them",
        facts: &["K33"],
        watched: &["ServiceAccount"],
        play: image_pull_secrets,
    },
    Script {
        name: "k35-default-namespace",
        shows: "The namespace default is always there and cannot be deleted",
        facts: &["K35"],
        watched: &["Namespace"],
        play: default_namespace,
    },
];

const CONTAINERS: &str = "/spec/template/spec/containers";

fn without_containers(recorder: &mut Recorder<'_>) {
    let none = with(stateful_set(1), CONTAINERS, json!([]));
    recorder.by("pilotage").create(none.clone()).expect(422);
    recorder.by("pilotage").apply(none).expect(422);
}

fn long_claim_template(recorder: &mut Recorder<'_>) {
    let named = |name: String| {
        let mut set = stateful_set_with_claims(0, "1Gi");
        set["spec"]["volumeClaimTemplates"][0]["metadata"]["name"] = json!(name);
        set["spec"]["template"]["spec"]["containers"][0]["volumeMounts"][0]["name"] = json!(name);
        set
    };
    // 43 letters of application, 17 of storage, 8 of the identifier: 70 with the hyphens.
    let application = "a".repeat(43);
    let name = format!("{application}-active-index-directory-0a1b2c3d");
    recorder.by("pilotage").create(named(name)).expect(422);
    recorder
        .by("pilotage")
        .create(named("a".repeat(64)))
        .expect(422);
    recorder
        .by("pilotage")
        .create(named("a".repeat(63)))
        .expect(201);
}

fn stored_form(recorder: &mut Recorder<'_>) {
    let mut app = container("app", "registry.example/app:1");
    app["resources"] = json!({
        "limits": { "cpu": "1000m", "memory": "1024Mi" },
        "requests": { "cpu": "0.5", "memory": "500M" },
    });
    app["env"] = json!([{ "name": "EMPTY", "value": "" }, { "name": "FULL", "value": "x" }]);
    app["args"] = json!([]);
    app["volumeMounts"] = json!([]);
    let mut set = with(stateful_set(0), CONTAINERS, json!([app]));
    set["spec"]["template"]["spec"]["volumes"] = json!([]);
    set["spec"]["template"]["spec"]["imagePullSecrets"] = json!([]);
    set["spec"]["template"]["spec"]["nodeSelector"] = json!({});
    recorder.by("pilotage").create(set.clone()).expect(201);
    recorder
        .by("alice")
        .delete("StatefulSet", "web", json!({}))
        .expect(200);
    recorder.rest("it is gone", |live| live.count("StatefulSet") == 0);
    recorder.by("pilotage").apply(set).expect(201);
}

fn labels_of_claims(recorder: &mut Recorder<'_>) {
    recorder
        .by("pilotage")
        .create(stateful_set_with_claims(1, "1Gi"))
        .expect(201);
    recorder.rest("pod and claim are there", |live| live.count("Pod") == 1);
    let claim = recorder
        .by("pilotage")
        .get("PersistentVolumeClaim", "data-web-0")
        .expect(200);
    assert_eq!(
        claim["metadata"]["labels"]["pilotage.dev/application-uid"],
        "77aa"
    );
}

fn missing_account(recorder: &mut Recorder<'_>) {
    let stranger = with(pod("lonely"), "/spec/serviceAccountName", json!("web"));
    recorder.by("alice").create(stranger.clone()).expect(403);
    let set = with(
        stateful_set(1),
        "/spec/template/spec/serviceAccountName",
        json!("web"),
    );
    recorder.by("pilotage").create(set).expect(201);
    recorder.rest("the controller tries in vain", |live| {
        live.count("Pod") == 0
    });
    recorder.by("pilotage").create(account("web")).expect(201);
    recorder.rest("the pod is there", |live| {
        live.count("Pod") == 1 && live.field("StatefulSet web", "/status/replicas") == 1
    });
    recorder.by("alice").create(stranger).expect(201);
}

fn untypable_apply(recorder: &mut Recorder<'_>) {
    let unknown = with(stateful_set(0), "/spec/template/spec/colour", json!("red"));
    recorder.by("pilotage").apply(unknown).expect(500);
    let mounts = |second: &str| {
        let mut set = stateful_set(0);
        let spec = &mut set["spec"]["template"]["spec"];
        spec["volumes"] = json!([{ "name": "a", "emptyDir": {} }, { "name": "b", "emptyDir": {} }]);
        spec["containers"][0]["volumeMounts"] =
            json!([{ "name": "a", "mountPath": "/v" }, { "name": "b", "mountPath": second }]);
        set
    };
    recorder.by("pilotage").apply(mounts("/v")).expect(500);
    recorder.by("pilotage").create(mounts("/v")).expect(422);
    recorder.by("pilotage").apply(mounts("/v/")).expect(201);
}

fn unnamed_defaults(recorder: &mut Recorder<'_>) {
    let mut ours = birthless_stateful_set();
    for field in ["ordinals", "persistentVolumeClaimRetentionPolicy"] {
        ours["spec"].as_object_mut().expect("a spec").remove(field);
    }
    recorder.by("pilotage").apply(ours.clone()).expect(201);
    recorder.rest("the pod is there", |live| live.has("Pod web-0"));
    let hand = json!({ "spec": { "ordinals": { "start": 5 },
        "persistentVolumeClaimRetentionPolicy": { "whenDeleted": "Delete", "whenScaled": "Delete" } } });
    recorder
        .by("alice")
        .merge_patch("StatefulSet", "web", hand)
        .expect(200);
    recorder.rest("the unit has another number", |live| {
        live.has("Pod web-5") && !live.has("Pod web-0")
    });
    let answer = recorder.by("pilotage").apply(ours).expect(200);
    assert_eq!(answer["spec"]["ordinals"]["start"], 5);
    recorder.rest("the controller has seen it", |_| true);
    let answer = recorder
        .by("pilotage")
        .apply(birthless_stateful_set())
        .expect(200);
    assert_eq!(answer["spec"]["ordinals"]["start"], 0);
    recorder.rest("the unit has its number again", |live| {
        live.has("Pod web-0") && !live.has("Pod web-5")
    });
}

fn admission_rewrites(recorder: &mut Recorder<'_>) {
    let name = format!("{}-policy", recorder.namespace());
    let api = "admissionregistration.k8s.io/v1";
    let only_here =
        json!({ "matchLabels": { "kubernetes.io/metadata.name": recorder.namespace() } });
    recorder.by("alice").create(json!({
        "apiVersion": api, "kind": "MutatingAdmissionPolicy", "metadata": { "name": name },
        "spec": {
            "reinvocationPolicy": "Never",
            "failurePolicy": "Fail",
            "matchConstraints": { "resourceRules": [{ "apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"], "resources": ["configmaps"] }] },
            "mutations": [{ "patchType": "ApplyConfiguration", "applyConfiguration": { "expression": "Object{data: {\"key\": \"rewritten\"}}" } }],
        },
    })).expect(201);
    recorder.by("alice").create(json!({
        "apiVersion": api, "kind": "MutatingAdmissionPolicyBinding", "metadata": { "name": name },
        "spec": { "policyName": name, "matchResources": { "namespaceSelector": only_here } },
    })).expect(201);
    // The server looks for new policies once a second.
    std::thread::sleep(std::time::Duration::from_secs(3));
    recorder
        .by("pilotage")
        .apply(data("ConfigMap", "web", "key", "ours"))
        .expect(201);
    let answer = recorder
        .by("pilotage")
        .apply(data("ConfigMap", "web", "key", "ours"))
        .expect(200);
    assert_eq!(answer["data"]["key"], "rewritten");
    recorder.by("pilotage").get("ConfigMap", "web").expect(200);
    recorder
        .by("alice")
        .delete("MutatingAdmissionPolicyBinding", &name, json!({}))
        .expect(200);
    recorder
        .by("alice")
        .delete("MutatingAdmissionPolicy", &name, json!({}))
        .expect(200);
}

fn excluding_edits(recorder: &mut Recorder<'_>) {
    let mut ours = stateful_set(0);
    let spec = &mut ours["spec"]["template"]["spec"];
    spec["volumes"] = json!([{ "name": "scratch", "emptyDir": {} }]);
    spec["containers"][0]["env"] = json!([{ "name": "PASSWORD", "valueFrom": { "secretKeyRef": { "name": "web", "key": "password" } } }]);
    spec["containers"][0]["livenessProbe"] = json!({ "httpGet": { "path": "/", "port": 80 } });
    recorder.by("pilotage").apply(ours.clone()).expect(201);
    recorder.rest("the controller has seen it", |_| true);
    let pod_spec = "/spec/template/spec";
    let edit = |recorder: &mut Recorder<'_>, operations: Value| {
        recorder
            .by("alice")
            .json_patch("StatefulSet", "web", operations)
            .expect(200);
        recorder.rest("the controller has seen it", |_| true);
    };
    let replace = |path: &str, value: Value| json!([{ "op": "replace", "path": format!("{pod_spec}{path}"), "value": value }]);
    edit(
        recorder,
        replace(
            "/containers/0/env/0",
            json!({ "name": "PASSWORD", "value": "plain" }),
        ),
    );
    recorder.by("pilotage").apply(ours.clone()).expect(422);
    recorder.by("pilotage").apply(ours.clone()).expect(422);
    edit(
        recorder,
        json!([{ "op": "remove", "path": format!("{pod_spec}/containers/0/env") }]),
    );
    recorder.by("pilotage").apply(ours.clone()).expect(200);
    recorder.rest("the controller has seen it", |_| true);
    edit(
        recorder,
        replace(
            "/volumes/0",
            json!({ "name": "scratch", "hostPath": { "path": "/tmp" } }),
        ),
    );
    recorder.by("pilotage").apply(ours.clone()).expect(422);
    edit(
        recorder,
        json!([{ "op": "remove", "path": format!("{pod_spec}/volumes") }]),
    );
    recorder.by("pilotage").apply(ours.clone()).expect(200);
    recorder.rest("the controller has seen it", |_| true);
    edit(
        recorder,
        replace(
            "/containers/0/livenessProbe",
            json!({ "tcpSocket": { "port": 80 } }),
        ),
    );
    recorder.by("pilotage").apply(ours).expect(422);
}

fn string_data(recorder: &mut Recorder<'_>) {
    let mut secret = data("Secret", "web", "kept", "dmFsdWU=");
    secret["stringData"] = json!({ "dropped": "value" });
    recorder.by("pilotage").apply(secret).expect(201);
    let answer = recorder
        .by("pilotage")
        .apply(data("Secret", "web", "kept", "dmFsdWU="))
        .expect(200);
    assert_eq!(answer["data"]["dropped"], "dmFsdWU=");
    recorder
        .by("pilotage")
        .create(data("Secret", "bad", "key", "no base64!"))
        .expect(400);
}

fn image_pull_secrets(recorder: &mut Recorder<'_>) {
    let ours = with(
        account("web"),
        "/imagePullSecrets",
        json!([{ "name": "ours" }]),
    );
    recorder.by("pilotage").apply(ours.clone()).expect(201);
    let both = json!({ "imagePullSecrets": [{ "name": "ours" }, { "name": "theirs" }] });
    recorder
        .by("alice")
        .merge_patch("ServiceAccount", "web", both)
        .expect(200);
    let answer = recorder.by("pilotage").apply(ours).expect(200);
    assert_eq!(answer["imagePullSecrets"], json!([{ "name": "ours" }]));
}

fn default_namespace(recorder: &mut Recorder<'_>) {
    let namespace = recorder
        .by("pilotage")
        .get("Namespace", "default")
        .expect(200);
    assert_eq!(
        namespace["metadata"]["labels"],
        json!({ "kubernetes.io/metadata.name": "default" })
    );
    recorder
        .by("pilotage")
        .delete("Namespace", "default", json!({}))
        .expect(403);
    recorder
        .by("pilotage")
        .get("Namespace", "default")
        .expect(200);
}
