//! What is true whatever happens in between.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use pilotage_core::time::Span;
use proptest::prelude::*;
use serde_json::json;

use super::super::settings::Settings;
use super::house::{House, storage};
use crate::cluster::Cluster;
use crate::cluster::object::{number_at, text_at};
use crate::cluster::request::Verb;
use crate::cluster::resource::Resource;

/// Something that somebody does to the set.
#[derive(Clone, Debug)]
enum Deed {
    Scale(u64),
    Image(u8),
    DeletePod(u64, Option<u64>),
    DeletePodFailing,
    Wait(u64),
    /// One pass of one controller that is due, whichever it is.
    Pass(usize),
    /// The controllers lose all that they remember.
    Restart,
}

fn deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        3 => (0u64..5).prop_map(Deed::Scale),
        2 => (1u8..4).prop_map(Deed::Image),
        2 => (0u64..5, prop_oneof![Just(None), Just(Some(0)), Just(Some(5))])
            .prop_map(|(ordinal, grace)| Deed::DeletePod(ordinal, grace)),
        1 => Just(Deed::DeletePodFailing),
        3 => (0u64..4_000).prop_map(Deed::Wait),
        6 => any::<usize>().prop_map(Deed::Pass),
        1 => Just(Deed::Restart),
    ]
}

fn settings(instant: bool) -> Settings {
    if instant {
        Settings::instant()
    } else {
        Settings::default()
    }
}

/// Does all of it, and says what replicas and image were wanted last and how many claims there must be.
fn live(parallel: bool, instant: bool, deeds: &[Deed]) -> (House, u64, u8, u64) {
    let mut house = House::with(settings(instant));
    let policy = if parallel { "Parallel" } else { "OrderedReady" };
    house.stateful_set("a", |set| {
        set["spec"]["podManagementPolicy"] = json!(policy);
        set["spec"]["volumeClaimTemplates"] = storage("data");
    });
    let (mut replicas, mut image) = (2, 1);
    for deed in deeds {
        match deed {
            Deed::Scale(number) => {
                replicas = *number;
                house.scale("a", replicas);
            }
            Deed::Image(number) => {
                image = *number;
                house.image("a", &format!("work:{image}"));
            }
            Deed::DeletePod(ordinal, grace) => {
                let verb = Verb::Delete {
                    uid: None,
                    version: None,
                    propagation: Default::default(),
                    grace: *grace,
                };
                // It may not be there.
                let _ = house.ask(Resource::Pod, &format!("a-{ordinal}"), None, verb);
            }
            Deed::DeletePodFailing => {
                let incident = super::super::instruction::Incident::PodEvicted {
                    namespace: "m".into(),
                    pod: "a-0".into(),
                };
                house.befall(incident);
            }
            Deed::Wait(milliseconds) => house.wait(Span(*milliseconds)),
            Deed::Pass(which) => {
                let pending = house.cluster.pending(house.at);
                if !pending.is_empty() {
                    let action = &pending[which % pending.len()];
                    house.cluster.run(house.at, action);
                } else if let Some(wake) = house.cluster.wake_at() {
                    house.at = house.at.max(wake);
                }
            }
            Deed::Restart => house.cluster.start_controllers(house.at, settings(instant)),
        }
    }
    house.rest();
    let claims = highest_pod(&house.cluster);
    (house, replicas, image, claims)
}

/// How many ordinals ever had a pod.
fn highest_pod(cluster: &Cluster) -> u64 {
    cluster
        .changes_since(0)
        .filter(|change| change.after.resource == Resource::Pod)
        .filter_map(|change| change.after.name().strip_prefix("a-")?.parse::<u64>().ok())
        .map(|ordinal| ordinal + 1)
        .max()
        .unwrap_or(0)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn the_cluster_comes_to_rest_with_the_pods_that_are_wanted_and_all_claims(
        parallel: bool,
        instant: bool,
        deeds in prop::collection::vec(deed(), 0..40),
    ) {
        let (house, replicas, image, claims) = live(parallel, instant, &deeds);
        let wanted: Vec<String> = (0..replicas).map(|ordinal| format!("a-{ordinal}")).collect();
        prop_assert_eq!(house.names(Resource::Pod), wanted);
        for pod in house.cluster.objects(Resource::Pod, Some("m")) {
            let ready = pod.value["status"]["containerStatuses"][0]["ready"].clone();
            prop_assert_eq!(ready, json!(true));
            let runs = pod.value["spec"]["containers"][0]["image"].clone();
            prop_assert_eq!(runs, json!(format!("work:{image}")));
        }
        for ordinal in 0..claims {
            let claim = house.value(Resource::PersistentVolumeClaim, &format!("data-a-{ordinal}"));
            // A claim that never had a pod that stayed long enough is not bound yet.
            if ordinal < replicas {
                prop_assert_eq!(text_at(&claim, &["status", "phase"]), "Bound");
            }
        }
        let set = house.value(Resource::StatefulSet, "a");
        for field in ["replicas", "readyReplicas", "updatedReplicas", "currentReplicas"] {
            prop_assert_eq!(number_at(&set, &["status", field]).unwrap_or(0), replicas, "{}", field);
        }
        prop_assert_eq!(number_at(&set, &["status", "observedGeneration"]).unwrap(), number_at(&set, &["metadata", "generation"]).unwrap());
    }

    #[test]
    fn the_same_deeds_leave_the_same_bytes(
        parallel: bool,
        deeds in prop::collection::vec(deed(), 0..25),
    ) {
        let bytes = || {
            let (house, ..) = live(parallel, false, &deeds);
            let changes = house.cluster.changes_since(0);
            changes.map(|change| change.after.whole().to_string()).collect::<Vec<_>>()
        };
        prop_assert_eq!(bytes(), bytes());
    }
}
