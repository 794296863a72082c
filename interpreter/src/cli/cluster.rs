//! Which cluster a call means: `--cluster`, else `PILOTAGE_CLUSTER`, else the one that the state is in, else the embedded
//! one.

use std::sync::Arc;
use std::time::Duration;

use super::environment::Environment;
use super::failure::Failure;
use super::grammar::{Opt, Parsed};
use crate::cluster::embedded::latencies;
use crate::cluster::{Access, Cluster, ClusterError, Embedded, Kubernetes, Timing};
use crate::leader::{Leadership, Times, lease_name};
use crate::monitor::Monitor;
use crate::runtime::RuntimeError;
use crate::store::Held;

use super::state::{Place, State};

/// The option of the commands that provision.
pub const CLUSTER: Opt = Opt::value(
    "cluster",
    "embedded|kubeconfig[:CONTEXT]|in-cluster",
    "the cluster (default: $PILOTAGE_CLUSTER, else that of a state in a cluster, else embedded)",
);

/// Which namespaces are watched.
pub const NAMESPACES: Opt = Opt::value(
    "namespaces",
    "NAME[,NAME…]",
    "watch these namespaces of a real cluster alone; models of others are left alone (default: $PILOTAGE_NAMESPACES, else all)",
);

/// Which lease keeps others from acting on a real cluster.
pub const LEASE: Opt = Opt::value(
    "lease",
    "NAMESPACE|off",
    "where the lease of the one leader on a real cluster is (default: $PILOTAGE_LEASE, else pilotage-system)",
);

