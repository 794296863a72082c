//! Races at deploy.

use std::sync::Arc;

use pilotage_core::charm::Charm;
use pilotage_core::event::{Event, RecordId, Source};
use pilotage_core::outcome::{Outcome, Refusal};
use pilotage_core::state::{ApplicationCommand, CharmOrigin, Refresh, Word, provisioning};
use pilotage_core::time::Span;
use pilotage_sim::cluster::object::{Stored, number_at};
use pilotage_sim::cluster::request::Propagation;
use pilotage_sim::cluster::resource::Resource;
use pilotage_sim::workload::{image, ledger};
use pilotage_sim::world::Choice;
use serde_json::json;

use crate::stage::{DESTROY, KEEP, Stage, may_everything, play};

/// A refresh to another charm, everything else as it is.
fn to_charm(charm: Charm) -> ApplicationCommand {
    ApplicationCommand::Refresh(Box::new(Refresh {
        charm: Some((
            Arc::new(charm),
            CharmOrigin {
                revision: 1,
                version: None,
            },
        )),
        resources: [].into(),
        config: [].into(),
        settings: [].into(),
        storage: [].into(),
        filesystems: vec![],
        trust: None,
        base: None,
    }))
}

#[test]
fn b01_a_scale_that_comes_before_the_charm_is_usable_holds_when_it_is() {
    play(|stage| {
        let unusable = Charm {
            containers: vec![],
            resources: vec![],
            ..ledger()
        };
        let app = stage.deploy_as("ledger", |new| {
            new.charm = Arc::new(unusable);
            new.filesystems = vec![];
        });
        stage.settle();
        assert_eq!(stage.status("ledger").word, Word::Blocked);
        assert!(!stage.status("ledger").message.is_empty());
        stage.scale(app, 3);
        stage.watch(|stage| assert!(stage.set("ledger").is_none()));
        stage.command(app, to_charm(ledger()));
        stage.watch(|stage| assert_ne!(stage.replicas("ledger"), Some(1), "born with the scale"));
        stage.assert_active("ledger", 3);
    });
}

#[test]
fn b01_what_the_pods_are_made_from_may_be_told_later_than_the_scale() {
    play(|stage| {
        let app = stage.world.deploy(stage.model, "ledger", 1);
        let not_yet: Box<str> = "charm \"ledger-k8s\" is not there yet".into();
        let record = |stage: &Stage| RecordId {
            uid: app,
            version: stage.record("ledger").version,
            more: false,
        };
        // The state tells of the application, and in the same moment that its charm is not there.
        while stage.world.choices().contains(&Choice::Tell(Source::Store)) {
            stage.world.take(&Choice::Tell(Source::Store));
        }
        let record_now = record(stage);
        stage.world.step(Event::ProvisioningChanged {
            record: record_now,
            provisioning: Err(not_yet),
        });
        stage.settle();
        assert!(stage.set("ledger").is_none());
        assert!(stage.status("ledger").message.contains("not there yet"));
        stage.scale(app, 3);
        stage.watch(|stage| assert!(stage.set("ledger").is_none()));
        let made_from = provisioning(stage.record("ledger")).expect("complete");
        let record_now = record(stage);
        stage.world.step(Event::ProvisioningChanged {
            record: record_now,
            provisioning: Ok(Arc::new(made_from)),
        });
        stage.settle();
        stage.assert_active("ledger", 3);
    });
}

#[test]
fn b02_no_pod_runs_without_the_rights_and_no_set_is_born_with_another_scale() {
    play(|stage| {
        stage.deploy_as("ledger", |new| {
            new.scale = 3;
            new.trust = true;
        });
        stage.watch(|stage| {
            if let Some(replicas) = stage.replicas("ledger") {
                assert_eq!(replicas, 3);
                let role = stage.object(Resource::Role, "ledger").expect("first");
                assert!(may_everything(role), "a pod would run untrusted");
                let cluster_role = stage.labelled(Resource::ClusterRole, "ledger").next();
                assert!(may_everything(cluster_role.expect("before the pods")));
            }
        });
        stage.assert_active("ledger", 3);
    });
}

#[test]
fn b04_an_application_removed_at_any_moment_of_its_deployment_goes() {
    play(|stage| {
        for wish in [KEEP, DESTROY] {
            for moment in (0..120).step_by(3) {
                let mut stage = stage.clone();
                let app = stage.deploy_as("ledger", |new| new.scale = 2);
                let end = stage.world.now.after(Span::seconds(600));
                for _ in 0..moment {
                    stage.step(end);
                }
                stage.remove(app, wish);
                stage.settle();
                assert!(stage.gone("ledger"), "removed after {moment} steps");
                let mut left = stage.left("ledger");
                // What holds data stays, and has a record.
                if wish == KEEP {
                    let kept = stage.world.store.storages().count();
                    assert_eq!(left.len(), kept, "{left:?}");
                    left.retain(|one| !one.starts_with("PersistentVolumeClaim"));
                }
                assert_eq!(left, Vec::<String>::new());
            }
        }
    });
}

/// The same object again, as somebody who was late would make it.
fn again(set: &Stored, finalizer: &str) -> serde_json::Value {
    json!({
        "metadata": {
            "name": set.name(),
            "labels": set.value["metadata"]["labels"],
            "finalizers": [finalizer],
        },
        "spec": set.value["spec"],
    })
}

