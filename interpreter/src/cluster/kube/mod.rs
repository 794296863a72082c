//! A real cluster, by `kube`'s client.
//!
//! # Guarantees
//! * One effect is one request, the same that the simulated cluster is asked; none is repeated.
//! * A refusal says that nothing was done: what may have been done is `Unknown`.
//! * There is one watch for each kind, or one for each kind and namespace where namespaces are named, whatever the number
//!   of applications. What it tells is
//!   complete: after a break it goes on from the last version, or lists again.
//! * Secrets' data comes in only as fingerprints.
//!
//! # Assumptions
//! * Resource versions of a kind compare as numbers (promised since Kubernetes 1.35).
//! * Whoever runs an effect bounds its time; here connecting, and the silence of a watch, are bounded.

mod answer;
mod backoff;
mod connect;
mod lease;
mod lines;
mod read;
mod request;
mod several;
#[cfg(test)]
mod tests;
mod watch;

use std::sync::Arc;
use std::time::Duration;

use ::kube::Client;
use ::kube::client::Body;
use http::header::RETRY_AFTER;
use http_body_util::BodyExt;
use pilotage_core::digest::DigestKey;
use pilotage_core::effect::{Action, Effect};
use pilotage_core::event::Event;
use pilotage_core::kubernetes::Kind;
use pilotage_core::name::Uid;
use pilotage_core::outcome::{Outcome, Refusal};
use pilotage_sim::cluster::effects;
use pilotage_sim::cluster::request::{Request, Verb};
use pilotage_sim::cluster::resource::Resource;
use tokio::sync::mpsc;
use tokio::time::timeout;

use self::answer::Answer as HttpAnswer;
use self::read::Reader;
use super::{Answer, Cluster, ClusterError, Values};
use crate::clock;
use crate::monitor::Requests;

pub(crate) use self::answer::may_have_happened;
pub(crate) use self::connect::client;
pub(crate) use self::lines::Lines;
pub(crate) use self::read::Status;
pub(crate) use self::request::encode;
pub use connect::{Access, ConnectError};
pub use lease::Lease;
pub use watch::Timing;

/// Pilotage's own namespace, unless another is named.
pub const OWN_NAMESPACE: &str = "pilotage-system";

/// How long the first question to a cluster may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// A real cluster.
#[derive(Clone)]
pub struct Kubernetes {
    link: Arc<Link>,
}

/// The way to the cluster, shared by all that goes on.
#[derive(Clone)]
struct Link {
    client: Client,
    server: String,
    key: DigestKey,
    timing: Timing,
    requests: Arc<Requests>,
    /// The namespaces that are watched; empty for all.
    namespaces: Vec<Box<str>>,
}

impl Kubernetes {
    /// Prepares the way to a cluster. Nothing is sent yet. Must be called inside a tokio runtime.
    ///
    /// `key` is that of the state's fingerprints.
    ///
    /// # Errors
    /// There is no kubeconfig or token, or what it says cannot be used.
    pub async fn connect(
        access: &Access,
        key: DigestKey,
        timing: Timing,
    ) -> Result<Self, ConnectError> {
        let (client, server) = client(access).await?;
        let link = Link {
            client,
            requests: Arc::new(Requests::to(&server)),
            server,
            key,
            timing,
            namespaces: Vec::new(),
        };
        Ok(Kubernetes {
            link: Arc::new(link),
        })
    }

    /// The same, of which nothing is watched but these namespaces and what is in none. Empty for all.
    #[must_use]
    pub fn within(self, namespaces: Vec<Box<str>>) -> Self {
        let mut link = Arc::unwrap_or_clone(self.link);
        link.namespaces = namespaces;
        Kubernetes {
            link: Arc::new(link),
        }
    }

    /// Its address.
    pub fn server(&self) -> &str {
        &self.link.server
    }

    /// What was asked of it until now.
    pub fn requests(&self) -> Arc<Requests> {
        self.link.requests.clone()
    }

    /// A Lease of it: in the namespace of that name, else in [`OWN_NAMESPACE`], wherever we run: those that act on one
    /// state are to meet.
    pub fn lease(&self, namespace: Option<&str>, name: String) -> Lease {
        Lease {
            link: self.link.clone(),
            namespace: namespace.unwrap_or(OWN_NAMESPACE).to_owned(),
            name,
        }
    }
}

