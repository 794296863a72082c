//! What can happen to the record of a storage that outlived its application.

use alloc::vec::Vec;

use crate::name::Version;
use crate::outcome::Reply;
use crate::state::changes::storage_changes;
use crate::state::{Caller, Denial, Storage, StorageCommand, StorageWord};
use crate::time::Timestamp;

use super::{FIRST, NONE, next, permission, recorded};

impl Storage {
    /// The record of a storage that outlives its application.
    ///
    /// # Errors
    /// [`Denial::NotPermitted`]; a storage without a claim, of which nothing outlives a pod.
    pub fn keep(
        at: Timestamp,
        caller: Caller,
        storage: &Storage,
    ) -> Result<(Storage, Reply), Denial> {
        // The one command that makes such a record is the provisioner's, whoever asks.
        if caller != Caller::Provisioner {
            return Err(Denial::NotPermitted { command: "keep" });
        }
        if storage.instance.claim.is_none() {
            return Err(Denial::Contradiction(
                "a storage without a claim ends with its pod",
            ));
        }
        let mut kept = Storage {
            version: FIRST,
            created: at,
            ..storage.clone()
        };
        let word = match kept.destroy {
            true => StorageWord::Destroying,
            false => StorageWord::Detached,
        };
        kept.instance.set(at, word, "");
        let changes = storage_changes(None, Some(&kept));
        Ok((kept, recorded(NONE, FIRST, changes)))
    }

    /// Applies a command; `None` says that the record is gone.
    ///
    /// # Errors
    /// Why the command is not carried out; then nothing has changed.
    pub fn apply(
        &self,
        at: Timestamp,
        caller: Caller,
        expect: Option<Version>,
        command: &StorageCommand,
    ) -> Result<(Option<Storage>, Reply), Denial> {
        permission::storage(caller, command)?;
        permission::version(self.version, expect, false, "storage")?;
        let mut after = self.clone();
        match command {
            StorageCommand::Keep { storage } => {
                if storage.application != self.application {
                    return Err(Denial::StorageExists(self.instance.number));
                }
                // A storage that was to be kept may still be destroyed later; never the other way round.
                after.destroy |= storage.destroy;
            }
            StorageCommand::Report(_) if after.destroy => {}
            StorageCommand::Report(report) => {
                after.instance.given.clone_from(&report.given);
                after
                    .instance
                    .set(at, report.word.of_nobody(), &report.message);
            }
            StorageCommand::Destroy => after.destroy = true,
            StorageCommand::Clear => {
                let changes = storage_changes(Some(self), None);
                return Ok((None, recorded(self.version, next(self.version), changes)));
            }
        }
        if after.destroy {
            after.instance.set(at, StorageWord::Destroying, "");
        }
        let changes = if after == *self {
            Vec::new()
        } else {
            after.version = next(self.version);
            storage_changes(Some(self), Some(&after))
        };
        let reply = recorded(self.version, after.version, changes);
        Ok((Some(after), reply))
    }
}
