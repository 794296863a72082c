//! Where the pods are: a cluster that effects are run against, and that tells what it sees.

pub mod embedded;
pub mod kube;

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use pilotage_core::effect::Effect;
use pilotage_core::event::Event;
use pilotage_core::kubernetes::Kind;
use pilotage_core::name::Uid;
use pilotage_core::outcome::Outcome;
use pilotage_core::secret::SecretRef;
use tokio::sync::mpsc;

use crate::store::StoreError;

pub use embedded::{Embedded, LATENCIES};
pub use kube::{Access, ConnectError, Kubernetes, Lease, OWN_NAMESPACE, Timing};

/// A future that a trait object can answer, and that can be handed to another task.
pub type Answer<T> = Pin<Box<dyn Future<Output = T> + Send + 'static>>;

/// Gives the value of a secret, if the vault has it. May block for a moment.
pub type Values = Arc<dyn Fn(&SecretRef) -> Option<String> + Send + Sync>;

/// A Kubernetes cluster.
pub trait Cluster: Send + Sync {
    /// Its identity: the uid of its namespace `kube-system`.
    fn uid(&self) -> Answer<Result<Uid, ClusterError>>;

    /// Whether anybody can read Kubernetes Events in it.
    fn keeps_events(&self) -> bool {
        false
    }

    /// The namespaces that its watches tell of; empty for all.
    fn namespaces(&self) -> Vec<Box<str>> {
        Vec::new()
    }

    /// Runs one effect, as one request, and says what became of it. Dropping the future gives up on the answer, not on
    /// the request. Placeholders are filled from `values` on the way.
    ///
    /// [`Action::Store`](pilotage_core::effect::Action::Store) is no request to a cluster: it is refused as not sent.
    fn run(&self, effect: Arc<Effect>, values: Values) -> Answer<Outcome>;

    /// Tells everything of ours of one kind, and then what changes: `Listing`, the objects, `Synced`, changes; again
    /// from the start where a watch cannot be resumed. Ends when nobody listens any more.
    fn watch(&self, kind: Kind, events: mpsc::Sender<Event>) -> Answer<()>;
}

/// A cluster that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// The file that keeps the embedded cluster cannot be used.
    #[error("embedded cluster: {0}")]
    File(#[from] StoreError),
    /// What is in it is no cluster.
    #[error("embedded cluster in {}: {what}; put back a copy of the file", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// The latencies that a test sets cannot be read.
    #[error("{LATENCIES}: {0}")]
    Latencies(serde_json::Error),
    /// The thread that is its clock cannot be made.
    #[error("embedded cluster: {0}")]
    Thread(std::io::Error),
    /// There is no way to a real cluster, or none that we may go.
    #[error(transparent)]
    Connect(#[from] ConnectError),
}
