//! Refreshes, upgrades, and a provisioner that starts again.

use std::sync::Arc;

use pilotage_core::charm::{Charm, Container};
use pilotage_core::event::{Event, RecordId};
use pilotage_core::state::{ApplicationCommand, CharmOrigin, Provisioning, Refresh, provisioning};
use pilotage_core::time::Span;
use pilotage_sim::cluster::controllers::instruction::{Behaviour, Rule};
use pilotage_sim::cluster::request::{Propagation, Verb};
use pilotage_sim::cluster::resource::Resource;
use pilotage_sim::workload::{image, ledger, ledger_application};
use serde_json::json;

use crate::stage::{Stage, Verbs, containers, failure, may_everything, play, text};

fn refresh(charm: Charm, revision: u32, trust: Option<bool>) -> ApplicationCommand {
    ApplicationCommand::Refresh(Box::new(Refresh {
        charm: Some((
            Arc::new(charm),
            CharmOrigin {
                revision,
                version: None,
            },
        )),
        resources: [].into(),
        config: [].into(),
        settings: [].into(),
        storage: [].into(),
        filesystems: ledger_application(pilotage_core::name::Uid(0), "", 0).filesystems,
        trust,
        base: None,
    }))
}

/// The standard charm with that image.
fn with_image(path: &str) -> Charm {
    Charm {
        resources: vec![image("ledger-image", Some(path))],
        ..ledger()
    }
}

fn images(stage: &Stage) -> Vec<String> {
    stage
        .labelled(Resource::Pod, "ledger")
        .map(|pod| {
            let container = &pod.value["spec"]["containers"][0]["image"];
            container.as_str().expect("an image").to_string()
        })
        .collect()
}

#[test]
fn b71_no_pod_of_a_new_revision_starts_without_the_rights_asked_for_with_it() {
    play(|stage| {
        let app = stage.active("ledger", 2);
        stage.command(app, refresh(ledger(), 7, Some(true)));
        let path = ["metadata", "annotations", "pilotage.dev/charm-revision"];
        let old: Vec<String> = stage
            .labelled(Resource::Pod, "ledger")
            .map(|pod| text(pod, &path).to_string())
            .collect();
        stage.watch(|stage| {
            for pod in stage.labelled(Resource::Pod, "ledger") {
                if text(pod, &path) != old[0] {
                    let role = stage.object(Resource::Role, "ledger").expect("there");
                    assert!(may_everything(role), "{} runs untrusted", pod.name());
                }
            }
        });
        stage.assert_active("ledger", 2);
        let role = stage.object(Resource::Role, "ledger").expect("there");
        assert!(may_everything(role));
        // And a refresh that says nothing of trust leaves it.
        stage.command(app, refresh(ledger(), 8, None));
        stage.watch(|stage| {
            let role = stage.object(Resource::Role, "ledger").expect("there");
            assert!(may_everything(role), "trust was lost");
        });
        stage.assert_active("ledger", 2);
    });
}

#[test]
fn b94_a_workload_deleted_by_hand_does_not_hold_up_an_upgrade() {
    play(|stage| {
        let app = stage.active("ledger", 2);
        for command in [refresh(ledger(), 3, None), ApplicationCommand::Upgrade] {
            stage.delete(Resource::StatefulSet, "ledger", Propagation::Background);
            stage.command(app, command);
            stage.settle();
            stage.assert_active("ledger", 2);
        }
    });
}

#[test]
fn b105_after_an_outage_and_a_restart_no_pod_is_touched() {
    play(|stage| {
        stage.active("ledger", 2);
        let generation = stage.set("ledger").expect("there").generation();
        let pods = stage.uids(Resource::Pod, "ledger");
        for verb in [
            Verbs::Get,
            Verbs::List,
            Verbs::Create,
            Verbs::Patch,
            Verbs::Update,
        ] {
            for resource in [Resource::StatefulSet, Resource::Service, Resource::Role] {
                stage.deny(resource, verb, failure(503, "ServiceUnavailable", "away"));
            }
        }
        let from = stage.steps();
        stage.run_for(Span::seconds(600));
        stage.world.cluster.allow_all();
        stage.world.restart();
        stage.settle();
        stage.assert_active("ledger", 2);
        assert_eq!(stage.writes(from), Vec::<String>::new());
        assert_eq!(stage.set("ledger").expect("there").generation(), generation);
        assert_eq!(stage.uids(Resource::Pod, "ledger"), pods);
    });
}

