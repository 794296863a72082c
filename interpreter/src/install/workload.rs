//! The pods that Pilotage runs in.

use serde_json::{Value, json};

use super::{Install, NAME, Trust};

/// Where the pods answer for themselves.
const PORT: u16 = 8080;
/// Where traces of steps are kept, as long as the pod lives.
const DATA: &str = "/var/lib/pilotage";
/// A user that owns nothing.
const NOBODY: u32 = 65_532;

impl Install {
    /// Two pods, of which one leads: the other takes over within the Lease's time, or at once at a clean end.
    pub(super) fn deployment(&self) -> Value {
        let labels = self.labels();
        json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": self.metadata(),
            "spec": {
                "replicas": 2,
                "selector": { "matchLabels": labels },
                "template": {
                    "metadata": { "labels": labels },
                    "spec": self.pod(),
                },
            },
        })
    }

    fn pod(&self) -> Value {
        json!({
            "serviceAccountName": NAME,
            "automountServiceAccountToken": true,
            // It gives the Lease back within a second.
            "terminationGracePeriodSeconds": 10,
            "securityContext": {
                "runAsNonRoot": true, "runAsUser": NOBODY, "runAsGroup": NOBODY, "fsGroup": NOBODY,
                "seccompProfile": { "type": "RuntimeDefault" },
            },
            "topologySpreadConstraints": [{
                "maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "ScheduleAnyway",
                "labelSelector": { "matchLabels": self.labels() },
            }],
            "containers": [self.container()],
            "volumes": [{ "name": "data", "emptyDir": { "sizeLimit": "1Gi" } }],
        })
    }

    fn container(&self) -> Value {
        let mut arguments = vec![
            "run".to_owned(),
            "--cluster=in-cluster".into(),
            "--state=kubernetes".into(),
            format!("--listen=:{PORT}"),
            "--log-format=json".into(),
        ];
        if self.trust == Trust::Namespace {
            arguments.push("--trust-scope=namespace".into());
        }
        let probe = |path: &str| json!({ "httpGet": { "path": path, "port": "http" }, "timeoutSeconds": 5 });
        json!({
            "name": NAME,
            "image": self.image,
            "args": arguments,
            "env": [{ "name": "XDG_DATA_HOME", "value": DATA }],
            "ports": [{ "name": "http", "containerPort": PORT }],
            "livenessProbe": probe("/livez"),
            "readinessProbe": probe("/readyz"),
            "resources": {
                "requests": { "cpu": "50m", "memory": "64Mi" },
                "limits": { "memory": "512Mi" },
            },
            "securityContext": {
                "allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true,
                "capabilities": { "drop": ["ALL"] },
            },
            "volumeMounts": [{ "name": "data", "mountPath": DATA }],
        })
    }

    /// One of the two stays while nodes are drained.
    pub(super) fn disruption_budget(&self) -> Value {
        json!({
            "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": self.metadata(),
            "spec": { "maxUnavailable": 1, "selector": { "matchLabels": self.labels() } },
        })
    }
}
