//! What every cluster starts with.

use alloc::boxed::Box;

use pilotage_core::time::Timestamp;
use serde_json::{Value, json};

use crate::cluster::Cluster;
use crate::cluster::request::{Request, Verb};
use crate::cluster::resource::Resource;

impl Cluster {
    /// Makes the namespaces of the system and the Service of the API server.
    pub(in crate::cluster) fn bootstrap(&mut self) {
        for name in ["kube-system", "kube-public", "kube-node-lease", "default"] {
            self.found(
                Resource::Namespace,
                None,
                json!({"metadata": {"name": name}}),
            );
        }
        self.found(
            Resource::Service,
            Some("default"),
            json!({
                "metadata": {
                    "name": "kubernetes",
                    "labels": {"component": "apiserver", "provider": "kubernetes"},
                },
                "spec": {
                    "clusterIP": self.service_address(1),
                    "ports": [{"name": "https", "port": 443, "protocol": "TCP", "targetPort": 6443}],
                },
            }),
        );
    }

    fn found(&mut self, resource: Resource, namespace: Option<&str>, body: Value) {
        let request = Request {
            manager: "kube-apiserver".into(),
            resource,
            namespace: namespace.map(Box::from),
            name: "".into(),
            subresource: None,
            verb: Verb::Create { body },
        };
        let answer = self.serve(Timestamp(0), request);
        debug_assert!(answer.is_ok(), "{answer:?}");
    }
}
