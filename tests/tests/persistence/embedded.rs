//! The embedded cluster in its file.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use pilotage_core::effect::{Action, Effect, EffectId};
use pilotage_core::event::{Event, Source};
use pilotage_core::kubernetes::manifest::Manifest;
use pilotage_core::kubernetes::read::Object;
use pilotage_core::kubernetes::{Key, Kind};
use pilotage_core::name::Uid;
use pilotage_core::outcome::{Outcome, Reply};
use pilotage_core::reason::Reason;
use pilotage_core::secret::Placeholder;
use pilotage_core::time::Timestamp;
use pilotage_interpreter::cluster::{Cluster, Embedded, Values};
use pilotage_interpreter::runtime::block_on;
use pilotage_interpreter::store::{self, Held};
use pilotage_sim::cluster::controllers::settings::Settings as Latencies;
use pilotage_tests::child::Worker;
use pilotage_tests::patience::PATIENCE;
use serde_json::{Value, json};
use tempfile::tempdir;
use tokio::sync::mpsc;

use super::CHILD;

fn open(path: &Path) -> (Embedded, Held) {
    let store = store::open(path);
    let held = store.hold(Timestamp(1)).unwrap();
    let cluster = Embedded::open(path, &*store, &held, Latencies::instant()).unwrap();
    (cluster, held)
}

#[test]
fn no_cluster_is_founded_beside_a_state_of_another() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("state.db");
    let store = store::open(&path);
    store.bind_cluster(Uid(7)).unwrap();
    let held = store.hold(Timestamp(1)).unwrap();
    let error = Embedded::open(&path, &*store, &held, Latencies::instant()).unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("belongs to the cluster with uid") && text.contains("--cluster"),
        "{text}"
    );
    assert!(!folder.path().join("state.db.cluster").exists());
}

fn effect(action: Action) -> Arc<Effect> {
    let key = Key::new(Kind::Pod, "default", "some");
    Arc::new(Effect {
        id: EffectId {
            owner: Uid(1),
            incarnation: 1,
            sequence: 1,
        },
        subject: "web".into(),
        because: Reason::Missing { key },
        action,
    })
}

fn values() -> Values {
    Arc::new(|_| Some("opensesame".into()))
}

fn create(kind: Kind, name: &str, rest: Value) -> Arc<Effect> {
    let mut body = json!({
        "apiVersion": kind.api_version(),
        "kind": kind.name(),
        "metadata": {
            "name": name,
            "namespace": "default",
            "labels": {"app.kubernetes.io/managed-by": "pilotage"},
        },
    });
    for (field, value) in rest.as_object().into_iter().flatten() {
        body[field] = value.clone();
    }
    effect(Action::Create {
        manifest: Manifest {
            key: Key::new(kind, "default", name),
            birth: vec![],
            body,
        },
    })
}

async fn made(cluster: &Embedded, effect: Arc<Effect>) -> Object {
    match cluster.run(effect, values()).await {
        Outcome::Done(Reply::Object(object)) => (*object).clone(),
        other => panic!("{other:?}"),
    }
}

async fn listed(cluster: &Embedded, kind: Kind) -> Vec<Object> {
    let list = effect(Action::List {
        kind,
        namespace: None,
    });
    match cluster.run(list, values()).await {
        Outcome::Done(Reply::Listed(objects)) => objects
            .into_iter()
            .map(|object| (*object).clone())
            .collect(),
        other => panic!("{other:?}"),
    }
}

fn workload() -> Value {
    json!({"spec": {
        "replicas": 2,
        "serviceName": "web",
        "podManagementPolicy": "Parallel",
        "selector": {"matchLabels": {"app": "web"}},
        "template": {
            "metadata": {"labels": {"app": "web", "app.kubernetes.io/managed-by": "pilotage"}},
            "spec": {"containers": [{"name": "web", "image": "web:1"}]},
        },
    }})
}

/// The next event, or a failed test.
async fn next(events: &mut mpsc::Receiver<Event>) -> Event {
    tokio::time::timeout(PATIENCE, events.recv())
        .await
        .expect("there is an event within a minute")
        .expect("the watch goes on")
}

