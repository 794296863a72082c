//! Storages inside an application's record: they come with a unit, stay when it goes, and are there again for the next
//! unit of that number (B42).

use alloc::string::String;
use alloc::vec::Vec;

use crate::charm::{Filesystem, FilesystemKind};
use crate::state::{
    Application, Denial, NewStorage, Status, StatusReport, StorageInstance, StorageWord, Word,
};
use crate::time::Timestamp;

impl StorageInstance {
    /// Sets word and message; `since` changes only when one of them does.
    pub(super) fn set(&mut self, at: Timestamp, word: StorageWord, message: &str) {
        if self.word != word || &*self.status.report.message != message {
            self.word = word;
            self.status = Status {
                report: StatusReport::new(Word::Unknown, message),
                since: at,
            };
        }
    }
}

impl Application {
    /// Idempotent by unit, storage and index: what a unit has already keeps its number. A storage of a filesystem that is
    /// no longer there is left out, and so is one for a unit that is not there, unless it has a claim, which outlives
    /// units: its number is a gap, never a double.
    pub(super) fn add_storage(
        &mut self,
        at: Timestamp,
        storages: &[NewStorage],
    ) -> Result<(), Denial> {
        for new in storages {
            let list = &mut self.status.storage;
            if list.iter().any(|storage| {
                storage.unit == new.unit
                    && storage.storage == new.storage
                    && storage.index == new.index
            }) {
                continue;
            }
            let filesystem = self
                .spec
                .filesystems
                .iter()
                .find(|one| one.storage == new.storage && one.index == new.index);
            let Some(filesystem) = filesystem else {
                continue;
            };
            let mut instance = instance(at, new, filesystem);
            if self.unit(new.unit).is_none() {
                if new.claim.is_none() {
                    continue;
                }
                instance.word = StorageWord::Detached;
            }
            let list = &mut self.status.storage;
            match list.binary_search_by_key(&new.number, |storage| storage.number) {
                Ok(_) => return Err(Denial::StorageExists(new.number)),
                Err(place) => list.insert(place, instance),
            }
        }
        Ok(())
    }

    /// The storages of units that are not there any more are detached; those without a claim ended with their pod.
    pub(super) fn detach_storage(&mut self, at: Timestamp) {
        let mut storages = core::mem::take(&mut self.status.storage);
        storages.retain_mut(|storage| {
            if self.unit(storage.unit).is_some() {
                return true;
            }
            storage.set(at, StorageWord::Detached, "");
            storage.claim.is_some()
        });
        self.status.storage = storages;
    }

    /// The storages of a former unit of this number are the new one's.
    pub(super) fn attach_storage(&mut self, unit: u32, at: Timestamp) {
        for storage in &mut self.status.storage {
            if storage.unit == unit {
                let word = match storage.given {
                    Some(_) => StorageWord::Attaching,
                    None => StorageWord::Pending,
                };
                storage.set(at, word, "");
            }
        }
    }

    pub(super) fn remove_storage(&mut self, numbers: &[u32]) -> Result<(), Denial> {
        let attached =
            self.status.storage.iter().any(|storage| {
                numbers.contains(&storage.number) && self.unit(storage.unit).is_some()
            });
        if attached {
            return Err(self.untimely("remove-storage", "a unit still has one of them"));
        }
        let storages: &mut Vec<StorageInstance> = &mut self.status.storage;
        storages.retain(|storage| !numbers.contains(&storage.number));
        Ok(())
    }
}

fn instance(at: Timestamp, new: &NewStorage, filesystem: &Filesystem) -> StorageInstance {
    // In a plain pod there is no charm container: people find the storage where the first workload container sees it.
    let mount_point = filesystem
        .mounts
        .first()
        .map_or(&filesystem.path, |mount| &mount.path);
    let pool = match (&filesystem.pool, &filesystem.kind) {
        (Some(pool), _) => pool.clone(),
        (None, FilesystemKind::Claim { .. }) => String::from("kubernetes"),
        (None, FilesystemKind::Rootfs) => String::from("rootfs"),
        (None, FilesystemKind::Tmpfs) => String::from("tmpfs"),
    };
    StorageInstance {
        number: new.number,
        storage: new.storage.clone(),
        index: new.index,
        unit: new.unit,
        claim: new.claim.clone(),
        mount_point: mount_point.clone(),
        read_only: filesystem.read_only,
        pool,
        given: None,
        word: StorageWord::Pending,
        status: Status {
            report: StatusReport::new(Word::Unknown, ""),
            since: at,
        },
    }
}
