//! Storage, from records to what is shown (command line, 3.3).

use pilotage_core::charm::FilesystemKind;
use pilotage_core::state::{Application, Storage, StorageInstance, StorageWord};

use super::super::output::times::Clock;
use super::build::life_word;
use super::view::{
    Attachment, Attachments, FilesystemEntry, FilesystemMount, StatusEntry, StorageAttachments,
    StorageEntry, StorageView, VolumeEntry, VolumeMount,
};

/// All storage of some applications, and what outlived others.
pub fn storage_view<'a>(
    applications: impl IntoIterator<Item = &'a Application>,
    kept: impl IntoIterator<Item = &'a Storage>,
    clock: &Clock,
) -> StorageView {
    let mut view = StorageView::default();
    for application in applications {
        for instance in &application.status.storage {
            let unit = application
                .status
                .units
                .iter()
                .find(|unit| unit.number == instance.unit)
                .map(|unit| {
                    (
                        format!("{}/{}", application.name, unit.number),
                        life_word(unit.life),
                    )
                });
            add(
                &mut view,
                instance,
                unit,
                size_asked(application, instance),
                clock,
            );
        }
    }
    for storage in kept {
        add(&mut view, &storage.instance, None, 0, clock);
        if storage.destroy {
            let id = storage.instance.id();
            if let Some(entry) = view.storage.get_mut(&id) {
                entry.life = "dying";
            }
        }
    }
    view
}

/// Adds a storage whose record cannot be read: an entry of its own shape, as of all storage only the number is known.
pub fn damaged_storage(view: &mut StorageView, number: u32, why: &dyn std::fmt::Display) {
    let entry = StorageEntry {
        kind: "filesystem",
        life: "alive",
        status: StatusEntry {
            current: storage_word(StorageWord::Error).into(),
            message: why.to_string(),
            ..StatusEntry::default()
        },
        persistent: false,
        attachments: None,
    };
    view.storage.insert(format!("unknown/{number}"), entry);
}

/// The size that a filesystem without a claim was asked with: nothing else tells it.
fn size_asked(application: &Application, instance: &StorageInstance) -> u64 {
    application
        .spec
        .filesystems
        .iter()
        .find(|filesystem| {
            filesystem.storage == instance.storage
                && filesystem.index == instance.index
                && !matches!(filesystem.kind, FilesystemKind::Claim { .. })
        })
        .map_or(0, |filesystem| filesystem.size_mib)
}

fn add(
    view: &mut StorageView,
    instance: &StorageInstance,
    unit: Option<(String, &'static str)>,
    size_asked: u64,
    clock: &Clock,
) {
    let number = instance.number.to_string();
    let word = match (&unit, instance.word) {
        (None, StorageWord::Attached | StorageWord::Attaching) => StorageWord::Detached,
        (_, word) => word,
    };
    let status = StatusEntry {
        current: storage_word(word).into(),
        message: instance.status.report.message.to_string(),
        since: clock.local_since(instance.status.since),
        life: None,
    };
    let there = instance.given.is_some()
        || (instance.claim.is_none() && instance.word != StorageWord::Pending);
    let size = match &instance.given {
        Some(given) => given.size_mib,
        None if there => size_asked,
        None => 0,
    };
    let pool = there.then(|| instance.pool.clone());
    let life = "alive";
    let attachment = |life| Attachment { life };
    view.storage.insert(
        instance.id(),
        StorageEntry {
            kind: "filesystem",
            life,
            status: status.clone(),
            persistent: false,
            attachments: unit.as_ref().map(|(name, life)| StorageAttachments {
                units: [(name.clone(), attachment(life))].into(),
            }),
        },
    );
    view.filesystems.insert(
        number.clone(),
        FilesystemEntry {
            provider_id: instance.given.as_ref().map(|given| given.claim.to_string()),
            volume: instance.claim.is_some().then(|| number.clone()),
            storage: instance.id(),
            attachments: unit.as_ref().map(|(name, life)| Attachments {
                containers: [(
                    name.clone(),
                    FilesystemMount {
                        mount_point: if there {
                            instance.mount_point.clone()
                        } else {
                            String::new()
                        },
                        read_only: instance.read_only,
                        life,
                    },
                )]
                .into(),
                units: [(name.clone(), attachment(life))].into(),
            }),
            pool: pool.clone(),
            size,
            life,
            status: status.clone(),
        },
    );
    if instance.claim.is_none() {
        return;
    }
    view.volumes.insert(
        number,
        VolumeEntry {
            provider_id: instance
                .given
                .as_ref()
                .map(|given| given.volume.to_string()),
            storage: instance.id(),
            attachments: unit.as_ref().map(|(name, life)| Attachments {
                containers: [(
                    name.clone(),
                    VolumeMount {
                        read_only: instance.read_only,
                        life,
                    },
                )]
                .into(),
                units: [(name.clone(), attachment(life))].into(),
            }),
            pool,
            size,
            persistent: there,
            life,
            status,
        },
    );
}

/// A storage's word as users read it.
pub fn storage_word(word: StorageWord) -> &'static str {
    match word {
        StorageWord::Pending => "pending",
        StorageWord::Attaching => "attaching",
        StorageWord::Attached => "attached",
        StorageWord::Detaching => "detaching",
        StorageWord::Detached => "detached",
        StorageWord::Destroying => "destroying",
        StorageWord::Error => "error",
        StorageWord::Unknown => "unknown",
    }
}
