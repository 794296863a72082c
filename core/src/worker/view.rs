//! What a worker knows: its record, its model, and what it sees of the cluster.
//!
//! # Guarantees
//! A view is the fold of what was told: the order in which sources tell does not matter, and being told twice changes
//! nothing.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::event::Event;
use crate::kubernetes::Kind;
use crate::kubernetes::names;
use crate::kubernetes::read::{Object, PersistentVolumeClaim, Pod, StatefulSet};
use crate::kubernetes::satisfies::Match;
use crate::kubernetes::unit_status::{self, UnitStatus};
use crate::life::Life;
use crate::name::{Uid, Version};
use crate::state::{
    ApplicationReport, Given, ModelView, PodFacts, Provisioning, RemovalWish, ServiceReport,
    StorageInstance, Unit,
};

use super::wanted::{self, Wanted};

/// Everything that a worker's decisions rest on.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct View {
    /// The application.
    pub uid: Uid,
    /// Its name.
    pub name: Box<str>,
    /// Its model's uid.
    pub model_uid: Uid,
    /// Its record.
    pub record: Record,
    /// Whether trust ends at the namespace.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub trust_in_namespace_only: bool,
    /// Its model, once told.
    pub model: Option<Arc<ModelView>>,
    /// How the model's namespace stands.
    pub standing: Standing,
    /// Objects of former applications of this name that are still there.
    pub predecessors: u32,
    /// Names of its claims that have records of their own: once it is dead, its storages are handed over one by one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<Box<str>>,
    /// What we want there to be, as digests.
    pub wanted: Vec<Wanted>,
    /// What is there, by kind and name; pods and claims aside.
    pub objects: Vec<Seen>,
    /// The workload's own facts.
    pub workload: Option<WorkloadFacts>,
    /// The service's own facts.
    pub service: Option<ServiceReport>,
    /// Claims, by name.
    pub claims: Vec<ClaimSeen>,
    /// Pods, by ordinal.
    pub pods: Vec<PodSeen>,
}

/// How a model's namespace stands to who provisions in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// It is not there, or not ours, or is going.
    Missing,
    /// It is there.
    Ready,
    /// The cluster's sources do not tell of it: nothing is known of what is in it.
    Unwatched,
    /// The model's record is there and cannot be read, so nobody knows what is in its namespace.
    Unreadable,
    /// The model has no record.
    Unrecorded,
}

/// What the record says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Record {
    /// The version that all of this is of.
    pub version: Version,
    /// Whether more of this version is to come.
    pub incomplete: bool,
    /// Whether the record is there and cannot be read: until a list tells it again, nothing else tells of it.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub unreadable: bool,
    /// How far the application is on its way out.
    pub life: Life,
    /// How it is to go.
    pub removal: Option<RemovalWish>,
    /// How many units it had, counted from 0, when it was removed by force.
    pub former_units: u32,
    /// Units wanted.
    pub scale: u32,
    /// The target of the scaling in progress.
    pub scaling: Option<u32>,
    /// Whether it is trusted.
    pub trust: bool,
    /// What its objects are made from.
    pub provisioning: Option<Result<Arc<Provisioning>, Box<str>>>,
    /// Units, by number.
    pub units: Vec<Arc<Unit>>,
    /// Storages, by number.
    pub storage: Vec<Arc<StorageInstance>>,
    /// What was last reported.
    pub report: Arc<ApplicationReport>,
}

/// An object that is there.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Seen {
    /// Its kind.
    pub kind: Kind,
    /// Its name.
    pub name: Box<str>,
    /// Its identity.
    pub uid: Uid,
    /// The version that we know.
    pub version: Version,
    /// Whether it is going.
    pub deleting: bool,
    /// Whether our entry in its managed fields is known to be one that an apply can shrink.
    pub taken_over: bool,
    /// The manifest that it was compared with, and how that went.
    pub standing: Option<(Digest, Match)>,
    /// Whether what we want of it has changed since it last was what we want.
    pub outdated: bool,
    /// A field that the server made something else of in answer to our own apply of that manifest: accepted, and named
    /// in the status (fact K27).
    pub accepted: Option<Box<(Digest, Box<str>)>>,
}

