//! The parts that have no program here: scheduler, kubelet, volume provisioner. Each does what its original would, one request at a time.

use serde_json::json;

use super::Recorder;

/// What the kubelet's clock says: always the same, so that no field belongs to somebody because a second went by.
pub const THEN: &str = "2026-01-01T00:00:00Z";

impl Recorder<'_> {
    /// The scheduler gives a pod a node.
    pub fn schedule(&mut self, pod: &str) {
        let path = format!("/api/v1/namespaces/{}/pods/{pod}/binding", self.namespace());
        let binding = json!({ "apiVersion": "v1", "kind": "Binding", "metadata": { "name": pod },
            "target": { "apiVersion": "v1", "kind": "Node", "name": "node-1" } });
        self.by("scheduler")
            .request("POST", &path, &[], "application/json", Some(binding));
    }

    /// The kubelet says how a pod is.
    pub fn report(&mut self, pod: &str, phase: &str, ready: bool) {
        let condition = |kind: &str, holds: bool| json!({ "type": kind, "status": if holds { "True" } else { "False" }, "lastTransitionTime": THEN });
        let status = json!({ "status": {
            "phase": phase,
            "podIP": "10.1.0.7", "podIPs": [{ "ip": "10.1.0.7" }], "hostIP": "192.168.0.1", "startTime": THEN,
            "conditions": [
                condition("Initialized", true),
                condition("Ready", ready),
                condition("ContainersReady", ready),
                condition("PodScheduled", true),
            ],
        } });
        self.by("kubelet")
            .merge_patch("Pod", &format!("{pod}/status"), status);
    }

    /// A pod gets a node, runs and is ready.
    pub fn run(&mut self, pod: &str) {
        self.schedule(pod);
        self.report(pod, "Running", true);
    }

    /// The same for several pods, with a rest after each, so that what the controllers say about one is not mixed with the next.
    pub fn run_each(&mut self, pods: &[&str]) {
        for pod in pods {
            self.run(pod);
            self.rest(&format!("{pod} is ready"), |_| true);
        }
    }

    /// The kubelet has stopped the containers of a pod that is being deleted, and takes it off the list.
    pub fn end(&mut self, pod: &str) {
        let uid = self
            .live
            .get(&format!("Pod {pod}"))
            .map(|pod| pod["metadata"]["uid"].clone());
        let options = json!({ "gracePeriodSeconds": 0, "preconditions": { "uid": uid } });
        self.by("kubelet").delete("Pod", pod, options);
    }

    /// The provisioner makes a volume for a claim and says so on it; the binder does the rest.
    pub fn provide(&mut self, claim: &str, capacity: &str) {
        let namespace = self.namespace();
        let key = format!("PersistentVolumeClaim {claim}");
        let live = self.live.get(&key).cloned().unwrap_or_default();
        let volume = json!({
            "apiVersion": "v1", "kind": "PersistentVolume",
            "metadata": { "name": format!("{namespace}-{claim}") },
            "spec": {
                "capacity": { "storage": capacity },
                "accessModes": ["ReadWriteOnce"],
                "persistentVolumeReclaimPolicy": "Retain",
                "storageClassName": live["spec"]["storageClassName"],
                "hostPath": { "path": "/nowhere" },
                "claimRef": { "apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": namespace, "name": claim, "uid": live["metadata"]["uid"] },
            },
        });
        self.by("provisioner").create(volume);
        self.rest(&format!("{claim} is bound"), |live| {
            live.field(&key, "/status/phase") == "Bound"
        });
    }
}
