//! What a listener knows: the store's events, added up.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;

use pilotage_core::event::{Event, RecordId, RecordName};
use pilotage_core::life::Life;
use pilotage_core::name::{Uid, Version};
use pilotage_core::state::{
    ApplicationReport, ModelView, Provisioning, RemovalWish, Storage, StorageInstance, Unit,
};

/// The store's events, added up in the order in which they came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// Models.
    pub models: BTreeMap<Uid, Arc<ModelView>>,
    /// Applications.
    pub applications: BTreeMap<Uid, ToldApplication>,
    /// Storages with records of their own, by model and number.
    pub storages: BTreeMap<(Uid, u32), Arc<Storage>>,
    /// Records that cannot be read.
    pub unreadable: BTreeSet<RecordName>,
}

/// What was told of one application.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToldApplication {
    /// The version last told of.
    pub version: Version,
    /// Name.
    pub name: Box<str>,
    /// Model.
    pub model: Uid,
    /// Life.
    pub life: Life,
    /// How it is to go.
    pub removal: Option<RemovalWish>,
    /// How many units it had when it was removed by force.
    pub former_units: Option<u32>,
    /// Units wanted, and the target of the scaling in progress.
    pub scale: Option<(u32, Option<u32>)>,
    /// Whether it is trusted.
    pub trust: Option<bool>,
    /// What its pods are made from.
    pub provisioning: Option<Result<Arc<Provisioning>, Box<str>>>,
    /// Units.
    pub units: BTreeMap<u32, Arc<Unit>>,
    /// Storages.
    pub storage: BTreeMap<u32, Arc<StorageInstance>>,
    /// What was last reported.
    pub report: Option<Arc<ApplicationReport>>,
}

/// An event that tells of an application that was never introduced, or of another source.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("nothing that the store tells at this place: {0:?}")]
pub struct Unexpected(pub Box<Event>);

impl Told {
    /// What a whole list tells.
    ///
    /// # Errors
    /// See [`Told::hear`].
    pub fn of<'a>(events: impl IntoIterator<Item = &'a Event>) -> Result<Self, Unexpected> {
        let mut told = Self::default();
        events.into_iter().try_for_each(|event| told.hear(event))?;
        Ok(told)
    }

    /// Takes one event of the store.
    ///
    /// # Errors
    /// [`Unexpected`]: an application is told of before its life is, or the event is none of the store's.
    pub fn hear(&mut self, event: &Event) -> Result<(), Unexpected> {
        self.take(event)
            .ok_or_else(|| Unexpected(Box::new(event.clone())))
    }

    fn known(&mut self, record: &RecordId) -> Option<&mut ToldApplication> {
        let told = self.applications.get_mut(&record.uid)?;
        told.version = record.version;
        Some(told)
    }

    fn take(&mut self, event: &Event) -> Option<()> {
        match event {
            Event::Listing { .. } => *self = Self::default(),
            Event::Synced { .. } => {}
            Event::ModelChanged(view) => {
                self.models.insert(view.uid, view.clone());
            }
            Event::ModelGone { model } => {
                self.models.remove(model);
            }
            Event::LifeChanged {
                record,
                name,
                model,
                life,
                removal,
                former_units,
            } => {
                self.hear_life(*record, name, *model, *life, *removal);
                if let Some(told) = self.applications.get_mut(&record.uid) {
                    told.former_units = *former_units;
                }
            }
            Event::ScaleChanged {
                record,
                scale,
                scaling,
            } => self.known(record)?.scale = Some((*scale, *scaling)),
            Event::TrustChanged { record, trust } => self.known(record)?.trust = Some(*trust),
            Event::ProvisioningChanged {
                record,
                provisioning,
            } => self.known(record)?.provisioning = Some(provisioning.clone()),
            Event::UnitChanged { record, unit } => {
                self.known(record)?.units.insert(unit.number, unit.clone());
            }
            Event::UnitRemoved { record, number } => {
                self.known(record)?.units.remove(number);
            }
            Event::StorageChanged { record, storage } => {
                self.known(record)?
                    .storage
                    .insert(storage.number, storage.clone());
            }
            Event::StorageRemoved { record, number } => {
                self.known(record)?.storage.remove(number);
            }
            Event::Reported { record, report } => self.known(record)?.report = Some(report.clone()),
            Event::DetachedStorageChanged { storage } => {
                let key = (storage.model, storage.instance.number);
                self.storages.insert(key, storage.clone());
            }
            Event::DetachedStorageGone { model, number } => {
                self.storages.remove(&(*model, *number));
            }
            Event::RecordUnreadable(record) => {
                self.unreadable.insert(record.clone());
            }
            _ => return None,
        }
        Some(())
    }

    fn hear_life(
        &mut self,
        record: RecordId,
        name: &str,
        model: Uid,
        life: Life,
        removal: Option<RemovalWish>,
    ) {
        if life == Life::Gone {
            self.applications.remove(&record.uid);
            return;
        }
        let told = self
            .applications
            .entry(record.uid)
            .or_insert_with(|| ToldApplication {
                version: record.version,
                name: name.into(),
                model,
                life,
                removal,
                former_units: None,
                scale: None,
                trust: None,
                provisioning: None,
                units: BTreeMap::new(),
                storage: BTreeMap::new(),
                report: None,
            });
        told.version = record.version;
        told.life = life;
        told.removal = removal;
    }
}
