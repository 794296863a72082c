//! Pilotage as it is installed in a cluster.

use crate::control_plane::{Call, ControlPlane, Kubectl, kind};
use crate::patience::until;
use crate::program::Desk;

/// Applies what `pilotage manifests` prints, in a namespace of its own of that name, waits until the pods are made,
/// and gives a token of the account that they run as.
///
/// # Panics
/// If the API server does not take it as it is, or does not admit the pods.
pub fn installed(
    cluster: &ControlPlane,
    kubectl: &Kubectl,
    trust: &str,
    namespace: &str,
) -> String {
    let words = format!("manifests --trust {trust} --namespace {namespace}");
    kubectl.write("manifests.yaml", &Desk::new().ok(&words));
    let applied =
        kubectl.ok("apply --server-side --force-conflicts --validate=strict -f manifests.yaml");
    for line in [
        "customresourcedefinition.apiextensions.k8s.io/applications.pilotage.dev serverside-applied",
        "deployment.apps/pilotage serverside-applied",
        "poddisruptionbudget.policy/pilotage serverside-applied",
    ] {
        assert!(applied.lines().any(|said| said == line), "{applied}");
    }
    // They are admitted: the namespace takes nothing but what is restricted.
    until("both pods are made", || {
        let call = Call {
            who: "alice",
            method: "GET",
            path: &kind("Pod").collection(namespace),
            query: &[],
            content_type: "",
            body: None,
        };
        let pods = cluster.client().call(&call).ok()?.body;
        (pods["items"].as_array().map(Vec::len) == Some(2)).then_some(())
    });
    let token = kubectl.ok(&format!("create token pilotage --namespace {namespace}"));
    token.trim().to_owned()
}
