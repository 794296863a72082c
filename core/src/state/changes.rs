//! What the provisioner hears of a change: the same for a live change and for the first list after a start.
//!
//! Every change of a version yields at least one event that carries it. Told from nothing, an application is
//! [`Event::LifeChanged`] first, then scale, trust, provisioning, each unit, each storage, and what was last reported.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::event::{Event, RecordId};
use crate::life::Life;
use crate::name::Version;

use super::{Application, ApplicationReport, Model, Storage, provisioning};

/// The events that tell of a change of an application's record; `None` is no record.
pub fn changes(before: Option<&Application>, after: Option<&Application>) -> Vec<Event> {
    match (before, after) {
        (None, None) => Vec::new(),
        (Some(before), None) => alloc::vec![last_words(before)],
        (before, Some(after)) => differences(before, after),
    }
}

/// The last event of an application.
pub(super) fn last_words(before: &Application) -> Event {
    Event::LifeChanged {
        record: RecordId {
            uid: before.uid,
            version: Version(before.version.0.saturating_add(1)),
            more: false,
        },
        name: before.name.clone(),
        model: before.model,
        life: Life::Gone,
        removal: before.spec.removal,
        former_units: None,
    }
}

fn differences(before: Option<&Application>, after: &Application) -> Vec<Event> {
    let record = RecordId {
        uid: after.uid,
        version: after.version,
        more: false,
    };
    let mut events = Vec::new();
    if before.is_none_or(|before| {
        (before.status.life, before.spec.removal) != (after.status.life, after.spec.removal)
    }) {
        events.push(life(record, after));
    }
    let scale = |one: &Application| (one.desired_scale(), one.status.scaling);
    if before.is_none_or(|before| scale(before) != scale(after)) {
        events.push(Event::ScaleChanged {
            record,
            scale: after.desired_scale(),
            scaling: after.status.scaling,
        });
    }
    if before.is_none_or(|before| before.spec.trust != after.spec.trust) {
        events.push(Event::TrustChanged {
            record,
            trust: after.spec.trust,
        });
    }
    provisioning_change(record, before, after, &mut events);
    unit_changes(record, before, after, &mut events);
    storage_changes_of(record, before, after, &mut events);
    let report = report(after);
    if before.is_none_or(|before| self::report(before) != report) {
        events.push(Event::Reported {
            record,
            report: Arc::new(report),
        });
    }
    let untold = before.is_some_and(|before| before.version != after.version);
    if events.is_empty() && untold {
        events.push(life(record, after));
    }
    Event::bundle(&mut events);
    events
}

fn life(record: RecordId, application: &Application) -> Event {
    Event::LifeChanged {
        record,
        name: application.name.clone(),
        model: application.model,
        life: application.status.life,
        removal: application.spec.removal,
        former_units: Some(application.status.former_units).filter(|units| *units > 0),
    }
}

fn report(application: &Application) -> ApplicationReport {
    ApplicationReport {
        service: application.status.service.clone(),
        provisioner: application.status.provisioner.report.clone(),
        at_rest: application.status.at_rest,
    }
}

/// Whether nothing that provisioning is made from differs: most changes are reports, and need not build it to see that.
fn provisioned_alike(before: &Application, after: &Application) -> bool {
    let (before, after) = (&before.spec, &after.spec);
    before.charm == after.charm
        && before.modified == after.modified
        && before.template == after.template
        && before.resources == after.resources
        && before.constraints == after.constraints
        && before.filesystems == after.filesystems
        && before.settings == after.settings
}

fn provisioning_change(
    record: RecordId,
    before: Option<&Application>,
    after: &Application,
    events: &mut Vec<Event>,
) {
    if before.is_some_and(|before| provisioned_alike(before, after)) {
        return;
    }
    let now = provisioning(after);
    if before.is_none_or(|before| provisioning(before) != now) {
        events.push(Event::ProvisioningChanged {
            record,
            provisioning: now.map(Arc::new),
        });
    }
}

fn unit_changes(
    record: RecordId,
    before: Option<&Application>,
    after: &Application,
    events: &mut Vec<Event>,
) {
    for unit in &after.status.units {
        if before.is_none_or(|before| before.unit(unit.number) != Some(unit)) {
            events.push(Event::UnitChanged {
                record,
                unit: Arc::new(unit.clone()),
            });
        }
    }
    for unit in before.into_iter().flat_map(|before| &before.status.units) {
        if after.unit(unit.number).is_none() {
            events.push(Event::UnitRemoved {
                record,
                number: unit.number,
            });
        }
    }
}

fn storage_changes_of(
    record: RecordId,
    before: Option<&Application>,
    after: &Application,
    events: &mut Vec<Event>,
) {
    for storage in &after.status.storage {
        if before.is_none_or(|before| before.storage(storage.number) != Some(storage)) {
            events.push(Event::StorageChanged {
                record,
                storage: Arc::new(storage.clone()),
            });
        }
    }
    for storage in before.into_iter().flat_map(|before| &before.status.storage) {
        if after.storage(storage.number).is_none() {
            events.push(Event::StorageRemoved {
                record,
                number: storage.number,
            });
        }
    }
}

/// The events that tell of a change of a model's record.
pub fn model_changes(before: Option<&Model>, after: Option<&Model>) -> Vec<Event> {
    match (before, after) {
        (None, None) => Vec::new(),
        (Some(before), None) => alloc::vec![Event::ModelGone { model: before.uid }],
        (Some(before), Some(after)) if before == after => Vec::new(),
        (_, Some(after)) => alloc::vec![Event::ModelChanged(Arc::new(after.view()))],
    }
}

/// The events that tell of a change of the record of a storage that outlived its application.
pub fn storage_changes(before: Option<&Storage>, after: Option<&Storage>) -> Vec<Event> {
    match (before, after) {
        (None, None) => Vec::new(),
        (Some(before), None) => alloc::vec![Event::DetachedStorageGone {
            model: before.model,
            number: before.instance.number,
        }],
        (Some(before), Some(after)) if before == after => Vec::new(),
        (_, Some(after)) => alloc::vec![Event::DetachedStorageChanged {
            storage: Arc::new(after.clone()),
        }],
    }
}