/// What decisions read of a workload.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct WorkloadFacts {
    /// Its identity.
    pub uid: Uid,
    /// The number of pods asked for.
    pub replicas: u32,
    /// Pods numbered below this do not follow a rollout.
    pub partition: u32,
    /// Generation asked for and generation seen by its controller are the same.
    pub observed: bool,
    /// The revision that a rollout leads to.
    pub update_revision: u64,
}

/// A claim that is there.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ClaimSeen {
    /// Its name.
    pub name: Box<str>,
    /// Its identity.
    pub uid: Uid,
    /// Whether it is going.
    pub deleting: bool,
    /// `Pending`, `Bound`, `Lost`.
    pub phase: ClaimPhase,
    /// Why it is not bound.
    pub message: Option<Box<str>>,
    /// What the cluster gave, once bound.
    pub given: Option<Given>,
}

/// How far a claim is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs)] // Kubernetes' words.
pub enum ClaimPhase {
    Pending,
    Bound,
    Lost,
}

/// A pod that is there.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PodSeen {
    /// Its ordinal, which is its unit's number.
    pub ordinal: u32,
    /// Its identity.
    pub uid: Uid,
    /// The workload that owns it.
    pub owner: Option<Uid>,
    /// The revision that it comes from.
    pub revision: u64,
    /// Whether it is going.
    pub deleting: bool,
    /// Whether it is ready.
    pub ready: bool,
    /// What differs from a pod that is well; kept only while something is not well.
    pub trouble: Option<Box<UnitStatus>>,
    /// The same for a pod whose unit has not started yet.
    pub address: Option<Box<str>>,
    /// Ports of its containers.
    pub ports: Vec<Box<str>>,
}

/// A short name for a revision's text: equal texts, equal numbers.
fn revision(text: &str) -> u64 {
    u64::try_from(Digest::of(&text).0 & u128::from(u64::MAX)).unwrap_or_default()
}

impl View {
    /// What is known of an application when its name is first heard.
    pub fn new(uid: Uid, name: Box<str>, model_uid: Uid) -> Self {
        View {
            uid,
            name,
            model_uid,
            record: Record::default(),
            trust_in_namespace_only: false,
            model: None,
            standing: Standing::Missing,
            predecessors: 0,
            kept: Vec::new(),
            wanted: Vec::new(),
            objects: Vec::new(),
            workload: None,
            service: None,
            claims: Vec::new(),
            pods: Vec::new(),
        }
    }

    /// The namespace; empty until the model is told.
    pub fn namespace(&self) -> &str {
        self.model.as_deref().map_or("", |model| &model.namespace)
    }

    /// The provisioning, once it is known and complete.
    pub fn provisioning(&self) -> Option<&Provisioning> {
        self.record.provisioning.as_ref()?.as_deref().ok()
    }

    /// An object by kind and name.
    pub fn object(&self, kind: Kind, name: &str) -> Option<&Seen> {
        self.objects
            .iter()
            .find(|seen| seen.kind == kind && &*seen.name == name)
    }

    /// The workload.
    pub fn stateful_set(&self) -> Option<&Seen> {
        self.object(Kind::StatefulSet, &self.name)
    }

    /// A unit by number.
    pub fn unit(&self, number: u32) -> Option<&Arc<Unit>> {
        let units = &self.record.units;
        let at = units.binary_search_by_key(&number, |unit| unit.number);
        at.ok().and_then(|at| units.get(at))
    }

    /// The pod of a unit: by the uid of the workload that owns it, never by labels alone. While there is no workload, a
    /// pod of ours that is left is still the unit's.
    pub fn pod(&self, ordinal: u32) -> Option<&PodSeen> {
        let workload = self.workload.as_ref().map(|workload| workload.uid);
        let pods = &self.pods;
        let at = pods.binary_search_by_key(&ordinal, |pod| pod.ordinal);
        let pod = at.ok().and_then(|at| pods.get(at))?;
        let mine = workload.is_none() || pod.owner.is_none() || pod.owner == workload;
        mine.then_some(pod)
    }

