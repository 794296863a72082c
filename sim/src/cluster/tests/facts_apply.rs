//! What server-side apply does: facts K1 to K11, K19 to K31.

use super::*;
use crate::cluster::object::{flag_at, number_at, text_at};

/// A StatefulSet without its birth fields.
fn without_replicas(name: &str) -> Value {
    let mut body = stateful_set(name);
    body["spec"].as_object_mut().unwrap().remove("replicas");
    body
}

fn one_container(name: &str) -> Value {
    let mut body = without_replicas(name);
    body["spec"]["template"]["spec"]["containers"]
        .as_array_mut()
        .unwrap()
        .pop();
    body
}

fn container_names(stored: &Stored) -> Vec<&str> {
    stored.value["spec"]["template"]["spec"]["containers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|container| text_at(container, &["name"]))
        .collect()
}

fn config_map(name: &str, data: Value) -> Value {
    json!({"metadata": {"name": name, "labels": {"app": name}}, "data": data})
}

/// The patch that turns the POST's entry into an apply entry and releases a birth field.
fn take_over(stored: &Stored, field: &str) -> Value {
    let mut entries = stored.managers.to_value();
    let entry = &mut entries[0];
    assert_eq!(text_at(entry, &["operation"]), "Update");
    entry["operation"] = json!("Apply");
    entry["fieldsV1"]["f:spec"]
        .as_object_mut()
        .unwrap()
        .remove(field)
        .unwrap();
    json!([
        {"op": "replace", "path": "/metadata/resourceVersion", "value": stored.version.to_string()},
        {"op": "replace", "path": "/metadata/managedFields", "value": entries},
    ])
}

#[test]
fn k1_an_apply_adopts_what_others_made() {
    let mut server = Server::new();
    server.by("other").made(
        Resource::ConfigMap,
        json!({"metadata": {"name": "a"}, "data": {"x": "1"}}),
    );
    let answer = server
        .by("pilotage")
        .apply(Resource::ConfigMap, config_map("a", json!({"y": "2"})));
    assert_eq!(answer.code(), 200);
    let stored = answer.made();
    assert_eq!(stored.value["data"], json!({"x": "1", "y": "2"}));
    assert_eq!(stored.label("app"), Some("a"));
}

#[test]
fn k2_an_apply_with_a_uid_makes_nothing() {
    let mut server = Server::new();
    let mut body = config_map("a", json!({}));
    body["metadata"]["uid"] = json!("1b4e28ba-2fa1-41d2-883f-0016d3cca427");
    let refused = server.apply(Resource::ConfigMap, body).refused();
    assert_eq!((refused.code, &*refused.reason), (409, "Conflict"));
    assert!(
        refused.message.contains("uid mismatch"),
        "{}",
        refused.message
    );
}

#[test]
fn k3_and_k22_a_wrong_uid_is_invalid_and_an_old_version_with_it_a_conflict() {
    let mut server = Server::new();
    let made = server.made(Resource::ConfigMap, config_map("a", json!({"x": "1"})));
    let mut body = config_map("a", json!({"x": "1"}));
    body["metadata"]["uid"] = json!("1b4e28ba-2fa1-41d2-883f-0016d3cca427");
    let refused = server.force(Resource::ConfigMap, body.clone()).refused();
    assert_eq!((refused.code, &*refused.reason), (422, "Invalid"));
    assert!(
        refused.message.contains("metadata.uid"),
        "{}",
        refused.message
    );
    body["metadata"]["resourceVersion"] = json!((made.version - 1).to_string());
    assert_eq!(server.force(Resource::ConfigMap, body).refused().code, 409);
}

#[test]
fn k4_k5_k6_and_k20_a_version_does_not_keep_an_apply_from_creating_but_from_changing() {
    let mut server = Server::new();
    for (name, version) in [("a", "1"), ("b", "77")] {
        let mut body = config_map(name, json!({"x": "1"}));
        body["metadata"]["resourceVersion"] = json!(version);
        assert_eq!(server.apply(Resource::ConfigMap, body.clone()).code(), 201);
        let refused = server.apply(Resource::ConfigMap, body).refused();
        assert_eq!((refused.code, &*refused.reason), (409, "Conflict"));
    }
}

#[test]
fn k7_what_a_post_named_an_apply_does_not_take_away() {
    let mut server = Server::new();
    server.made(Resource::StatefulSet, stateful_set("web"));
    let stored = server
        .apply(Resource::StatefulSet, one_container("web"))
        .made();
    assert_eq!(container_names(&stored), ["web", "side"]);
}

#[test]
fn k8_after_the_take_over_an_apply_takes_away_and_birth_fields_stay() {
    let mut server = Server::new();
    let made = server.made(Resource::StatefulSet, stateful_set("web"));
    let taken = server
        .patch(Resource::StatefulSet, "web", take_over(&made, "f:replicas"))
        .made();
    assert_eq!(taken.generation(), made.generation());
    let stored = server
        .force(Resource::StatefulSet, one_container("web"))
        .made();
    assert_eq!(container_names(&stored), ["web"]);
    assert_eq!(number_at(&stored.value, &["spec", "replicas"]), Some(2));
    assert_eq!(stored.generation(), made.generation() + 1);

    let scaled = server.ask(
        Resource::StatefulSet,
        "web",
        Some(Subresource::Scale),
        Verb::Update {
            body: json!({"metadata": {"name": "web"}, "spec": {"replicas": 5}}),
        },
    );
    assert_eq!(scaled.code(), 200);
    let stored = server
        .force(Resource::StatefulSet, one_container("web"))
        .made();
    assert_eq!(number_at(&stored.value, &["spec", "replicas"]), Some(5));
    // Nobody owned the replicas any more, so the scale was not recorded.
    assert!(!stored.managers.owned().contains(&["spec", "replicas"]));
}

#[test]
fn k8_a_stale_take_over_is_a_conflict_and_a_failed_test_invalid() {
    let mut server = Server::new();
    let made = server.made(Resource::StatefulSet, stateful_set("web"));
    server
        .merge(
            Resource::StatefulSet,
            "web",
            json!({"metadata": {"labels": {"x": "y"}}}),
        )
        .made();
    let stale = server
        .patch(Resource::StatefulSet, "web", take_over(&made, "f:replicas"))
        .refused();
    assert_eq!((stale.code, &*stale.reason), (409, "Conflict"));
    let tested = server
        .patch(
            Resource::StatefulSet,
            "web",
            json!([{"op": "test", "path": "/metadata/resourceVersion", "value": made.version.to_string()}]),
        )
        .refused();
    assert_eq!((tested.code, &*tested.reason), (422, "Invalid"));
}

#[test]
fn k8_a_services_ports_and_type_stay_when_they_are_released() {
    let mut server = Server::new();
    let service = json!({
        "metadata": {"name": "web"},
        "spec": {"type": "ClusterIP", "selector": {"app": "web"}, "ports": [{"name": "placeholder", "port": 65535}]},
    });
    let made = server.made(Resource::Service, service.clone());
    let mut patch = take_over(&made, "f:ports");
    patch[1]["value"][0]["fieldsV1"]["f:spec"]
        .as_object_mut()
        .unwrap()
        .remove("f:type")
        .unwrap();
    server.patch(Resource::Service, "web", patch).made();
    server
        .by("charm")
        .merge(
            Resource::Service,
            "web",
            json!({"spec": {"type": "NodePort", "ports": [{"name": "http", "port": 80}]}}),
        )
        .made();
    let mut ours = service;
    let spec = ours["spec"].as_object_mut().unwrap();
    spec.remove("ports");
    spec.remove("type");
    spec.insert("selector".into(), json!({"app": "web", "more": "yes"}));
    let stored = server.by("pilotage").force(Resource::Service, ours).made();
    assert_eq!(stored.value["spec"]["type"], "NodePort");
    assert_eq!(stored.value["spec"]["ports"][0]["name"], "http");
    assert!(stored.value["spec"]["ports"][0]["nodePort"].is_u64());
    assert_eq!(stored.value["spec"]["selector"]["more"], "yes");
}

#[test]
fn k9_the_same_apply_twice_makes_no_version() {
    let mut server = Server::new();
    let first = server
        .apply(Resource::StatefulSet, stateful_set("web"))
        .made();
    let second = server
        .apply(Resource::StatefulSet, stateful_set("web"))
        .made();
    assert_eq!(second, first);
    assert_eq!(server.cluster.version(), first.version);
}

#[test]
fn k10_and_k11_replicas_become_one_when_they_are_no_longer_named() {
    let mut server = Server::new();
    let stored = server
        .apply(Resource::StatefulSet, without_replicas("web"))
        .made();
    assert_eq!(number_at(&stored.value, &["spec", "replicas"]), Some(1));
    for replicas in [0, 3] {
        let mut body = stateful_set("web");
        body["spec"]["replicas"] = json!(replicas);
        let stored = server.apply(Resource::StatefulSet, body).made();
        assert_eq!(
            number_at(&stored.value, &["spec", "replicas"]),
            Some(replicas)
        );
        let stored = server
            .apply(Resource::StatefulSet, without_replicas("web"))
            .made();
        assert_eq!(number_at(&stored.value, &["spec", "replicas"]), Some(1));
    }
}

#[test]
fn k19_unknown_fields_and_items_named_twice_are_internal_errors() {
    let mut server = Server::new();
    let mut unknown = stateful_set("web");
    unknown["spec"]["template"]["spec"]["containers"][0]["imagine"] = json!("x");
    let mut twice = stateful_set("web");
    twice["spec"]["template"]["spec"]["containers"][0]["volumeMounts"] =
        json!([{"name": "a", "mountPath": "/v"}, {"name": "b", "mountPath": "/v"}]);
    for (body, what) in [
        (unknown, "field not declared in schema"),
        (twice, "duplicate entries"),
    ] {
        let refused = server.apply(Resource::StatefulSet, body).refused();
        assert_eq!(refused.code, 500);
        assert!(
            refused
                .message
                .starts_with("failed to create typed patch object"),
            "{}",
            refused.message
        );
        assert!(refused.message.contains(what), "{}", refused.message);
    }
    let mut passes = stateful_set("web");
    passes["spec"]["template"]["spec"]["volumes"] =
        json!([{"name": "a", "emptyDir": {}}, {"name": "b", "emptyDir": {}}]);
    passes["spec"]["template"]["spec"]["containers"][0]["volumeMounts"] =
        json!([{"name": "a", "mountPath": "/v"}, {"name": "b", "mountPath": "/v/"}]);
    assert_eq!(server.apply(Resource::StatefulSet, passes).code(), 201);
}

#[test]
fn k23_after_a_status_write_the_old_version_is_a_conflict() {
    let mut server = Server::new();
    let made = server.made(Resource::StatefulSet, stateful_set("web"));
    let mut status = made.value.clone();
    status["status"]["replicas"] = json!(1);
    server
        .by("controller")
        .ask(
            Resource::StatefulSet,
            "web",
            Some(Subresource::Status),
            Verb::Update { body: status },
        )
        .made();
    let mut body = stateful_set("web");
    body["metadata"]["resourceVersion"] = json!(made.version.to_string());
    assert_eq!(
        server
            .by("pilotage")
            .force(Resource::StatefulSet, body)
            .refused()
            .code,
        409
    );
}

#[test]
fn k24_after_a_scale_an_apply_without_replicas_keeps_the_number() {
    let mut server = Server::new();
    server
        .apply(Resource::StatefulSet, stateful_set("web"))
        .made();
    server.ask(
        Resource::StatefulSet,
        "web",
        Some(Subresource::Scale),
        Verb::Update {
            body: json!({"metadata": {"name": "web"}, "spec": {"replicas": 7}}),
        },
    );
    let stored = server
        .apply(Resource::StatefulSet, without_replicas("web"))
        .made();
    assert_eq!(number_at(&stored.value, &["spec", "replicas"]), Some(7));
    let scale = stored
        .managers
        .iter()
        .find(|manager| manager.subresource.as_deref() == Some("scale"))
        .unwrap();
    assert_eq!(scale.fields.paths(), [".spec.replicas"]);
}

#[test]
fn k25_a_services_birth_fields_go_back_while_they_are_named_and_cannot_be_left_out_while_owned() {
    let mut server = Server::new();
    let service = json!({
        "metadata": {"name": "web"},
        "spec": {"type": "ClusterIP", "selector": {"app": "web"}, "ports": [{"name": "placeholder", "port": 65535}]},
    });
    server.apply(Resource::Service, service.clone()).made();
    server
        .by("charm")
        .merge(
            Resource::Service,
            "web",
            json!({"spec": {"type": "NodePort", "ports": [
                {"name": "placeholder", "port": 65535}, {"name": "http", "port": 80},
            ]}}),
        )
        .made();
    let back = server
        .by("pilotage")
        .force(Resource::Service, service.clone())
        .made();
    assert_eq!(back.value["spec"]["type"], "ClusterIP");
    assert!(
        back.value["spec"]["ports"]
            .as_array()
            .unwrap()
            .iter()
            .all(|port| port.get("nodePort").is_none())
    );
    server
        .by("charm")
        .merge(
            Resource::Service,
            "web",
            json!({"spec": {"ports": [{"name": "placeholder", "port": 65535}]}}),
        )
        .made();
    let mut without = service;
    without["spec"].as_object_mut().unwrap().remove("ports");
    let refused = server
        .by("pilotage")
        .force(Resource::Service, without.clone())
        .refused();
    assert_eq!(refused.code, 422);
    assert!(
        refused.message.contains("spec.ports: Required value"),
        "{}",
        refused.message
    );
    server
        .by("charm")
        .merge(
            Resource::Service,
            "web",
            json!({"spec": {"ports": [{"name": "http", "port": 80}]}}),
        )
        .made();
    let stored = server
        .by("pilotage")
        .force(Resource::Service, without)
        .made();
    assert_eq!(stored.value["spec"]["ports"][0]["name"], "http");
}

#[test]
fn k26_defaults_that_a_hand_changed_survive_an_apply_that_does_not_name_them() {
    let mut server = Server::new();
    server
        .apply(Resource::StatefulSet, stateful_set("web"))
        .made();
    server.by("hand").merge(
        Resource::StatefulSet,
        "web",
        json!({"spec": {"ordinals": {"start": 5}, "persistentVolumeClaimRetentionPolicy": {"whenScaled": "Delete"}}}),
    ).made();
    let stored = server
        .by("pilotage")
        .force(Resource::StatefulSet, stateful_set("web"))
        .made();
    assert_eq!(
        number_at(&stored.value, &["spec", "ordinals", "start"]),
        Some(5)
    );
    assert_eq!(
        text_at(
            &stored.value,
            &["spec", "persistentVolumeClaimRetentionPolicy", "whenScaled"]
        ),
        "Delete"
    );
}

#[test]
fn k28_an_edit_that_excludes_ours_makes_our_apply_invalid() {
    let mut server = Server::new();
    let mut ours = stateful_set("web");
    ours["spec"]["template"]["spec"]["containers"][0]["env"] =
        json!([{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]);
    ours["spec"]["template"]["spec"]["containers"][0]["livenessProbe"] =
        json!({"tcpSocket": {"port": 80}});
    ours["spec"]["template"]["spec"]["volumes"] = json!([{"name": "v", "emptyDir": {}}]);
    server.apply(Resource::StatefulSet, ours.clone()).made();
    let base = "/spec/template/spec";
    for (operations, put_back) in [
        (
            json!([
                {"op": "remove", "path": format!("{base}/containers/0/env/0/valueFrom")},
                {"op": "add", "path": format!("{base}/containers/0/env/0/value"), "value": "x"},
            ]),
            json!([{"op": "remove", "path": format!("{base}/containers/0/env/0/value")}]),
        ),
        (
            json!([
                {"op": "remove", "path": format!("{base}/volumes/0/emptyDir")},
                {"op": "add", "path": format!("{base}/volumes/0/configMap"), "value": {"name": "c"}},
            ]),
            json!([
                {"op": "remove", "path": format!("{base}/volumes/0/configMap")},
                {"op": "add", "path": format!("{base}/volumes/0/emptyDir"), "value": {}},
            ]),
        ),
        (
            json!([
                {"op": "remove", "path": format!("{base}/containers/0/livenessProbe/tcpSocket")},
                {"op": "add", "path": format!("{base}/containers/0/livenessProbe/exec"), "value": {"command": ["true"]}},
            ]),
            json!([]),
        ),
    ] {
        server
            .by("hand")
            .patch(Resource::StatefulSet, "web", operations)
            .made();
        for _ in 0..2 {
            let refused = server
                .by("pilotage")
                .force(Resource::StatefulSet, ours.clone())
                .refused();
            assert_eq!(
                (refused.code, &*refused.reason),
                (422, "Invalid"),
                "{}",
                refused.message
            );
        }
        server
            .by("hand")
            .patch(Resource::StatefulSet, "web", put_back)
            .made();
    }
}

#[test]
fn k29_a_container_that_somebody_else_applied_too_stays_when_we_drop_it() {
    let mut server = Server::new();
    server
        .apply(Resource::StatefulSet, stateful_set("web"))
        .made();
    let theirs = json!({
        "metadata": {"name": "web"},
        "spec": {"template": {"spec": {"containers": [{"name": "side", "image": "side:1"}]}}},
    });
    server
        .by("other")
        .apply(Resource::StatefulSet, theirs.clone())
        .made();
    let mut ours = stateful_set("web");
    ours["spec"]["template"]["spec"]["containers"]
        .as_array_mut()
        .unwrap()
        .pop();
    let stored = server
        .by("pilotage")
        .apply(Resource::StatefulSet, ours.clone())
        .made();
    assert_eq!(container_names(&stored), ["web", "side"]);
    let mut nothing = theirs;
    nothing.as_object_mut().unwrap().remove("spec");
    let stored = server
        .by("other")
        .apply(Resource::StatefulSet, nothing)
        .made();
    assert_eq!(container_names(&stored), ["web"]);
}

#[test]
fn k30_another_order_of_variables_raises_the_generation() {
    let mut server = Server::new();
    let mut body = stateful_set("web");
    body["spec"]["template"]["spec"]["containers"][0]["env"] =
        json!([{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]);
    let first = server.apply(Resource::StatefulSet, body.clone()).made();
    body["spec"]["template"]["spec"]["containers"][0]["env"]
        .as_array_mut()
        .unwrap()
        .reverse();
    let second = server.apply(Resource::StatefulSet, body).made();
    assert_eq!(second.generation(), first.generation() + 1);
}

#[test]
fn k31_a_key_that_came_as_string_data_stays() {
    let mut server = Server::new();
    let secret = |texts: Value| json!({"metadata": {"name": "s"}, "stringData": texts});
    let stored = server
        .apply(Resource::Secret, secret(json!({"a": "foo", "b": "fo"})))
        .made();
    assert_eq!(stored.value["data"], json!({"a": "Zm9v", "b": "Zm8="}));
    assert!(stored.value.get("stringData").is_none());
    let stored = server
        .apply(Resource::Secret, secret(json!({"a": "foo"})))
        .made();
    assert_eq!(stored.value["data"], json!({"a": "Zm9v", "b": "Zm8="}));
}

#[test]
fn k33_an_accounts_pull_secrets_are_replaced_whole() {
    let mut server = Server::new();
    let account =
        |secrets: Value| json!({"metadata": {"name": "app"}, "imagePullSecrets": secrets});
    server.by("hand").made(
        Resource::ServiceAccount,
        account(json!([{"name": "theirs"}])),
    );
    let stored = server
        .by("pilotage")
        .force(Resource::ServiceAccount, account(json!([{"name": "ours"}])))
        .made();
    assert_eq!(stored.value["imagePullSecrets"], json!([{"name": "ours"}]));
}

#[test]
fn conflicts_name_every_field_and_its_manager_and_force_takes_over() {
    let mut server = Server::new();
    server
        .by("first")
        .apply(
            Resource::ConfigMap,
            config_map("a", json!({"x": "1", "y": "1"})),
        )
        .made();
    server
        .by("hand")
        .merge(Resource::ConfigMap, "a", json!({"data": {"y": "2"}}))
        .made();
    let wanted = json!({"metadata": {"name": "a"}, "data": {"x": "3", "y": "3"}});
    let refused = server
        .by("second")
        .apply(Resource::ConfigMap, wanted.clone())
        .refused();
    assert_eq!((refused.code, &*refused.reason), (409, "Conflict"));
    insta::assert_debug_snapshot!("apply_conflict", refused);
    let stored = server.force(Resource::ConfigMap, wanted).made();
    insta::assert_json_snapshot!("owners_after_force", stored.managers.to_value());
    let refused = server
        .by("first")
        .apply(Resource::ConfigMap, config_map("a", json!({"x": "1"})))
        .refused();
    assert_eq!(
        &*refused.message,
        "Apply failed with 1 conflict: conflict with \"second\": .data.x"
    );
}

#[test]
fn a_record_that_nobody_names_any_more_goes_with_its_defaults() {
    let mut server = Server::new();
    let mut body = stateful_set("web");
    body["spec"]["template"]["spec"]["containers"][0]["readinessProbe"] =
        json!({"httpGet": {"port": 80}});
    body["spec"]["template"]["spec"]["automountServiceAccountToken"] = json!(false);
    let stored = server.apply(Resource::StatefulSet, body).made();
    let template = &stored.value["spec"]["template"]["spec"];
    assert_eq!(
        template["containers"][0]["readinessProbe"]["periodSeconds"],
        10
    );
    assert!(!flag_at(template, &["automountServiceAccountToken"]));
    let stored = server
        .apply(Resource::StatefulSet, stateful_set("web"))
        .made();
    let template = &stored.value["spec"]["template"]["spec"];
    assert!(template["containers"][0].get("readinessProbe").is_none());
    assert!(template.get("automountServiceAccountToken").is_none());
}

#[test]
fn an_apply_that_names_nothing_any_more_leaves_the_metadata_that_is_not_its_own() {
    let mut server = Server::new();
    let body = json!({"metadata": {"name": "a", "labels": {"app": "a"}}});
    server.apply(Resource::ConfigMap, body).made();
    server
        .by("hand")
        .merge(
            Resource::ConfigMap,
            "a",
            json!({"metadata": {"finalizers": ["example.com/hold"]}}),
        )
        .made();
    let stored = server
        .by("pilotage")
        .apply(Resource::ConfigMap, json!({"metadata": {"name": "a"}}))
        .made();
    assert_eq!(stored.label("app"), None);
    assert_eq!(
        stored.finalizers().collect::<Vec<_>>(),
        ["example.com/hold"]
    );
}
