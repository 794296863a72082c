//! StatefulSets: up, down, roll, stuck, orphaned, deleted.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use pilotage_core::time::Span;
use serde_json::json;

use super::super::instruction::{Behaviour, Rule};
use super::house::{House, storage};
use crate::cluster::object::text_at;
use crate::cluster::request::{Failure, Propagation};
use crate::cluster::resource::Resource;
use crate::cluster::settings::{Action, Denial};

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

#[test]
fn in_order_each_pod_waits_for_the_one_before_it() {
    let mut house = House::new();
    house.stateful_set("a", |set| {
        set["spec"]["podManagementPolicy"] = json!("OrderedReady");
        set["spec"]["replicas"] = json!(3);
    });
    house.wait(Span(1_000));
    assert_eq!(house.names(Resource::Pod), ["a-0"]);
    house.rest();
    assert_eq!(house.names(Resource::Pod), ["a-0", "a-1", "a-2"]);
    house.scale("a", 0);
    house.wait(Span(500));
    assert_eq!(
        house.pods(),
        ["a-0 1/1 Running", "a-1 1/1 Running", "a-2 1/1 Terminating"]
    );
    house.rest();
    assert!(house.pods().is_empty());
}

#[test]
fn in_order_a_pod_that_is_not_ready_keeps_higher_ones_from_being_made_and_from_being_removed() {
    let mut house = House::new();
    house.stateful_set("a", |set| {
        set["spec"]["podManagementPolicy"] = json!("OrderedReady");
    });
    house.rest();
    house.pod_rule("a-0", Behaviour::NeverReady);
    house.rest();
    house.scale("a", 1);
    house.rest();
    assert_eq!(house.pods(), ["a-0 0/1 Running", "a-1 1/1 Running"]);
    house.scale("a", 3);
    house.rest();
    assert_eq!(house.pods(), ["a-0 0/1 Running", "a-1 1/1 Running"]);
    house.no_rules();
    house.rest();
    assert_eq!(house.names(Resource::Pod), ["a-0", "a-1", "a-2"]);
}

#[test]
fn in_order_a_bad_template_stays_stuck_when_it_is_taken_back_until_its_pod_is_deleted() {
    let mut house = House::new();
    house.stateful_set("a", |set| {
        set["spec"]["podManagementPolicy"] = json!("OrderedReady");
    });
    house.rest();
    let bad = Behaviour::PullFails { times: None };
    house.rule(Rule::image("work:bad", bad));
    house.image("a", "work:bad");
    house.wait(Span::seconds(60));
    assert_eq!(
        house.pods(),
        ["a-0 1/1 Running", "a-1 0/1 ImagePullBackOff"]
    );
    house.image("a", "work:1");
    house.wait(Span::seconds(600));
    assert_eq!(
        house.pods(),
        ["a-0 1/1 Running", "a-1 0/1 ImagePullBackOff"]
    );
    house.delete(Resource::Pod, "a-1", Propagation::Background);
    house.wait(Span::seconds(60));
    assert_eq!(house.pods(), ["a-0 1/1 Running", "a-1 1/1 Running"]);
    assert_eq!(house.pod("a-1")["spec"]["containers"][0]["image"], "work:1");
}

#[test]
fn at_once_a_bad_template_stops_at_its_first_pod_and_is_replaced_when_it_is_taken_back() {
    let mut house = House::new();
    house.stateful_set("a", |_| {});
    house.rest();
    house.rule(Rule::image("work:bad", Behaviour::NeverReady));
    house.image("a", "work:bad");
    house.wait(Span::seconds(60));
    assert_eq!(house.pods(), ["a-0 1/1 Running", "a-1 0/1 Running"]);
    house.image("a", "work:1");
    house.rest();
    assert_eq!(house.pods(), ["a-0 1/1 Running", "a-1 1/1 Running"]);
}