    /// A claim by name.
    pub fn claim(&self, name: &str) -> Option<&ClaimSeen> {
        let at = self
            .claims
            .binary_search_by(|claim| (*claim.name).cmp(name));
        at.ok().and_then(|at| self.claims.get(at))
    }

    /// Computes again what we want there to be. To be called when the record or the model has changed.
    pub fn refresh_wanted(&mut self) {
        if self.record.provisioning.is_none() {
            // Half told: there is nothing to decide yet, and what follows makes it anew.
            return;
        }
        self.wanted = wanted::wanted(self);
        for seen in &mut self.objects {
            let wanted = self.wanted.iter();
            let mut wanted = wanted.filter(|w| w.kind == seen.kind && w.name == seen.name);
            if let (Some(wanted), Some((digest, _))) = (wanted.next(), &seen.standing) {
                seen.outdated |= wanted.digest != *digest;
            }
        }
    }

    /// Folds an event about the record. Events of an older version than what is known are dropped.
    ///
    /// Returns whether anything changed.
    pub fn tell(&mut self, event: &Event) -> bool {
        let Some(id) = event.record() else {
            return false;
        };
        let record = &mut self.record;
        if id.version < record.version || record.unreadable {
            return false;
        }
        let before = record.clone();
        // A part of a change that was told whole is only told again: nothing follows it.
        record.incomplete = id.more && (id.version > record.version || record.incomplete);
        record.version = id.version;
        match event {
            Event::LifeChanged {
                life,
                removal,
                former_units,
                ..
            } => {
                record.life = *life;
                record.removal = *removal;
                record.former_units = former_units.unwrap_or(0);
            }
            Event::ScaleChanged { scale, scaling, .. } => {
                record.scale = *scale;
                record.scaling = *scaling;
            }
            Event::TrustChanged { trust, .. } => record.trust = *trust,
            Event::ProvisioningChanged { provisioning, .. } => {
                record.provisioning = Some(provisioning.clone());
            }
            Event::UnitChanged { unit, .. } => {
                match record
                    .units
                    .binary_search_by_key(&unit.number, |unit| unit.number)
                {
                    Ok(at) => {
                        if let Some(known) = record.units.get_mut(at) {
                            *known = unit.clone();
                        }
                    }
                    Err(at) => record.units.insert(at, unit.clone()),
                }
            }
            Event::UnitRemoved { number, .. } => record.units.retain(|unit| unit.number != *number),
            Event::StorageChanged { storage, .. } => {
                match record
                    .storage
                    .binary_search_by_key(&storage.number, |known| known.number)
                {
                    Ok(at) => {
                        if let Some(known) = record.storage.get_mut(at) {
                            *known = storage.clone();
                        }
                    }
                    Err(at) => record.storage.insert(at, storage.clone()),
                }
            }
            Event::StorageRemoved { number, .. } => {
                record.storage.retain(|storage| storage.number != *number);
            }
            Event::Reported { report, .. } => record.report = report.clone(),
            _ => {}
        }
        let changed = *record != before;
        if record.trust != before.trust || record.provisioning != before.provisioning {
            self.refresh_wanted();
        }
        changed
    }

    /// Gives back the room that lists grew into: most applications are idle most of the time.
    pub fn compact(&mut self) {
        self.record.units.shrink_to_fit();
        self.record.storage.shrink_to_fit();
        self.objects.shrink_to_fit();
        self.claims.shrink_to_fit();
        self.pods.shrink_to_fit();
    }

    /// Forgets units and storages: the store is about to tell them all again.
    pub fn forget_parts(&mut self) {
        self.record.incomplete = true;
        self.record.units.clear();
        self.record.storage.clear();
    }

    /// Takes that the record cannot be read. What was known of it is forgotten, so that whatever is put in its place is
    /// taken, an older version too; what is seen of the cluster is kept, and until then nothing is decided.
    pub fn cannot_be_read(&mut self) {
        self.record = Record {
            incomplete: true,
            unreadable: true,
            ..Record::default()
        };
    }

