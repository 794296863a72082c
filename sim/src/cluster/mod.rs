//! A Kubernetes cluster without IO: API server, controllers and kubelet as one machine that is told the time.
//!
//! Its truth is recorded, not believed: transcripts of a real control plane are replayed against it by the tests.
//!
//! [`Cluster::request`] is one call to the API server, [`Cluster::watch_since`] what a watch saw after a version. Objects are
//! [`Stored`] values behind `Arc`s: a fork of a world copies pointers.
//!
//! # What the API server does not do
//!
//! - authentication and authorisation: every request is allowed, save what [`Denial`] rules refuse;
//! - the admission chain, but for namespaces, service accounts, claims' growth and the defaults of pods; quotas, limits,
//!   policies and webhooks are injected as [`Denial`] rules;
//! - kinds beyond [`Resource`], custom resources, API discovery, other versions of a kind than the newest;
//! - strategic merge patch, field selectors, set-based label selectors, pages of lists, bookmarks, dry runs,
//!   `deletecollection`;
//! - the whole of validation: names, labels, templates, selectors, immutable parts and references between volumes, mounts and
//!   claims are checked with the real answers; what no writer of this project sends is not;
//! - IPv6 and dual-stack Services;
//! - merging the oldest of more than ten `Update` entries of `managedFields`.

pub mod controllers;
pub mod effects;
pub mod moment;
pub mod object;
pub mod persist;
pub mod quantity;
pub mod request;
pub mod resource;
pub mod settings;
pub mod watch;

mod defaults;
mod failure;
pub mod fields;
mod schema;
mod server;
mod store;
mod validate;

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

use pilotage_core::time::Timestamp;

use self::controllers::Controllers;
use self::object::Stored;
use self::request::{Request, Response};
use self::resource::Resource;
use self::settings::{Denial, Settings};
pub use self::store::Change;
use self::store::Store;

/// The cluster. A clone is a fork: both go on alone.
#[derive(Clone, Debug)]
pub struct Cluster {
    settings: Settings,
    store: Store,
    denials: Vec<Denial>,
    /// How many uids and generated names were drawn.
    drawn: u64,
    /// What runs beside the API server, once it was started.
    controllers: Option<Box<Controllers>>,
}

impl Cluster {
    /// A new cluster with the namespaces and objects that every cluster starts with.
    pub fn new(settings: Settings) -> Self {
        let mut cluster = Cluster {
            settings,
            store: Store::default(),
            denials: Vec::new(),
            drawn: 0,
            controllers: None,
        };
        cluster.bootstrap();
        cluster
    }

    /// One call to the API server.
    pub fn request(&mut self, at: Timestamp, request: Request) -> Response {
        if let Some(place) = self.denials.iter().position(|rule| rule.applies(&request)) {
            return self.refuse(place);
        }
        let response = match self.serve(at, request) {
            Ok(response) => response,
            Err(failure) => Response::Failure(failure),
        };
        self.tell_controllers(at);
        response
    }

    fn refuse(&mut self, place: usize) -> Response {
        let rule = &mut self.denials[place];
        let answer = rule.answer.clone();
        if let Some(times) = &mut rule.times {
            *times = times.saturating_sub(1);
            if *times == 0 {
                self.denials.remove(place);
            }
        }
        Response::Failure(answer)
    }

    /// Adds a rule that refuses requests; the first rule that applies answers.
    pub fn deny(&mut self, rule: Denial) {
        self.denials.push(rule);
    }

    /// Takes all rules away.
    pub fn allow_all(&mut self) {
        self.denials.clear();
    }

    /// The newest version.
    pub fn version(&self) -> u64 {
        self.store.version()
    }

    /// How the cluster was set up.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Looks at an object without a request. The namespace of cluster-scoped kinds is empty.
    pub fn peek(&self, resource: Resource, namespace: &str, name: &str) -> Option<&Arc<Stored>> {
        self.store.get(resource, namespace, name)
    }

    /// Looks at the objects of a kind, in one namespace or in all, by namespace and name.
    pub fn objects(
        &self,
        resource: Resource,
        namespace: Option<&str>,
    ) -> impl Iterator<Item = &Arc<Stored>> {
        self.store.iter(resource, namespace)
    }

    /// Looks at every object.
    pub fn all_objects(&self) -> impl Iterator<Item = &Arc<Stored>> {
        self.store.all()
    }

    /// Looks at the objects that name this uid in their owner references.
    pub fn dependents(&self, owner_uid: &str) -> impl Iterator<Item = &Arc<Stored>> {
        self.store.dependents(owner_uid)
    }

    /// Looks at the writes after a version, of all kinds in order, without a request.
    pub fn changes_since(&self, version: u64) -> impl Iterator<Item = &Change> {
        self.store.since(version)
    }
}

#[cfg(test)]
mod tests;
