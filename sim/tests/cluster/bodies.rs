//! The server is total: no body makes it panic, and what it stores it can store again.

use pilotage_core::time::Timestamp;
use pilotage_sim::cluster::Cluster;
use pilotage_sim::cluster::request::{Propagation, Request, Response, Subresource, Verb};
use pilotage_sim::cluster::resource::Resource;
use pilotage_sim::cluster::settings::Settings;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

/// Values that fields may hold by mistake.
fn junk() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        Just(json!(1.5)),
        Just(json!("1.5Gi")),
        Just(json!("9999999999999999999999999Ei")),
        Just(json!("1e999999999")),
        "\\PC{0,8}".prop_map(Value::from),
        Just(json!([])),
        Just(json!({})),
        Just(json!([null, {}, [], "x"])),
        Just(json!({"name": null, "": {}, "k": [1]})),
    ]
}

/// A manifest that the server takes, per kind, rich enough to reach most of the code.
fn manifest(resource: Resource) -> Value {
    let pod = json!({
        "serviceAccountName": "default",
        "initContainers": [{"name": "init", "image": "i"}],
        "containers": [{
            "name": "web", "image": "nginx", "env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "x"}}}],
            "ports": [{"containerPort": 80}], "resources": {"limits": {"cpu": "1000m"}, "requests": {"cpu": "1"}},
            "volumeMounts": [{"name": "v", "mountPath": "/v"}, {"name": "data", "mountPath": "/d"}],
            "readinessProbe": {"httpGet": {"port": "http"}},
        }],
        "tolerations": [{"key": "k", "operator": "Exists"}],
        "volumes": [{"name": "v", "emptyDir": {}}, {"name": "data", "projected": {"sources": [{"secret": {"name": "s"}}]}}],
    });
    let template = json!({"metadata": {"labels": {"app": "a"}}, "spec": pod});
    let workload =
        json!({"replicas": 1, "selector": {"matchLabels": {"app": "a"}}, "template": template});
    let mut claim =
        json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}});
    let mut body = json!({"metadata": {"name": "a", "labels": {"app": "a"}, "annotations": {"n": "1"}, "finalizers": ["x.dev/f"]}});
    match resource {
        Resource::Pod => body["spec"] = pod,
        Resource::StatefulSet => {
            body["spec"] = workload;
            body["spec"]["serviceName"] = json!("a");
            body["spec"]["volumeClaimTemplates"] =
                json!([{"metadata": {"name": "data"}, "spec": claim}]);
        }
        Resource::Deployment | Resource::ReplicaSet => body["spec"] = workload,
        Resource::DaemonSet => {
            body["spec"] = workload;
            body["spec"].as_object_mut().unwrap().remove("replicas");
        }

        Resource::Service => {
            body["spec"] = json!({"type": "NodePort", "selector": {"app": "a"}, "ports": [{"name": "p", "port": 80}]})
        }
        Resource::PersistentVolumeClaim => body["spec"] = claim,
        Resource::PersistentVolume => {
            claim["capacity"] = json!({"storage": "1Gi"});
            claim["hostPath"] = json!({"path": "/x"});
            claim["claimRef"] = json!({"name": "a"});
            claim.as_object_mut().unwrap().remove("resources");
            body["spec"] = claim;
        }
        Resource::Secret => body["stringData"] = json!({"a": "b"}),
        Resource::ConfigMap => body["data"] = json!({"a": "b"}),
        Resource::Role | Resource::ClusterRole => {
            body["rules"] = json!([{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}])
        }
        Resource::RoleBinding | Resource::ClusterRoleBinding => {
            body["roleRef"] =
                json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "a"});
            body["subjects"] =
                json!([{"kind": "ServiceAccount", "name": "a", "namespace": "default"}]);
        }
        Resource::StorageClass => body["provisioner"] = json!("x.dev/p"),
        Resource::Event => {
            body["involvedObject"] = json!({"kind": "Pod", "name": "a", "namespace": "default"})
        }
        Resource::ControllerRevision => body["data"] = json!({"spec": {}}),
        _ => {}
    }
    body
}

/// Every place in a value, as pointers.
fn places(value: &Value, path: &str, out: &mut Vec<String>) {
    out.push(path.to_owned());
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                places(
                    value,
                    &format!("{path}/{}", key.replace('~', "~0").replace('/', "~1")),
                    out,
                );
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                places(value, &format!("{path}/{index}"), out);
            }
        }
        _ => {}
    }
}

fn spoil(mut body: Value, changes: &[(Index, Value)]) -> Value {
    for (index, junk) in changes {
        let mut all = Vec::new();
        places(&body, "", &mut all);
        let place = index.get(&all).clone();
        if let Some(value) = body.pointer_mut(&place) {
            *value = junk.clone();
        }
    }
    body
}

