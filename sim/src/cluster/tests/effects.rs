//! Effects against the API server: what is asked, and what the core hears.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use pilotage_core::digest::{Digest, DigestKey};
use pilotage_core::effect::Action;
use pilotage_core::event::Event;
use pilotage_core::kubernetes::manifest::Manifest;
use pilotage_core::kubernetes::read::Object;
use pilotage_core::kubernetes::{Key, Kind, Propagation};
use pilotage_core::name::Uid;
use pilotage_core::outcome::{Outcome, Refusal, Reply};
use pilotage_core::secret::{Placeholder, SecretRef};
use pilotage_core::time::Timestamp;
use serde_json::{Value, json};

use crate::cluster::Cluster;
use crate::cluster::effects;
use crate::cluster::settings::Settings;

const KEY: DigestKey = DigestKey([9; 16]);

struct House {
    cluster: Cluster,
    vault: Option<&'static str>,
}

impl House {
    fn new() -> Self {
        House {
            cluster: Cluster::new(Settings::default()),
            vault: Some("opensesame"),
        }
    }

    fn run(&mut self, action: &Action) -> Outcome {
        let values = |_: &SecretRef| self.vault.map(String::from);
        match effects::request(action, Timestamp(1_000), &values) {
            Ok(request) => {
                let response = self.cluster.request(Timestamp(1_000), request);
                effects::outcome(action, response, KEY)
            }
            Err(outcome) => outcome,
        }
    }

    fn object(&mut self, action: &Action) -> Object {
        match self.run(action) {
            Outcome::Done(Reply::Object(object)) => (*object).clone(),
            other => panic!("{action:?} gave {other:?}"),
        }
    }

    fn refusal(&mut self, action: &Action) -> Refusal {
        match self.run(action) {
            Outcome::Refused { reason, .. } => reason,
            other => panic!("{action:?} gave {other:?}"),
        }
    }
}

fn manifest(kind: Kind, name: &str, rest: Value) -> Manifest {
    let key = Key::new(kind, "default", name);
    let mut body = json!({
        "apiVersion": kind.api_version(),
        "kind": kind.name(),
        "metadata": {
            "name": name,
            "labels": {"app.kubernetes.io/managed-by": "pilotage"},
        },
    });
    if let Some(namespace) = &key.namespace {
        body["metadata"]["namespace"] = json!(namespace);
    }
    for (field, value) in rest.as_object().into_iter().flatten() {
        body[field] = value.clone();
    }
    Manifest {
        key,
        birth: Vec::new(),
        body,
    }
}

fn workload() -> Manifest {
    let mut manifest = manifest(
        Kind::StatefulSet,
        "web",
        json!({"spec": {
            "replicas": 1,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "web", "image": "web:1"}]},
            },
        }}),
    );
    manifest.birth = [Box::from("/spec/replicas")].into();
    manifest
}

#[test]
fn each_verb_of_writing_is_one_request_and_is_answered_with_what_it_made() {
    let mut house = House::new();
    let create = Action::Create {
        manifest: workload(),
    };
    let made = house.object(&create);
    assert_eq!(house.refusal(&create), Refusal::AlreadyExists);

    let (key, uid) = (made.key(), made.metadata().uid);
    let Outcome::Done(Reply::Fetched(fetched)) = house.run(&Action::Get { key: key.clone() })
    else {
        panic!("a get is answered with the object and its managers");
    };
    assert_eq!(*fetched.object, made);
    let [ours] = &fetched.managed_fields[..] else {
        panic!("one manager made it: {:?}", fetched.managed_fields);
    };
    assert_eq!((&*ours.manager, &*ours.operation), ("pilotage", "Update"));

    let take_over = |uid, version, patch: &Value| Action::TakeOver {
        key: key.clone(),
        uid,
        version,
        patch: patch.clone(),
    };
    let patch = json!([
        {"op": "replace", "path": "/metadata/managedFields/0/operation", "value": "Apply"},
        {"op": "remove", "path": "/metadata/managedFields/0/fieldsV1/f:spec/f:replicas"},
    ]);
    let version = made.metadata().version;
    let of_another = take_over(Uid(1), version, &patch);
    assert_eq!(house.refusal(&of_another), Refusal::Invalid);
    let taken = house.object(&take_over(uid, version, &patch));
    let label = json!([{"op": "add", "path": "/metadata/labels/late", "value": "yes"}]);
    let stale = take_over(uid, version, &label);
    assert_eq!(house.refusal(&stale), Refusal::Conflict);

    let mut wanted = workload();
    wanted.body["spec"]["template"]["spec"]["containers"][0]["image"] = json!("web:2");
    let apply = |uid, version| Action::Apply {
        uid,
        version,
        manifest: wanted.clone(),
    };
    let version = taken.metadata().version;
    // The uid of another object is a field that cannot change (fact K3).
    assert_eq!(house.refusal(&apply(Uid(1), version)), Refusal::Invalid);
    let applied = house.object(&apply(uid, version));
    assert_eq!(house.refusal(&apply(uid, version)), Refusal::Conflict);

    let scale = |uid, version| Action::Scale {
        key: key.clone(),
        uid,
        version,
        replicas: 3,
    };
    let version = applied.metadata().version;
    assert_eq!(house.refusal(&scale(Uid(1), version)), Refusal::Conflict);
    let Outcome::Done(Reply::Scaled { version, replicas }) = house.run(&scale(uid, version)) else {
        panic!("a scale is answered with the replicas");
    };
    assert_eq!(replicas, 3);
    assert_eq!(
        house.refusal(&scale(uid, applied.metadata().version)),
        Refusal::Conflict
    );

    let Outcome::Done(Reply::Listed(listed)) = house.run(&Action::List {
        kind: Kind::StatefulSet,
        namespace: None,
    }) else {
        panic!("a list is answered with the objects");
    };
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0].metadata().version, version);

    let delete = |uid| Action::Delete {
        key: key.clone(),
        uid,
        propagation: Propagation::Background,
    };
    assert_eq!(house.refusal(&delete(Uid(1))), Refusal::Conflict);
    assert_eq!(house.run(&delete(uid)), Outcome::Done(Reply::Nothing));
    assert_eq!(
        house.refusal(&Action::Get { key: key.clone() }),
        Refusal::NotFound
    );
}

