//! One model's worker: makes and ends its namespace, sweeps leftovers, and takes away storages that users destroyed.
//!
//! It asks for one thing at a time, so it needs no batches: an answer comes, and it looks again.

mod claims;
mod decide;

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::effect::{Action, Effect, EffectId};
use crate::event::Event;
use crate::kubernetes::labels::NAME;
use crate::kubernetes::read::{Metadata, Object, Pod};
use crate::kubernetes::{Key, Kind};
use crate::life::Life;
use crate::name::Uid;
use crate::outcome::{Outcome, Refusal, Reply};
use crate::provisioner::Config;
use crate::reason::Reason;
use crate::state::{ApplicationCommand, Command, ModelView, RemovalWish, Storage};
use crate::time::{Span, Timestamp};
use crate::worker::memory::{Asked, Awaited, Backoff, RecordKind, Verb};
use crate::worker::verdict::Aspect;
use crate::worker::view::{ClaimSeen, Standing};

/// Where a model's worker is in the life of its model.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum ModelPhase {
    /// Its namespace is not there.
    #[default]
    Missing,
    /// Its applications may be provisioned.
    Ready,
    /// It is to go; applications and storages go first.
    Emptying,
    /// Nothing is in it any more; its namespace goes.
    Removing,
    /// Its record is gone.
    Gone,
}

/// One model's worker.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ModelWorker {
    /// The model, as last told.
    pub view: Arc<ModelView>,
    /// Its namespace.
    pub namespace: Option<NamespaceSeen>,
    /// Objects of removed applications that are still there, claims too.
    pub leftovers: BTreeMap<Uid, Leftover>,
    /// What of its records is there and cannot be read.
    #[serde(default, skip_serializing_if = "Unreadable::is_nothing")]
    pub unreadable: Unreadable,
    /// That the cluster cannot be watched, once that has lasted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Arc<str>>,
    /// Storages that outlived their applications.
    pub storages: BTreeMap<u32, Arc<Storage>>,
    /// Objects in its namespace that carry our label and belong to nobody that is known: shown, never touched.
    pub strangers: Vec<Key>,
    /// Where it is.
    pub phase: ModelPhase,
    /// When it wants to be looked at, even if nothing happens.
    pub deadline: Option<Timestamp>,
    memory: Memory,
    /// Whether the cluster's sources do not tell of its namespace.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    unwatched: bool,
    incarnation: u32,
    next: u32,
}

/// Records that are there and cannot be read. A model is not ended while a storage of it is among them, and does
/// nothing while its own is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Unreadable {
    /// Whether the model's own is.
    pub record: bool,
    /// Numbers of storages.
    pub storages: BTreeSet<u32>,
}

impl Unreadable {
    fn is_nothing(&self) -> bool {
        !self.record && self.storages.is_empty()
    }
}

/// The namespace as seen.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct NamespaceSeen {
    /// Its identity.
    pub uid: Uid,
    /// Whether it is going.
    pub deleting: bool,
}

/// An object of an application that was removed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Leftover {
    /// Where it is.
    pub key: Key,
    /// The application's name, by its label.
    pub application: Box<str>,
    /// Whether it is going.
    pub deleting: bool,
    /// What is known of it, if it is a claim: a claim is no leftover, but it needs a record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<Box<LeftClaim>>,
}

/// A claim of an application that was removed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LeftClaim {
    /// The application.
    pub application: Uid,
    /// The claim.
    pub seen: ClaimSeen,
}

/// What the worker remembers of its own doing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Memory {
    in_flight: Option<(u32, Asked)>,
    /// The application that what is in flight asks to go.
    leaving: Option<(Uid, RemovalWish)>,
    backoff: Backoff,
    /// A version of the model's record that a reply told of and the watch has not reached yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    awaited: Option<Awaited>,
    /// The storage that what is in flight is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    storage: Option<u32>,
    /// The same for the record of a storage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    awaited_storage: Option<(u32, Awaited)>,
    /// The namespace that was ours when the watch last spoke of it. It may have lost its labels only (fact K32).
    was: Option<Uid>,
    /// A number that the model drew for a storage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    drawn: Option<u32>,
    /// Applications that were asked to go, and how: the watch of the state will tell that they do.
    asked_to_go: BTreeMap<Uid, RemovalWish>,
    /// Objects that a fresh read has shown: there with this uid, or not there.
    #[serde(with = "crate::pairs")]
    read: BTreeMap<Key, Option<Uid>>,
}

/// An application of the model, as far as the model's end needs it.
#[derive(Clone, Copy, Debug)]
pub struct Member {
    /// The application.
    pub uid: Uid,
    /// Its life.
    pub life: Life,
    /// How it is to go.
    pub removal: Option<RemovalWish>,
}

