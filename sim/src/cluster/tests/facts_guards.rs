//! Guards of scales and deletes, and how objects end: facts K12, K13, K21, K32, K35.

use super::*;
use crate::cluster::object::{number_at, text_at};
use crate::cluster::watch::WatchKind;

fn scale(server: &mut Server, metadata: Value) -> Response {
    server.ask(
        Resource::StatefulSet,
        "web",
        Some(Subresource::Scale),
        Verb::Update {
            body: json!({"metadata": metadata, "spec": {"replicas": 4}}),
        },
    )
}

fn delete(
    server: &mut Server,
    resource: Resource,
    name: &str,
    uid: Option<&str>,
    version: Option<&str>,
    propagation: Propagation,
    grace: Option<u64>,
) -> Response {
    server.ask(
        resource,
        name,
        None,
        Verb::Delete {
            uid: uid.map(Into::into),
            version: version.map(Into::into),
            propagation,
            grace,
        },
    )
}

#[test]
fn k12_a_scale_with_a_wrong_version_or_uid_is_a_conflict() {
    let mut server = Server::new();
    let made = server.made(Resource::StatefulSet, stateful_set("web"));
    for metadata in [
        json!({"name": "web", "resourceVersion": "1"}),
        json!({"name": "web", "uid": "1b4e28ba-2fa1-41d2-883f-0016d3cca427"}),
    ] {
        let refused = scale(&mut server, metadata).refused();
        assert_eq!((refused.code, &*refused.reason), (409, "Conflict"));
    }
    let done = scale(
        &mut server,
        json!({"name": "web", "uid": made.uid(), "resourceVersion": made.version.to_string()}),
    );
    let Response::Value { code: 200, body } = done else {
        panic!("{done:?}")
    };
    assert_eq!(text_at(&body, &["kind"]), "Scale");
    assert_eq!(text_at(&body, &["status", "selector"]), "app=web");
    let stored = server.get(Resource::StatefulSet, "web").made();
    assert_eq!(number_at(&stored.value, &["spec", "replicas"]), Some(4));
    assert_eq!(stored.generation(), 2);
    let owned = |subresource: Option<&str>| {
        let manager = stored
            .managers
            .iter()
            .find(|manager| manager.subresource.as_deref() == subresource);
        manager.unwrap().fields.contains(&["spec", "replicas"])
    };
    assert!(owned(Some("scale")) && !owned(None));
}

#[test]
fn k13_a_delete_with_a_wrong_uid_or_version_is_a_conflict_and_without_object_not_found() {
    let mut server = Server::new();
    let made = server.made(Resource::ConfigMap, json!({"metadata": {"name": "a"}}));
    let wrong = Some("1b4e28ba-2fa1-41d2-883f-0016d3cca427");
    let kind = Resource::ConfigMap;
    let how = Propagation::Background;
    assert_eq!(
        delete(&mut server, kind, "a", wrong, None, how, None)
            .refused()
            .code,
        409
    );
    assert_eq!(
        delete(&mut server, kind, "a", None, Some("1"), how, None)
            .refused()
            .code,
        409
    );
    assert_eq!(
        delete(&mut server, kind, "b", wrong, None, how, None)
            .refused()
            .code,
        404
    );
    let version = made.version.to_string();
    assert_eq!(
        delete(
            &mut server,
            kind,
            "a",
            Some(made.uid()),
            Some(&version),
            how,
            None
        )
        .code(),
        200
    );
}

#[test]
fn k21_nothing_is_made_in_a_namespace_that_is_missing_or_ends() {
    let mut server = Server::new();
    let in_namespace = |server: &mut Server, verb: Verb, namespace: &str| {
        server.cluster.request(
            Timestamp(1),
            Request {
                manager: "pilotage".into(),
                resource: Resource::ConfigMap,
                namespace: Some(namespace.into()),
                name: match verb {
                    Verb::Create { .. } => "".into(),
                    _ => "a".into(),
                },
                subresource: None,
                verb,
            },
        )
    };
    let object = || json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}});
    let verbs = || {
        [
            Verb::Create { body: object() },
            Verb::Apply {
                body: object(),
                force: true,
            },
        ]
    };
    for verb in verbs() {
        let missing = in_namespace(&mut server, verb, "nowhere").refused();
        assert_eq!((missing.code, &*missing.reason), (404, "NotFound"));
        assert_eq!(&*missing.message, "namespaces \"nowhere\" not found");
    }
    server.delete(Resource::Namespace, "here");
    for verb in verbs() {
        let ending = in_namespace(&mut server, verb, "here").refused();
        assert_eq!((ending.code, &*ending.reason), (403, "Forbidden"));
        assert_eq!(&*ending.causes[0].0, "NamespaceTerminating");
    }
}

#[test]
fn a_namespace_is_gone_once_it_is_finalized() {
    let mut server = Server::new();
    let ending = server.delete(Resource::Namespace, "here").made();
    assert_eq!(text_at(&ending.value, &["status", "phase"]), "Terminating");
    let mut body = ending.value.clone();
    body["spec"] = json!({});
    let done = server.ask(
        Resource::Namespace,
        "here",
        Some(Subresource::Finalize),
        Verb::Update { body },
    );
    assert_eq!(done.code(), 200);
    assert_eq!(server.get(Resource::Namespace, "here").refused().code, 404);
}

