//! Processes that are killed on the way.

use std::cell::{Cell, RefCell};
use std::os::unix::process::ExitStatusExt;

use pilotage_tests::control_plane::kind;
use pilotage_tests::life::{active, hello, life};
use pilotage_tests::patience::until;
use serde_json::{Value, json};

use crate::stage::Stage;

#[test]
fn a_whole_life_is_lived_though_the_provisioner_is_killed_at_its_writes_of_the_state() {
    let Some(stage) = Stage::new("a_whole_life_is_lived_though", "mortal") else {
        return;
    };
    // Each life has a few writes more than the last, and ends before or after one.
    let start = |kills: u32| {
        let point = ["commit-before", "commit-after"][kills as usize % 2];
        let at = format!("{point}:{}", 4 + 3 * kills);
        let run = "run --lease-duration 1s";
        stage.desk.start_with(run, &[("PILOTAGE_FAIL_AT", &at)])
    };
    let (service, kills) = (RefCell::new(start(0)), Cell::new(0));
    let tend = || {
        let ended = service.borrow_mut().ended();
        if let Some(status) = ended {
            assert_eq!(status.signal(), Some(9), "it ended by itself: {status}");
            kills.set(kills.get() + 1);
            service.replace(start(kills.get()));
        }
    };
    life(&stage.desk, &stage.cluster, "mortal", &tend);
    assert!(kills.get() >= 3, "{} kills", kills.get());
    for kind in ["models", "applications", "storages"] {
        assert_eq!(stage.names(kind), Vec::<String>::new(), "{kind}");
    }
}

#[test]
fn a_command_killed_at_any_of_its_requests_is_given_again() {
    let Some(stage) = Stage::new("a_command_killed_at_any", "again") else {
        return;
    };
    let charm = hello();
    stage.desk.write(
        "image.json",
        &json!({ "registrypath": "registry.example/web:1", "username": "u", "password": "a canary" })
            .to_string(),
    );
    stage.desk.ok("add-model again");
    let deploy = format!("deploy {charm} hello --resource web-image=image.json");
    let mut killed = 0;
    for point in 1.. {
        let mut command = stage.desk.command(&deploy);
        let output = command.env("PILOTAGE_FAIL_AT", point.to_string()).output();
        let output = output.expect("it can be called");
        if output.status.signal() == Some(9) {
            killed += 1;
            // Whatever there is, is whole.
            let status = stage.desk.status();
            let said = &status["applications"];
            let nothing = said == &json!({});
            assert!(nothing || said["hello"]["scale"] == 1, "{status:#}");
            continue;
        }
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        let there = words.contains("application already exists");
        assert!(output.status.success() || there, "{words}");
        break;
    }
    assert!(killed >= 4, "{killed} kills");
    // The next provisioner sweeps what belongs to nobody, once it is old enough, and finds the password.
    let service = stage.desk.start("run");
    stage
        .desk
        .wait("one active unit", |status| active(status, 1));
    let secrets = || -> Vec<Value> {
        let path = kind("Secret").collection("again");
        let all = stage.ask("GET", &path)["items"].as_array().cloned();
        let all = all.unwrap_or_default().into_iter();
        all.filter(|secret| secret["type"] == "pilotage.dev/vault")
            .filter(|secret| !secret["metadata"]["ownerReferences"].is_null())
            .collect()
    };
    assert_eq!(secrets().len(), 1);
    stage
        .desk
        .ok("remove-application hello --no-prompt --destroy-storage");
    stage
        .desk
        .wait("it is gone", |status| status["applications"] == json!({}));
    until("its password goes with it", || {
        secrets().is_empty().then_some(())
    });
    stage.desk.ok("destroy-model again --no-prompt");
    let (_, words, well) = service.stop();
    assert!(well, "{words}");
    assert!(!words.contains("a canary"), "{words}");
}