impl ModelWorker {
    /// A worker for a model that was just heard of.
    pub fn new(view: Arc<ModelView>, config: &Config) -> Self {
        ModelWorker {
            unwatched: !config.watches(&view.namespace),
            view,
            namespace: None,
            leftovers: BTreeMap::new(),
            unreadable: Unreadable::default(),
            failure: None,
            storages: BTreeMap::new(),
            strangers: Vec::new(),
            phase: ModelPhase::Missing,
            deadline: None,
            memory: Memory::default(),
            incarnation: config.incarnation,
            next: 0,
        }
    }

    /// Takes the model as it now is. Returns whether anything changed.
    pub fn tell(&mut self, at: Timestamp, view: &Arc<ModelView>) -> bool {
        // In the place of a record that could not be read any is taken, an older one too.
        let mended = core::mem::take(&mut self.unreadable.record);
        if (view.version < self.view.version && !mended) || *view == self.view {
            return mended;
        }
        if view.life != self.view.life || view.removal != self.view.removal {
            self.memory.backoff.relent(at);
        }
        self.view = view.clone();
        true
    }

    /// Takes a storage that outlived its application, as it now is.
    pub fn tell_storage(&mut self, storage: &Arc<Storage>) {
        let number = storage.instance.number;
        let known = self.storages.get(&number);
        if known.is_none_or(|known| known.version <= storage.version) {
            self.storages.insert(number, storage.clone());
        }
    }

    /// Whether an effect of it is not answered yet.
    pub fn is_busy(&self) -> bool {
        self.memory.in_flight.is_some()
    }

    /// How its namespace stands: applications are provisioned where it is ready.
    pub fn standing(&self) -> Standing {
        let ready = || self.namespace.as_ref().is_some_and(|seen| !seen.deleting);
        match () {
            () if self.unwatched => Standing::Unwatched,
            () if !self.view.owns_namespace || ready() => Standing::Ready,
            () => Standing::Missing,
        }
    }

    /// How many objects of former applications of a name are still there; claims may stay.
    pub fn predecessors(&self, application: &str) -> u32 {
        let count = self.leftovers.values().filter(|leftover| {
            *leftover.application == *application
                && leftover.key.kind != Kind::PersistentVolumeClaim
        });
        u32::try_from(count.count()).unwrap_or(u32::MAX)
    }

    /// Takes an object of the model, or of an application that was removed.
    pub fn observe(&mut self, object: &Object) {
        let metadata = object.metadata();
        self.memory.read.remove(&object.key());
        if object.kind() == Kind::Namespace {
            if metadata.name == self.view.namespace {
                self.namespace = Some(NamespaceSeen {
                    uid: metadata.uid,
                    deleting: metadata.is_deleting(),
                });
            }
            return;
        }
        let claim = match object {
            Object::PersistentVolumeClaim(claim) => Some(ClaimSeen::of(claim)),
            _ => None,
        };
        self.leave(object.key(), metadata, claim);
    }

    /// Takes a pod of an application that was removed.
    pub fn observe_pod(&mut self, pod: &Pod) {
        let key = Key {
            kind: Kind::Pod,
            namespace: pod.metadata.namespace.clone(),
            name: pod.metadata.name.clone(),
        };
        self.memory.read.remove(&key);
        self.leave(key, &pod.metadata, None);
    }

    fn leave(&mut self, key: Key, metadata: &Metadata, claim: Option<ClaimSeen>) {
        let application = metadata.labels.ownership().and_then(|o| o.application);
        let claim = application.zip(claim);
        let leftover = Leftover {
            key,
            application: metadata.labels.get(NAME).unwrap_or("").into(),
            deleting: metadata.is_deleting(),
            claim: claim.map(|(application, seen)| Box::new(LeftClaim { application, seen })),
        };
        self.leftovers.insert(metadata.uid, leftover);
    }

    /// Takes an object that a worker leaves behind.
    pub fn inherit(&mut self, uid: Uid, leftover: Leftover) {
        self.leftovers.insert(uid, leftover);
    }

    /// Takes that an object is no longer there, or no longer ours by its labels.
    pub fn vanish(&mut self, uid: Uid) {
        self.leftovers.remove(&uid);
        if self.namespace.as_ref().is_some_and(|seen| seen.uid == uid) {
            self.namespace = None;
            self.memory.was = Some(uid);
        }
    }