#[test]
fn below_the_partition_pods_keep_their_revision_even_when_they_are_deleted() {
    let mut house = House::new();
    house.stateful_set("a", |set| {
        set["spec"]["replicas"] = json!(3);
        set["spec"]["updateStrategy"] =
            json!({ "type": "RollingUpdate", "rollingUpdate": { "partition": 2 } });
    });
    house.rest();
    house.image("a", "work:2");
    house.rest();
    house.delete(Resource::Pod, "a-1", Propagation::Background);
    house.rest();
    let images: Vec<String> = ["a-0", "a-1", "a-2"]
        .map(|name| text_at(&house.pod(name)["spec"]["containers"][0], &["image"]).into())
        .into();
    assert_eq!(images, ["work:1", "work:1", "work:2"]);
}

#[test]
fn with_on_delete_a_new_template_waits_for_pods_to_be_deleted_by_hand() {
    let mut house = House::new();
    house.stateful_set("a", |set| {
        set["spec"]["updateStrategy"] = json!({ "type": "OnDelete" });
    });
    house.rest();
    house.image("a", "work:2");
    house.rest();
    house.delete(Resource::Pod, "a-0", Propagation::Background);
    house.rest();
    let images: Vec<String> = ["a-0", "a-1"]
        .map(|name| text_at(&house.pod(name)["spec"]["containers"][0], &["image"]).into())
        .into();
    assert_eq!(images, ["work:2", "work:1"]);
}

#[test]
fn ordinals_start_where_the_set_says() {
    let mut house = House::new();
    house.stateful_set("a", |set| set["spec"]["ordinals"] = json!({ "start": 5 }));
    house.rest();
    assert_eq!(house.pods(), ["a-5 1/1 Running", "a-6 1/1 Running"]);
    house.patch(
        Resource::StatefulSet,
        "a",
        json!({ "spec": { "ordinals": { "start": 6 } } }),
    );
    house.rest();
    assert_eq!(house.pods(), ["a-6 1/1 Running", "a-7 1/1 Running"]);
}

#[test]
fn deleted_with_orphans_the_pods_stay_and_a_new_set_takes_them_in_without_a_restart() {
    let mut house = House::new();
    house.stateful_set("a", |_| {});
    house.rest();
    let uids = |house: &House| -> Vec<String> {
        let pods = house.cluster.objects(Resource::Pod, Some("m"));
        pods.map(|pod| pod.uid().to_string()).collect()
    };
    let before = uids(&house);
    house.delete(Resource::StatefulSet, "a", Propagation::Orphan);
    house.rest();
    assert!(house.get(Resource::StatefulSet, "a").is_none());
    assert_eq!(house.pods(), ["a-0 1/1 Running", "a-1 1/1 Running"]);
    assert!(
        house.pod("a-0")["metadata"]
            .get("ownerReferences")
            .is_none()
    );
    house.stateful_set("a", |_| {});
    house.rest();
    assert_eq!(uids(&house), before);
    let uid = house
        .get(Resource::StatefulSet, "a")
        .unwrap()
        .uid()
        .to_string();
    let owner = &house.pod("a-0")["metadata"]["ownerReferences"][0];
    assert_eq!(owner["uid"], json!(uid));
    assert_eq!(house.names(Resource::ControllerRevision).len(), 1);
    assert_eq!(
        house.value(Resource::StatefulSet, "a")["status"]["updatedReplicas"],
        2
    );
}

#[test]
fn a_set_of_another_selector_does_not_touch_foreign_pods() {
    let mut house = House::new();
    house.stateful_set("a", |_| {});
    house.rest();
    house.stateful_set("b", |_| {});
    house.rest();
    house.delete(Resource::StatefulSet, "b", Propagation::Background);
    house.rest();
    assert_eq!(house.pods(), ["a-0 1/1 Running", "a-1 1/1 Running"]);
}

