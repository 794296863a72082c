//! The whole life of the main job, by the program's commands.

use pilotage_core::name::Uid;
use serde_json::{Value, json};

use crate::charms::own;
use crate::control_plane::ControlPlane;
use crate::house::objects;
use crate::patience::until;
use crate::program::Desk;

/// Whether the application has so many units, all active, and is active itself.
pub fn active(status: &Value, units: usize) -> bool {
    let application = &status["applications"]["hello"];
    let all = application["units"].as_object();
    application["application-status"]["current"] == "active"
        && all.is_some_and(|all| {
            all.len() == units
                && all
                    .values()
                    .all(|unit| unit["workload-status"]["current"] == "active")
        })
}

/// What there is of the model in the cluster, by kind.
///
/// # Panics
/// If the server does not answer.
pub fn left(cluster: &ControlPlane, model: Uid) -> Vec<String> {
    let objects = objects(cluster.client(), model);
    let kinds = objects
        .iter()
        .map(|object| object["kind"].as_str().unwrap_or_default().to_owned());
    kinds.collect()
}

/// The uid of the current model.
///
/// # Panics
/// If there is none.
pub fn model(desk: &Desk) -> Uid {
    let shown: Value = serde_json::from_str(&desk.ok("show-model --format json")).expect("JSON");
    let model = shown.as_object().and_then(|models| models.values().next());
    let uid = model.and_then(|model| model["model-uuid"].as_str());
    uid.expect("its uid").parse().expect("a uid")
}

/// The charm that lives.
pub fn hello() -> String {
    own("tests/charms/hello").display().to_string()
}

/// From a model of that name to nothing; `tend` is called again and again.
///
/// # Panics
/// If it is not lived.
pub fn life(desk: &Desk, cluster: &ControlPlane, name: &str, tend: &dyn Fn()) {
    let wait = |what: &str, holds: &dyn Fn(&Value) -> bool| {
        desk.wait(what, |status| {
            tend();
            holds(status)
        })
    };
    desk.ok(&format!("add-model {name}"));
    let model = model(desk);
    desk.ok(&format!("deploy {} hello", hello()));
    let status = wait("one active unit", &|status| active(status, 1));
    let storage = &status["storage"]["storage"]["pages/0"];
    assert_eq!(storage["status"]["current"], "attached", "{status:#}");
    desk.ok("scale-application hello 3");
    wait("three active units", &|status| active(status, 3));
    desk.ok("trust hello --scope cluster");
    until("it is trusted", || {
        tend();
        let kinds = left(cluster, model);
        kinds
            .iter()
            .any(|kind| kind == "ClusterRoleBinding")
            .then_some(())
    });
    desk.ok("scale-application hello 1");
    wait("one active unit", &|status| active(status, 1));
    desk.ok(&format!("refresh hello --path {}", hello()));
    wait("the new revision is active", &|status| {
        status["applications"]["hello"]["charm-rev"] == 1 && active(status, 1)
    });
    desk.ok("remove-application hello --no-prompt --destroy-storage");
    wait("the record is gone", &|status| {
        status["applications"] == json!({}) && status["storage"] == json!({})
    });
    assert_eq!(left(cluster, model), ["Namespace"]);
    // It waits until the model is gone.
    let mut destroy = desk.start(&format!("destroy-model {name} --no-prompt"));
    let status = until("the model is destroyed", || {
        tend();
        destroy.ended()
    });
    assert!(status.success(), "{status}");
    assert_eq!(left(cluster, model), Vec::<String>::new());
}
