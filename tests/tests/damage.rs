//! The real program on a state with a record that cannot be read: it is named, it is left alone, and everything else
//! goes on.
#![allow(missing_docs)]

use pilotage_tests::program::{Desk, texts};
use serde_json::Value;

const CHARM: &str = "name: hello\nsummary: Greets\ndescription: Greets whoever asks.\nassumes: [k8s-api]\n\
     containers:\n  web:\n    resource: image\n    mounts:\n    - storage: pages\n      location: /srv\n\
     resources:\n  image:\n    type: oci-image\n    upstream-source: registry.example/hello:1\n\
     storage:\n  pages:\n    type: filesystem\n    minimum-size: 1G\n";

fn active(status: &Value, name: &str, units: usize) -> bool {
    let application = &status["applications"][name];
    let all = application["units"].as_object();
    application["application-status"]["current"] == "active"
        && all.is_some_and(|all| all.len() == units)
}

fn address(status: &Value, unit: &str) -> String {
    let (application, _) = unit.split_once('/').expect("a unit");
    let address = &status["applications"][application]["units"][unit]["address"];
    address.as_str().expect("an address").to_owned()
}

/// Puts a text in the place of an application's record, as a hand with an editor does, and gives what was there.
fn replace(desk: &Desk, name: &str, text: &str) -> String {
    let file = rusqlite::Connection::open(desk.folder().join("state.db")).expect("the state");
    let patience = std::time::Duration::from_secs(10);
    file.busy_timeout(patience).expect("patience");
    let select = "SELECT record FROM applications WHERE name = ?1";
    let before = file.query_row(select, [name], |row| row.get(0));
    let update = "UPDATE applications SET record = ?1 WHERE name = ?2";
    file.execute(update, [text, name]).expect("an update");
    before.expect("its record")
}

const SAID: &str = "the record of application \"one\" cannot be read";

#[test]
fn an_application_whose_record_is_damaged_is_left_alone_and_mended_live() {
    let desk = Desk::new();
    desk.write("hello/metadata.yaml", CHARM);
    let service = desk.start("run");
    for name in ["one", "two"] {
        desk.ok(&format!("deploy ./hello {name} -n 2"));
    }
    let status = desk.wait("both are active", |status| {
        active(status, "one", 2) && active(status, "two", 2)
    });
    let addresses = ["one/0", "one/1"].map(|unit| address(&status, unit));
    let good = replace(&desk, "one", "{\"uid\": 7}");

    let shown = desk.status();
    let error = &shown["applications"]["one"]["status-error"];
    assert!(error.as_str().is_some_and(|text| text.contains(SAID)));
    assert!(active(&shown, "two", 2));
    for words in [
        "scale-application one 3",
        "config one",
        "remove-application one --no-prompt --force",
        "deploy ./hello one",
        "destroy-model default --no-prompt --destroy-storage",
        "wait-for application one",
    ] {
        let output = desk.call(words);
        let (_, said) = texts(&output);
        assert_eq!(output.status.code(), Some(1), "{words}: {said}");
        assert!(
            said.contains(SAID) && said.contains("put back a good copy"),
            "{words}: {said}"
        );
    }
    // Another life of the service has only ever heard that the record cannot be read.
    service.kill();
    let service = desk.start("run");
    desk.ok("scale-application two 3");
    desk.wait("others are scaled", |status| active(status, "two", 3));
    desk.ok("remove-application two --no-prompt --destroy-storage");
    desk.wait("others are removed", |status| {
        status["applications"]["two"].is_null()
    });
    let table = texts(&desk.call("status"));
    assert!(table.0.contains("one"), "{table:?}");
    assert!(table.1.contains(SAID), "{table:?}");
    assert!(
        !table.0.contains("not in this state"),
        "its objects are no strangers: {table:?}"
    );

    replace(&desk, "one", &good);
    desk.ok("scale-application one 3");
    let status = desk.wait("it is scaled", |status| active(status, "one", 3));
    let now = ["one/0", "one/1"].map(|unit| address(&status, unit));
    assert_eq!(now, addresses, "its pods are the same");
    let (_, words, well) = service.stop();
    assert!(well, "{words}");
    assert_eq!(words.matches(SAID).count(), 1, "{words}");
    assert!(words.contains("can be read again"), "{words}");
    assert!(desk.ok("replay").contains("no difference"));
}
