//! Two processes and one state in the cluster: where one is killed, the other finishes.

use pilotage_tests::life::{active, hello, left, model};
use pilotage_tests::patience::until;
use serde_json::{Value, json};

use crate::stage::{Stage, desk};

fn ending(stage: &Stage, namespace: &str) -> usize {
    let pods = stage.pods(namespace);
    let ending = |pod: &&Value| !pod["metadata"]["deletionTimestamp"].is_null();
    pods.iter().filter(ending).count()
}

#[test]
fn a_leader_that_is_killed_while_it_scales_or_removes_leaves_the_rest_to_the_other() {
    let Some(stage) = Stage::new("a_leader_that_is_killed", "heirs") else {
        return;
    };
    let run = "run --lease-duration 3s";
    // Each has a folder of its own: they share the cluster alone.
    let homes = [(); 3].map(|()| desk(&stage.cluster, "pilotage"));
    let [first, second, third] = &homes;
    let users = &stage.desk;
    let mut leader = first.start(run);
    leader.until_it_says("provisioner runs on");
    let mut heir = second.start(run);
    heir.until_it_says("stand-by: the lease pilotage-system/pilotage-");

    users.ok("add-model heirs");
    let uid = model(users);
    users.ok(&format!("deploy {} hello", hello()));
    users.ok("scale-application hello 3");
    users.wait("three active units", |status| active(status, 3));
    stage.players.hold_ending_pods(true);
    users.ok("scale-application hello 1");
    until("pods are ending", || {
        (ending(&stage, "heirs") > 0).then_some(())
    });
    leader.kill();
    heir.until_it_says("provisioner runs on");
    stage.players.hold_ending_pods(false);
    users.wait("one active unit", |status| active(status, 1));

    let mut last = third.start(run);
    last.until_it_says("stand-by: the lease");
    stage.players.hold_ending_pods(true);
    users.ok("remove-application hello --no-prompt --destroy-storage");
    until("its pod is ending", || {
        (ending(&stage, "heirs") > 0).then_some(())
    });
    heir.kill();
    last.until_it_says("provisioner runs on");
    stage.players.hold_ending_pods(false);
    users.wait("nothing is left", |status| {
        status["applications"] == json!({}) && status["storage"] == json!({})
    });
    users.ok("destroy-model heirs --no-prompt");
    assert_eq!(left(&stage.cluster, uid), Vec::<String>::new());
    let (_, words, well) = last.stop();
    assert!(well, "{words}");

    let refused = users.call("run --lease off");
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
}
