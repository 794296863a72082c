//! The way out: no pod comes back, nothing is left, and the name is free when all is gone.

use pilotage_core::name::Uid;
use pilotage_core::outcome::{Outcome, Refusal};
use pilotage_core::state::{RemovalWish, Word};
use pilotage_core::time::Span;
use pilotage_sim::cluster::controllers::instruction::Behaviour;
use pilotage_sim::cluster::request::Propagation;
use pilotage_sim::cluster::resource::Resource;
use serde_json::json;

use crate::stage::{DESTROY, FORCE, KEEP, Stage, play};

#[test]
fn b24_a_workload_that_is_gone_already_is_no_obstacle_to_a_removal() {
    play(|stage| {
        let app = stage.active("ledger", 2);
        for propagation in [
            Propagation::Background,
            Propagation::Foreground,
            Propagation::Orphan,
        ] {
            // Before the removal, and once it goes on.
            for late in [Span(0), Span(1_200), Span::seconds(3)] {
                let mut stage = stage.clone();
                stage.remove(app, DESTROY);
                stage.run_for(late);
                if stage.set("ledger").is_some() {
                    stage.delete(Resource::StatefulSet, "ledger", propagation);
                }
                stage.settle();
                stage.assert_nothing_left("ledger");
            }
        }
    });
}

#[test]
fn b25_a_dying_application_is_scaled_to_zero() {
    play(|stage| {
        let app = stage.active("ledger", 10);
        let before = stage.uids(Resource::Pod, "ledger");
        let mut replicas = stage.replicas("ledger");
        stage.remove(app, KEEP);
        stage.watch(|stage| {
            let now = stage.replicas("ledger");
            assert!(now <= replicas, "{replicas:?} became {now:?}");
            replicas = now;
            let pods = stage.uids(Resource::Pod, "ledger");
            assert!(pods.iter().all(|pod| before.contains(pod)), "a pod started");
            if !pods.is_empty() {
                assert!(!stage.gone("ledger"), "the record went before the pods");
                let service = stage.object(Resource::Service, "ledger");
                assert!(service.is_some(), "objects go only after the pods");
            }
        });
        assert!(stage.gone("ledger"));
        assert_eq!(stage.pods("ledger"), Vec::<String>::new());
    });
}

#[test]
fn b26_the_name_is_taken_until_every_pod_has_gone() {
    play(|stage| {
        let app = stage.active("ledger", 2);
        let old = stage.uids(Resource::Pod, "ledger");
        stage.pods_do("*", Behaviour::TerminationTakes(Span::seconds(25)));
        stage.remove(app, DESTROY);
        stage.run_for(Span::seconds(20));
        assert_eq!(stage.uids(Resource::Pod, "ledger"), old, "still ending");
        let (_, outcome) = stage.try_deploy("ledger", |_| {});
        assert!(
            matches!(
                &outcome,
                Outcome::Refused {
                    reason: Refusal::AlreadyExists,
                    ..
                }
            ),
            "{outcome:?}"
        );
        stage.until("the record is gone", |stage| stage.gone("ledger"));
        assert_eq!(stage.pods("ledger"), Vec::<String>::new());
        stage.active("ledger", 2);
        let new = stage.uids(Resource::Pod, "ledger");
        assert!(new.iter().all(|pod| !old.contains(pod)));
    });
}

#[test]
fn b27_a_removal_needs_no_force() {
    play(|stage| {
        let app = stage.active("ledger", 3);
        stage.remove(app, KEEP);
        stage.watch(|stage| {
            if let Some(record) = stage.world.application("ledger") {
                assert_eq!(record.spec.removal, Some(KEEP), "nobody asked for more");
            }
        });
        assert!(stage.gone("ledger"));
    });
}

#[test]
fn b29_after_a_forced_removal_the_name_is_served_again() {
    play(|stage| {
        let former = stage.active("ledger", 2);
        stage.remove(former, FORCE);
        stage.until("it is gone", |stage| stage.gone("ledger"));
        // At once, and again after a while.
        let second = stage.active("ledger", 1);
        stage.remove(second, FORCE);
        stage.settle();
        stage.assert_nothing_left("ledger");
        stage.active("ledger", 3);
    });
}

#[test]
fn b33_an_application_without_units_can_be_removed() {
    play(|stage| {
        let app = stage.active("ledger", 1);
        stage.scale(app, 0);
        stage.settle();
        assert_eq!(stage.units("ledger"), Vec::<u32>::new());
        for wish in [DESTROY, FORCE] {
            for objects_gone in [false, true] {
                let mut stage = stage.clone();
                stage.remove(app, wish);
                if objects_gone {
                    for (resource, name) in [
                        (Resource::StatefulSet, "ledger"),
                        (Resource::Service, "ledger"),
                        (Resource::Service, "ledger-endpoints"),
                        (Resource::ServiceAccount, "ledger"),
                    ] {
                        stage.delete(resource, name, Propagation::Background);
                    }
                }
                stage.settle();
                stage.assert_nothing_left("ledger");
            }
        }
    });
}

