//! Storage: data stays with its unit, and goes only when somebody says so.

use std::collections::BTreeSet;

use pilotage_core::state::ApplicationCommand;
use pilotage_sim::cluster::object::items_at;
use pilotage_sim::cluster::request::Propagation;
use pilotage_sim::cluster::resource::Resource;
use pilotage_sim::workload::claim;

use crate::stage::{KEEP, Stage, play, text};

/// The volumes behind an application's claims.
fn volumes(stage: &Stage, name: &str) -> Vec<String> {
    stage
        .labelled(Resource::PersistentVolumeClaim, name)
        .map(|claim| text(claim, &["spec", "volumeName"]).to_string())
        .collect()
}

#[test]
fn b42_scaled_down_and_up_again_a_unit_finds_its_data() {
    play(|stage| {
        let app = stage.active("ledger", 1);
        let claims = stage.uids(Resource::PersistentVolumeClaim, "ledger");
        let before = volumes(stage, "ledger");
        let numbers = |stage: &Stage| {
            let storage = &stage.record("ledger").status.storage;
            let data = storage.iter().filter(|one| one.storage == "data");
            data.map(|one| one.number).collect::<Vec<_>>()
        };
        let data = numbers(stage);
        for scale in [0, 1] {
            stage.scale(app, scale);
            stage.watch(|stage| {
                let now = stage.uids(Resource::PersistentVolumeClaim, "ledger");
                assert_eq!(now, claims, "a scaling touched a claim");
            });
            assert_eq!(stage.pods("ledger").len(), scale as usize);
        }
        stage.assert_active("ledger", 1);
        assert_eq!(volumes(stage, "ledger"), before);
        assert_eq!(numbers(stage), data, "the same storage of the same unit");
    });
}

#[test]
fn b43_a_new_life_of_a_name_has_claims_of_its_own_and_leaves_the_old_ones() {
    play(|stage| {
        let former = stage.active("ledger", 1);
        let old: BTreeSet<String> = (stage.uids(Resource::PersistentVolumeClaim, "ledger"))
            .into_iter()
            .collect();
        stage.remove(former, KEEP);
        stage.settle();
        assert!(stage.gone("ledger"));
        stage.active("ledger", 1);
        let all: BTreeSet<String> = (stage.uids(Resource::PersistentVolumeClaim, "ledger"))
            .into_iter()
            .collect();
        assert!(all.is_superset(&old), "what holds data stays");
        assert_eq!(all.len(), 2);
        let set = stage.set("ledger").expect("there");
        let claims = items_at(&set.value, &["spec", "volumeClaimTemplates"]);
        let container = &set.value["spec"]["template"]["spec"]["containers"][0];
        let mounts = items_at(container, &["volumeMounts"]);
        for claim in claims {
            let name = &claim["metadata"]["name"];
            let mounted = mounts.iter().any(|mount| &mount["name"] == name);
            assert!(mounted, "{name} is mounted under another name");
        }
    });
}

#[test]
fn b49_the_same_storage_several_times_is_several_claims_at_several_places() {
    play(|stage| {
        stage.deploy_as("ledger", |new| {
            new.filesystems = (0..3)
                .map(|index| {
                    let mut one = claim("data", 64);
                    one.index = Some(index);
                    one.path = format!("{}/{index}", one.path);
                    one.mounts[0].path = format!("{}/{index}", one.mounts[0].path);
                    one
                })
                .collect();
        });
        stage.settle();
        stage.assert_active("ledger", 1);
        let claims = stage.names(Resource::PersistentVolumeClaim, "ledger");
        assert_eq!(claims.len(), 3, "{claims:?}");
        let pod = stage.object(Resource::Pod, "ledger-0").expect("there");
        let mounts = items_at(&pod.value["spec"]["containers"][0], &["volumeMounts"]);
        let places: BTreeSet<&str> = mounts
            .iter()
            .filter_map(|mount| mount["mountPath"].as_str())
            .filter(|path| path.starts_with("/var/lib/data/"))
            .collect();
        assert_eq!(places.len(), 3, "{places:?}");
        let numbered: Vec<_> = (stage.record("ledger").status.storage.iter())
            .map(|one| (one.index, one.unit))
            .collect();
        assert_eq!(numbered, [(Some(0), 0), (Some(1), 0), (Some(2), 0)]);
    });
}

#[test]
fn b49_a_storage_of_count_0_makes_nothing() {
    play(|stage| {
        stage.deploy_as("ledger", |new| new.filesystems = vec![]);
        stage.settle();
        stage.assert_active("ledger", 1);
        let claims = stage.names(Resource::PersistentVolumeClaim, "ledger");
        assert_eq!(claims, Vec::<String>::new());
    });
}

#[test]
fn b51_a_pod_that_was_deleted_by_hand_comes_back_to_its_unit_and_its_storage() {
    play(|stage| {
        stage.active("ledger", 1);
        let claims = stage.uids(Resource::PersistentVolumeClaim, "ledger");
        let storage = |stage: &Stage| {
            let storage = &stage.record("ledger").status.storage;
            storage.iter().map(|one| one.id()).collect::<Vec<_>>()
        };
        let (before, pod) = (storage(stage), stage.uids(Resource::Pod, "ledger"));
        stage.delete(Resource::Pod, "ledger-0", Propagation::Background);
        let mut words = BTreeSet::new();
        stage.watch(|stage| {
            assert_eq!(stage.units("ledger"), [0]);
            assert_eq!(storage(stage), before);
            words.insert(stage.record("ledger").status.units[0].workload.report.word);
        });
        stage.assert_active("ledger", 1);
        assert_ne!(stage.uids(Resource::Pod, "ledger"), pod);
        assert_eq!(
            stage.uids(Resource::PersistentVolumeClaim, "ledger"),
            claims
        );
        assert!(
            words.contains(&pilotage_core::state::Word::Terminated),
            "{words:?}"
        );
    });
}

#[test]
fn b51_also_while_the_application_is_scaled() {
    play(|stage| {
        let app = stage.active("ledger", 2);
        stage.delete(Resource::Pod, "ledger-0", Propagation::Background);
        stage.command(app, ApplicationCommand::SetScale { scale: 3 });
        stage.delete(Resource::Pod, "ledger-1", Propagation::Background);
        stage.settle();
        stage.assert_active("ledger", 3);
    });
}
