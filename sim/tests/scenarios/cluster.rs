//! Others in the same cluster.

use pilotage_core::time::Span;
use pilotage_sim::cluster::resource::Resource;
use serde_json::{Value, json};

use crate::stage::{DESTROY, Stage, play};

/// Somebody's StatefulSet, whose pods carry the label with which ours are named.
pub fn foreign(name: &str) -> Value {
    let labels = json!({ "app.kubernetes.io/name": "ledger" });
    json!({
        "metadata": { "name": name },
        "spec": {
            "replicas": 2,
            "serviceName": "theirs",
            "selector": { "matchLabels": labels },
            "template": {
                "metadata": { "labels": labels },
                "spec": { "containers": [{ "name": "work", "image": "work:1" }] },
            },
        },
    })
}

/// The uids of the pods of somebody's set.
fn pods_of(stage: &Stage, set: &str) -> Vec<String> {
    stage
        .world
        .cluster
        .objects(Resource::Pod, Some(crate::stage::SPACE))
        .filter(|pod| pod.controller().is_some_and(|owner| owner.name == set))
        .map(|pod| pod.uid().to_string())
        .collect()
}

#[test]
fn b76_a_foreign_set_with_the_same_labels_keeps_its_pods_and_we_keep_ours() {
    play(|stage| {
        stage.settle();
        stage.create(Resource::StatefulSet, foreign("books"));
        stage.settle();
        let theirs = pods_of(stage, "books");
        assert_eq!(theirs.len(), 2);
        let app = stage.deploy_as("ledger", |new| new.scale = 2);
        stage.watch(|stage| {
            assert_eq!(stage.units("ledger"), [0, 1]);
            assert_eq!(pods_of(stage, "books"), theirs);
        });
        let ours = pods_of(stage, "ledger");
        assert_eq!(ours.len(), 2);
        for (scale, units) in [(1, 1), (3, 3)] {
            stage.scale(app, scale);
            stage.watch(|stage| assert_eq!(pods_of(stage, "books"), theirs));
            assert_eq!(pods_of(stage, "ledger").len(), units);
        }
        let selector = &stage.set("ledger").expect("there").value["spec"]["selector"];
        let unique = &selector["matchLabels"]["pilotage.dev/application-uid"];
        assert_eq!(unique, &json!(app.to_string()));
        stage.remove(app, DESTROY);
        stage.watch(|stage| assert_eq!(pods_of(stage, "books"), theirs));
        stage.assert_nothing_left("ledger");
    });
}

#[test]
fn b76_pods_that_carry_all_our_labels_but_are_not_our_workloads_are_no_units() {
    play(|stage| {
        let app = stage.active("ledger", 1);
        let from = stage.steps();
        let stray = json!({
            "metadata": { "name": "ledger-7", "labels": {
                "app.kubernetes.io/name": "ledger",
                "app.kubernetes.io/managed-by": "pilotage",
                "pilotage.dev/model": stage.model.to_string(),
                "pilotage.dev/application-uid": app.to_string(),
            }, "ownerReferences": [{
                "apiVersion": "apps/v1", "kind": "StatefulSet", "name": "books",
                "uid": stage.object(Resource::Service, "ledger").expect("there").uid(),
                "controller": true,
            }]},
            "spec": { "containers": [{ "name": "work", "image": "work:1" }] },
        });
        stage.create(Resource::Pod, stray);
        stage.watch_for(Span::seconds(120), |stage| {
            assert_eq!(stage.units("ledger"), [0]);
            assert_eq!(stage.replicas("ledger"), Some(1));
        });
        assert_eq!(stage.writes(from), Vec::<String>::new());
    });
}
