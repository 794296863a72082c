//! What a dry run foretells is what the service then does, to the word.
#![allow(missing_docs)]

use std::collections::BTreeSet;

use pilotage_tests::patience::until;
use pilotage_tests::program::Desk;
use serde_json::Value;

const CHARM: &str = "name: hello\nsummary: Greets\ndescription: Greets whoever asks.\nassumes: [k8s-api]\n\
     containers:\n  web:\n    resource: image\n    mounts:\n    - storage: pages\n      location: /srv\n\
     resources:\n  image:\n    type: oci-image\n    upstream-source: registry.example/hello:1\n\
     storage:\n  pages:\n    type: filesystem\n    minimum-size: 1G\n";

/// What the lines of a dry run say would be done.
fn foretold(desk: &Desk, words: &str) -> Vec<String> {
    let said = desk.ok(words);
    let lines = said.lines().filter_map(|line| line.split_once("would "));
    lines
        .map(|(_, what)| what.to_owned())
        .filter(|what| !what.starts_with("deploy ") && !what.starts_with("refresh "))
        .map(|what| what.split(", as ").next().unwrap_or_default().to_owned())
        .collect()
}

/// What the service has written to the cluster so far about applications, in its order.
fn done(desk: &Desk) -> Vec<String> {
    let log = std::fs::read_to_string(desk.folder().join("run.err")).unwrap_or_default();
    let lines = log
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    lines
        .filter(|line: &Value| line["application"] == "hello" && line["outcome"] == "done")
        .filter_map(|line| Some(line["action"].as_str()?.to_owned()))
        .filter(|action| {
            let verb = action.split(' ').next().unwrap_or_default();
            !matches!(verb, "state:" | "get" | "list" | "announce")
        })
        .collect()
}

#[test]
fn what_a_dry_run_foretells_is_what_is_done() {
    let desk = Desk::new();
    desk.write("hello/metadata.yaml", CHARM);
    desk.write(
        "bundle.yaml",
        "applications:\n  hello:\n    charm: ./hello\n    scale: 1\n",
    );
    let lines = [
        "deploy ./hello hello -n 2",
        "refresh hello --path ./hello --trust",
        "deploy ./bundle.yaml",
    ];
    let service = desk.start("run --log-format json");
    let mut seen = 0;
    for line in lines {
        let foretold = foretold(&desk, &format!("{line} --dry-run"));
        assert!(!foretold.is_empty(), "{line}");
        assert_eq!(done(&desk).len(), seen, "a dry run does nothing: {line}");
        desk.ok(line);
        let wanted = seen + foretold.len();
        until(line, || (done(&desk).len() >= wanted).then_some(()));
        desk.wait("it has settled", |status| {
            let application = &status["applications"]["hello"];
            application["application-status"]["current"] == "active"
        });
        let did: Vec<String> = done(&desk).split_off(seen);
        assert_eq!(did, foretold, "{line}");
        seen = wanted;
    }
    let kinds: BTreeSet<String> = done(&desk)
        .iter()
        .filter_map(|action| Some(action.split(' ').next()?.to_owned()))
        .collect();
    let expected = ["apply", "create", "scale", "take"].map(String::from);
    assert_eq!(kinds, expected.into(), "every verb of writing was met");
    assert!(service.stop().2);
}
