//! The whole life of the main job by the program's commands: undisturbed, and with the provisioner killed on the way.

use std::cell::{Cell, RefCell};
use std::os::unix::process::ExitStatusExt;

use pilotage_tests::control_plane::{Players, shared};
use pilotage_tests::house::objects;
use pilotage_tests::life::{active, hello, left, life, model};
use pilotage_tests::patience::until;
use pilotage_tests::program::{Desk, Running};
use serde_json::json;

#[test]
fn a_whole_life_by_the_program_leaves_nothing() {
    let Some(cluster) = shared("a_whole_life_by_the_program") else {
        return;
    };
    let _players = Players::start(&cluster, "program");
    let desk = Desk::on(&cluster, "pilotage");
    let service = desk.start("run");
    life(&desk, &cluster, "program", &|| {});
    let (_, words, well) = service.stop();
    assert!(well, "{words}");
    assert!(words.contains("cluster: https://127.0.0.1:"), "{words}");
    assert!(!words.contains("WARNING"), "{words}");
    assert!(desk.ok("replay").contains("no difference"));
}

#[test]
fn a_whole_life_is_lived_though_the_provisioner_is_killed_again_and_again() {
    let Some(cluster) = shared("a_whole_life_is_lived_though") else {
        return;
    };
    let _players = Players::start(&cluster, "mortal");
    let desk = Desk::on(&cluster, "pilotage");
    // Each life has a few requests more than the last: one must suffice for the longest batch.
    let start = |kills: u32| {
        let at = format!("effect-executed:{}", 3 + 4 * kills);
        desk.start_with("run", &[("PILOTAGE_FAIL_AT", &at)])
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
    life(&desk, &cluster, "mortal", &tend);
    assert!(kills.get() >= 3, "{} kills", kills.get());
}

#[test]
fn a_provisioner_killed_while_it_scales_and_while_it_removes_is_replaced_by_one_that_finishes() {
    let Some(cluster) = shared("a_provisioner_killed_while") else {
        return;
    };
    let players = Players::start(&cluster, "killed");
    let desk = Desk::on(&cluster, "pilotage");
    let mut service = desk.start("run");
    desk.ok("add-model killed");
    let model = model(&desk);
    desk.ok(&format!("deploy {} hello -n 3", hello()));
    desk.wait("three active units", |status| active(status, 3));
    let ending = || {
        let all = objects(cluster.client(), model).into_iter();
        all.filter(|object| !object["metadata"]["deletionTimestamp"].is_null())
            .filter(|object| object["kind"] == "Pod")
            .count()
    };

    players.hold_ending_pods(true);
    desk.ok("scale-application hello 1");
    until("a pod is ending", || (ending() > 0).then_some(()));
    let again = |service: Running| {
        service.kill();
        desk.start("run")
    };
    service = again(service);
    players.hold_ending_pods(false);
    let status = desk.wait("one active unit", |status| active(status, 1));
    let unit = &status["applications"]["hello"]["units"]["hello/0"];
    assert!(unit.is_object(), "{status:#}");

    players.hold_ending_pods(true);
    desk.ok("remove-application hello --no-prompt --destroy-storage");
    until("its pod is ending", || (ending() > 0).then_some(()));
    service = again(service);
    players.hold_ending_pods(false);
    desk.wait("nothing is left", |status| {
        status["applications"] == json!({}) && status["storage"] == json!({})
    });
    desk.ok("destroy-model killed --no-prompt");
    assert_eq!(left(&cluster, model), Vec::<String>::new());
    let (_, words, well) = service.stop();
    assert!(well, "{words}");
}

#[test]
fn up_on_a_real_cluster_says_which_and_deploys_what_is_missing() {
    let Some(cluster) = shared("up_on_a_real_cluster") else {
        return;
    };
    let _players = Players::start(&cluster, "up");
    let desk = Desk::on(&cluster, "pilotage");
    desk.ok("add-model up");
    let model = model(&desk);
    let up = desk.start(&format!("up {}", hello()));
    until("it says that a unit is active", || {
        let said = std::fs::read_to_string(desk.folder().join("up.out")).ok()?;
        said.lines()
            .any(|line| line == "hello/0  active")
            .then_some(())
    });
    desk.ok("remove-application hello --no-prompt --destroy-storage");
    desk.wait("nothing is left", |status| {
        status["applications"] == json!({})
    });
    desk.ok("destroy-model up --no-prompt");
    assert_eq!(left(&cluster, model), Vec::<String>::new());
    let (_, err, well) = up.stop();
    assert!(err.contains("cluster: https://127.0.0.1:"), "{err}");
    assert!(!err.contains("simulated"), "{err}");
    assert!(well, "{err}");
}