    /// Decides what is to be done now, if anything, and when to look again.
    pub fn look(&mut self, at: Timestamp, members: &[Member]) -> Option<Effect> {
        self.deadline = None;
        if self.memory.in_flight.is_some() || self.unreadable.record {
            return None;
        }
        self.phase = decide::phase(self, members);
        if self.awaits(at) {
            return None;
        }
        if let Some(held) = self.memory.backoff.holds(Aspect::Removal, at) {
            self.deadline = Some(held.until);
            // The refusal is named while it is waited for; nothing else is tried.
            return decide::report(self).map(|step| self.issue(step));
        }
        if let Some(step) = decide::work(self, members) {
            return Some(self.issue(step));
        }
        // What failed is no longer to be done, however it came about: it is no trouble any more. A report that the
        // state does not take goes on being one.
        self.memory.backoff.succeed(Aspect::Removal);
        let report = decide::report(self);
        if report.is_none() {
            self.memory.backoff = Backoff::default();
        }
        report.map(|step| self.issue(step))
    }

    /// Whether nothing is decided yet, and until when: the record's own news are on their way, or a report was refused.
    fn awaits(&mut self, at: Timestamp) -> bool {
        if self.waits_for_store(at) {
            return true;
        }
        if let Some(held) = self.memory.backoff.holds(Aspect::Report, at) {
            self.deadline = Some(held.until);
            return true;
        }
        false
    }

    /// As [`ModelWorker::look`], while the cluster has not been read: nothing is decided but to say so, once that has lasted.
    pub fn look_at_failure(&mut self, at: Timestamp) -> Option<Effect> {
        self.deadline = None;
        if self.failure.is_none() || self.memory.in_flight.is_some() || self.unreadable.record {
            return None;
        }
        if self.awaits(at) {
            return None;
        }
        decide::report(self).map(|step| self.issue(step))
    }

    /// Whether a version that a reply told of is still to be told by the watch: somebody else made it, and nothing is to be
    /// decided on what was before.
    fn waits_for_store(&mut self, at: Timestamp) -> bool {
        let own = self.memory.awaited;
        let own = own.and_then(|awaited| awaited.until(self.view.version, at));
        let storage = self.memory.awaited_storage.and_then(|(number, awaited)| {
            let known = self.storages.get(&number)?;
            awaited.until(known.version, at)
        });
        if own.is_none() {
            self.memory.awaited = None;
        }
        if storage.is_none() {
            self.memory.awaited_storage = None;
        }
        let until = own.into_iter().chain(storage).min();
        self.deadline = until;
        until.is_some()
    }

    fn issue(&mut self, (action, because): (Action, Reason)) -> Effect {
        let sequence = self.next;
        self.next = self.next.wrapping_add(1);
        self.deadline = None;
        self.memory.in_flight = Some((sequence, Asked::of(&action, &because)));
        self.memory.storage = match &action {
            Action::Store(command) => match &**command {
                Command::Storage { number, .. } => Some(*number),
                _ => None,
            },
            _ => None,
        };
        self.memory.leaving = match &action {
            Action::Store(command) => match &**command {
                Command::Application {
                    application,
                    body: ApplicationCommand::Remove { wish },
                    ..
                } => Some((*application, *wish)),
                _ => None,
            },
            _ => None,
        };
        Effect {
            id: EffectId {
                owner: self.view.uid,
                incarnation: self.incarnation,
                sequence,
            },
            subject: self.view.name.clone(),
            because,
            action,
        }
    }

    /// Takes what became of an effect; answers to effects that are not in flight are dropped.
    pub fn complete(&mut self, at: Timestamp, id: EffectId, outcome: &Outcome) -> bool {
        let expected = self
            .memory
            .in_flight
            .as_ref()
            .map(|(sequence, _)| *sequence);
        if id.incarnation != self.incarnation || expected != Some(id.sequence) {
            return false;
        }
        let Some((_, asked)) = self.memory.in_flight.take() else {
            return false;
        };
        // What it was drawn for has come about, or is tried again with another: a gap, never a double.
        if matches!(asked.verb, Verb::Store { .. }) {
            self.memory.drawn = None;
        }
        match outcome {
            Outcome::Done(reply) => {
                // A report that was taken does not mean that what was refused would be done now.
                if !matches!(asked.verb, Verb::Store { .. }) {
                    self.memory.backoff = Backoff::default();
                } else {
                    self.memory.backoff.succeed(Aspect::Report);
                }
                self.memory.asked_to_go.extend(self.memory.leaving.take());
                self.fold(at, asked, reply);
            }
            Outcome::Refused { reason, message } => self.refused(at, asked, reason, message),
            Outcome::Unknown => {
                if let Some(key) = &asked.key {
                    self.memory.read.remove(key);
                }
                self.fail(at, asked.verb, Reason::NoAnswer { key: asked.key }, None);
            }
            Outcome::NotAttempted => {}
        }
        true
    }

