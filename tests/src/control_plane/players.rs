//! Scheduler, kubelet and volume provisioner, played: what a cluster with nodes does by itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::{Value, json};

use super::{Call, Client, ControlPlane, kind};

/// How often they look.
const LOOK: Duration = Duration::from_millis(60);

/// The players of one namespace: its pods get a node, run and become ready, end when they are to end; its claims get
/// volumes. They end when this is dropped.
pub struct Players {
    stop: Arc<AtomicBool>,
    /// While set, no pod that is to end does.
    draining: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Players {
    /// Begins to play.
    pub fn start(control_plane: &ControlPlane, namespace: &str) -> Players {
        let (stop, draining) = <(Arc<AtomicBool>, Arc<AtomicBool>)>::default();
        let player = Player {
            client: control_plane.client().clone(),
            namespace: namespace.to_owned(),
            draining: draining.clone(),
        };
        let stopped = stop.clone();
        let thread = thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                // A server that is down is asked again.
                let _ = player.look();
                thread::sleep(LOOK);
            }
        });
        Players {
            stop,
            draining,
            thread: Some(thread),
        }
    }

    /// Begins to play in all namespaces.
    pub fn everywhere(control_plane: &ControlPlane) -> Players {
        Players::start(control_plane, "")
    }

    /// Whether pods that are to end take for ever.
    pub fn hold_ending_pods(&self, held: bool) {
        self.draining.store(held, Ordering::Relaxed);
    }
}

impl Drop for Players {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct Player {
    client: Client,
    namespace: String,
    draining: Arc<AtomicBool>,
}

impl Player {
    fn look(&self) -> Option<()> {
        for pod in self.list("Pod")? {
            self.tend(&pod)?;
        }
        for claim in self.list("PersistentVolumeClaim")? {
            if claim["status"]["phase"] == "Pending" {
                self.provide(&claim)?;
            }
        }
        Some(())
    }

    fn list(&self, of: &str) -> Option<Vec<Value>> {
        let path = kind(of).collection(&self.namespace);
        let list = self.send("kubelet", "GET", &path, None)?;
        Some(list["items"].as_array().cloned().unwrap_or_default())
    }

    fn tend(&self, pod: &Value) -> Option<()> {
        let name = pod["metadata"]["name"].as_str()?;
        let path = kind("Pod").object(pod["metadata"]["namespace"].as_str()?, name);
        if !pod["metadata"]["deletionTimestamp"].is_null() {
            if !self.draining.load(Ordering::Relaxed) {
                let uid = &pod["metadata"]["uid"];
                let now = json!({ "gracePeriodSeconds": 0, "preconditions": { "uid": uid } });
                self.send("kubelet", "DELETE", &path, Some(now));
            }
        } else if pod["spec"]["nodeName"].is_null() {
            let binding = binding(name);
            self.send(
                "scheduler",
                "POST",
                &format!("{path}/binding"),
                Some(binding),
            );
        } else if pod["status"]["phase"] == "Pending" {
            self.send(
                "kubelet",
                "PATCH",
                &format!("{path}/status"),
                Some(running(pod)),
            );
        }
        Some(())
    }

    fn provide(&self, claim: &Value) -> Option<()> {
        let uid = claim["metadata"]["uid"].as_str()?;
        let volume = json!({
            "apiVersion": "v1", "kind": "PersistentVolume",
            "metadata": { "name": format!("volume-{uid}") },
            "spec": {
                "capacity": claim["spec"]["resources"]["requests"],
                "accessModes": claim["spec"]["accessModes"],
                "persistentVolumeReclaimPolicy": "Retain",
                "storageClassName": claim["spec"]["storageClassName"],
                "hostPath": { "path": "/nowhere" },
                "claimRef": {
                    "apiVersion": "v1", "kind": "PersistentVolumeClaim",
                    "namespace": claim["metadata"]["namespace"], "name": claim["metadata"]["name"], "uid": uid,
                },
            },
        });
        let path = kind("PersistentVolume").collection("");
        self.send("provisioner", "POST", &path, Some(volume));
        Some(())
    }

    /// None if there is no answer; a refusal is an answer: somebody was faster.
    fn send(&self, who: &str, method: &str, path: &str, body: Option<Value>) -> Option<Value> {
        let call = Call {
            who,
            method,
            path,
            query: &[],
            content_type: match (method, &body) {
                ("PATCH", _) => "application/merge-patch+json",
                (_, Some(_)) => "application/json",
                (_, None) => "",
            },
            body: body.as_ref(),
        };
        self.client.call(&call).ok().map(|answer| answer.body)
    }
}

/// What the scheduler says of a pod: it goes to the one node.
pub fn binding(pod: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Binding", "metadata": { "name": pod },
        "target": { "apiVersion": "v1", "kind": "Node", "name": "node-1" },
    })
}

/// What the kubelet says of a pod that runs and is ready, as a merge patch of its status.
pub fn running(pod: &Value) -> Value {
    const THEN: &str = "2026-01-01T00:00:00Z";
    let holds = |kind: &str| json!({ "type": kind, "status": "True", "lastTransitionTime": THEN });
    let containers = pod["spec"]["containers"].as_array().into_iter().flatten();
    let containers: Vec<Value> = containers
        .map(|container| {
            json!({
                "name": container["name"], "image": container["image"], "imageID": "sha256:0",
                "ready": true, "started": true, "restartCount": 0,
                "state": { "running": { "startedAt": THEN } },
            })
        })
        .collect();
    let conditions = ["Initialized", "Ready", "ContainersReady", "PodScheduled"].map(holds);
    json!({ "status": {
        "phase": "Running",
        "podIP": "10.1.0.7", "podIPs": [{ "ip": "10.1.0.7" }], "hostIP": "192.168.0.1", "startTime": THEN,
        "conditions": conditions,
        "containerStatuses": containers,
    } })
}
