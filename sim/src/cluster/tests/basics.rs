//! Objects come, change and go, and watches see it.

use super::*;
use crate::cluster::watch::WatchKind;

#[test]
fn a_created_object_can_be_read_listed_watched_and_deleted() {
    let mut server = Server::new();
    let (version, _) = server.list(Resource::StatefulSet);
    let made = server.made(Resource::StatefulSet, stateful_set("web"));
    insta::assert_json_snapshot!("stateful_set", made.whole());
    assert_eq!(server.get(Resource::StatefulSet, "web").made(), made);
    assert_eq!(server.list(Resource::StatefulSet).1, vec![made]);
    assert_eq!(
        server
            .create(Resource::StatefulSet, stateful_set("web"))
            .refused()
            .reason,
        "AlreadyExists".into()
    );
    assert_eq!(server.delete(Resource::StatefulSet, "web").code(), 200);
    let gone = server.get(Resource::StatefulSet, "web").refused();
    assert_eq!((gone.code, &*gone.reason), (404, "NotFound"));
    assert_eq!(&*gone.message, "statefulsets.apps \"web\" not found");
    let events = server
        .cluster
        .watch_since(Resource::StatefulSet, Some("here"), &[], version)
        .unwrap();
    let kinds: Vec<WatchKind> = events.iter().map(|event| event.kind).collect();
    assert_eq!(kinds, [WatchKind::Added, WatchKind::Deleted]);
    assert!(events[1].object.version > events[0].object.version);
}

#[test]
fn a_watch_from_a_forgotten_version_is_expired() {
    let mut server = Server::new();
    let (version, _) = server.list(Resource::ConfigMap);
    server.made(Resource::ConfigMap, json!({"metadata": {"name": "a"}}));
    server.made(Resource::ConfigMap, json!({"metadata": {"name": "b"}}));
    server.cluster.compact(1);
    let refused = server
        .cluster
        .watch_since(Resource::ConfigMap, None, &[], version)
        .unwrap_err();
    assert_eq!((refused.code, &*refused.reason), (410, "Expired"));
    let from = server.list(Resource::ConfigMap).0 - 1;
    assert_eq!(
        server
            .cluster
            .watch_since(Resource::ConfigMap, None, &[], from)
            .unwrap()
            .len(),
        1
    );
}
#[test]
fn a_pod_is_stored_with_its_defaults_and_its_token() {
    let mut server = Server::new();
    let made = server.made(Resource::Pod, pod("web-0"));
    insta::assert_json_snapshot!("pod", made.whole());
}