    /// Takes the model as it now is.
    pub fn tell_model(&mut self, model: &Arc<ModelView>, standing: Standing) -> bool {
        let known = self.model.as_ref();
        let builds = known.is_some_and(|known| {
            known.resource_tags == model.resource_tags && known.constraints == model.constraints
        });
        let lives = known.is_some_and(|known| known.life == model.life);
        let same = builds && lives && self.standing == standing;
        self.model = Some(model.clone());
        self.standing = standing;
        if !builds {
            self.refresh_wanted();
        }
        !same
    }

    /// Takes an object as it now is.
    pub fn observe(&mut self, object: &Object) {
        match object {
            Object::Pod(pod) => self.observe_pod(pod),
            Object::PersistentVolumeClaim(claim) => self.observe_claim(claim),
            _ => self.observe_object(object),
        }
    }

    fn observe_object(&mut self, object: &Object) {
        let (kind, metadata) = (object.kind(), object.metadata());
        let place = self
            .objects
            .iter()
            .position(|s| s.kind == kind && s.name == metadata.name);
        let same_life = place
            .and_then(|at| self.objects.get(at))
            .filter(|s| s.uid == metadata.uid);
        let seen = Seen {
            kind,
            name: metadata.name.clone(),
            uid: metadata.uid,
            version: metadata.version,
            deleting: metadata.is_deleting(),
            taken_over: same_life.is_some_and(|seen| seen.taken_over),
            standing: wanted::compare(self, object),
            outdated: same_life.is_some_and(|seen| seen.outdated),
            accepted: same_life.and_then(|seen| seen.accepted.clone()),
        };
        // What only managed fields can tell was found out once, and so was what the server makes of our manifest: the
        // object's other changes do not undo it.
        let before = same_life.and_then(|seen| seen.standing.clone());
        let known = match (&before, &seen.standing) {
            (Some((before, Match::Satisfied)), Some((now, Match::Surplus(_)))) => before == now,
            (_, Some((now, Match::Differs(field)))) => {
                let accepted = seen.accepted.as_deref();
                accepted.is_some_and(|(digest, known)| digest == now && known == field)
            }
            _ => false,
        };
        let standing = match &seen.standing {
            Some((digest, _)) if known => Some((*digest, Match::Satisfied)),
            standing => standing.clone(),
        };
        let satisfied = matches!(standing, Some((_, Match::Satisfied)));
        let seen = Seen {
            standing,
            outdated: seen.outdated && !satisfied,
            ..seen
        };
        match place {
            Some(at) => {
                if let Some(slot) = self.objects.get_mut(at) {
                    *slot = seen;
                }
            }
            None => {
                let key = (kind, metadata.name.clone());
                let at = self
                    .objects
                    .partition_point(|s| (s.kind, s.name.clone()) < key);
                self.objects.insert(at, seen);
            }
        }
        match object {
            Object::StatefulSet(set) if metadata.name == self.name => {
                self.workload = Some(WorkloadFacts::of(set));
            }
            Object::Service(service) if metadata.name == self.name => {
                self.service = Some(wanted::service_report(service));
            }
            _ => {}
        }
    }

    fn observe_claim(&mut self, claim: &PersistentVolumeClaim) {
        let seen = ClaimSeen::of(claim);
        match self
            .claims
            .binary_search_by(|known| known.name.cmp(&seen.name))
        {
            Ok(at) => {
                if let Some(slot) = self.claims.get_mut(at) {
                    *slot = seen;
                }
            }
            Err(at) => self.claims.insert(at, seen),
        }
    }

