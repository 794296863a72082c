//! Scaling: up, down, both at once, by hand, and with a crash in between.

use pilotage_core::life::Life;
use pilotage_core::state::ApplicationCommand;
use pilotage_core::time::Span;
use pilotage_sim::cluster::controllers::instruction::Behaviour;
use pilotage_sim::cluster::resource::Resource;
use serde_json::json;

use crate::stage::{DESTROY, Stage, play};

/// No unit leaves the state while its pod is there.
fn units_outlive_their_pods(stage: &Stage, name: &str) {
    let units = stage.units(name);
    for pod in stage.pods(name) {
        let ordinal = pod.rsplit('-').next().and_then(|end| end.parse().ok());
        let ordinal: u32 = ordinal.expect("a pod of a set ends with its ordinal");
        assert!(units.contains(&ordinal), "{pod} outlives its unit");
    }
}

#[test]
fn b09_while_a_dead_unit_is_there_nothing_raises_the_replicas() {
    play(|stage| {
        let app = stage.active("ledger", 3);
        stage.pods_do("*", Behaviour::TerminationTakes(Span::seconds(20)));
        stage.scale(app, 2);
        stage.until("unit 2 is dead", |stage| {
            let units = &stage.record("ledger").status.units;
            units.iter().any(|unit| unit.life == Life::Dead)
        });
        let old = stage.uids(Resource::Pod, "ledger");
        let before = stage.replicas("ledger");
        stage.scale(app, 5);
        stage.watch(|stage| {
            let units = &stage.record("ledger").status.units;
            if units.iter().any(|unit| unit.life == Life::Dead) {
                assert!(stage.replicas("ledger") <= before, "raised too early");
                assert!(
                    stage.replicas("ledger") >= Some(2),
                    "a living unit's pod went"
                );
            }
            units_outlive_their_pods(stage, "ledger");
        });
        stage.assert_active("ledger", 5);
        let pods = stage.uids(Resource::Pod, "ledger");
        assert!(pods.contains(&old[0]) && pods.contains(&old[1]));
        assert!(!pods.contains(&old[2]), "unit 2 is another one");
    });
}

#[test]
fn b10_an_application_of_the_same_name_starts_at_unit_0_with_its_pod() {
    play(|stage| {
        let former = stage.active("ledger", 3);
        stage.remove(former, DESTROY);
        stage.settle();
        stage.assert_nothing_left("ledger");
        stage.deploy_as("ledger", |_| {});
        stage.watch(|stage| assert_ne!(stage.replicas("ledger"), Some(0)));
        stage.assert_active("ledger", 1);
    });
}

#[test]
fn b13_a_scale_by_hand_makes_no_units_and_is_put_back() {
    play(|stage| {
        stage.active("ledger", 2);
        for hand in [5, 0, 9] {
            let replicas = json!({ "spec": { "replicas": hand } });
            stage.edit(Resource::StatefulSet, "ledger", replicas);
            stage.watch(|stage| assert_eq!(stage.units("ledger"), [0, 1]));
            stage.assert_active("ledger", 2);
        }
    });
}

#[test]
fn b15_one_unit_more_is_one_pod_more() {
    play(|stage| {
        let app = stage.active("ledger", 1);
        stage.command(app, ApplicationCommand::ChangeScale { by: 1 });
        stage.settle();
        stage.assert_active("ledger", 2);
    });
}

#[test]
fn b17_a_lower_pod_that_never_gets_ready_holds_up_no_scale_down_and_no_removal() {
    play(|stage| {
        stage.pods_do("*/ledger-0", Behaviour::PullFails { times: None });
        let app = stage.deploy_as("ledger", |new| new.scale = 2);
        stage.run_for(Span::seconds(300));
        assert_eq!(stage.pods("ledger").len(), 2);
        let mut removed = stage.clone();
        stage.scale(app, 0);
        stage.run_for(Span::seconds(300));
        assert_eq!(stage.pods("ledger"), Vec::<String>::new());
        assert_eq!(stage.units("ledger"), Vec::<u32>::new());
        removed.remove(app, DESTROY);
        removed.run_for(Span::seconds(300));
        removed.assert_nothing_left("ledger");
    });
}

#[test]
fn b19_one_applications_waiting_is_none_of_the_others() {
    play(|stage| {
        let slow = stage.active("ledger", 2);
        let quick = stage.active("till", 3);
        stage.pods_do("*/ledger-*", Behaviour::TerminationTakes(Span::seconds(25)));
        stage.scale(slow, 0);
        stage.run_for(Span::seconds(5));
        stage.scale(quick, 1);
        stage.watch_for(Span::seconds(15), |stage| {
            assert_eq!(stage.units("ledger"), [0, 1], "its pods are still there");
            units_outlive_their_pods(stage, "till");
        });
        stage.assert_active("till", 1);
        stage.watch(|stage| units_outlive_their_pods(stage, "ledger"));
        assert_eq!(stage.units("ledger"), Vec::<u32>::new());
        assert_eq!(stage.pods("ledger"), Vec::<String>::new());
        stage.assert_active("till", 1);
    });
}

#[test]
fn b22_a_crash_at_any_moment_of_a_scale_down_changes_nothing_of_its_end() {
    play(|stage| {
        let app = stage.active("ledger", 2);
        stage.scale(app, 0);
        stage.with_a_crash_at_every_moment(|stage| {
            assert_eq!(stage.units("ledger"), Vec::<u32>::new());
            assert_eq!(stage.pods("ledger"), Vec::<String>::new());
            assert_eq!(stage.replicas("ledger"), Some(0));
            assert_eq!(stage.record("ledger").status.scaling, None);
        });
    });
}
