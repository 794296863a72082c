//! How units come and go.
//!
//! The record's units are the memory of a scale-down. While no unit is dying or dead they are exactly 0 to n-1 with
//! every wanted one among them; so a command that raises the scale makes the missing units at once, and when some are
//! leaving, the command that removes the last of them does. Downward, units go only when the worker says so.

use crate::life::Life;
use crate::state::{Application, Denial, NO_POD_YET, Status, StatusReport, Unit, Word};
use crate::time::Timestamp;

/// The most units that one application has. Kubernetes is tested up to 150,000 pods in a whole cluster
/// ("Considerations for large clusters"); a number typed by mistake must not fill the state with units.
pub const LARGEST_SCALE: u32 = 10_000;

/// The most bytes of a record: what a cluster, where it may be kept, keeps of one object.
const LARGEST_RECORD: usize = 1_000_000;
/// The bytes that a unit takes in a record, its pod and status included.
const UNIT: usize = 285;
/// The bytes that each storage of a unit takes, with what the cluster gave for it.
const STORAGE: usize = 715;

/// The most units that an application can have whose units have so many filesystems each: what its record has room for,
/// wherever that is kept, so that it does not grow beyond it when the units report.
pub fn most_units(filesystems: usize) -> u32 {
    let each = filesystems.saturating_mul(STORAGE).saturating_add(UNIT);
    let room = LARGEST_RECORD.checked_div(each).unwrap_or(0);
    u32::try_from(room).unwrap_or(u32::MAX).min(LARGEST_SCALE)
}

/// A number of units that can be wanted, where `now` are: it may always fall.
pub(super) fn units_wanted(scale: i128, filesystems: usize, now: u32) -> Result<u32, Denial> {
    let most = most_units(filesystems);
    match u32::try_from(scale) {
        Ok(scale) if scale <= most.max(now) => Ok(scale),
        _ if scale < 0 => Err(Denial::TooFewUnits),
        _ => Err(Denial::TooManyUnits { asked: scale, most }),
    }
}

impl Application {
    /// Units wanted: none once it is on its way out (B25). `spec.scale` keeps the number that users see until the
    /// scaling down to 0 begins, as in the original (AFAC-28).
    pub fn desired_scale(&self) -> u32 {
        match self.status.life {
            Life::Alive => self.spec.scale,
            Life::Dying | Life::Dead | Life::Gone => 0,
        }
    }

    /// Whether a unit is dying or dead.
    pub fn is_leaving_units(&self) -> bool {
        self.status
            .units
            .iter()
            .any(|unit| unit.life != Life::Alive)
    }

    /// The target of the scaling in progress, derived so that no stale note can mislead: `min(scale, lowest ordinal not
    /// alive)` while units are leaving, else the scale.
    pub fn target(&self) -> u32 {
        let desired = self.desired_scale();
        self.lowest_leaving()
            .map_or(desired, |lowest| desired.min(lowest))
    }

    /// The lowest number of a unit that is dying or dead.
    pub(in crate::state) fn lowest_leaving(&self) -> Option<u32> {
        let mut units = self.status.units.iter();
        units
            .find(|unit| unit.life != Life::Alive)
            .map(|unit| unit.number)
    }

    /// How many units, counted from 0, are alive without a gap.
    pub(in crate::state) fn alive_prefix(&self) -> u32 {
        let alive = (0_u32..)
            .zip(&self.status.units)
            .take_while(|(number, unit)| unit.number == *number && unit.life == Life::Alive)
            .count();
        u32::try_from(alive).unwrap_or(u32::MAX)
    }

    /// Makes the units that are wanted and missing, if nothing is leaving.
    pub(super) fn restore_units(&mut self, at: Timestamp) {
        if self.status.life != Life::Alive || self.is_leaving_units() {
            return;
        }
        for number in 0..self.spec.scale {
            if let Err(place) = self
                .status
                .units
                .binary_search_by_key(&number, |unit| unit.number)
            {
                self.status.units.insert(place, new_unit(number, at));
                self.attach_storage(number, at);
            }
        }
    }

    /// Notes where a scaling goes, before its first side effect (B22). While dying it also sets the scale that users
    /// see (AFAC-28).
    pub(super) fn begin_scaling(&mut self, target: u32) -> Result<(), Denial> {
        if target != self.target() {
            return Err(self.untimely("begin-scaling", "its target is not what is wanted now"));
        }
        self.status.scaling = Some(target);
        if self.status.life != Life::Alive {
            self.spec.scale = target;
        }
        Ok(())
    }

    pub(super) fn end_scaling(&mut self) -> Result<(), Denial> {
        if self.is_leaving_units() {
            return Err(self.untimely("end-scaling", "units are still leaving"));
        }
        self.status.scaling = None;
        Ok(())
    }

    /// Without agents nothing has to end in order before the pod does, so the units are dead at once.
    pub(super) fn destroy_units(&mut self, from: u32) -> Result<(), Denial> {
        let goes = |unit: &Unit| unit.number >= from && unit.life != Life::Dead;
        if !self.status.units.iter().any(goes) {
            return Ok(());
        }
        if from < self.desired_scale() {
            return Err(self.untimely("destroy-units", "some of them are wanted"));
        }
        if self.status.scaling.is_none_or(|target| from < target) {
            return Err(self.untimely("destroy-units", "no scaling to there has begun"));
        }
        for unit in self.status.units.iter_mut().filter(|unit| goes(unit)) {
            unit.life = Life::Dead;
        }
        Ok(())
    }

    pub(super) fn remove_units(&mut self, at: Timestamp, numbers: &[u32]) -> Result<(), Denial> {
        let units = &mut self.status.units;
        if units
            .iter()
            .any(|unit| numbers.contains(&unit.number) && unit.life != Life::Dead)
        {
            return Err(self.untimely("remove-units", "one of them is not dead"));
        }
        units.retain(|unit| !numbers.contains(&unit.number));
        self.detach_storage(at);
        Ok(())
    }
}

fn new_unit(number: u32, at: Timestamp) -> Unit {
    let since = |word, message: &str| Status {
        report: StatusReport::new(word, message),
        since: at,
    };
    Unit {
        number,
        life: Life::Alive,
        pod: None,
        started: false,
        workload: since(Word::Waiting, NO_POD_YET),
        agent: since(Word::Allocating, ""),
    }
}
