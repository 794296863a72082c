//! StatefulSets: up, down, roll, stuck, orphaned, deleted.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use pilotage_core::time::Span;
use serde_json::json;

use super::house::{House, storage};
use crate::cluster::object::text_at;
use crate::cluster::request::Propagation;
use crate::cluster::resource::Resource;

#[test]
fn given_a_set_of_two_its_pods_run_and_its_claims_are_bound() {
    let mut house = House::new();
    house.stateful_set("a", |set| {
        set["spec"]["volumeClaimTemplates"] = storage("data")
    });
    house.rest();
    assert_eq!(house.pods(), ["a-0 1/1 Running", "a-1 1/1 Running"]);
    assert_eq!(
        house.names(Resource::PersistentVolumeClaim),
        ["data-a-0", "data-a-1"]
    );
    for name in ["data-a-0", "data-a-1"] {
        let claim = house.value(Resource::PersistentVolumeClaim, name);
        assert_eq!(text_at(&claim, &["status", "phase"]), "Bound");
        assert_eq!(claim["metadata"]["labels"], json!({ "app": "a" }));
        let volume = text_at(&claim, &["spec", "volumeName"]).to_string();
        let volume = house.value(Resource::PersistentVolume, &volume);
        assert_eq!(text_at(&volume, &["status", "phase"]), "Bound");
    }
    let status = &house.value(Resource::StatefulSet, "a")["status"];
    for field in [
        "replicas",
        "readyReplicas",
        "availableReplicas",
        "currentReplicas",
        "updatedReplicas",
    ] {
        assert_eq!(status[field], 2, "{field}");
    }
    assert_eq!(status["currentRevision"], status["updateRevision"]);
}

#[test]
fn scaled_down_the_highest_pods_go_and_the_claims_stay() {
    let mut house = House::new();
    house.stateful_set("a", |set| {
        set["spec"]["replicas"] = json!(3);
        set["spec"]["volumeClaimTemplates"] = storage("data");
    });
    house.rest();
    house.scale("a", 1);
    house.wait(Span(500));
    assert_eq!(
        house.pods(),
        [
            "a-0 1/1 Running",
            "a-1 1/1 Terminating",
            "a-2 1/1 Terminating"
        ]
    );
    house.rest();
    assert_eq!(house.pods(), ["a-0 1/1 Running"]);
    let claims: Vec<String> = house.names(Resource::PersistentVolumeClaim);
    assert_eq!(claims, ["data-a-0", "data-a-1", "data-a-2"]);
    house.delete(Resource::StatefulSet, "a", Propagation::Background);
    house.rest();
    assert!(house.pods().is_empty());
    assert_eq!(house.names(Resource::PersistentVolumeClaim).len(), 3);
    assert!(house.names(Resource::ControllerRevision).is_empty());
}

#[test]
fn a_new_template_rolls_the_pods_one_by_one_from_the_highest() {
    let mut house = House::new();
    house.stateful_set("a", |set| set["spec"]["replicas"] = json!(3));
    house.rest();
    house.image("a", "work:2");
    house.wait(Span::seconds(1));
    assert_eq!(
        house.pods(),
        ["a-0 1/1 Running", "a-1 1/1 Running", "a-2 1/1 Terminating"]
    );
    house.rest();
    for name in ["a-0", "a-1", "a-2"] {
        let pod = house.pod(name);
        assert_eq!(pod["spec"]["containers"][0]["image"], "work:2");
    }
    assert_eq!(house.names(Resource::ControllerRevision).len(), 2);
    let status = &house.value(Resource::StatefulSet, "a")["status"];
    assert_eq!(status["currentRevision"], status["updateRevision"]);
    assert_eq!(status["currentReplicas"], 3);
}

#[test]
fn a_pod_that_is_refused_is_warned_of_and_made_when_it_is_allowed() {
    let mut house = House::new();
    house.stateful_set("a", |set| {
        set["spec"]["template"]["spec"]["serviceAccountName"] = json!("late");
    });
    house.wait(Span::seconds(1));
    assert!(house.pods().is_empty());
    let warnings = house.warnings("a");
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(
        warnings[0].starts_with(
            "FailedCreate: create Pod a-0 in StatefulSet a failed error: pods \"a-0\" is forbidden"
        ),
        "{warnings:?}"
    );
    house.create(
        Resource::ServiceAccount,
        json!({ "metadata": { "name": "late" } }),
    );
    house.rest();
    assert_eq!(house.pods(), ["a-0 1/1 Running", "a-1 1/1 Running"]);
}