#[test]
fn b107_containers_that_the_revision_drops_go_and_those_of_others_stay() {
    play(|stage| {
        let charm = |names: &[&str]| Charm {
            containers: names
                .iter()
                .map(|name| Container {
                    name: (*name).to_string(),
                    ..ledger().containers[0].clone()
                })
                .collect(),
            ..ledger()
        };
        let five = charm(&["ledger", "c2", "c3", "c4", "c5"]);
        let app = stage.deploy_as("ledger", |new| new.charm = Arc::new(five));
        stage.settle();
        stage.assert_active("ledger", 1);
        // A mesh puts a container of its own into the template.
        let sidecar = json!({
            "apiVersion": "apps/v1", "kind": "StatefulSet",
            "metadata": { "name": "ledger" },
            "spec": { "template": { "spec": { "containers": [
                { "name": "mesh", "image": "mesh:1" },
            ]}}},
        });
        let apply = Verb::Apply {
            body: sidecar,
            force: false,
        };
        stage.ask(Resource::StatefulSet, "ledger", apply);
        stage.settle();
        stage.command(app, refresh(charm(&["ledger", "c6"]), 1, None));
        stage.settle();
        stage.assert_active("ledger", 1);
        let mut left = containers(stage.set("ledger").expect("there"));
        left.sort();
        assert_eq!(left, ["c6", "ledger", "mesh"]);
    });
}

#[test]
fn b108_a_rollback_heals_what_the_bad_revision_left_behind() {
    play(|stage| {
        let app = stage.active("ledger", 3);
        stage.rule(&[Rule::image("*bad*", Behaviour::PullFails { times: None })]);
        stage.command(app, refresh(with_image("registry.example/bad:1"), 1, None));
        stage.run_for(Span::seconds(300));
        assert!(images(stage).contains(&"registry.example/bad:1".to_string()));
        assert_eq!(stage.units("ledger"), [0, 1, 2]);
        stage.command(app, refresh(ledger(), 2, None));
        stage.settle();
        stage.assert_active("ledger", 3);
        assert_eq!(images(stage), ["registry.example/ledger:1"; 3]);
    });
}

/// What an older release has written down: the same, built by a template revision before this one.
fn of_an_older_release(stage: &mut Stage, app: pilotage_core::name::Uid) {
    let record = stage.record("ledger");
    let made_from = provisioning(record).expect("complete");
    let event = Event::ProvisioningChanged {
        record: RecordId {
            uid: app,
            version: record.version,
            more: false,
        },
        provisioning: Ok(Arc::new(Provisioning {
            template: made_from.template - 1,
            ..made_from
        })),
    };
    stage.world.step(event);
}

#[test]
fn b111_a_new_release_neither_compares_nor_writes_the_templates_of_an_older_one() {
    play(|stage| {
        let app = stage.active("ledger", 2);
        let pods = stage.uids(Resource::Pod, "ledger");
        // The older release built the pods a little otherwise.
        let otherwise = json!({ "spec": { "template": { "spec": {
            "terminationGracePeriodSeconds": 31,
        }}}});
        of_an_older_release(stage, app);
        stage.edit(Resource::StatefulSet, "ledger", otherwise);
        stage.settle();
        let rolled = stage.uids(Resource::Pod, "ledger");
        assert_ne!(rolled, pods, "the edit itself rolls them");
        let from = stage.steps();
        let generation = stage.set("ledger").expect("there").generation();
        // What is not the template is still looked after.
        stage.scale(app, 3);
        stage.settle();
        let writes = stage.writes(from);
        assert_eq!(writes.len(), 1, "the scale alone: {writes:?}");
        let now = stage.uids(Resource::Pod, "ledger");
        assert!(
            rolled.iter().all(|pod| now.contains(pod)),
            "a pod restarted"
        );
        assert_eq!(
            stage.set("ledger").expect("there").generation(),
            generation + 1
        );
        // Until the user says so: the record is of this release again.
        stage.command(app, refresh(ledger(), 1, None));
        stage.settle();
        stage.assert_active("ledger", 3);
        let set = stage.set("ledger").expect("there");
        let grace = &set.value["spec"]["template"]["spec"]["terminationGracePeriodSeconds"];
        assert_eq!(grace, &json!(30));
    });
}

/// Tools that wait for an application must not go on while pods of an old wish run.
#[test]
fn an_application_is_said_to_be_at_rest_only_when_every_pod_is_as_it_is_wanted() {
    play(|stage| {
        stage.world.confirm = true;
        stage.world.restart();
        let app = stage.active("ledger", 2);
        let at_rest = |stage: &Stage| stage.record("ledger").status.at_rest;
        assert!(at_rest(stage));
        stage.command(
            app,
            refresh(with_image("registry.example/ledger:2"), 7, None),
        );
        assert!(!at_rest(stage));
        stage.watch(|stage| {
            if at_rest(stage) {
                assert_eq!(images(stage), ["registry.example/ledger:2"; 2]);
            }
        });
        assert!(at_rest(stage));
        // What shows in nothing else is said to be there, too.
        let trust = ApplicationCommand::SetTrust { trust: true };
        stage.command(app, trust);
        assert!(!at_rest(stage));
        stage.watch(|stage| {
            if at_rest(stage) {
                let role = stage.object(Resource::Role, "ledger").expect("there");
                assert!(may_everything(role));
            }
        });
        assert!(at_rest(stage));
        let version = stage.record("ledger").version;
        stage.world.restart();
        stage.settle();
        assert_eq!(stage.record("ledger").version, version, "it is said once");
    });
}