#[test]
fn k32_a_label_taken_off_ends_a_selected_watch_but_not_the_object() {
    let mut server = Server::new();
    let made = server.made(
        Resource::ConfigMap,
        json!({"metadata": {"name": "a", "labels": {"app": "a"}}}),
    );
    server
        .by("hand")
        .merge(
            Resource::ConfigMap,
            "a",
            json!({"metadata": {"labels": {"app": null}}}),
        )
        .made();
    let changed = server
        .merge(
            Resource::ConfigMap,
            "a",
            json!({"metadata": {"labels": {"app": "a"}}}),
        )
        .made();
    let events = server
        .cluster
        .watch_since(
            Resource::ConfigMap,
            Some("here"),
            &[("app".into(), "a".into())],
            made.version,
        )
        .unwrap();
    let kinds: Vec<WatchKind> = events.iter().map(|event| event.kind).collect();
    assert_eq!(kinds, [WatchKind::Deleted, WatchKind::Added]);
    assert_eq!(events[0].object.label("app"), Some("a"));
    assert_eq!(events[0].object.version, made.version + 1);
    assert_eq!(events[1].object, changed);
}

#[test]
fn k35_the_namespace_default_is_always_there() {
    let mut server = Server::new();
    let default = server.get(Resource::Namespace, "default").made();
    assert_eq!(
        default.value["metadata"]["labels"],
        json!({"kubernetes.io/metadata.name": "default"})
    );
    let refused = server.delete(Resource::Namespace, "default").refused();
    assert_eq!((refused.code, &*refused.reason), (403, "Forbidden"));
}

#[test]
fn a_pod_on_a_node_ends_after_its_grace_period_and_a_second_delete_shortens_it() {
    let mut server = Server::new();
    server.made(Resource::Pod, pod("web-0"));
    let bound = server.ask(
        Resource::Pod,
        "web-0",
        Some(Subresource::Binding),
        Verb::Create {
            body: json!({"target": {"kind": "Node", "name": "node-1"}}),
        },
    );
    assert_eq!(bound.code(), 201);
    let again = server.ask(
        Resource::Pod,
        "web-0",
        Some(Subresource::Binding),
        Verb::Create {
            body: json!({"target": {"kind": "Node", "name": "node-2"}}),
        },
    );
    assert_eq!(again.code(), 409);
    let ending = server.delete(Resource::Pod, "web-0").made();
    assert_eq!(ending.value["metadata"]["deletionGracePeriodSeconds"], 30);
    assert_eq!(ending.generation(), 2);
    let began = server.now;
    assert_eq!(
        text_at(&ending.value, &["metadata", "deletionTimestamp"]),
        crate::cluster::moment::text(Timestamp(began.0 + 30_000))
    );
    assert_eq!(server.delete(Resource::Pod, "web-0").made(), ending);
    let shorter = delete(
        &mut server,
        Resource::Pod,
        "web-0",
        None,
        None,
        Propagation::Background,
        Some(5),
    )
    .made();
    assert_eq!(
        text_at(&shorter.value, &["metadata", "deletionTimestamp"]),
        crate::cluster::moment::text(Timestamp(began.0 + 5_000))
    );
    delete(
        &mut server,
        Resource::Pod,
        "web-0",
        None,
        None,
        Propagation::Background,
        Some(0),
    )
    .made();
    assert_eq!(server.get(Resource::Pod, "web-0").code(), 404);
}

#[test]
fn a_finalizer_holds_an_object_until_it_is_taken_off_and_none_can_be_added_meanwhile() {
    let mut server = Server::new();
    server.made(
        Resource::ConfigMap,
        json!({"metadata": {"name": "a", "finalizers": ["example.com/hold"]}}),
    );
    let held = server.delete(Resource::ConfigMap, "a").made();
    assert!(held.deleting());
    let refused = server
        .merge(
            Resource::ConfigMap,
            "a",
            json!({"metadata": {"finalizers": ["example.com/hold", "example.com/more"]}}),
        )
        .refused();
    assert_eq!(refused.code, 422);
    let (version, _) = server.list(Resource::ConfigMap);
    server
        .merge(
            Resource::ConfigMap,
            "a",
            json!({"metadata": {"finalizers": null}}),
        )
        .made();
    assert_eq!(server.get(Resource::ConfigMap, "a").code(), 404);
    let events = server
        .cluster
        .watch_since(Resource::ConfigMap, None, &[], version)
        .unwrap();
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].kind, WatchKind::Deleted);
}

#[test]
fn propagation_is_left_to_the_garbage_collector_as_a_finalizer() {
    let mut server = Server::new();
    for (propagation, finalizer) in [
        (Propagation::Foreground, "foregroundDeletion"),
        (Propagation::Orphan, "orphan"),
    ] {
        server.made(Resource::StatefulSet, stateful_set("web"));
        let held = delete(
            &mut server,
            Resource::StatefulSet,
            "web",
            None,
            None,
            propagation,
            None,
        )
        .made();
        assert!(held.deleting());
        assert_eq!(held.finalizers().collect::<Vec<_>>(), [finalizer]);
        assert_eq!(held.generation(), 2);
        server
            .merge(
                Resource::StatefulSet,
                "web",
                json!({"metadata": {"finalizers": []}}),
            )
            .made();
        assert_eq!(server.get(Resource::StatefulSet, "web").code(), 404);
    }
}

#[test]
fn what_an_owner_owns_is_found_by_its_uid() {
    let mut server = Server::new();
    let owner = server.made(Resource::StatefulSet, stateful_set("web"));
    let mut owned = pod("web-0");
    owned["metadata"]["ownerReferences"] = json!([{
        "apiVersion": "apps/v1", "kind": "StatefulSet", "name": "web", "uid": owner.uid(), "controller": true,
    }]);
    let made = server.made(Resource::Pod, owned);
    let found: Vec<_> = server.cluster.dependents(owner.uid()).cloned().collect();
    assert_eq!(found, vec![made]);
    server
        .merge(
            Resource::Pod,
            "web-0",
            json!({"metadata": {"ownerReferences": null}}),
        )
        .made();
    assert_eq!(server.cluster.dependents(owner.uid()).count(), 0);
}
