//! The state in a cluster: custom resources, which users may write with tools of their own.
//!
//! # What is where
//! * `models.pilotage.dev` (of the whole cluster, as their namespaces are), `applications.pilotage.dev` (in the model's
//!   namespace), `storages.pilotage.dev` (of the whole cluster: one must be made while its model's namespace is going).
//! * `spec` is what users want, as `kubectl` or `pilotage` writes it. `status` is what Pilotage knows: conditions for
//!   people and tools, and `record`, the whole record, which Pilotage alone reads and writes.
//! * A Secret beside each application that needs one holds its values of the vault. Pilotage's own namespace,
//!   [`HOME`], holds the key of fingerprints.
//!
//! # The record
//! It is the one in the status, with one command applied, where the spec has moved on since
//! ([`Written`](pilotage_core::state::Written)): everybody who reads comes to the same record. The provisioner keeps
//! it so, in the status, before it acts on it ("settling"); a spec that breaks a rule is not followed, and the
//! condition `Accepted` says why. What the schema alone can see, the API server refuses at once.
//!
//! # Going
//! A finalizer holds an object until its record says that nothing is left. Deleting an object is the wish to remove;
//! `spec.removal` says the same and how. Where no record was ever kept, nothing was ever made, and the object goes at once.
//!
//! # Guarantees
//! * A command is one guarded request wherever it can be; see `commit` for the others, and what a crash between
//!   them leaves. What was answered as done is in etcd.
//! * Of two who change one record, one is told, and looks again; no change is lost.
//! * A snapshot is of one resource version; a watch tells every later change.
//!
//! # Assumptions and limits
//! * Names that two applications would give to their objects are compared with the applications that are known: of two
//!   that are made in the same moment, both may be taken, and the worker of one then finds the other's objects.
//! * A record has at most 1,000,000 bytes, a spec 400,000: 3,500 units, or 1,000 with a storage each. A command that would make it larger is refused.
//! * Whoever may write the `status` of these resources may write any record.

mod api;
mod cache;
mod commit;
mod definitions;
mod install;
mod kind;
mod lease;
mod link;
mod object;
mod record;
mod settle;
mod size;
mod spec;
mod status;
#[cfg(test)]
mod tests;
mod vault;
mod wanted;

use std::future::Future;
use std::sync::atomic::Ordering;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, PoisonError};

use pilotage_core::digest::DigestKey;
use pilotage_core::name::Uid;
use pilotage_core::outcome::Outcome;
use pilotage_core::secret::SecretRef;
use pilotage_core::state::Command;
use pilotage_core::time::Timestamp;
use serde::Deserialize;
use tokio::runtime::{Builder, Runtime};

use self::kind::Kind;
use self::link::Link;
use self::record::Record;
use super::{Changes, Damaged, Held, Holder, Position, Snapshot, Store, StoreError};
use crate::cluster::Access;
use crate::identity::draw_incarnation;

pub use definitions::definitions;
pub use install::HOME;

/// The state in a cluster.
pub struct CustomResources {
    link: Arc<Link>,
    /// Calls block, from wherever they come; what they wait for runs here.
    runtime: Mutex<Option<Arc<Running>>>,
}

/// Threads of our own. They may be left from inside others, so they are not waited for.
struct Running(Option<Runtime>);

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

#[derive(Deserialize)]
struct Named {
    metadata: NamedMetadata,
}

#[derive(Deserialize)]
struct NamedMetadata {
    uid: Uid,
}

impl CustomResources {
    /// The state in a cluster. Nothing is read or made yet.
    ///
    /// # Errors
    /// There is no randomness.
    pub fn new(access: Access) -> Result<Self, StoreError> {
        let epoch = u64::from(draw_incarnation()?) << 32;
        Ok(CustomResources {
            link: Arc::new(Link::new(access, epoch)),
            runtime: Mutex::new(None),
        })
    }

    fn running(&self) -> Result<Arc<Running>, StoreError> {
        let mut slot = self.runtime.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(running) = &*slot {
            return Ok(running.clone());
        }
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("state")
            .enable_all()
            .build()
            .map_err(|error| self.link.error(error))?;
        let running = Arc::new(Running(Some(runtime)));
        *slot = Some(running.clone());
        Ok(running)
    }

