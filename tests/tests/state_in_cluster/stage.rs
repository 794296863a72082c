//! A cluster whose custom resources are one test's alone: the whole cluster is one state.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pilotage_tests::control_plane::{Call, ControlPlane, Players, kind, shared};
use pilotage_tests::custom::Custom;
use pilotage_tests::program::Desk;
use serde_json::Value;

static TURN: Mutex<()> = Mutex::new(());

/// An empty state in a cluster, a desk whose calls mean it, and whoever plays the nodes of one namespace.
pub struct Stage {
    // Fields are dropped in this order.
    pub players: Players,
    pub desk: Desk,
    pub custom: Custom,
    pub cluster: Arc<ControlPlane>,
    _turn: MutexGuard<'static, ()>,
}

impl Stage {
    /// A stage, if the control plane is there.
    pub fn new(test: &str, namespace: &str) -> Option<Stage> {
        let cluster = shared(test)?;
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let custom = Custom::of(&cluster);
        custom.wipe();
        Some(Stage {
            players: Players::start(&cluster, namespace),
            desk: desk(&cluster, "pilotage"),
            custom,
            cluster,
            _turn: turn,
        })
    }

    /// The pods of a namespace.
    pub fn pods(&self, namespace: &str) -> Vec<Value> {
        let pods = self.ask("GET", &kind("Pod").collection(namespace));
        pods["items"].as_array().cloned().unwrap_or_default()
    }

    /// Names of all objects of a kind.
    pub fn names(&self, kind: &str) -> Vec<String> {
        let all = self.custom.get(kind);
        let items = all["items"].as_array().into_iter().flatten();
        items
            .map(|item| item["metadata"]["name"].as_str().unwrap_or_default().into())
            .collect()
    }
}

impl Stage {
    /// Asks the API server for what is at a path.
    pub fn ask(&self, method: &str, path: &str) -> Value {
        let call = Call {
            who: "alice",
            method,
            path,
            query: &[],
            content_type: "",
            body: None,
        };
        let answer = self.cluster.client().call(&call);
        answer.expect("the server answers").expect(200)
    }
}

/// A desk whose calls mean the state in a cluster.
pub fn desk(cluster: &ControlPlane, user: &str) -> Desk {
    let mut desk = Desk::on(cluster, user);
    let folder = desk.folder().display().to_string();
    desk.set("XDG_DATA_HOME", &folder);
    desk.set("PILOTAGE_STATE", "kubernetes");
    desk
}