    fn fold(&mut self, at: Timestamp, asked: Asked, reply: &Reply) {
        match reply {
            Reply::Object(object) => self.observe(object),
            Reply::Fetched(fetched) => {
                let object = &fetched.object;
                let (key, metadata) = (object.key(), object.metadata());
                let ours = metadata
                    .labels
                    .ownership()
                    .is_some_and(|o| o.model == self.view.uid);
                let known = self.memory.was == Some(metadata.uid);
                // What is still ours though a delete met another version: it is not "something else under that name".
                if ours || (known && key.kind == Kind::Namespace) {
                    self.observe(object);
                }
                self.memory.read.insert(key, Some(metadata.uid));
            }
            Reply::Nothing => {
                if let (Some(key), Verb::Delete) = (asked.key, asked.verb) {
                    self.gone(&key);
                }
            }
            Reply::Recorded {
                changes,
                version,
                drawn,
                ..
            } => {
                self.memory.drawn = *drawn;
                for event in changes {
                    match event {
                        Event::ModelChanged(view)
                            if view.uid == self.view.uid && view.version >= self.view.version =>
                        {
                            self.view = view.clone();
                        }
                        _ => {}
                    }
                }
                // Somebody else changed it, and ours changed nothing.
                let own = matches!(
                    asked.verb,
                    Verb::Store {
                        record: RecordKind::Model,
                        ..
                    }
                );
                if own && *version > self.view.version {
                    self.memory.awaited = Some(Awaited(*version, at));
                }
                if let Some(number) = self.memory.storage
                    && let Some(known) = self.storages.get(&number)
                    && *version > known.version
                {
                    self.memory.awaited_storage = Some((number, Awaited(*version, at)));
                }
            }
            Reply::Listed(_) | Reply::Warned(_) | Reply::Scaled { .. } => {}
        }
    }

    /// Notes that nothing of ours is under that key.
    fn gone(&mut self, key: &Key) {
        self.leftovers.retain(|_, leftover| leftover.key != *key);
        if key.kind == Kind::Namespace {
            self.namespace = None;
        }
        self.memory.read.insert(key.clone(), None);
    }

    fn refused(&mut self, at: Timestamp, asked: Asked, refusal: &Refusal, message: &str) {
        match (&asked.key, asked.verb, refusal) {
            (Some(key), Verb::Read | Verb::Delete, Refusal::NotFound) => self.gone(key),
            // What is there now is not what we saw: it is read again.
            (Some(key), Verb::Delete, Refusal::Conflict) => {
                self.leftovers.retain(|_, leftover| leftover.key != *key);
                self.memory.read.remove(key);
            }
            (Some(key), Verb::Create, Refusal::AlreadyExists)
                if !self.memory.read.contains_key(key) =>
            {
                self.memory.read.insert(key.clone(), Some(UNREAD));
            }
            (key, verb, refusal) => {
                let not_before = match refusal {
                    Refusal::Busy { after } => *after,
                    _ => None,
                };
                let reason = Reason::Refused {
                    key: key.clone(),
                    refusal: refusal.clone(),
                    message: message.into(),
                };
                self.fail(at, verb, reason, not_before);
            }
        }
    }

    fn fail(&mut self, at: Timestamp, verb: Verb, why: Reason, not_before: Option<Span>) {
        // While the state does not take what we say, there is nothing to say.
        let aspect = match verb {
            Verb::Store { .. } => Aspect::Report,
            _ => Aspect::Removal,
        };
        self.memory
            .backoff
            .fail(at, self.view.uid, aspect, why, not_before);
    }
}

/// Stands for "something is there that has not been read yet" among what was read.
const UNREAD: Uid = Uid(0);

/// What leaves behind objects when its application's record goes.
pub fn leftovers(worker: &crate::worker::Worker) -> Vec<(Uid, Leftover)> {
    let view = &worker.view;
    let leftover = |kind, name: &str, deleting| Leftover {
        key: Key::new(kind, view.namespace(), name),
        application: view.name.clone(),
        deleting,
        claim: None,
    };
    let objects = view
        .objects
        .iter()
        .map(|s| (s.uid, leftover(s.kind, &s.name, s.deleting)));
    let claims = view.claims.iter().map(|seen| {
        let claim = LeftClaim {
            application: view.uid,
            seen: seen.clone(),
        };
        let leftover = leftover(Kind::PersistentVolumeClaim, &seen.name, seen.deleting);
        let claim = Some(Box::new(claim));
        (seen.uid, Leftover { claim, ..leftover })
    });
    let pods = view.pods.iter().map(|pod| {
        let name = crate::kubernetes::names::pod(&view.name, pod.ordinal);
        (pod.uid, leftover(Kind::Pod, &name, pod.deleting))
    });
    objects.chain(claims).chain(pods).collect()
}