    /// Waits for a future that runs on threads of our own: callers may be tasks themselves.
    fn wait<T, F>(&self, future: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, StoreError>> + Send + 'static,
    {
        let running = self.running()?;
        let ended = || {
            self.link
                .error("what was asked of the cluster was given up")
        };
        let Some(runtime) = &running.0 else {
            return Err(ended());
        };
        let (answer, answered) = sync_channel(1);
        runtime.spawn(async move {
            let _ = answer.send(future.await);
        });
        answered.recv().map_err(|_| ended())?
    }

    /// Makes the definitions of the custom resources, where they are not there or those of an earlier release.
    ///
    /// # Errors
    /// The cluster cannot be reached, or does not let us.
    pub fn install(&self) -> Result<(), StoreError> {
        let link = self.link.clone();
        self.wait(async move { link.install().await })
    }
}

impl Store for CustomResources {
    fn execute(
        &self,
        at: Timestamp,
        command: &Command,
        secrets: &[(SecretRef, String)],
    ) -> Result<Outcome, StoreError> {
        let (link, command, secrets) = (self.link.clone(), command.clone(), secrets.to_vec());
        self.wait(async move { link.execute(at, &command, &secrets).await })
    }

    fn snapshot(&self) -> Result<Snapshot, StoreError> {
        let link = self.link.clone();
        self.wait(async move {
            link.list().await?;
            if link.holds.load(Ordering::SeqCst) {
                link.settle_all().await?;
            }
            Ok(picture(&link))
        })
    }

    fn changes_since(&self, position: Position) -> Result<Changes, StoreError> {
        let link = self.link.clone();
        self.wait(async move { link.news(position).await })
    }

    fn damaged(&self) -> Result<Vec<Damaged>, StoreError> {
        Ok(self.link.cache().damaged())
    }

    fn is_read_by_others(&self) -> bool {
        true
    }

    fn shown_uid(&self, application: Uid) -> Option<Uid> {
        let cache = self.link.cache();
        let place = cache.place(Kind::Application, application)?;
        Some(cache.entry(&place)?.object.uid)
    }

    fn secret(&self, secret: &SecretRef) -> Result<Option<String>, StoreError> {
        let (link, secret) = (self.link.clone(), secret.clone());
        self.wait(async move { link.find_secret(&secret).await })
    }

    fn fingerprint_key(&self) -> Result<DigestKey, StoreError> {
        let link = self.link.clone();
        self.wait(async move { link.key().await })
    }

    fn bind_cluster(&self, cluster: Uid) -> Result<(), StoreError> {
        let link = self.link.clone();
        self.wait(async move {
            let path = "/api/v1/namespaces/kube-system";
            let found = link.api().await?.get::<Named>(path).await;
            let ours = found
                .map_err(|failed| link.failed("read the namespace kube-system", &failed))?
                .metadata
                .uid;
            if ours == cluster {
                return Ok(());
            }
            Err(link.error(format!(
                "it is of the cluster with uid {ours}, and the pods would be in the one with {cluster}; \
                 a state in a cluster is that cluster's"
            )))
        })
    }

    fn provisioner(&self) -> Result<Option<Holder>, StoreError> {
        let link = self.link.clone();
        self.wait(async move { link.leader().await })
    }

    fn hold(&self, at: Timestamp) -> Result<Held, StoreError> {
        let link = self.link.clone();
        self.wait(async move {
            link.install().await?;
            link.list().await?;
            link.sweep_secrets().await?;
            link.cache().tell_only_settled();
            link.holds.store(true, Ordering::SeqCst);
            Ok(())
        })?;
        Ok(Held::elsewhere(at))
    }
}

/// Everything that was told, at one moment.
fn picture(link: &Link) -> Snapshot {
    let cache = link.cache();
    let mut snapshot = Snapshot {
        position: cache.position(),
        damaged: cache.damaged(),
        ..Snapshot::default()
    };
    for record in Kind::ALL.into_iter().flat_map(|kind| cache.told(kind)) {
        match record {
            Record::Model(model) => snapshot.models.push((**model).clone()),
            Record::Application(application) => {
                snapshot.applications.push((**application).clone());
            }
            Record::Storage(storage) => snapshot.storages.push((**storage).clone()),
        }
    }
    snapshot.models.sort_by_key(|model| model.uid);
    snapshot
        .applications
        .sort_by_key(|application| application.uid);
    let storage =
        |storage: &pilotage_core::state::Storage| (storage.model, storage.instance.number);
    snapshot.storages.sort_by_key(storage);
    snapshot
}
