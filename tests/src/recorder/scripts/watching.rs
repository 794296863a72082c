//! Lists and watches.

use serde_json::{Value, json};

use crate::recorder::manifests::data;
use crate::recorder::{Recorder, Script};

pub(super) const SCRIPTS: &[Script] = &[
    Script {
        name: "k32-label-taken-off",
        shows: "An object whose selected label is taken off is DELETED for a watch with that selector, and still there for a get",
        facts: &["K32"],
        watched: &["ConfigMap"],
        play: label_taken_off,
    },
    Script {
        name: "list-and-watch",
        shows: "A watch from the version of a list tells everything since, once and in order, and nothing else",
        facts: &[],
        watched: &["ConfigMap"],
        play: list_and_watch,
    },
    // Restarts the API server: the last one.
    Script {
        name: "watch-from-an-old-version",
        shows: "A watch goes on from any version that the server remembers; from one that it has forgotten it is 410, and a new list starts again",
        facts: &[],
        watched: &["ConfigMap"],
        play: old_version,
    },
];

fn labelled(name: &str, application: &str, value: &str) -> Value {
    let mut object = data("ConfigMap", name, "key", value);
    object["metadata"]["labels"] = json!({ "app": application });
    object
}

fn version(object: &Value) -> String {
    object["metadata"]["resourceVersion"]
        .as_str()
        .expect("a version")
        .to_owned()
}

fn label_taken_off(recorder: &mut Recorder<'_>) {
    recorder
        .by("pilotage")
        .create(labelled("web", "web", "1"))
        .expect(201);
    let list = recorder
        .by("pilotage")
        .list("ConfigMap", "app=web")
        .expect(200);
    recorder
        .by("alice")
        .merge_patch("ConfigMap", "web", json!({ "data": { "key": "2" } }))
        .expect(200);
    recorder
        .by("alice")
        .merge_patch(
            "ConfigMap",
            "web",
            json!({ "metadata": { "labels": { "app": "other" } } }),
        )
        .expect(200);
    recorder
        .by("alice")
        .merge_patch("ConfigMap", "web", json!({ "data": { "key": "3" } }))
        .expect(200);
    recorder
        .by("alice")
        .merge_patch(
            "ConfigMap",
            "web",
            json!({ "metadata": { "labels": { "app": "web" } } }),
        )
        .expect(200);
    let events = recorder
        .by("pilotage")
        .watch("ConfigMap", &version(&list), "app=web");
    let words: Vec<&str> = events.iter().map(|seen| seen.event.as_str()).collect();
    assert_eq!(words, ["MODIFIED", "DELETED", "ADDED"]);
    recorder.by("pilotage").get("ConfigMap", "web").expect(200);
    recorder
        .by("pilotage")
        .list("ConfigMap", "app=other")
        .expect(200);
}

fn list_and_watch(recorder: &mut Recorder<'_>) {
    let change = |recorder: &mut Recorder<'_>, name: &str, value: &str| {
        recorder
            .by("alice")
            .merge_patch("ConfigMap", name, json!({ "data": { "key": value } }))
            .expect(200)
    };
    recorder
        .by("alice")
        .create(labelled("a", "web", "1"))
        .expect(201);
    recorder
        .by("alice")
        .create(labelled("b", "web", "1"))
        .expect(201);
    recorder
        .by("alice")
        .create(labelled("c", "other", "1"))
        .expect(201);
    let first = change(recorder, "b", "2");
    let list = recorder.by("pilotage").list("ConfigMap", "").expect(200);
    let selected = recorder
        .by("pilotage")
        .list("ConfigMap", "app=web")
        .expect(200);
    assert!(
        recorder
            .by("pilotage")
            .watch("ConfigMap", &version(&list), "")
            .is_empty()
    );
    change(recorder, "a", "2");
    recorder
        .by("alice")
        .create(labelled("d", "web", "1"))
        .expect(201);
    change(recorder, "c", "2");
    recorder
        .by("alice")
        .delete("ConfigMap", "b", json!({}))
        .expect(200);
    recorder
        .by("alice")
        .create(labelled("b", "web", "new"))
        .expect(201);
    change(recorder, "d", "2");
    // A write that changes nothing is no event.
    change(recorder, "d", "2");
    recorder
        .by("alice")
        .delete("ConfigMap", "a", json!({}))
        .expect(200);
    let all = recorder
        .by("pilotage")
        .watch("ConfigMap", &version(&list), "");
    assert_eq!(all.len(), 7);
    recorder
        .by("pilotage")
        .watch("ConfigMap", &version(&selected), "app=web");
    // From the version of an object: what came after that.
    recorder
        .by("pilotage")
        .watch("ConfigMap", &version(&first), "");
    let from_the_middle = version(&all[3].object);
    assert_eq!(
        recorder
            .by("pilotage")
            .watch("ConfigMap", &from_the_middle, "")
            .len(),
        3
    );
    let last = recorder.by("pilotage").list("ConfigMap", "").expect(200);
    assert!(
        recorder
            .by("pilotage")
            .watch("ConfigMap", &version(&last), "")
            .is_empty()
    );
    change(recorder, "c", "3");
    assert_eq!(
        recorder
            .by("pilotage")
            .watch("ConfigMap", &version(&last), "")
            .len(),
        1
    );
}

fn old_version(recorder: &mut Recorder<'_>) {
    let change = |recorder: &mut Recorder<'_>, value: &str| {
        let patch = json!({ "data": { "key": value } });
        recorder
            .by("alice")
            .merge_patch("ConfigMap", "a", patch)
            .expect(200)
    };
    let made = recorder
        .by("alice")
        .create(labelled("a", "web", "1"))
        .expect(201);
    change(recorder, "2");
    change(recorder, "3");
    let list = recorder.by("pilotage").list("ConfigMap", "").expect(200);
    change(recorder, "4");
    assert_eq!(
        recorder
            .by("pilotage")
            .watch("ConfigMap", &version(&made), "")
            .len(),
        3
    );
    assert_eq!(
        recorder
            .by("pilotage")
            .watch("ConfigMap", &version(&list), "")
            .len(),
        1
    );
    recorder
        .by("alice")
        .create(labelled("b", "web", "1"))
        .expect(201);
    recorder
        .by("alice")
        .delete("ConfigMap", "b", json!({}))
        .expect(200);
    let newest = change(recorder, "5");
    recorder.forget(&version(&newest));
    for old in [&made, &list] {
        let events = recorder
            .by("pilotage")
            .watch("ConfigMap", &version(old), "");
        assert_eq!(events[0].object["code"], 410);
    }
    recorder.by("pilotage").get("ConfigMap", "a").expect(200);
    let again = recorder.by("pilotage").list("ConfigMap", "").expect(200);
    change(recorder, "6");
    assert_eq!(
        recorder
            .by("pilotage")
            .watch("ConfigMap", &version(&again), "")
            .len(),
        1
    );
    change(recorder, "7");
    let read = recorder.by("pilotage").get("ConfigMap", "a").expect(200);
    recorder
        .by("alice")
        .delete("ConfigMap", "a", json!({}))
        .expect(200);
    let events = recorder
        .by("pilotage")
        .watch("ConfigMap", &version(&read), "");
    assert_eq!(events[0].event, "DELETED");
    assert_eq!(
        recorder
            .by("pilotage")
            .watch("ConfigMap", &version(&again), "")
            .len(),
        3
    );
}
