//! What users see.

use pilotage_core::state::Word;
use pilotage_core::time::Span;
use pilotage_sim::cluster::controllers::instruction::Behaviour;
use pilotage_sim::cluster::controllers::settings::Settings;
use pilotage_sim::cluster::resource::Resource;
use serde_json::json;

use crate::stage::{Stage, play, play_with};

#[test]
fn b59_an_application_is_active_only_when_every_unit_is_ready_and_stays_so_when_some_leave() {
    play(|stage| {
        stage.rule(&[1, 2].map(|unit| {
            let pod = format!("*/ledger-{unit}");
            pilotage_sim::cluster::controllers::instruction::Rule::pod(&pod, Behaviour::NeverReady)
        }));
        let app = stage.deploy_as("ledger", |new| new.scale = 3);
        stage.watch_for(Span::seconds(300), |stage| {
            assert_ne!(stage.status("ledger").word, Word::Active);
        });
        assert_eq!(stage.record("ledger").ready_units(), 1);
        let own = &stage.record("ledger").status.provisioner.report;
        assert_eq!(own.word, Word::Waiting, "{own:?}");
        stage.rule(&[]);
        stage.settle();
        stage.assert_active("ledger", 3);
        assert_eq!(stage.status("ledger").word, Word::Active);
        stage.scale(app, 1);
        stage.watch(|stage| assert_eq!(stage.status("ledger").word, Word::Active));
        stage.assert_active("ledger", 1);
    });
}

#[test]
fn b61_the_error_of_a_pod_is_shown_once_and_taken_back_when_it_runs() {
    play(|stage| {
        stage.pods_do("*", Behaviour::PullFails { times: Some(3) });
        stage.deploy_as("ledger", |_| {});
        let mut seen: Vec<(Word, Box<str>)> = Vec::new();
        stage.watch(|stage| {
            let Some(unit) = stage.record("ledger").status.units.first() else {
                return;
            };
            let report = &unit.workload.report;
            let now = (report.word, report.message.clone());
            if seen.last() != Some(&now) {
                seen.push(now);
            }
        });
        let words: Vec<Word> = seen.iter().map(|(word, _)| *word).collect();
        let first = words.iter().position(|word| *word == Word::Error);
        let first = first.expect("the error is shown");
        assert!(!seen[first].1.is_empty(), "with a text");
        assert_eq!(
            words.last(),
            Some(&Word::Active),
            "and taken back: {seen:?}"
        );
        let after = words[first..].iter().filter(|word| **word != Word::Error);
        let others: Vec<&Word> = after.collect();
        assert!(others.len() <= 2, "the status flaps: {seen:?}");
    });
}

#[test]
fn b61_equal_reports_are_not_written_again() {
    play(|stage| {
        stage.pods_do("*", Behaviour::PullFails { times: None });
        stage.deploy_as("ledger", |_| {});
        // Long enough for the wait between two pulls to be at its longest.
        stage.run_for(Span::seconds(1_200));
        let since = stage.record("ledger").status.units[0].workload.clone();
        assert_eq!(since.report.word, Word::Error);
        let (version, told) = (stage.record("ledger").version, stage.steps());
        stage.run_for(Span::seconds(1_200));
        assert!(stage.steps() > told, "the cluster had something to say");
        let now = &stage.record("ledger").status.units[0].workload;
        assert_eq!(now.report.word, Word::Error);
        // Two texts of the kubelet at most per pull, of which there are four in that time.
        let written = stage.record("ledger").version.0 - version.0;
        assert!(written <= 8, "{written} reports");
    });
}

#[test]
fn b64_a_rolling_restart_makes_no_units() {
    play(|stage| {
        let app = stage.active("ledger", 3);
        let before = stage.uids(Resource::Pod, "ledger");
        stage.world.refresh(app, 1);
        stage.watch(|stage| assert_eq!(stage.units("ledger"), [0, 1, 2]));
        stage.assert_active("ledger", 3);
        let after = stage.uids(Resource::Pod, "ledger");
        assert!(after.iter().all(|pod| !before.contains(pod)), "all rolled");
    });
}

#[test]
fn b67_an_address_that_comes_after_the_pods_is_in_the_state() {
    let late = Settings {
        load_balancer: Span::seconds(120),
        ..Settings::default()
    };
    play_with(&late, |stage| {
        stage.deploy_as("ledger", |new| {
            let setting = ("kubernetes-service-type", "LoadBalancer");
            new.settings = [(setting.0.to_string(), setting.1.to_string())].into();
        });
        let addresses = |stage: &Stage| {
            let service = stage.record("ledger").status.service.clone();
            service.map_or(vec![], |service| service.addresses)
        };
        stage.run_for(Span::seconds(60));
        stage.assert_active("ledger", 1);
        let before = addresses(stage);
        stage.settle();
        let service = stage.object(Resource::Service, "ledger").expect("there");
        let ingress = &service.value["status"]["loadBalancer"]["ingress"][0]["ip"];
        let ingress = ingress.as_str().expect("an address was given");
        assert!(!before.iter().any(|address| &**address == ingress));
        assert!(addresses(stage).iter().any(|address| &**address == ingress));
    });
}

#[test]
fn b73_what_a_charm_made_of_its_service_stays() {
    play(|stage| {
        let app = stage.active("ledger", 1);
        let theirs = json!({ "spec": {
            "type": "LoadBalancer",
            "ports": [{ "name": "sql", "port": 5432, "nodePort": 31_234 }],
        }});
        stage.edit(Resource::Service, "ledger", theirs);
        let spec = |stage: &Stage| {
            let service = stage.object(Resource::Service, "ledger").expect("there");
            (
                service.uid().to_string(),
                service.value["spec"]["type"].clone(),
                service.value["spec"]["ports"].clone(),
            )
        };
        stage.settle();
        let before = spec(stage);
        assert_eq!(before.1, "LoadBalancer");
        stage.world.restart();
        stage.watch(|stage| assert_eq!(spec(stage), before, "put back after a restart"));
        stage.world.refresh(app, 1);
        stage.watch(|stage| assert_eq!(spec(stage), before, "put back by a refresh"));
        stage.assert_active("ledger", 1);
        // A label of ours that is taken off leads to an apply of the service, and that too touches nothing of theirs.
        let label = json!({ "metadata": { "labels": { "app.kubernetes.io/name": null } } });
        stage.edit(Resource::Service, "ledger", label);
        stage.watch(|stage| assert_eq!(spec(stage), before, "put back with a label"));
        let service = stage.object(Resource::Service, "ledger").expect("there");
        assert_eq!(service.label("app.kubernetes.io/name"), Some("ledger"));
    });
}