#[test]
fn a_delete_says_whether_the_object_is_still_there() {
    let mut house = House::new();
    let service = manifest(
        Kind::Service,
        "web",
        json!({"spec": {"ports": [{"port": 80}]}}),
    );
    let namespace = manifest(Kind::Namespace, "work", json!({}));
    for (manifest, still_there) in [(service, false), (namespace, true)] {
        let key = manifest.key.clone();
        let uid = house.object(&Action::Create { manifest }).metadata().uid;
        let outcome = house.run(&Action::Delete {
            key: key.clone(),
            uid,
            propagation: Propagation::Background,
        });
        match outcome {
            Outcome::Done(Reply::Object(object)) => {
                assert!(still_there && object.metadata().is_deleting(), "{key}");
            }
            other => {
                assert_eq!(other, Outcome::Done(Reply::Nothing));
                assert!(!still_there, "{key}");
                assert_eq!(house.refusal(&Action::Get { key }), Refusal::NotFound);
            }
        }
    }
}

#[test]
fn a_secret_is_sent_with_its_value_and_seen_as_a_fingerprint() {
    let mut house = House::new();
    let placeholder = Placeholder::Plain {
        secret: SecretRef {
            application: Uid(1),
            name: "password".into(),
            generation: 1,
        },
    };
    let create = Action::Create {
        manifest: manifest(
            Kind::Secret,
            "web",
            json!({"type": "Opaque", "data": {"password": placeholder.to_value()}}),
        ),
    };
    house.vault = None;
    assert_eq!(house.refusal(&create), Refusal::SecretMissing);
    house.vault = Some("opensesame");
    let made = house.run(&create);
    let stored = house
        .cluster
        .peek(super::Resource::Secret, "default", "web")
        .unwrap();
    assert_eq!(
        stored.at(&["data", "password"]),
        Some(&json!("b3BlbnNlc2FtZQ=="))
    );
    let seen = effects::seen(Kind::Secret, stored, KEY).unwrap();
    let fingerprint = Digest::keyed(KEY, &json!({"password": "b3BlbnNlc2FtZQ=="})).to_string();
    for text in [format!("{made:?}"), format!("{seen:?}")] {
        assert!(
            !text.contains("opensesame") && !text.contains("b3Bl"),
            "{text}"
        );
        assert!(text.contains(&fingerprint), "{text}");
    }
}

#[test]
fn an_event_is_recorded_about_an_application() {
    let mut house = House::new();
    let record = Action::RecordEvent {
        namespace: "default".into(),
        application: "web".into(),
        uid: Uid(7),
        severity: pilotage_core::effect::Severity::Warning,
        reason: "Blocked".into(),
        message: "no image".into(),
    };
    assert_eq!(house.run(&record), Outcome::Done(Reply::Nothing));
    let events: Vec<_> = house
        .cluster
        .objects(super::Resource::Event, Some("default"))
        .collect();
    assert_eq!(events.len(), 1);
    assert!(events[0].name().starts_with("web-"));
    assert_eq!(
        events[0].at(&["involvedObject"]),
        Some(&json!({
            "apiVersion": "pilotage.dev/v1alpha1",
            "kind": "Application",
            "namespace": "default",
            "name": "web",
            "uid": Uid(7).to_string(),
        }))
    );
}