fn cluster() -> Cluster {
    let mut cluster = Cluster::new(Settings::default());
    let account = Verb::Create {
        body: json!({"metadata": {"name": "default"}}),
    };
    ask(&mut cluster, Resource::ServiceAccount, "", None, account);
    cluster
}

fn ask(
    cluster: &mut Cluster,
    resource: Resource,
    name: &str,
    subresource: Option<Subresource>,
    verb: Verb,
) -> Response {
    let namespace = resource.namespaced().then(|| "default".into());
    let request = Request {
        manager: "pilotage".into(),
        resource,
        namespace,
        name: name.into(),
        subresource,
        verb,
    };
    cluster.request(Timestamp(1_000), request)
}

fn resource() -> impl Strategy<Value = Resource> {
    prop::sample::select(Resource::ALL)
}

#[test]
fn every_kind_can_be_made_and_put_back_as_it_is() {
    for resource in Resource::ALL {
        let mut cluster = cluster();
        let made = ask(
            &mut cluster,
            *resource,
            "",
            None,
            Verb::Create {
                body: manifest(*resource),
            },
        );
        let Response::Object { code: 201, object } = made else {
            panic!("{resource:?}: {made:?}")
        };
        let again = ask(
            &mut cluster,
            *resource,
            "a",
            None,
            Verb::Update {
                body: object.whole(),
            },
        );
        let Response::Object {
            code: 200,
            object: same,
        } = again
        else {
            panic!("{resource:?}: {again:?}")
        };
        assert_eq!(same, object, "a PUT of what was read changes nothing");
        let mut config = manifest(*resource);
        config["apiVersion"] = resource.api_version().into();
        config["kind"] = resource.kind().into();
        let applied = ask(
            &mut cluster,
            *resource,
            "a",
            None,
            Verb::Apply {
                body: config.clone(),
                force: true,
            },
        );
        let Response::Object { object: first, .. } = applied else {
            panic!("{resource:?}: {applied:?}")
        };
        let applied = ask(
            &mut cluster,
            *resource,
            "a",
            None,
            Verb::Apply {
                body: config,
                force: true,
            },
        );
        let Response::Object { object: second, .. } = applied else {
            panic!("{resource:?}: {applied:?}")
        };
        assert_eq!(second, first, "an apply twice is an apply once");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Whatever a body holds, every verb answers; and an answer with an object holds what a list holds.
    #[test]
    fn no_body_makes_the_server_panic(
        resource in resource(),
        first in prop::collection::vec((any::<Index>(), junk()), 0..3),
        second in prop::collection::vec((any::<Index>(), junk()), 0..4),
        third in junk(),
        grace in prop::option::of(0..40_u64),
    ) {
        let mut cluster = cluster();
        ask(&mut cluster, resource, "", None, Verb::Create { body: manifest(resource) });
        ask(&mut cluster, resource, "", None, Verb::Create { body: spoil(manifest(resource), &first) });
        let mut body = manifest(resource);
        body["apiVersion"] = resource.api_version().into();
        body["kind"] = resource.kind().into();
        let body = spoil(body, &second);
        for force in [false, true] {
            ask(&mut cluster, resource, "a", None, Verb::Apply { body: body.clone(), force });
        }
        ask(&mut cluster, resource, "a", None, Verb::Update { body: body.clone() });
        ask(&mut cluster, resource, "a", None, Verb::MergePatch { body: body.clone() });
        let operations = json!([{"op": "add", "path": "/metadata/managedFields", "value": third}]);
        ask(&mut cluster, resource, "a", None, Verb::JsonPatch { operations });
        ask(&mut cluster, resource, "a", None, Verb::JsonPatch { operations: body.clone() });
        for subresource in [Subresource::Status, Subresource::Scale, Subresource::Binding, Subresource::Finalize] {
            for verb in [
                Verb::Get,
                Verb::Create { body: body.clone() },
                Verb::Update { body: body.clone() },
                Verb::MergePatch { body: body.clone() },
                Verb::Apply { body: body.clone(), force: true },
            ] {
                ask(&mut cluster, resource, "a", Some(subresource), verb);
            }
        }
        let delete = Verb::Delete { uid: None, version: None, propagation: Propagation::Foreground, grace };
        ask(&mut cluster, resource, "a", None, delete.clone());
        ask(&mut cluster, resource, "a", None, Verb::MergePatch { body: json!({"metadata": {"finalizers": null}}) });
        ask(&mut cluster, resource, "a", None, delete);
        for stored in cluster.all_objects() {
            prop_assert_eq!(&stored.value["metadata"]["resourceVersion"], &json!(stored.version.to_string()));
        }
    }
}
