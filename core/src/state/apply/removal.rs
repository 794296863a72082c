//! The way out: dying, dead, gone.

use crate::life::Life;
use crate::state::{Application, Denial, RemovalWish};
use crate::time::Timestamp;

impl RemovalWish {
    /// Both wishes: a later one adds to an earlier one and takes nothing back.
    pub(super) fn and(self, other: RemovalWish) -> RemovalWish {
        RemovalWish {
            destroy_storage: self.destroy_storage || other.destroy_storage,
            force: self.force || other.force,
        }
    }
}

impl Application {
    /// Again is the same. By force the units leave at once, and a dead record without units, the tombstone, holds the
    /// name until the cluster is clean (B35).
    pub(super) fn remove(&mut self, at: Timestamp, wish: RemovalWish) {
        let wish = self.spec.removal.unwrap_or_default().and(wish);
        self.spec.removal = Some(wish);
        self.status.life = self.status.life.max(Life::Dying);
        if wish.force && self.status.life == Life::Dying {
            self.status.life = Life::Dead;
            self.spec.scale = 0;
            self.status.scaling = None;
            let numbers = self.status.units.iter().map(|unit| unit.number);
            self.status.former_units = numbers.max().map_or(0, |last| last.saturating_add(1));
            self.status.units.clear();
            self.detach_storage(at);
        }
    }

    pub(super) fn mark_dead(&mut self) -> Result<(), Denial> {
        match self.status.life {
            Life::Dead => return Ok(()),
            Life::Dying => {}
            Life::Alive | Life::Gone => {
                return Err(self.untimely("mark-dead", "nobody asked to remove it"));
            }
        }
        if !self.status.units.is_empty() {
            return Err(self.untimely("mark-dead", "it still has units"));
        }
        self.status.life = Life::Dead;
        self.status.scaling = None;
        self.spec.scale = 0;
        Ok(())
    }

    /// UFAC-47: not while it lives; and nothing that a record alone remembers may be lost with it.
    pub(super) fn check_clear(&self) -> Result<(), Denial> {
        if self.status.life != Life::Dead {
            return Err(self.untimely("clear", "it is not dead"));
        }
        if !self.status.units.is_empty() || !self.status.storage.is_empty() {
            return Err(self.untimely("clear", "units or storages of it are still recorded"));
        }
        Ok(())
    }
}
