//! A provisioner that watches some namespaces alone.

use pilotage_core::kubernetes::Kind;
use pilotage_sim::cluster::effects;
use pilotage_tests::control_plane::{Players, shared};
use pilotage_tests::program::{Desk, texts};
use serde_json::Value;

use pilotage_tests::life::{active, hello, left, model};

/// The status of a model.
fn status(desk: &Desk, model: &str) -> Value {
    let text = desk.ok(&format!("status --model {model} --format json"));
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn models_of_the_named_namespaces_live_and_others_are_left_alone_and_say_so() {
    let Some(cluster) = shared("models_of_the_named_namespaces") else {
        return;
    };
    let _players = [
        Players::start(&cluster, "left"),
        Players::start(&cluster, "right"),
    ];
    let mut desk = Desk::on(&cluster, "within");
    let service = desk.start("run --namespaces right,left");
    let models = ["left", "right", "other"].map(|name| {
        desk.ok(&format!("add-model {name}"));
        desk.ok(&format!("deploy {} hello --model {name}", hello()));
        (name, model(&desk))
    });
    for name in ["left", "right"] {
        desk.set("PILOTAGE_MODEL", name);
        desk.wait("one active unit", |status| active(status, 1));
        desk.ok("scale-application hello 2");
        desk.wait("two active units", |status| active(status, 2));
    }
    desk.set("PILOTAGE_MODEL", "other");
    let shown = desk.wait("it says why it waits", |status| {
        status["applications"]["hello"]["application-status"]["current"] == "blocked"
    });
    let words = shown["applications"]["hello"]["application-status"]["message"].to_string();
    assert!(words.contains("does not watch the namespace"), "{words}");
    assert_eq!(left(&cluster, models[2].1), Vec::<String>::new());

    // Nothing was read of other namespaces than these.
    for asked in cluster
        .asked("within")
        .iter()
        .filter(|asked| asked.verb == "watch")
    {
        let kind = Kind::ALL
            .into_iter()
            .find(|kind| effects::resource(*kind).plural() == asked.resource);
        match kind.expect("a kind of ours") {
            Kind::Namespace => assert!(asked.uri.contains("metadata.name"), "{asked:?}"),
            kind if kind.namespaced() => {
                assert!(["left", "right"].contains(&&*asked.namespace), "{asked:?}");
            }
            _ => {}
        }
    }
    for name in ["left", "right"] {
        desk.ok(&format!(
            "destroy-model {name} --no-prompt --destroy-storage"
        ));
        assert_eq!(
            status(&desk, "other")["applications"]
                .as_object()
                .map(serde_json::Map::len),
            Some(1)
        );
    }
    for (_, uid) in &models[..2] {
        assert_eq!(left(&cluster, *uid), Vec::<String>::new());
    }
    service.stop();
}

#[test]
fn namespaces_that_cannot_be_are_refused_before_anything_begins() {
    let desk = Desk::new();
    for (words, why) in [
        ("run --namespaces shop", "for a real one"),
        (
            "run --cluster kubeconfig --namespaces Shop",
            "cannot be a namespace",
        ),
        (
            "run --cluster kubeconfig --namespaces shop,",
            "cannot be a namespace",
        ),
    ] {
        let output = desk.call(words);
        let (_, said) = texts(&output);
        assert_eq!(output.status.code(), Some(2), "{words}: {said}");
        assert!(said.contains(why), "{words}: {said}");
    }
}