    /// Takes a pod as it now is.
    pub fn observe_pod(&mut self, pod: &Pod) {
        let Some(ordinal) = names::ordinal(&self.name, &pod.metadata.name) else {
            return;
        };
        let status = unit_status::of_pod(pod, false);
        let seen = PodSeen {
            ordinal,
            uid: pod.metadata.uid,
            owner: pod.metadata.controller(),
            revision: revision(
                pod.metadata
                    .labels
                    .get("controller-revision-hash")
                    .unwrap_or(""),
            ),
            deleting: pod.metadata.is_deleting(),
            ready: status.ready,
            trouble: (!status.ready).then(|| Box::new(status)),
            address: pod.status.pod_ip.clone(),
            ports: unit_status::ports(pod),
        };
        match self
            .pods
            .binary_search_by_key(&ordinal, |known| known.ordinal)
        {
            Ok(at) => {
                if let Some(slot) = self.pods.get_mut(at) {
                    *slot = seen;
                }
            }
            Err(at) => self.pods.insert(at, seen),
        }
    }

    /// Forgets an object that is gone. Returns its kind and name, if it was known.
    pub fn vanish(&mut self, uid: Uid) -> Option<(Kind, Box<str>)> {
        if let Some(at) = self.objects.iter().position(|seen| seen.uid == uid) {
            let seen = self.objects.remove(at);
            if seen.kind == Kind::StatefulSet && seen.name == self.name {
                self.workload = None;
            }
            if seen.kind == Kind::Service && seen.name == self.name {
                self.service = None;
            }
            return Some((seen.kind, seen.name));
        }
        if let Some(at) = self.claims.iter().position(|claim| claim.uid == uid) {
            return Some((Kind::PersistentVolumeClaim, self.claims.remove(at).name));
        }
        if let Some(at) = self.pods.iter().position(|pod| pod.uid == uid) {
            let pod = self.pods.remove(at);
            return Some((Kind::Pod, names::pod(&self.name, pod.ordinal).into()));
        }
        None
    }

    /// The uid of an object by kind and name, whatever its kind.
    pub fn uid_of(&self, kind: Kind, name: &str) -> Option<Uid> {
        match kind {
            Kind::Pod => {
                let ordinal = names::ordinal(&self.name, name)?;
                self.pods
                    .iter()
                    .find(|pod| pod.ordinal == ordinal)
                    .map(|pod| pod.uid)
            }
            Kind::PersistentVolumeClaim => self.claim(name).map(|claim| claim.uid),
            _ => self.object(kind, name).map(|seen| seen.uid),
        }
    }

    /// What users see of a unit's pod.
    pub fn pod_facts(&self, pod: &PodSeen) -> PodFacts {
        PodFacts {
            name: names::pod(&self.name, pod.ordinal).into(),
            address: pod.address.clone(),
            ports: pod.ports.clone(),
        }
    }
}

impl WorkloadFacts {
    fn of(set: &StatefulSet) -> Self {
        WorkloadFacts {
            uid: set.metadata.uid,
            replicas: set.spec.replicas,
            partition: set.spec.partition,
            observed: set.status.observed_generation >= set.metadata.generation,
            update_revision: revision(&set.status.update_revision),
        }
    }
}

impl ClaimSeen {
    /// What decisions read of a claim.
    pub fn of(claim: &PersistentVolumeClaim) -> Self {
        let phase = match &*claim.status.phase {
            "Bound" => ClaimPhase::Bound,
            "Lost" => ClaimPhase::Lost,
            _ => ClaimPhase::Pending,
        };
        let size = claim.status.capacity.storage.as_ref();
        let size = size.or(claim.spec.resources.requests.storage.as_ref());
        let given = match (phase, &claim.spec.volume_name) {
            (ClaimPhase::Bound, Some(volume)) => Some(Given {
                claim: claim.metadata.uid,
                volume: volume.clone(),
                size_mib: size
                    .and_then(|size| crate::kubernetes::quantity::mebibytes(size))
                    .unwrap_or_default(),
            }),
            _ => None,
        };
        ClaimSeen {
            name: claim.metadata.name.clone(),
            uid: claim.metadata.uid,
            deleting: claim.metadata.is_deleting(),
            phase,
            message: claim
                .status
                .conditions
                .first()
                .and_then(|first| first.message.clone()),
            given,
        }
    }
}