#[test]
fn b35_a_forced_removal_keeps_a_tombstone_until_nothing_is_left_and_touches_no_unknown_uid() {
    play(|stage| {
        stage.pods_do("*/ledger-8", Behaviour::PullFails { times: None });
        let app = stage.deploy_as("ledger", |new| new.scale = 9);
        stage.run_for(Span::seconds(60));
        // Of an application that this state never knew.
        let unknown = Uid(0xdead_0000_0000_0000_0000_0000_0000_beef).to_string();
        let stranger = json!({
            "metadata": { "name": "stranger", "labels": {
                "app.kubernetes.io/name": "stranger",
                "app.kubernetes.io/managed-by": "pilotage",
                "pilotage.dev/model": stage.model.to_string(),
                "pilotage.dev/application-uid": unknown,
            }},
            "spec": { "ports": [{ "port": 80 }] },
        });
        stage.create(Resource::Service, stranger);
        let version = |stage: &Stage| {
            let stranger = stage.object(Resource::Service, "stranger");
            stranger.map(|stranger| stranger.version)
        };
        let before = version(stage);
        stage.remove(app, FORCE);
        assert_eq!(stage.units("ledger"), Vec::<u32>::new(), "at once");
        stage.watch(|stage| {
            if !stage.left("ledger").is_empty() {
                assert!(!stage.gone("ledger"), "left without a record");
            }
            assert_eq!(version(stage), before, "an unknown uid was touched");
        });
        stage.assert_nothing_left("ledger");
    });
}

#[test]
fn b35_what_appears_late_under_a_removed_uid_is_swept_and_claims_are_not() {
    play(|stage| {
        let app = stage.active("ledger", 1);
        stage.remove(app, KEEP);
        stage.settle();
        assert!(stage.gone("ledger"));
        let claims = stage.uids(Resource::PersistentVolumeClaim, "ledger");
        assert_eq!(claims.len(), 1);
        let late = json!({
            "metadata": { "name": "ledger", "labels": {
                "app.kubernetes.io/name": "ledger",
                "app.kubernetes.io/managed-by": "pilotage",
                "pilotage.dev/model": stage.model.to_string(),
                "pilotage.dev/application-uid": app.to_string(),
            }},
            "spec": { "ports": [{ "port": 80 }] },
        });
        stage.create(Resource::Service, late);
        stage.settle();
        assert!(stage.object(Resource::Service, "ledger").is_none());
        assert_eq!(
            stage.uids(Resource::PersistentVolumeClaim, "ledger"),
            claims
        );
    });
}

#[test]
fn b41_a_crash_at_any_moment_of_a_removal_leaves_nothing_behind() {
    play(|stage| {
        let app = stage.active("ledger", 2);
        for wish in [
            KEEP,
            DESTROY,
            FORCE,
            RemovalWish {
                destroy_storage: false,
                force: true,
            },
        ] {
            let mut stage = stage.clone();
            stage.remove(app, wish);
            stage.with_a_crash_at_every_moment(|stage| {
                assert!(stage.gone("ledger"));
                let mut left = stage.left("ledger");
                if !wish.destroy_storage {
                    let kept = stage.world.store.storages().count();
                    assert_eq!((left.len(), kept), (2, 2), "{left:?}");
                    left.retain(|one| !one.starts_with("PersistentVolumeClaim"));
                }
                assert_eq!(left, Vec::<String>::new());
            });
        }
    });
}

#[test]
fn b78_a_namespace_of_somebody_else_is_refused_and_never_deleted() {
    play(|stage| {
        stage.settle();
        let theirs = json!({ "metadata": { "name": "theirs" } });
        stage.create(Resource::Namespace, theirs);
        let version = |stage: &Stage| {
            let space = stage.object(Resource::Namespace, "theirs").expect("there");
            space.version
        };
        stage.settle();
        let before = version(stage);
        let model = stage.world.add_model("theirs");
        let app = stage.world.store.draw_uid();
        let new = pilotage_sim::workload::ledger_application(model, "till", 1);
        stage.command(
            app,
            pilotage_core::state::ApplicationCommand::Add(Box::new(new)),
        );
        stage.watch_for(Span::seconds(600), |stage| {
            assert_eq!(version(stage), before, "a foreign namespace was written");
        });
        let shown = stage
            .world
            .store
            .models()
            .find(|one| one.uid == model)
            .map(|one| one.status.clone());
        let shown = format!("{shown:?}");
        assert!(shown.contains("theirs"), "the model says why: {shown}");
        assert_eq!(stage.status("till").word, Word::Waiting);
        assert_eq!(stage.left("till"), Vec::<String>::new());
        stage.world.model_command(
            model,
            pilotage_core::state::ModelCommand::Destroy { wish: DESTROY },
        );
        stage.watch_for(Span::seconds(600), |stage| {
            assert_eq!(version(stage), before);
        });
        let models: Vec<_> = stage.world.store.models().map(|one| one.uid).collect();
        assert_eq!(models, [stage.model], "the model itself goes");
    });
}

#[test]
fn b80_a_foreign_workload_of_the_name_is_named_and_neither_written_nor_deleted() {
    play(|stage| {
        stage.settle();
        stage.create(Resource::StatefulSet, crate::cluster::foreign("ledger"));
        stage.settle();
        let seen = |stage: &Stage| {
            let set = stage.set("ledger").expect("theirs");
            (set.uid().to_string(), set.generation())
        };
        let before = seen(stage);
        let app = stage.deploy_as("ledger", |_| {});
        stage.watch_for(Span::seconds(600), |stage| assert_eq!(seen(stage), before));
        let status = stage.status("ledger");
        assert_eq!(status.word, Word::Error);
        assert!(status.message.contains("ledger"), "{status:?}");
        stage.remove(app, DESTROY);
        stage.watch_for(Span::seconds(600), |stage| assert_eq!(seen(stage), before));
        stage.assert_nothing_left("ledger");
    });
}