#[test]
fn a_workload_gets_pods_that_become_ready_and_the_watch_tells_it() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("state.db");
    let (cluster, _held) = open(&path);
    let run = async {
        let (sender, mut events) = mpsc::channel(8);
        let watch = tokio::spawn(cluster.watch(Kind::Pod, sender));
        let source = Source::Cluster(Kind::Pod);
        assert_eq!(next(&mut events).await, Event::Listing { source });
        assert_eq!(next(&mut events).await, Event::Synced { source });
        made(&cluster, create(Kind::StatefulSet, "web", workload())).await;
        let mut ready = BTreeSet::new();
        while ready.len() < 2 {
            if let Event::PodUpdated(pod) = next(&mut events).await
                && pod.status.is_ready()
            {
                ready.insert(pod.metadata.name.clone());
            }
        }
        assert_eq!(ready, BTreeSet::from(["web-0".into(), "web-1".into()]));
        drop(events);
        tokio::time::timeout(PATIENCE, watch)
            .await
            .expect("it ends when nobody listens")
            .unwrap();
    };
    block_on(run).unwrap();
}

#[test]
fn a_cluster_that_is_opened_again_is_the_same_and_goes_on() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("state.db");
    let (first, held) = open(&path);
    let before = block_on(async {
        made(&first, create(Kind::StatefulSet, "web", workload())).await;
        (
            first.uid().await.unwrap(),
            listed(&first, Kind::StatefulSet).await,
        )
    });
    let (uid, _) = before.unwrap();
    drop((first, held));
    let (second, _held) = open(&path);
    let after = block_on(async {
        assert_eq!(second.uid().await.unwrap(), uid);
        let (sender, mut events) = mpsc::channel(8);
        tokio::spawn(second.watch(Kind::StatefulSet, sender));
        // Whatever it was doing when it ended, it comes to its end now.
        loop {
            if let Event::ObjectUpdated(object) = next(&mut events).await
                && let Object::StatefulSet(set) = &*object
                && set.status.ready_replicas == 2
            {
                break;
            }
        }
        listed(&second, Kind::Pod).await
    });
    assert_eq!(after.unwrap().len(), 2);
}

#[test]
fn a_secret_is_kept_in_the_file_and_told_as_a_fingerprint() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("state.db");
    let placeholder = Placeholder::Plain {
        secret: pilotage_core::secret::SecretRef {
            application: Uid(1),
            name: "password".into(),
            generation: 1,
        },
    };
    let secret = create(
        Kind::Secret,
        "web",
        json!({"type": "Opaque", "data": {"password": placeholder.to_value()}}),
    );
    let (cluster, held) = open(&path);
    let first = block_on(async { made(&cluster, secret).await }).unwrap();
    drop((cluster, held));
    let (cluster, _held) = open(&path);
    let again = block_on(async { listed(&cluster, Kind::Secret).await }).unwrap();
    assert_eq!(again, std::slice::from_ref(&first));
    let Object::Secret(secret) = first else {
        panic!("it is a secret");
    };
    let data = json!({"password": "b3BlbnNlc2FtZQ=="});
    let key = store::open(&path).fingerprint_key().unwrap();
    let fingerprint = pilotage_core::secret::fingerprint(key, &data).to_string();
    assert_eq!(secret.fingerprint.as_deref(), Some(&*fingerprint));
}

#[test]
fn what_was_answered_before_a_kill_is_in_the_cluster_after_it() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("state.db");
    let mut answered: BTreeSet<Uid> = BTreeSet::new();
    for round in 0..8 {
        let mut worker = Worker::start(CHILD, "objects", &path, &[]);
        for _ in 0..=round {
            answered.insert(worker.line().expect("it works").parse().unwrap());
        }
        answered.extend(
            worker
                .kill()
                .iter()
                .map(|line| line.parse::<Uid>().unwrap()),
        );
        let (cluster, _held) = open(&path);
        let there = block_on(async { listed(&cluster, Kind::ServiceAccount).await }).unwrap();
        let there: BTreeSet<Uid> = there.iter().map(|object| object.metadata().uid).collect();
        assert!(there.is_superset(&answered), "round {round}");
        assert!(
            there.len() <= answered.len() + round + 1,
            "round {round}: one more each time at most"
        );
    }
}

#[test]
fn what_is_no_cluster_is_refused() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("state.db");
    let (cluster, held) = open(&path);
    drop((cluster, held));
    let file = folder.path().join("state.db.cluster");
    let altered = [
        "UPDATE objects SET object = '{}' WHERE name = 'kube-system'",
        "UPDATE cluster SET counters = '{\"version\": 1, \"drawn\": 0}'",
        "PRAGMA user_version = 7",
        "PRAGMA application_id = 7",
    ];
    for statement in altered {
        let connection = rusqlite::Connection::open(&file).unwrap();
        connection.execute_batch(statement).unwrap();
        drop(connection);
        let store = store::open(&path);
        let held = store.hold(Timestamp(1)).unwrap();
        let error = Embedded::open(&path, &*store, &held, Latencies::instant()).unwrap_err();
        assert!(
            error.to_string().contains("state.db.cluster"),
            "{statement}: {error}"
        );
    }
}