#[test]
fn b06_a_new_deployment_waits_for_the_objects_of_the_old_one_and_says_so() {
    play(|stage| {
        let former = stage.active("ledger", 1);
        let set = stage.set("ledger").expect("there").clone();
        stage.remove(former, DESTROY);
        stage.settle();
        stage.assert_nothing_left("ledger");
        stage.create(Resource::StatefulSet, again(&set, "example.com/hold"));
        stage.delete(Resource::StatefulSet, "ledger", Propagation::Background);
        let old = stage.set("ledger").expect("it is held").uid().to_string();
        let app = stage.deploy_as("ledger", |new| new.scale = 2);
        let version = |stage: &Stage| {
            let set = stage.set("ledger").expect("held");
            number_at(&set.value, &["metadata", "generation"])
        };
        let before = version(stage);
        stage.watch(|stage| {
            assert_eq!(stage.set("ledger").expect("held").uid(), old);
            assert_eq!(version(stage), before, "a dying object was written");
        });
        let shown = stage.status("ledger");
        assert_eq!(shown.word, Word::Waiting);
        assert!(shown.message.contains("former"), "{shown:?}");
        assert_eq!(
            stage.record("ledger").obstacle(),
            Some(&*shown.message),
            "units say so too"
        );
        let free = json!({ "metadata": { "finalizers": null } });
        stage.edit(Resource::StatefulSet, "ledger", free);
        stage.settle();
        stage.assert_active("ledger", 2);
        let new = stage.set("ledger").expect("the new one");
        assert_ne!(new.uid(), old);
        assert_eq!(
            new.label("pilotage.dev/application-uid"),
            Some(app.to_string().as_str())
        );
    });
}

fn refused(outcome: &Outcome) -> (&Refusal, &str) {
    match outcome {
        Outcome::Refused { reason, message } => (reason, message),
        other => panic!("not refused: {other:?}"),
    }
}

/// Nothing was stored, and after a while nothing is in the cluster.
fn nothing_came_of_it(stage: &mut Stage, name: &str) {
    assert!(stage.gone(name));
    stage.settle();
    assert_eq!(stage.left(name), Vec::<String>::new());
}

#[test]
fn b114_a_name_that_is_too_long_comes_to_nothing_at_all() {
    play(|stage| {
        let name = "a".repeat(60);
        let (_, outcome) = stage.try_deploy(&name, |_| {});
        let (reason, message) = refused(&outcome);
        assert_eq!(reason, &Refusal::Invalid);
        assert!(message.contains("endpoints"), "{message}");
        nothing_came_of_it(stage, &name);
    });
}

#[test]
fn b116_the_second_of_two_names_that_collide_is_refused_and_the_first_is_not_touched() {
    play(|stage| {
        stage.active("ledger", 1);
        let uids = stage.uids(Resource::Service, "ledger");
        let (_, outcome) = stage.try_deploy("ledger-endpoints", |_| {});
        assert_eq!(refused(&outcome).0, &Refusal::Invalid);
        nothing_came_of_it(stage, "ledger-endpoints");
        assert_eq!(stage.uids(Resource::Service, "ledger"), uids);
        stage.assert_active("ledger", 1);
    });
}

#[test]
fn b116_at_the_cluster_a_service_of_that_name_is_not_taken_over() {
    play(|stage| {
        stage.settle();
        let service = json!({
            "metadata": { "name": "ledger-endpoints" },
            "spec": { "clusterIP": "None", "selector": { "app": "other" } },
        });
        stage.create(Resource::Service, service);
        let before = stage.object(Resource::Service, "ledger-endpoints").cloned();
        stage.deploy_as("ledger", |_| {});
        stage.run_for(Span::seconds(120));
        let status = stage.status("ledger");
        assert_eq!(status.word, Word::Error);
        assert!(status.message.contains("ledger-endpoints"), "{status:?}");
        let after = stage.object(Resource::Service, "ledger-endpoints").cloned();
        assert_eq!(
            after.map(|service| service.version),
            before.map(|service| service.version)
        );
    });
}

#[test]
fn b121_an_image_that_is_missing_at_deploy_is_refused_by_name_and_comes_to_nothing() {
    play(|stage| {
        let charm = Charm {
            resources: vec![image("ledger-image", None)],
            ..ledger()
        };
        let (_, outcome) = stage.try_deploy("ledger", |new| new.charm = Arc::new(charm));
        let (_, message) = refused(&outcome);
        assert!(message.contains("ledger-image"), "{message}");
        nothing_came_of_it(stage, "ledger");
    });
}

#[test]
fn b121_an_image_that_goes_missing_later_is_a_wait_that_disturbs_nobody() {
    play(|stage| {
        let app = stage.active("ledger", 1);
        let pods = stage.uids(Resource::Pod, "ledger");
        let from = stage.steps();
        let record = RecordId {
            uid: app,
            version: stage.record("ledger").version,
            more: false,
        };
        let text = "the image \"ledger-image\" is missing: give it with --resource";
        stage.world.step(Event::ProvisioningChanged {
            record,
            provisioning: Err(text.into()),
        });
        stage.watch(|stage| assert_eq!(stage.uids(Resource::Pod, "ledger"), pods));
        assert_eq!(stage.writes(from), Vec::<String>::new());
        assert!(stage.effects(from).count() <= 2, "no error loop");
        let own = &stage.record("ledger").status.provisioner.report;
        assert_eq!((own.word, &*own.message), (Word::Blocked, text));
        // And a workload that goes meanwhile cannot be made: that waits too.
        stage.delete(Resource::StatefulSet, "ledger", Propagation::Background);
        let from = stage.steps();
        stage.settle();
        assert!(stage.effects(from).count() <= 6, "no error loop");
        assert!(stage.status("ledger").message.contains("--resource"));
    });
}
