//! A password of a registry: it comes into the cluster, is kept there, and is seen nowhere else.

use pilotage_tests::charms::own;
use pilotage_tests::control_plane::{Call, Players, shared};
use pilotage_tests::patience::until;
use pilotage_tests::program::Desk;
use serde_json::{Value, json};

const PASSWORD: &str = "canary-7c1e";

#[test]
fn a_password_reaches_the_cluster_is_put_back_there_and_is_in_no_trace() {
    let Some(cluster) = shared("a_password_reaches_the_cluster") else {
        return;
    };
    let _players = Players::start(&cluster, "secretive");
    let ask = |method, path: &str, body: Option<&Value>| {
        let call = Call {
            who: "alice",
            method,
            path,
            query: &[],
            content_type: if body.is_some() {
                "application/merge-patch+json"
            } else {
                ""
            },
            body,
        };
        cluster.client().call(&call).expect("an answer").expect(200)
    };
    let desk = Desk::on(&cluster, "pilotage");
    let image =
        format!("registrypath: registry.example/hello:1\nusername: reader\npassword: {PASSWORD}\n");
    desk.write("image.yaml", &image);
    let service = desk.start("run --trace all -v");
    desk.ok("add-model secretive");
    let hello = own("tests/charms/hello");
    desk.ok(&format!(
        "deploy {} hello --resource web-image=./image.yaml",
        hello.display()
    ));
    desk.wait("it is active", |status| {
        status["applications"]["hello"]["application-status"]["current"] == "active"
    });

    let secrets = "/api/v1/namespaces/secretive/secrets";
    let list = ask("GET", secrets, None);
    let [secret] = list["items"].as_array().expect("items").as_slice() else {
        panic!("one secret: {list}");
    };
    let data = &secret["data"][".dockerconfigjson"];
    let encoded = data.as_str().expect("a docker config");
    let path = format!(
        "{secrets}/{}",
        secret["metadata"]["name"].as_str().expect("a name")
    );
    let by_hand = json!({ "data": { ".dockerconfigjson": "e30=" } });
    ask("PATCH", &path, Some(&by_hand));
    until("what a hand changed is put back", || {
        (ask("GET", &path, None)["data"][".dockerconfigjson"] == *data).then_some(())
    });

    let shown = desk.ok("status --format json");
    desk.ok("remove-application hello --no-prompt --destroy-storage");
    desk.wait("it is gone", |status| status["applications"] == json!({}));
    desk.ok("destroy-model secretive --no-prompt");
    let (out, err, well) = service.stop();
    assert!(well, "{err}");
    let trace = desk.folder().join("state.db.trace");
    let segments = std::fs::read_dir(trace).expect("its traces");
    let mut said = format!("{shown}{out}{err}");
    let mut long = 0;
    for segment in segments {
        let text = std::fs::read_to_string(segment.expect("a file").path()).expect("a text");
        long += text.len();
        said += &text;
    }
    assert!(
        long > 10_000 && said.contains("fingerprint"),
        "the trace is there"
    );
    assert!(
        !said.contains(PASSWORD),
        "the password is in a trace or was said"
    );
    assert!(
        !said.contains(encoded),
        "its encoded form is in a trace or was said"
    );
}
