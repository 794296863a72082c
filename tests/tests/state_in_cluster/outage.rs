//! The API server, in which the state is, goes away and comes back.

use pilotage_tests::control_plane::{Players, own};
use pilotage_tests::custom::Custom;
use pilotage_tests::house::objects;
use pilotage_tests::life::{active, hello, model};
use serde_json::Value;

use crate::stage::desk;

#[test]
fn an_api_server_that_goes_and_comes_back_takes_nothing_of_the_state_with_it() {
    let Some(mut cluster) = own("an_api_server_that_goes_and_comes_back_takes") else {
        return;
    };
    let _players = Players::start(&cluster, "away");
    let desk = desk(&cluster, "pilotage");
    let mut service = desk.start("run --lease-duration 3s");
    service.until_it_says("provisioner runs on");
    desk.ok("add-model away");
    desk.ok(&format!("deploy {} hello -n 2", hello()));
    desk.wait("two active units", |status| active(status, 2));
    let uid = model(&desk);
    let uids = |objects: Vec<Value>| -> Vec<Value> {
        let uids = objects
            .iter()
            .map(|object| object["metadata"]["uid"].clone());
        uids.collect()
    };
    let before = uids(objects(cluster.client(), uid));
    let custom = Custom::of(&cluster);
    let version = |object: Value| object["metadata"]["resourceVersion"].clone();
    let newest = version(custom.get("applications"));
    let newest = newest.as_str().and_then(|text| text.parse().ok());

    cluster.stop_api_server();
    let refused = desk.call("scale-application hello 3");
    let words = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success());
    assert!(
        words.contains("state in the cluster at https://127.0.0.1"),
        "{words}"
    );
    service.until_it_says("is lost: nothing more is done until it is ours again");
    // What happened before is forgotten meanwhile: no watch goes on from where it was.
    cluster
        .compact(newest.expect("a version"))
        .expect("etcd forgets");
    cluster.start_api_server().expect("it starts again");
    cluster.restart_controllers().expect("they start again");

    desk.ok("scale-application hello 3");
    desk.wait("three active units", |status| active(status, 3));
    let after = uids(objects(cluster.client(), uid));
    for uid in before {
        assert!(after.contains(&uid), "{uid} is gone");
    }
    desk.ok("remove-application hello --no-prompt --destroy-storage");
    desk.wait("it is gone", |status| {
        status["applications"] == serde_json::json!({})
    });
    desk.ok("destroy-model away --no-prompt");
    let (_, words, well) = service.stop();
    assert!(well, "{words}");
}