impl Link {
    /// One request and its whole answer.
    async fn ask(&self, request: http::Request<Body>) -> Result<HttpAnswer, ::kube::Error> {
        whole(self.send(request).await?).await
    }

    /// One request, up to the beginning of its answer.
    async fn send(
        &self,
        request: http::Request<Body>,
    ) -> Result<http::Response<Body>, ::kube::Error> {
        let method = request.method().clone();
        let answer = self.client.send(request).await;
        let code = answer.as_ref().ok().map(|answer| answer.status().as_u16());
        self.requests.count(method.as_str(), code);
        answer
    }

    async fn run(&self, action: &Action, values: &Values) -> Outcome {
        let now = clock::now();
        let request = match effects::request(action, now, &|secret| values(secret)) {
            Ok(request) => request,
            Err(outcome) => return outcome,
        };
        let request = match request::http(&request) {
            Ok(request) => request,
            Err(error) => return not_sent(&error.to_string()),
        };
        match self.ask(request).await {
            Ok(answer) => answer.outcome(action, self.key),
            Err(error) if was_not_sent(&error) => not_sent(&reason(&error)),
            Err(_) => Outcome::Unknown,
        }
    }

    async fn uid(&self) -> Result<Uid, ConnectError> {
        let server = self.server.clone();
        let get = Request {
            manager: "".into(),
            resource: Resource::Namespace,
            namespace: None,
            name: "kube-system".into(),
            subresource: None,
            verb: Verb::Get,
        };
        let answer = match request::http(&get) {
            Ok(request) => match timeout(PATIENCE, self.ask(request)).await {
                Ok(answer) => answer.map_err(|error| reason(&error)),
                Err(_) => Err(format!("no answer within {} s", PATIENCE.as_secs())),
            },
            Err(error) => Err(error.to_string()),
        };
        let answer = match answer {
            Ok(answer) => answer,
            Err(reason) => return Err(ConnectError::Unreachable { server, reason }),
        };
        if answer.code != 200 {
            let Status { code, message, .. } = Status::read(answer.code, &answer.body);
            return Err(ConnectError::Refused {
                server,
                code,
                message,
            });
        }
        let reader = Reader {
            kind: Kind::Namespace,
            key: self.key,
        };
        match reader.object(&answer.body) {
            Ok(namespace) => Ok(namespace.metadata().uid),
            Err(error) => Err(ConnectError::NoKubernetes {
                server,
                reason: error.to_string(),
            }),
        }
    }
}

pub(crate) async fn whole(response: http::Response<Body>) -> Result<HttpAnswer, ::kube::Error> {
    let code = response.status().as_u16();
    let after = response.headers().get(RETRY_AFTER);
    let retry_after = after.and_then(|after| after.to_str().ok()?.parse().ok());
    let body = response.into_body().collect().await?.to_bytes().into();
    Ok(HttpAnswer {
        code,
        retry_after,
        body,
    })
}

/// Whether a request surely did not leave: there was no connection to send it on, or nothing to identify us by.
pub(crate) fn was_not_sent(error: &::kube::Error) -> bool {
    match error {
        ::kube::Error::Auth(_) => true,
        ::kube::Error::Service(error) => error
            .downcast_ref::<hyper_util::client::legacy::Error>()
            .is_some_and(hyper_util::client::legacy::Error::is_connect),
        _ => false,
    }
}

/// Why there was no answer, for people.
pub(crate) fn reason(error: &::kube::Error) -> String {
    match error {
        ::kube::Error::Service(error) => connect::chain(&**error),
        other => connect::chain(other),
    }
}

fn not_sent(message: &str) -> Outcome {
    Outcome::Refused {
        reason: Refusal::NotSent,
        message: message.into(),
    }
}

impl Cluster for Kubernetes {
    fn uid(&self) -> Answer<Result<Uid, ClusterError>> {
        let link = self.link.clone();
        Box::pin(async move { Ok(link.uid().await?) })
    }

    fn keeps_events(&self) -> bool {
        true
    }

    fn namespaces(&self) -> Vec<Box<str>> {
        self.link.namespaces.clone()
    }

    fn run(&self, effect: Arc<Effect>, values: Values) -> Answer<Outcome> {
        let link = self.link.clone();
        Box::pin(async move { link.run(&effect.action, &values).await })
    }

    fn watch(&self, kind: Kind, events: mpsc::Sender<Event>) -> Answer<()> {
        Box::pin(watch::watch(self.link.clone(), kind, events))
    }
}
