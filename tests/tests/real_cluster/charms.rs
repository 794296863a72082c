//! Every v2 charm of the given folder on a real API server, which is asked to be strict about every field.

use pilotage_tests::charms::{WAITING, application, deploy, real_charms, v2};
use pilotage_tests::control_plane::{Call, Players, kind, shared};
use pilotage_tests::program::{Desk, texts};
use serde_json::Value;

#[test]
fn every_v2_charm_is_taken_by_a_strict_api_server_and_becomes_active() {
    let test = "every_v2_charm_is_taken";
    let (Some(folder), Some(cluster)) = (real_charms(test), shared(test)) else {
        return;
    };
    let _players = Players::start(&cluster, "charms");
    let desk = Desk::on(&cluster, "pilotage");
    let service = desk.start("run");
    desk.ok("add-model charms");
    let charms = v2(&folder);
    assert!(charms.len() > 25, "{charms:?}");
    for charm in &charms {
        let words = deploy(&folder, charm);
        let output = desk.call(&words);
        assert!(output.status.success(), "{words}: {}", texts(&output).1);
    }
    desk.wait(
        "every charm is active, or says why not",
        |status: &Value| {
            charms.iter().all(|charm| {
                let shown = &status["applications"][application(charm)]["application-status"];
                let waits = WAITING.contains(&charm.as_str());
                shown["current"] == if waits { "blocked" } else { "active" }
            })
        },
    );
    let call = Call {
        who: "alice",
        method: "GET",
        path: &kind("StatefulSet").collection("charms"),
        query: &[],
        content_type: "",
        body: None,
    };
    let sets = cluster.client().call(&call).expect("an answer").expect(200);
    let made = sets["items"].as_array().map_or(0, Vec::len);
    assert_eq!(made, charms.len() - WAITING.len());
    let (_, words, well) = service.stop();
    assert!(well, "{words}");
}
