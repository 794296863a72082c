//! What may be stored, and in which form: facts K14 to K18, K34, and the refusals of creates and updates.

use super::*;
use crate::cluster::object::text_at;
use crate::cluster::settings::{Action, Denial};

#[test]
fn k14_a_template_without_containers_is_invalid() {
    let mut server = Server::new();
    let mut body = stateful_set("web");
    body["spec"]["template"]["spec"]["containers"] = json!([]);
    let refused = server.create(Resource::StatefulSet, body).refused();
    assert_eq!((refused.code, &*refused.reason), (422, "Invalid"));
    assert_eq!(
        &*refused.message,
        "StatefulSet.apps \"web\" is invalid: spec.template.spec.containers: Required value"
    );
    assert_eq!(
        refused.causes,
        [(
            "FieldValueRequired".into(),
            "spec.template.spec.containers".into(),
            "Required value".into()
        )]
    );
}

#[test]
fn k15_a_claim_templates_name_is_the_name_of_a_volume_and_at_most_63_letters() {
    let mut server = Server::new();
    let mut body = stateful_set("web");
    let name = "a".repeat(64);
    body["spec"]["volumeClaimTemplates"] = json!([{
        "metadata": {"name": name},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }]);
    let refused = server.create(Resource::StatefulSet, body).refused();
    assert_eq!(refused.code, 422);
    assert!(
        refused.message.contains("must be no more than 63 bytes"),
        "{}",
        refused.message
    );
    let refused = server
        .create(
            Resource::Service,
            json!({"metadata": {"name": "1web"}, "spec": {"clusterIP": "None"}}),
        )
        .refused();
    assert_eq!(refused.code, 422);
    for name in ["Web", "web.", "-web", "wéb"] {
        let refused = server
            .create(Resource::ConfigMap, json!({"metadata": {"name": name}}))
            .refused();
        assert_eq!(refused.code, 422, "{name}");
    }
}

#[test]
fn k16_quantities_are_canonical_and_what_is_empty_is_not_kept() {
    let mut server = Server::new();
    let mut body = stateful_set("web");
    body["spec"]["template"]["spec"]["containers"][0] = json!({
        "name": "web",
        "image": "nginx:1",
        "env": [{"name": "A", "value": ""}],
        "command": [],
        "resources": {"limits": {"cpu": "1000m", "memory": "1024Mi"}},
    });
    let stored = server.made(Resource::StatefulSet, body);
    let container = &stored.value["spec"]["template"]["spec"]["containers"][0];
    assert_eq!(
        container["resources"]["limits"],
        json!({"cpu": "1", "memory": "1Gi"})
    );
    assert_eq!(container["env"], json!([{"name": "A"}]));
    assert!(container.get("command").is_none());
}

#[test]
fn k18_a_pod_without_its_account_is_forbidden() {
    let mut server = Server::new();
    let mut body = pod("web-0");
    body["spec"]["serviceAccountName"] = json!("app");
    let refused = server.create(Resource::Pod, body).refused();
    assert_eq!((refused.code, &*refused.reason), (403, "Forbidden"));
    assert_eq!(
        &*refused.message,
        "pods \"web-0\" is forbidden: error looking up service account here/app: serviceaccount \"app\" not found"
    );
}

fn claim(request: &str) -> Value {
    json!({
        "metadata": {"name": "data"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "",
            "resources": {"requests": {"storage": request}},
        },
    })
}

fn bind_claim(server: &mut Server, capacity: &str) {
    let bound = json!({"spec": {"volumeName": "pv-1"}});
    server
        .merge(Resource::PersistentVolumeClaim, "data", bound)
        .made();
    server
        .ask(
            Resource::PersistentVolumeClaim,
            "data",
            Some(Subresource::Status),
            Verb::MergePatch {
                body: json!({"status": {"phase": "Bound", "capacity": {"storage": capacity}}}),
            },
        )
        .made();
}

#[test]
fn k34_a_claim_grows_only_where_its_class_lets_it_and_shrinks_to_its_capacity_at_most() {
    let mut server = Server::new();
    server
        .apply(Resource::PersistentVolumeClaim, claim("1Gi"))
        .made();
    bind_claim(&mut server, "1Gi");
    let refused = server
        .apply(Resource::PersistentVolumeClaim, claim("2Gi"))
        .refused();
    assert_eq!((refused.code, &*refused.reason), (403, "Forbidden"));
    let refused = server
        .apply(Resource::PersistentVolumeClaim, claim("512Mi"))
        .refused();
    assert_eq!((refused.code, &*refused.reason), (422, "Invalid"));
    let mut without = claim("1Gi");
    without["spec"].as_object_mut().unwrap().remove("resources");
    assert_eq!(
        server
            .apply(Resource::PersistentVolumeClaim, without)
            .refused()
            .code,
        422
    );

    server.cluster.request(
        Timestamp(1),
        Request {
            manager: "hand".into(),
            resource: Resource::StorageClass,
            namespace: None,
            name: "".into(),
            subresource: None,
            verb: Verb::Create { body: json!({
                "metadata": {"name": "grows"}, "provisioner": "example.com/disk", "allowVolumeExpansion": true,
            }) },
        },
    ).made();
    let grown = |request: &str| {
        let mut body = claim(request);
        body["metadata"]["name"] = json!("data");
        body["spec"]["storageClassName"] = json!("grows");
        body
    };
    server.delete(Resource::PersistentVolumeClaim, "data");
    let held = server.merge(
        Resource::PersistentVolumeClaim,
        "data",
        json!({"metadata": {"finalizers": null}}),
    );
    assert!(matches!(held.code(), 200 | 404));
    server
        .apply(Resource::PersistentVolumeClaim, grown("1Gi"))
        .made();
    bind_claim(&mut server, "1Gi");
    server
        .by("hand")
        .merge(
            Resource::PersistentVolumeClaim,
            "data",
            json!({"spec": {"resources": {"requests": {"storage": "5Gi"}}}}),
        )
        .made();
    let stored = server
        .by("pilotage")
        .force(Resource::PersistentVolumeClaim, grown("2Gi"))
        .made();
    assert_eq!(
        text_at(&stored.value, &["spec", "resources", "requests", "storage"]),
        "2Gi"
    );
}