#[test]
fn in_the_foreground_the_set_goes_after_its_pods() {
    let mut house = House::new();
    house.stateful_set("a", |_| {});
    house.rest();
    house.delete(Resource::StatefulSet, "a", Propagation::Foreground);
    house.wait(Span(500));
    assert_eq!(house.pods(), ["a-0 1/1 Terminating", "a-1 1/1 Terminating"]);
    assert!(house.get(Resource::StatefulSet, "a").is_some());
    house.rest();
    assert!(house.pods().is_empty());
    assert!(house.get(Resource::StatefulSet, "a").is_none());
}

#[test]
fn with_retention_delete_claims_go_with_the_scale_and_with_the_set() {
    let mut house = House::new();
    house.stateful_set("a", |set| {
        set["spec"]["volumeClaimTemplates"] = storage("data");
        set["spec"]["persistentVolumeClaimRetentionPolicy"] =
            json!({ "whenScaled": "Delete", "whenDeleted": "Delete" });
    });
    house.rest();
    house.scale("a", 1);
    house.rest();
    assert_eq!(house.names(Resource::PersistentVolumeClaim), ["data-a-0"]);
    house.delete(Resource::StatefulSet, "a", Propagation::Background);
    house.rest();
    assert!(house.names(Resource::PersistentVolumeClaim).is_empty());
    assert!(house.names(Resource::PersistentVolume).is_empty());
}

#[test]
fn a_pod_waits_for_a_claim_that_is_being_deleted_and_gets_a_new_one() {
    let mut house = House::new();
    house.stateful_set("a", |set| {
        set["spec"]["replicas"] = json!(1);
        set["spec"]["volumeClaimTemplates"] = storage("data");
    });
    house.rest();
    let old = house.value(Resource::PersistentVolumeClaim, "data-a-0");
    house.delete(
        Resource::PersistentVolumeClaim,
        "data-a-0",
        Propagation::Background,
    );
    house.rest();
    // The pod that uses it keeps it.
    assert_eq!(house.pods(), ["a-0 1/1 Running"]);
    house.delete(Resource::Pod, "a-0", Propagation::Background);
    house.rest();
    assert_eq!(house.pods(), ["a-0 1/1 Running"]);
    let new = house.value(Resource::PersistentVolumeClaim, "data-a-0");
    assert_ne!(old["metadata"]["uid"], new["metadata"]["uid"]);
}

#[test]
fn a_quota_stops_creation_after_its_batch_and_says_so_once_with_a_count() {
    let mut house = House::new();
    let answer = Failure {
        code: 403,
        reason: "Forbidden".into(),
        message: "pods is forbidden: exceeded quota".into(),
        causes: Vec::new(),
    };
    house
        .cluster
        .deny(Denial::new(Resource::Pod, Action::Create, answer));
    house.stateful_set("a", |set| set["spec"]["replicas"] = json!(5));
    house.wait(Span::seconds(1));
    assert_eq!(
        house.warnings("a"),
        [
            "FailedCreate: create Pod a-0 in StatefulSet a failed error: pods is forbidden: exceeded quota"
        ]
    );
    let events = house.cluster.objects(Resource::Event, Some("m"));
    let count = events.map(|event| event.value["count"].as_u64().unwrap());
    assert!(count.max() > Some(5));
    house.cluster.allow_all();
    house.rest();
    assert_eq!(house.pods().len(), 5);
}

#[test]
fn old_revisions_are_forgotten_beyond_the_limit() {
    let mut house = House::new();
    house.stateful_set("a", |set| set["spec"]["revisionHistoryLimit"] = json!(2));
    house.rest();
    for number in 2..7 {
        house.image("a", &alloc::format!("work:{number}"));
        house.rest();
    }
    assert_eq!(house.names(Resource::ControllerRevision).len(), 3);
    house.image("a", "work:6");
    house.image("a", "work:5");
    house.rest();
    // A template that comes back brings its revision to the front instead of making another.
    assert_eq!(house.names(Resource::ControllerRevision).len(), 3);
}
