//! Which real cluster is meant, and the way to it.

use std::error::Error;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ::kube::config::{InClusterError, KubeConfigOptions, Kubeconfig, KubeconfigError};
use ::kube::{Client, Config};

/// A server that takes no connection within so long is not reached: less than a request's deadline, so that such a
/// request is known not to have been sent.
const CONNECT: Duration = Duration::from_secs(5);

/// Which real cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Access {
    /// The one that a kubeconfig names.
    Kubeconfig {
        /// The file; if absent, those that `KUBECONFIG` names, else `~/.kube/config`.
        file: Option<PathBuf>,
        /// The context; the current one if absent.
        context: Option<String>,
    },
    /// The one whose pod we run in, by the token that is mounted there.
    InCluster,
}

/// There is no way to a cluster, or none that we may go.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// No kubeconfig.
    #[error("there is no kubeconfig: {0}; name one in KUBECONFIG")]
    NoKubeconfig(KubeconfigError),
    /// The context is not in it.
    #[error("the kubeconfig has no context {context:?}; it has {}", list(known))]
    UnknownContext {
        /// Which.
        context: String,
        /// The contexts that it has.
        known: Vec<String>,
    },
    /// No context is named, and none is current.
    #[error(
        "the kubeconfig has no current context; name one with --cluster kubeconfig:CONTEXT: it has {}",
        list(known)
    )]
    NoContext {
        /// The contexts that it has.
        known: Vec<String>,
    },
    /// The kubeconfig cannot be used.
    #[error("the kubeconfig cannot be used: {0}")]
    Kubeconfig(KubeconfigError),
    /// We do not run in a pod.
    #[error("not in a pod of a cluster: {0}; name a kubeconfig with --cluster kubeconfig")]
    NotInCluster(InClusterError),
    /// What is configured does not fit together.
    #[error("cannot speak to the cluster at {server}: {}", chain(source))]
    Client {
        /// Its address.
        server: String,
        /// Why.
        source: Box<::kube::Error>,
    },
    /// It does not answer.
    #[error("the cluster at {server} is not reached: {reason}")]
    Unreachable {
        /// Its address.
        server: String,
        /// Why.
        reason: String,
    },
    /// It answers, and says no.
    #[error(
        "the cluster at {server} does not let us read its namespace kube-system ({code}): {message}; \
         the README lists the permissions that are needed"
    )]
    Refused {
        /// Its address.
        server: String,
        /// The HTTP status.
        code: u16,
        /// Its words.
        message: String,
    },
    /// It answers something else.
    #[error("what answers at {server} is no Kubernetes: {reason}")]
    NoKubernetes {
        /// Its address.
        server: String,
        /// Why.
        reason: String,
    },
}

fn list(names: &[String]) -> String {
    match names {
        [] => "none".into(),
        names => names.join(", "),
    }
}

/// An error with everything that caused it: clients say "client error (Connect)", and hide why.
pub(super) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let words = error.to_string();
        if !text.contains(&words) {
            let _ = write!(text, ": {words}");
        }
        cause = error.source();
    }
    text
}

/// A client, and the address that it speaks to. Must be called inside the runtime: the client has a task.
pub(crate) async fn client(access: &Access) -> Result<(Client, String), ConnectError> {
    let mut config = match access {
        Access::Kubeconfig { file, context } => {
            from_kubeconfig(file.as_deref(), context.clone()).await?
        }
        Access::InCluster => Config::incluster().map_err(ConnectError::NotInCluster)?,
    };
    // What failed is for the core to judge: a client that repeats a write on its own would do it twice.
    config.default_retry = false;
    config.connect_timeout = Some(CONNECT);
    let server = config.cluster_url.to_string();
    let server = server.trim_end_matches('/').to_owned();
    match Client::try_from(config) {
        Ok(client) => Ok((client, server)),
        Err(source) => Err(ConnectError::Client {
            server,
            source: Box::new(source),
        }),
    }
}

async fn from_kubeconfig(
    file: Option<&Path>,
    context: Option<String>,
) -> Result<Config, ConnectError> {
    let read = file.map_or_else(Kubeconfig::read, Kubeconfig::read_from);
    let kubeconfig = read.map_err(|error| match &error {
        KubeconfigError::FindPath => ConnectError::NoKubeconfig(error),
        KubeconfigError::ReadConfig(cause, _) if cause.kind() == io::ErrorKind::NotFound => {
            ConnectError::NoKubeconfig(error)
        }
        _ => ConnectError::Kubeconfig(error),
    })?;
    let contexts = kubeconfig.contexts.iter();
    let known: Vec<String> = contexts.map(|context| context.name.clone()).collect();
    let options = KubeConfigOptions {
        context,
        ..KubeConfigOptions::default()
    };
    let config = Config::from_custom_kubeconfig(kubeconfig, &options).await;
    config.map_err(|error| match error {
        KubeconfigError::LoadContext(context) if !context.is_empty() => {
            ConnectError::UnknownContext { context, known }
        }
        KubeconfigError::LoadContext(_) | KubeconfigError::CurrentContextNotSet => {
            ConnectError::NoContext { known }
        }
        other => ConnectError::Kubeconfig(other),
    })
}
