//! The API server of a real control plane goes away and comes back.
#![allow(missing_docs)]

use std::thread::sleep;
use std::time::Duration;

use pilotage_core::state::{ApplicationCommand, Word};
use pilotage_interpreter::cluster::Timing;
use pilotage_tests::control_plane::{Call, Players, kind, own};
use pilotage_tests::house::{House, objects};
use pilotage_tests::life::{active, hello, model};
use pilotage_tests::program::Desk;
use serde_json::Value;

/// A minute: requests and watches fail again and again, and who waits longer after each failure waits long.
const OUTAGE: Duration = Duration::from_secs(60);

#[test]
fn an_api_server_that_goes_and_comes_back_restarts_nothing_and_loses_nothing() {
    let Some(mut cluster) = own("an_api_server_that_goes") else {
        return;
    };
    let _players = Players::start(&cluster, "outage");
    let mut house = House::new(&cluster, "outage", None, Timing::default());
    let ledger = house.deploy("ledger", 2);
    house.until_active(ledger, 2);
    let before = house.names();

    cluster.stop_api_server();
    house.application(ledger, ApplicationCommand::SetScale { scale: 3 });
    sleep(OUTAGE);
    let units = house.record(ledger).expect("its record").status.units.len();
    assert_eq!(units, 3, "the state goes on without the cluster");
    house.wait("that the cluster is away is seen in the status", || {
        let status = house.model_status();
        status.word == Word::Error && status.message.contains("cannot be watched")
    });
    cluster.start_api_server().expect("it starts again");
    // Others that wait long before they try again are not what is looked at.
    cluster.restart_controllers().expect("they start again");
    house.until_active(ledger, 3);
    house.wait("and that it is back", || {
        house.model_status().word == Word::Active
    });
    let after = house.names();
    for object in &before {
        assert!(
            after.contains(object),
            "{object} is another one: {after:#?}"
        );
    }

    // While the server is away its history is forgotten: the watches cannot go on from where they were.
    let version = newest(&cluster);
    cluster.stop_api_server();
    cluster.compact(version).expect("etcd forgets");
    cluster.start_api_server().expect("it starts again");
    // Others that wait long before they try again are not what is looked at.
    cluster.restart_controllers().expect("they start again");
    let account = kind("ServiceAccount").object("outage", "ledger");
    send(&cluster, "DELETE", &account);
    house.wait("what was deleted by hand is back", || {
        send(&cluster, "GET", &account)["metadata"]["uid"].is_string()
    });
    house.wait("nothing else was touched", || house.active(ledger, 3));
    let again = house.names();
    let others = |name: &&String| !name.starts_with("ServiceAccount ledger ");
    for object in after.iter().filter(others) {
        assert!(
            again.contains(object),
            "{object} is another one: {again:#?}"
        );
    }
    let trace = std::fs::read_to_string(house.trace()).expect("the trace");
    let listed = trace
        .matches(r#""listing":{"source":{"cluster":"ServiceAccount"}}"#)
        .count();
    assert!(
        listed >= 2,
        "the history was forgotten, so it was listed again: {listed}"
    );
    house.remove(ledger);
    house.destroy();
    assert_eq!(house.names(), Vec::<String>::new());
    house.end();
}

#[test]
fn a_leader_outlives_an_outage_that_is_longer_than_its_lease() {
    let Some(mut cluster) = own("a_leader_outlives_an_outage") else {
        return;
    };
    let _players = Players::start(&cluster, "ruled");
    let desk = Desk::on(&cluster, "pilotage");
    let mut service = desk.start("run --lease-duration 3s");
    service.until_it_says("provisioner runs on");
    desk.ok("add-model ruled");
    desk.ok(&format!("deploy {} hello", hello()));
    desk.ok("scale-application hello 2");
    desk.wait("two active units", |status| active(status, 2));
    let names = |cluster: &_| objects(cluster, model(&desk));
    let before = names(cluster.client());

    cluster.stop_api_server();
    service.until_it_says("is lost: nothing more is done until it is ours again");
    service.until_it_says("WARNING waiting for the lease");
    desk.ok("scale-application hello 3");
    cluster.start_api_server().expect("it starts again");
    cluster.restart_controllers().expect("they start again");
    desk.wait("three active units", |status| active(status, 3));
    let uids = |objects: &[Value]| -> Vec<Value> {
        let uids = objects
            .iter()
            .map(|object| object["metadata"]["uid"].clone());
        uids.collect()
    };
    let after = uids(&names(cluster.client()));
    for uid in uids(&before) {
        assert!(after.contains(&uid), "{uid} is gone");
    }
    let (_, words, well) = service.stop();
    assert!(well, "{words}");
}

fn send(cluster: &pilotage_tests::control_plane::ControlPlane, method: &str, path: &str) -> Value {
    let call = Call {
        who: "alice",
        method,
        path,
        query: &[],
        content_type: "",
        body: None,
    };
    let answer = cluster.client().call(&call);
    answer.expect("the server answers").body
}

/// The version of the last write.
fn newest(cluster: &pilotage_tests::control_plane::ControlPlane) -> u64 {
    let list = send(cluster, "GET", &kind("Namespace").collection(""));
    let version = list["metadata"]["resourceVersion"].as_str();
    version.expect("a version").parse().expect("a number")
}
