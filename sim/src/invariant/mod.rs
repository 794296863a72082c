//! What holds after every step, whatever goes wrong (design, section 7): read from the world alone, not from the core.
//!
//! The numbers are those of the design.

mod bounds;
mod claims;
mod objects;
mod pods;
mod records;
mod rights;
mod scale;
mod secrets;

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use pilotage_core::effect::Effect;
use pilotage_core::name::{Uid, Version};
use pilotage_core::outcome::Outcome;
use pilotage_core::state::Application;
use pilotage_core::time::Timestamp;

use crate::cluster::Change;
use crate::cluster::object::Stored;
use crate::world::World;

/// An invariant that does not hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invariant {number}: {text}")]
pub struct Broken {
    /// The design's number; 0 for what has to hold in the end.
    pub number: u8,
    /// What is wrong.
    pub text: String,
}

impl Broken {
    /// That one is broken.
    pub fn new(number: u8, text: impl Into<String>) -> Self {
        Broken {
            number,
            text: text.into(),
        }
    }
}

/// Checks what holds when nothing can happen any more, whatever happened before.
///
/// # Errors
/// The first invariant that does not hold.
pub fn at_rest(world: &World) -> Result<(), Broken> {
    rights::exact(world)?;
    claims::named(world)?;
    records::units(world)?;
    secrets::kept(world)
}

/// A record before and after a step.
type Pair<'a> = (Option<&'a Arc<Application>>, Option<&'a Arc<Application>>);

/// Fails unless something holds.
fn holds(number: u8, holds: bool, text: impl FnOnce() -> String) -> Result<(), Broken> {
    if holds {
        Ok(())
    } else {
        Err(Broken::new(number, text()))
    }
}

/// Who made a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// The provisioner.
    Ours,
    /// A provisioner that was deposed: what it had sent arrives.
    Late,
    /// A controller of the cluster.
    Controller,
    /// A person, or a fault.
    Person,
    /// Nobody: something was told, or time went on.
    Nobody,
}

/// What a check needs of the moment before.
#[derive(Clone, Debug)]
pub struct Moment {
    version: u64,
    applications: BTreeMap<Uid, Arc<Application>>,
    woken: bool,
}

impl Moment {
    /// This moment. `woken`: whether what comes next is the timer that was asked for.
    pub fn of(world: &World, woken: bool) -> Self {
        let applications = world.store.applications();
        Moment {
            version: world.cluster.version(),
            applications: applications.map(|one| (one.uid, one.clone())).collect(),
            woken,
        }
    }
}

/// One step of a world, for the invariants.
struct Seen<'a> {
    before: &'a Moment,
    world: &'a World,
    who: Who,
    changes: Vec<&'a Change>,
}

impl Seen<'_> {
    /// The record as it was before, or as it is if it is new.
    fn application(&self, uid: Uid) -> Option<&Arc<Application>> {
        let now = || self.world.store.applications().find(|one| one.uid == uid);
        self.before.applications.get(&uid).or_else(now)
    }

    /// Whether the provisioner wrote, or one before it.
    fn we_wrote(&self) -> bool {
        matches!(self.who, Who::Ours | Who::Late)
    }

    /// What the provisioner ran in this step.
    fn ran(&self) -> impl Iterator<Item = &(Effect, Outcome)> {
        self.world.ran.iter()
    }

    /// The records before and after, where they differ.
    fn records(&self) -> Vec<Pair<'_>> {
        let mut pairs = Vec::new();
        for before in self.before.applications.values() {
            let after = self
                .world
                .store
                .applications()
                .find(|one| one.uid == before.uid);
            if after.is_none_or(|after| !Arc::ptr_eq(before, after)) {
                pairs.push((Some(before), after));
            }
        }
        for after in self.world.store.applications() {
            if !self.before.applications.contains_key(&after.uid) {
                pairs.push((None, Some(after)));
            }
        }
        pairs
    }
}

