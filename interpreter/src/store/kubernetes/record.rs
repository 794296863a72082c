//! The three kinds of record, as one.

use std::sync::Arc;

use pilotage_core::event::Event;
use pilotage_core::name::{Uid, Version};
use pilotage_core::state::{Application, Model, Storage, changes, model_changes, storage_changes};

/// A record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Record {
    Model(Arc<Model>),
    Application(Arc<Application>),
    Storage(Arc<Storage>),
}

impl Record {
    /// The identity of the record; of a storage, of its model.
    pub(super) fn uid(&self) -> Uid {
        match self {
            Record::Model(model) => model.uid,
            Record::Application(application) => application.uid,
            Record::Storage(storage) => storage.model,
        }
    }

    /// Its version.
    pub(super) fn version(&self) -> Version {
        match self {
            Record::Model(model) => model.version,
            Record::Application(application) => application.version,
            Record::Storage(storage) => storage.version,
        }
    }
}

/// What tells of a change of a record.
pub(super) fn differences(before: Option<&Record>, after: Option<&Record>) -> Vec<Event> {
    match (before, after) {
        (None, None) => Vec::new(),
        (Some(Record::Model(_)), _) | (None, Some(Record::Model(_))) => {
            model_changes(model(before), model(after))
        }
        (Some(Record::Application(_)), _) | (None, Some(Record::Application(_))) => {
            match (application(before), application(after)) {
                // Another life of the name.
                (Some(old), Some(new)) if old.uid != new.uid => {
                    let mut events = changes(Some(old), None);
                    events.extend(changes(None, Some(new)));
                    events
                }
                // A version that says nothing new is none.
                (Some(old), Some(new)) if old == new => Vec::new(),
                (old, new) => changes(old, new),
            }
        }
        (Some(Record::Storage(_)), _) | (None, Some(Record::Storage(_))) => {
            storage_changes(storage(before), storage(after))
        }
    }
}

fn model(record: Option<&Record>) -> Option<&Model> {
    match record {
        Some(Record::Model(model)) => Some(model),
        _ => None,
    }
}

fn application(record: Option<&Record>) -> Option<&Application> {
    match record {
        Some(Record::Application(application)) => Some(application),
        _ => None,
    }
}

fn storage(record: Option<&Record>) -> Option<&Storage> {
    match record {
        Some(Record::Storage(storage)) => Some(storage),
        _ => None,
    }
}
