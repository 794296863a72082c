//! Which cluster a call means: `--cluster`, else `PILOTAGE_CLUSTER`, else the embedded one.

use std::sync::Arc;

use super::environment::Environment;
use super::failure::Failure;
use super::grammar::{Opt, Parsed};
use crate::cluster::embedded::latencies;
use crate::cluster::{Access, Cluster, ClusterError, Embedded, Kubernetes, Timing};
use crate::runtime::RuntimeError;
use crate::store::Held;

use super::state::State;

/// The option of the commands that provision.
pub const CLUSTER: Opt = Opt::value(
    "cluster",
    "embedded|kubeconfig[:CONTEXT]|in-cluster",
    "the cluster (default: $PILOTAGE_CLUSTER, else embedded)",
);

/// The variable that stands for the option.
pub const VARIABLE: &str = "PILOTAGE_CLUSTER";

/// What the embedded cluster says of itself.
const EMBEDDED: &str = "embedded cluster: pods are simulated, nothing runs";

/// A cluster, as it was named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The simulated one beside the state.
    Embedded,
    /// A real one.
    Real(Access),
}

impl Choice {
    /// The cluster of a call.
    ///
    /// # Errors
    /// It is named in another way than the option says.
    pub fn of(environment: &Environment, parsed: &Parsed) -> Result<Self, Failure> {
        let named = parsed.value("cluster");
        let named = named.or_else(|| environment.variable(VARIABLE));
        Self::read(named.unwrap_or("embedded")).ok_or_else(|| {
            Failure::usage(format!(
                "there is no cluster {:?}; name embedded, kubeconfig, kubeconfig:CONTEXT or in-cluster",
                named.unwrap_or_default()
            ))
        })
    }

    fn read(text: &str) -> Option<Self> {
        let (word, context) = match text.split_once(':') {
            Some((word, context)) => (word, Some(context)),
            None => (text, None),
        };
        match (word, context) {
            ("embedded", None) => Some(Choice::Embedded),
            ("in-cluster", None) => Some(Choice::Real(Access::InCluster)),
            ("kubeconfig", context) if context != Some("") => {
                let context = context.map(str::to_owned);
                Some(Choice::Real(Access::Kubeconfig {
                    file: None,
                    context,
                }))
            }
            _ => None,
        }
    }

    /// The cloud that a cluster named like this is: its context, as far as it is known without looking.
    pub fn cloud(text: &str) -> &str {
        match Self::read(text) {
            None | Some(Choice::Embedded) => "embedded",
            Some(Choice::Real(_)) => text.split_once(':').map_or("kubernetes", |(_, name)| name),
        }
    }

    /// Opens the cluster for a state, and says what it is. The state belongs to it from then on. Must be called inside
    /// the runtime.
    ///
    /// # Errors
    /// It is not reached, or the state belongs to another.
    pub async fn open(
        &self,
        state: &State,
        held: &Held,
    ) -> Result<(Arc<dyn Cluster>, String), RuntimeError> {
        let (cluster, words): (Arc<dyn Cluster>, String) = match self {
            Choice::Embedded => {
                let cluster = Embedded::open(&state.file, &*state.store, held, latencies()?)?;
                (Arc::new(cluster), EMBEDDED.into())
            }
            Choice::Real(access) => {
                let key = state.store.fingerprint_key()?;
                let cluster = Kubernetes::connect(access, key, Timing::default()).await;
                let cluster = cluster.map_err(ClusterError::from)?;
                let words = format!("cluster: {}", cluster.server());
                (Arc::new(cluster), words)
            }
        };
        state.store.bind_cluster(cluster.uid().await?)?;
        Ok((cluster, words))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_is_named_by_a_word_and_a_kubeconfig_by_its_context_too() {
        let context = Access::Kubeconfig {
            file: None,
            context: Some("prod:eu".into()),
        };
        assert_eq!(
            Choice::read("kubeconfig:prod:eu"),
            Some(Choice::Real(context))
        );
        let current = Access::Kubeconfig {
            file: None,
            context: None,
        };
        assert_eq!(Choice::read("kubeconfig"), Some(Choice::Real(current)));
        assert_eq!(
            Choice::read("in-cluster"),
            Some(Choice::Real(Access::InCluster))
        );
        for wrong in ["", "kube", "kubeconfig:", "in-cluster:x", "embedded:x"] {
            assert_eq!(Choice::read(wrong), None, "{wrong}");
        }
    }
}