/// What the invariants remember of a world's past.
#[derive(Clone, Debug, Default)]
pub struct Witness {
    /// Uids of models that there ever were.
    models: BTreeSet<Uid>,
    /// Uids of applications that there ever were, and whether their storage was to be destroyed in the end.
    applications: BTreeMap<Uid, bool>,
    /// Uids of objects that ever were ours by their labels.
    ours: Arc<BTreeSet<String>>,
    /// Uids of objects that a deposed provisioner made.
    late: BTreeSet<String>,
    /// Whether a person or a node took part: then pods may go although nobody of ours took them away.
    meddled: bool,
    /// The number of pods wanted, by every version of each record.
    wanted: BTreeMap<Uid, Vec<(Version, u32)>>,
    /// While everything is refused.
    refused: Option<bounds::Refused>,
    /// When effects were refused in the last minute, by application and life of the provisioner.
    refusals: BTreeMap<(Uid, u32), VecDeque<Timestamp>>,
    /// Whether secrets are looked for in every step, which takes time.
    pub thorough: bool,
}

impl Witness {
    /// Notes that a person or a node took part.
    pub fn meddle(&mut self) {
        self.meddled = true;
    }

    /// Checks one step.
    ///
    /// # Errors
    /// The first invariant that does not hold.
    pub fn check(&mut self, before: &Moment, world: &World, who: Who) -> Result<(), Broken> {
        let changes: Vec<&Change> = world.cluster.changes_since(before.version).collect();
        let seen = Seen {
            before,
            world,
            who,
            changes,
        };
        self.learn(&seen);
        if !seen.changes.is_empty() {
            pods::taken(self, &seen)?;
            claims::deleted(self, &seen)?;
            objects::written(self, &seen)?;
        }
        let records = seen.records();
        if !records.is_empty() {
            pods::units_left(&seen, &records)?;
            pods::numbers(&records)?;
            objects::record_went(self, &seen, &records)?;
            records::check_all(&records)?;
        }
        scale::replicas(self, &seen)?;
        bounds::woken(&seen)?;
        bounds::needed(self, &seen)?;
        bounds::rate(self, &seen)?;
        if self.thorough {
            secrets::hidden(&seen)?;
        }
        self.keep(&seen);
        Ok(())
    }

    /// Checks what holds when nothing can happen any more.
    ///
    /// # Errors
    /// The first invariant that does not hold.
    pub fn check_at_rest(&self, world: &World) -> Result<(), Broken> {
        at_rest(world)
    }

    /// Before the checks: what exists.
    fn learn(&mut self, seen: &Seen<'_>) {
        for model in seen.world.store.models() {
            if !self.models.contains(&model.uid) {
                self.models.insert(model.uid);
            }
        }
        for (_, after) in seen.records() {
            if let Some(after) = after {
                let destroyed = after.spec.removal.is_some_and(|wish| wish.destroy_storage);
                self.applications.insert(after.uid, destroyed);
                let wanted = self.wanted.entry(after.uid).or_default();
                wanted.push((after.version, scale::wanted(after)));
                let stale = wanted.len().saturating_sub(64);
                wanted.drain(..stale);
            }
        }
    }

    /// After the checks: what may now be touched.
    fn keep(&mut self, seen: &Seen<'_>) {
        for change in &seen.changes {
            if seen.who == Who::Late && change.before.is_none() {
                self.late.insert(change.after.uid().into());
            }
            if !change.gone
                && self.is_ours(&change.after)
                && !self.ours.contains(change.after.uid())
            {
                Arc::make_mut(&mut self.ours).insert(change.after.uid().into());
            }
        }
    }

    /// Whether an object is ours by its labels: of a model and an application that there are or were.
    fn is_ours(&self, object: &Stored) -> bool {
        let managed = object.label("app.kubernetes.io/managed-by") == Some("pilotage");
        let model = uid_label(object, "pilotage.dev/model");
        let application = object.label("pilotage.dev/application-uid");
        let known = application.is_none()
            || application_uid(object).is_some_and(|uid| self.applications.contains_key(&uid));
        managed && known && model.is_some_and(|uid| self.models.contains(&uid))
    }
}

fn uid_label(object: &Stored, key: &str) -> Option<Uid> {
    object.label(key)?.parse().ok()
}

/// The application that an object's label names.
fn application_uid(object: &Stored) -> Option<Uid> {
    uid_label(object, "pilotage.dev/application-uid")
}

/// Whether a change takes an object away, or begins to.
fn ends(change: &Change) -> bool {
    let before = change
        .before
        .as_ref()
        .is_some_and(|before| before.deleting());
    !before && (change.gone || change.after.deleting())
}
