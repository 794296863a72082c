//! What can go wrong with a state.

use std::io;
use std::path::PathBuf;

use pilotage_core::name::Uid;

use super::{Damaged, Holder};
use crate::cluster::ConnectError;
use crate::identity::NoRandomness;

/// A state that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file, its folder or its lock cannot be reached.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The database engine says no.
    #[error("state file {}: {source}", path.display())]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// Why.
        source: rusqlite::Error,
    },
    /// The file is something else.
    #[error(
        "{} is not a state file of Pilotage; name another with --state or PILOTAGE_STATE",
        path.display()
    )]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// A later release wrote it.
    #[error(
        "state file {} has format {theirs}, this release of Pilotage reads up to {ours}; use the release that wrote it, or a later one",
        path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        theirs: i64,
        /// The latest that we read.
        ours: i64,
    },
    /// What is in it cannot be read.
    #[error(
        "state file {} is damaged: {what}; put back a copy of it, or move it away to start with an empty state",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What cannot be read.
        what: String,
    },
    /// One record in it cannot be read.
    #[error(transparent)]
    Record(#[from] Damaged),
    /// There is no room left where it lies.
    #[error("state file {}: the disk is full; nothing was changed, make room and try again", path.display())]
    Full {
        /// The file.
        path: PathBuf,
    },
    /// Another process keeps the file for itself longer than we wait.
    #[error("state file {} is in use by another process; try again", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// Another provisioner runs on it.
    #[error("a provisioner is already running on {}: {holder}; stop it first", path.display())]
    Held {
        /// The file.
        path: PathBuf,
        /// Who.
        holder: Holder,
    },
    /// What was held is no longer what others find.
    #[error(
        "{} was moved, deleted or replaced while it was in use: nothing more is done with it; put it back if it was not meant to go, and start again",
        path.display()
    )]
    Replaced {
        /// The file.
        path: PathBuf,
    },
    /// It belongs to another cluster.
    #[error(
        "state file {} belongs to the cluster with uid {theirs}, this one has {ours}; choose the other cluster, or another state with --state",
        path.display()
    )]
    OtherCluster {
        /// The file.
        path: PathBuf,
        /// The cluster that it belongs to.
        theirs: Uid,
        /// The cluster at hand.
        ours: Uid,
    },
    /// There is no way to the cluster that the state is in.
    #[error("state in a cluster: {0}")]
    Connect(#[from] ConnectError),
    /// The cluster that the state is in says no, or something that we do not understand.
    #[error("state in the cluster at {server}: {what}")]
    InCluster {
        /// Its address.
        server: String,
        /// What is wrong, and what to do.
        what: String,
        /// It is not allowed.
        denied: bool,
        /// The server answered, and said no.
        refused: bool,
    },
    /// It belongs to a cluster that is not the embedded one.
    #[error(
        "state file {} belongs to the cluster with uid {theirs}, and no embedded cluster lies beside it; name its cluster with --cluster, or another state with --state",
        path.display()
    )]
    NotEmbedded {
        /// The file.
        path: PathBuf,
        /// The cluster that it belongs to.
        theirs: Uid,
    },
    /// Nothing new can be named.
    #[error(transparent)]
    NoRandomness(#[from] NoRandomness),
}