/// How long the lease lasts.
pub const LEASE_DURATION: Opt = Opt::duration(
    "lease-duration",
    "DURATION",
    "after how long without a sign of the leader another takes over (default: 15s)",
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

/// The namespaces that a call names; none for all.
///
/// # Errors
/// One of them cannot be a namespace, or the cluster is the embedded one.
pub fn namespaces(
    environment: &Environment,
    parsed: &Parsed,
    cluster: &Choice,
) -> Result<Vec<Box<str>>, Failure> {
    let named = parsed.value("namespaces");
    let Some(named) = named.or_else(|| environment.variable("PILOTAGE_NAMESPACES")) else {
        return Ok(Vec::new());
    };
    if *cluster == Choice::Embedded {
        return Err(Failure::usage(
            "the embedded cluster is watched as a whole; --namespaces is for a real one, see --cluster",
        ));
    }
    let mut namespaces: Vec<Box<str>> = named.split(',').map(|name| name.trim().into()).collect();
    namespaces.sort();
    namespaces.dedup();
    if let Some(wrong) = namespaces.iter().find(|name| !is_label(name)) {
        return Err(Failure::usage(format!(
            "{wrong:?} in --namespaces cannot be a namespace: lower-case letters, digits and hyphens, 63 at most"
        )));
    }
    Ok(namespaces)
}

/// Whether a text can be a namespace's name (Kubernetes: "Object Names and IDs", RFC 1123 labels).
fn is_label(text: &str) -> bool {
    let plain = |letter: u8| letter.is_ascii_lowercase() || letter.is_ascii_digit();
    let bytes = text.as_bytes();
    let ends = [bytes.first(), bytes.last()];
    (1..=63).contains(&bytes.len())
        && bytes.iter().all(|letter| plain(*letter) || *letter == b'-')
        && ends.into_iter().flatten().all(|letter| plain(*letter))
}

impl Choice {
    /// The cluster of a call.
    ///
    /// # Errors
    /// It is named in another way than the option says.
    pub fn of(environment: &Environment, parsed: &Parsed) -> Result<Self, Failure> {
        let named = Self::named(environment, parsed)?;
        match (Place::of(environment, parsed)?, named) {
            (Place::File(_), named) => Ok(named.unwrap_or(Choice::Embedded)),
            (Place::Cluster { access, .. }, None) => Ok(Choice::Real(access)),
            (Place::Cluster { .. }, Some(Choice::Embedded)) => Err(Failure::usage(
                "a state in a cluster is that cluster's; leave --cluster out, or name it",
            )),
            (Place::Cluster { .. }, Some(real)) => Ok(real),
        }
    }

    /// The cluster that a call names, if it names one.
    ///
    /// # Errors
    /// It is named in another way than the option says.
    pub fn named(environment: &Environment, parsed: &Parsed) -> Result<Option<Self>, Failure> {
        let named = parsed.value("cluster");
        let named = named.or_else(|| environment.variable(VARIABLE));
        named
            .map(|named| {
                Self::read(named).ok_or_else(|| {
                    Failure::usage(format!(
                        "there is no cluster {named:?}; name embedded, kubeconfig, kubeconfig:CONTEXT or in-cluster"
                    ))
                })
            })
            .transpose()
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

    /// The cloud that a cluster named like this is.
    pub fn cloud(text: &str) -> String {
        let choice = Self::read(text).unwrap_or(Choice::Embedded);
        choice.name().to_owned()
    }

    /// The cloud that it is: its context, as far as it is known without looking.
    pub fn name(&self) -> &str {
        match self {
            Choice::Embedded => "embedded",
            Choice::Real(access) => context_of(access),
        }
    }

    /// Opens the cluster for a state, says what it is, and takes part in the election of who acts on it. The state
    /// belongs to the cluster from then on. Must be called inside the runtime.
    ///
    /// # Errors
    /// It is not reached, or the state belongs to another.
    pub async fn open(
        &self,
        state: &State,
        held: &Held,
        lease: &LeaseChoice,
        namespaces: &[Box<str>],
        monitor: &Monitor,
    ) -> Result<(Arc<dyn Cluster>, String, Leadership), RuntimeError> {
        match self {
            Choice::Embedded => {
                // It is in this process: whoever holds the state is alone with it.
                let cluster = Embedded::open(&state.file, &*state.store, held, latencies()?)?;
                state.store.bind_cluster(cluster.uid().await?)?;
                state.store.name_cluster(self.name())?;
                let leadership = Leadership::undisputed();
                Ok((Arc::new(cluster), EMBEDDED.into(), leadership))
            }
            Choice::Real(access) => {
                let key = state.store.fingerprint_key()?;
                let cluster = Kubernetes::connect(access, key, Timing::default()).await;
                let cluster = cluster
                    .map_err(ClusterError::from)?
                    .within(namespaces.to_vec());
                monitor.count_requests(cluster.requests());
                state.store.bind_cluster(cluster.uid().await?)?;
                state.store.name_cluster(self.name())?;
                let leadership = match &lease.place {
                    LeasePlace::Off => Leadership::undisputed(),
                    LeasePlace::Namespace(namespace) => {
                        let name = lease_name(key);
                        let lease_of = cluster.lease(namespace.as_deref(), name);
                        Leadership::stand(Arc::new(lease_of), lease.times, held.identity())?
                    }
                };
                let words = format!("cluster: {}", cluster.server());
                Ok((Arc::new(cluster), words, leadership))
            }
        }
    }
}

/// The context that leads to a cluster, as far as it was named.
pub fn context_of(access: &Access) -> &str {
    match access {
        Access::Kubeconfig {
            context: Some(context),
            ..
        } => context,
        _ => "kubernetes",
    }
}

/// Which lease keeps others from acting on a real cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseChoice {
    place: LeasePlace,
    /// How long what takes.
    pub times: Times,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum LeasePlace {
    /// None: nobody else acts on this state.
    Off,
    /// In this namespace, or in the usual one.
    Namespace(Option<String>),
}

impl LeaseChoice {
    /// The lease of a call.
    ///
    /// # Errors
    /// Its duration is not one that a Lease can have, or the state cannot be without it.
    pub fn of(environment: &Environment, parsed: &Parsed, state: &State) -> Result<Self, Failure> {
        let named = parsed.value("lease");
        let place = match named.or_else(|| environment.variable("PILOTAGE_LEASE")) {
            Some("off") if state.is_in_cluster() => {
                return Err(Failure::usage(
                    "a state in a cluster has nothing but its lease that keeps two from acting at once: there is no --lease off",
                ));
            }
            Some("off") => LeasePlace::Off,
            named => LeasePlace::Namespace(named.map(str::to_owned)),
        };
        let times = match parsed.duration("lease-duration") {
            None => Times::default(),
            Some(duration) if duration < Duration::from_secs(1) || duration.subsec_nanos() > 0 => {
                return Err(Failure::usage(
                    "a lease lasts a whole number of seconds, at least one",
                ));
            }
            Some(duration) => Times::of_duration(duration),
        };
        Ok(LeaseChoice { place, times })
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