#[test]
fn a_watch_tells_of_ours_alone_and_of_what_stops_being_ours() {
    let mut house = House::new();
    let begun = house.cluster.version();
    let account = manifest(Kind::ServiceAccount, "web", json!({}));
    let mut foreign = manifest(Kind::ServiceAccount, "other", json!({}));
    foreign.body["metadata"]["labels"] = json!({});
    let made = house.object(&Action::Create { manifest: account });
    house.object(&Action::Create { manifest: foreign });
    let uid = made.metadata().uid;
    let mut bare = manifest(Kind::ServiceAccount, "web", json!({}));
    bare.body["metadata"]["labels"] = json!({});
    let unlabel = Action::TakeOver {
        key: made.key(),
        uid,
        version: made.metadata().version,
        patch: json!([{"op": "remove", "path": "/metadata/labels"}]),
    };
    let unlabelled = house.object(&unlabel);
    let events = house
        .cluster
        .watch_since(
            super::Resource::ServiceAccount,
            None,
            &effects::ours(),
            begun,
        )
        .unwrap();
    let told: Vec<Event> = events
        .iter()
        .map(|event| effects::watched(Kind::ServiceAccount, event, KEY).unwrap())
        .collect();
    let [
        Event::ObjectUpdated(first),
        Event::ObjectDeleted {
            key,
            uid: gone,
            version,
        },
    ] = &told[..]
    else {
        panic!("{told:?}");
    };
    assert_eq!(**first, made);
    assert_eq!((key, gone), (&made.key(), &uid));
    assert_eq!(*version, unlabelled.metadata().version);
}

#[test]
fn a_command_to_the_state_is_not_sent_to_a_cluster() {
    use pilotage_core::state::{Caller, Command, ModelCommand};
    let command = Command::Model {
        model: Uid(1),
        caller: Caller::User,
        expect: None,
        body: ModelCommand::Clear,
    };
    let action = Action::Store(Box::new(command));
    assert_eq!(House::new().refusal(&action), Refusal::NotSent);
}

#[test]
fn a_cluster_is_read_back_as_it_was_written() {
    let mut house = House::new();
    let made = house.object(&Action::Create {
        manifest: workload(),
    });
    let written: Vec<Value> = house.cluster.all_objects().map(|one| one.whole()).collect();
    let restored = Cluster::restore(
        house.cluster.settings().clone(),
        house.cluster.counters(),
        written.clone(),
    );
    let mut restored = restored.unwrap();
    let again: Vec<Value> = restored.all_objects().map(|one| one.whole()).collect();
    assert_eq!(written, again);
    assert_eq!(restored.counters(), house.cluster.counters());

    let old = house.cluster.version() - 1;
    let expired = restored.watch_since(super::Resource::StatefulSet, None, &[], old);
    assert_eq!(expired.unwrap_err().code, 410);

    // Both go on alike: the next object gets the same uid and version on either side, and no earlier one's.
    let next = Action::Create {
        manifest: manifest(Kind::ServiceAccount, "next", json!({})),
    };
    let expected = house.object(&next);
    let request = effects::request(&next, Timestamp(1_000), &|_: &SecretRef| None).unwrap();
    let response = restored.request(Timestamp(1_000), request);
    let Outcome::Done(Reply::Object(object)) = effects::outcome(&next, response, KEY) else {
        panic!("the restored cluster takes requests");
    };
    assert_eq!(*object, expected);
    assert_ne!(object.metadata().uid, made.metadata().uid);
    let since = house.cluster.version() - 1;
    let watched = restored.watch_since(super::Resource::ServiceAccount, None, &[], since);
    assert_eq!(watched.unwrap().len(), 1);
}

#[test]
fn what_is_no_object_is_not_read_back() {
    let counters = House::new().cluster.counters();
    let whole = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {
        "name": "a", "namespace": "default", "uid": "u", "resourceVersion": "1",
    }});
    assert!(Cluster::restore(Settings::default(), counters, [whole.clone()]).is_ok());
    let altered = [
        ("/kind", json!("Unknown")),
        ("/metadata/resourceVersion", json!("one")),
        ("/metadata/resourceVersion", json!("999999")),
        ("/metadata/uid", json!("")),
    ];
    for (pointer, value) in altered {
        let mut broken = whole.clone();
        *broken.pointer_mut(pointer).unwrap() = value;
        let error = Cluster::restore(Settings::default(), counters, [broken]).unwrap_err();
        assert!(error.to_string().contains("\"a\""), "{error}");
    }
}
