//! What the core is told.

use alloc::boxed::Box;
use alloc::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::effect::EffectId;
use crate::kubernetes::read::{Object, Pod};
use crate::kubernetes::{Key, Kind};
use crate::life::Life;
use crate::name::{Uid, Version};
use crate::outcome::Outcome;
use crate::state::{
    ApplicationReport, ModelView, Provisioning, RemovalWish, Storage, StorageInstance, Unit,
};

/// Something that happened. Events may come late, twice and, over several sources, in any order.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Event {
    /// A source begins to tell everything that it has; what it does not tell before [`Event::Synced`] is gone.
    ///
    /// To be told before the list is asked for: an outcome told after it may be newer than what is in the list, and one
    /// told before it is not. A list that fails is begun again.
    Listing {
        /// Which.
        source: Source,
    },
    /// The source has told everything, as of one moment.
    Synced {
        /// Which.
        source: Source,
    },
    /// The source cannot be read, from now on until it says otherwise: by [`Event::Synced`], or [`Event::SourceResumed`].
    SourceFailed {
        /// Which.
        source: Source,
        /// What it said.
        reason: Box<str>,
    },
    /// The source is read again from where it was: nothing was missed.
    SourceResumed {
        /// Which.
        source: Source,
    },

    /// A model is there, or has changed.
    ModelChanged(Arc<ModelView>),
    /// A model's record is no more.
    ModelGone {
        /// Which.
        model: Uid,
    },
    /// An application is there, or its life or version has changed. The first that is told of an application.
    LifeChanged {
        /// Which record.
        record: RecordId,
        /// Its name.
        name: Box<str>,
        /// Its model.
        model: Uid,
        /// Its life.
        life: Life,
        /// How it is to go, once it is to go.
        removal: Option<RemovalWish>,
        /// How many units it had, counted from 0, when it was removed by force.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        former_units: Option<u32>,
    },
    /// The number of units wanted, or the scaling in progress, has changed.
    ScaleChanged {
        /// Which record.
        record: RecordId,
        /// Units wanted.
        scale: u32,
        /// The target of the scaling in progress.
        scaling: Option<u32>,
    },
    /// Whether the application is trusted has changed.
    TrustChanged {
        /// Which record.
        record: RecordId,
        /// Whether it may do everything in the cluster.
        trust: bool,
    },
    /// What the pods are made from has changed.
    ProvisioningChanged {
        /// Which record.
        record: RecordId,
        /// What they are made from, or why that is not known yet.
        provisioning: Result<Arc<Provisioning>, Box<str>>,
    },
    /// A unit is there, or its record has changed.
    UnitChanged {
        /// Which record.
        record: RecordId,
        /// The unit.
        unit: Arc<Unit>,
    },
    /// A unit's record is no more.
    UnitRemoved {
        /// Which record.
        record: RecordId,
        /// Its number.
        number: u32,
    },
    /// A storage of the application is there, or its record has changed.
    StorageChanged {
        /// Which record.
        record: RecordId,
        /// The storage.
        storage: Arc<StorageInstance>,
    },
    /// A storage left the application's record.
    StorageRemoved {
        /// Which record.
        record: RecordId,
        /// Its number in the model.
        number: u32,
    },
    /// What was last reported of the application as a whole.
    Reported {
        /// Which record.
        record: RecordId,
        /// The report.
        report: Arc<ApplicationReport>,
    },

    /// A storage that outlived its application is there, or its record has changed. The record carries the version.
    DetachedStorageChanged {
        /// The record.
        storage: Arc<Storage>,
    },
    /// The record of a storage that outlived its application is no more.
    DetachedStorageGone {
        /// The model.
        model: Uid,
        /// The storage's number in the model.
        number: u32,
    },

    /// A record is there and cannot be read: nothing is decided about what it tells of, and nothing of it is swept, until
    /// a list tells it again. Told in a list, in the record's place.
    RecordUnreadable(RecordName),

    /// A pod is there, or has changed.
    PodUpdated(Arc<Pod>),
    /// A pod is gone, or no longer carries our label.
    PodDeleted {
        /// Where it was.
        key: Key,
        /// Which.
        uid: Uid,
        /// The version of its end.
        version: Version,
    },
    /// An object that is no pod is there, or has changed.
    ObjectUpdated(Arc<Object>),
    /// An object that is no pod is gone, or no longer carries our label.
    ObjectDeleted {
        /// Where it was.
        key: Key,
        /// Which.
        uid: Uid,
        /// The version of its end.
        version: Version,
    },

    /// It is at least as late as the last step asked to be woken.
    Timer,
    /// What became of an effect.
    EffectCompleted {
        /// Which.
        id: EffectId,
        /// What became of it.
        outcome: Outcome,
    },
}

/// A record's identity and version, and whether its story goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RecordId {
    /// Which.
    pub uid: Uid,
    /// The version that the event tells of.
    pub version: Version,
    /// Whether more events of this version follow: nothing is decided on half a change.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub more: bool,
}

/// A record, by what can be known of it without reading it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RecordName {
    /// A model's.
    Model {
        /// Which.
        model: Uid,
        /// Its name.
        name: Box<str>,
    },
    /// An application's.
    Application {
        /// Which.
        application: Uid,
        /// Its name.
        name: Box<str>,
        /// Its model.
        model: Uid,
    },
    /// That of a storage that outlived its application.
    Storage {
        /// The model.
        model: Uid,
        /// The storage's number in the model.
        number: u32,
    },
}

impl RecordName {
    /// The model that it is, or is of.
    pub fn model(&self) -> Uid {
        match self {
            RecordName::Model { model, .. }
            | RecordName::Application { model, .. }
            | RecordName::Storage { model, .. } => *model,
        }
    }
}

impl Event {
    /// The application's record that an event of the store tells of.
    pub fn record(&self) -> Option<RecordId> {
        match self {
            Event::LifeChanged { record, .. }
            | Event::ScaleChanged { record, .. }
            | Event::TrustChanged { record, .. }
            | Event::ProvisioningChanged { record, .. }
            | Event::UnitChanged { record, .. }
            | Event::UnitRemoved { record, .. }
            | Event::StorageChanged { record, .. }
            | Event::StorageRemoved { record, .. }
            | Event::Reported { record, .. } => Some(*record),
            _ => None,
        }
    }

    fn record_mut(&mut self) -> Option<&mut RecordId> {
        match self {
            Event::LifeChanged { record, .. }
            | Event::ScaleChanged { record, .. }
            | Event::TrustChanged { record, .. }
            | Event::ProvisioningChanged { record, .. }
            | Event::UnitChanged { record, .. }
            | Event::UnitRemoved { record, .. }
            | Event::StorageChanged { record, .. }
            | Event::StorageRemoved { record, .. }
            | Event::Reported { record, .. } => Some(record),
            _ => None,
        }
    }

    /// Marks the events of one change of one record: all but the last have more to come.
    pub fn bundle(events: &mut [Event]) {
        let count = events.len();
        for (at, event) in events.iter_mut().enumerate() {
            if let Some(record) = event.record_mut() {
                record.more = at.saturating_add(1) < count;
            }
        }
    }
}

/// Where events come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// The state.
    Store,
    /// One watched kind.
    Cluster(Kind),
}