#[test]
fn of_a_stateful_set_only_some_fields_may_change() {
    let mut server = Server::new();
    let made = server.made(Resource::StatefulSet, stateful_set("web"));
    let refused = server
        .merge(
            Resource::StatefulSet,
            "web",
            json!({"spec": {"serviceName": "other"}}),
        )
        .refused();
    assert_eq!((refused.code, &*refused.reason), (422, "Invalid"));
    assert_eq!(
        &*refused.message,
        "StatefulSet.apps \"web\" is invalid: spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
    );
    let changed = server
        .merge(
            Resource::StatefulSet,
            "web",
            json!({"spec": {"minReadySeconds": 3}}),
        )
        .made();
    assert_eq!(changed.generation(), made.generation() + 1);
    let labelled = server
        .merge(
            Resource::StatefulSet,
            "web",
            json!({"metadata": {"labels": {"x": "y"}}}),
        )
        .made();
    assert_eq!(labelled.generation(), changed.generation());
}

#[test]
fn a_role_bindings_role_cannot_change() {
    let mut server = Server::new();
    let binding = |role: &str| {
        json!({
            "metadata": {"name": "app"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": role},
            "subjects": [{"kind": "ServiceAccount", "name": "app", "namespace": "here"}],
        })
    };
    server.apply(Resource::RoleBinding, binding("a")).made();
    let refused = server.force(Resource::RoleBinding, binding("b")).refused();
    assert_eq!(refused.code, 422);
    assert!(
        refused.message.contains("cannot change roleRef"),
        "{}",
        refused.message
    );
}

#[test]
fn a_put_with_an_old_version_is_a_conflict_and_one_without_change_makes_no_version() {
    let mut server = Server::new();
    let made = server.made(
        Resource::ConfigMap,
        json!({"metadata": {"name": "a"}, "data": {"x": "1"}}),
    );
    let same = server.update(Resource::ConfigMap, "a", made.whole()).made();
    assert_eq!(same.version, made.version);
    let mut body = made.value.clone();
    body["data"]["x"] = json!("2");
    let changed = server.update(Resource::ConfigMap, "a", body.clone()).made();
    assert!(changed.version > made.version);
    let refused = server.update(Resource::ConfigMap, "a", body).refused();
    assert_eq!(
        &*refused.message,
        "Operation cannot be fulfilled on configmaps \"a\": the object has been modified; please apply your changes to the latest version and try again"
    );
}

#[test]
fn a_create_with_a_version_is_refused_and_a_generated_name_is_drawn() {
    let mut server = Server::new();
    let body = json!({"metadata": {"name": "a", "resourceVersion": "7"}});
    assert_eq!(server.create(Resource::ConfigMap, body).refused().code, 500);
    let one = server.made(
        Resource::ConfigMap,
        json!({"metadata": {"generateName": "a-"}}),
    );
    let two = server.made(
        Resource::ConfigMap,
        json!({"metadata": {"generateName": "a-"}}),
    );
    assert_ne!(one.name(), two.name());
    assert_eq!(one.name().len(), 7);
    assert_eq!(
        server.create(Resource::ConfigMap, json!({})).refused().code,
        422
    );
}

#[test]
fn a_rule_refuses_as_often_as_it_says() {
    let mut server = Server::new();
    let answer = Failure {
        code: 429,
        reason: "TooManyRequests".into(),
        message: "try later".into(),
        causes: vec![],
    };
    server.cluster.deny(Denial {
        name: Some("a".into()),
        times: Some(1),
        ..Denial::new(Resource::ConfigMap, Action::Create, answer.clone())
    });
    assert_eq!(
        server
            .create(Resource::ConfigMap, json!({"metadata": {"name": "b"}}))
            .code(),
        201
    );
    let body = json!({"metadata": {"name": "a"}});
    assert_eq!(
        server.create(Resource::ConfigMap, body.clone()).refused(),
        answer
    );
    assert_eq!(server.create(Resource::ConfigMap, body).code(), 201);
}

#[test]
fn services_get_addresses_and_node_ports_that_nobody_else_has() {
    let mut server = Server::new();
    let service = |name: &str, kind: &str| {
        json!({
            "metadata": {"name": name},
            "spec": {"type": kind, "ports": [{"port": 80}]},
        })
    };
    let one = server.made(Resource::Service, service("one", "ClusterIP"));
    let two = server.made(Resource::Service, service("two", "NodePort"));
    let three = server.made(Resource::Service, service("three", "LoadBalancer"));
    let address = |stored: &Stored| {
        stored.value["spec"]["clusterIP"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_ne!(address(&one), address(&two));
    assert_ne!(
        two.value["spec"]["ports"][0]["nodePort"],
        three.value["spec"]["ports"][0]["nodePort"]
    );
    insta::assert_json_snapshot!("service", one.whole());
    let refused = server
        .merge(
            Resource::Service,
            "one",
            json!({"spec": {"clusterIP": address(&two)}}),
        )
        .refused();
    assert_eq!(refused.code, 422);
    let headless = server.made(
        Resource::Service,
        json!({"metadata": {"name": "h"}, "spec": {"clusterIP": "None"}}),
    );
    assert_eq!(headless.value["spec"]["clusterIPs"], json!(["None"]));
}
