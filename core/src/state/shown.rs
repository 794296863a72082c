//! What users see of an application: its status, its leader (command line, section 5).

use crate::life::Life;
use crate::time::Timestamp;

use super::{Application, NO_POD_YET, SETTLING, Status, StatusReport, Unit, Word};

impl Application {
    /// The application's status as users see it: derived from the units, with the provisioner's own laid over it where
    /// it is more severe, or says of units that have no pod yet what they wait for. A provisioner that has nothing to
    /// wait for says nothing (OPS-35).
    pub fn shown_status(&self) -> Status {
        let derived = &self.status.settled;
        let own = &self.status.provisioner;
        if own.report.is_shown_over(&derived.report) {
            own.clone()
        } else {
            derived.clone()
        }
    }

    /// What stands in the way of pods, if the provisioner knows more of it than that they are not ready (B06).
    pub fn obstacle(&self) -> Option<&str> {
        self.status.provisioner.report.obstacle()
    }

    /// The unit that leads: the lowest ordinal that is alive.
    pub fn leader(&self) -> Option<u32> {
        let mut units = self.status.units.iter();
        units
            .find(|unit| unit.life == Life::Alive)
            .map(|unit| unit.number)
    }

    /// How many of the units that are to stay work (AFAC-26: the workload's word counts, not the agent's).
    pub fn ready_units(&self) -> u32 {
        let ready = self
            .status
            .units
            .iter()
            .filter(|unit| unit.life == Life::Alive && unit.workload.report.word == Word::Active)
            .count();
        u32::try_from(ready).unwrap_or(u32::MAX)
    }

    /// Keeps since when the units say what they say together: the most severe wins and brings its message. Units that
    /// leave have no say while others stay, so scaling down keeps `active` (B59).
    pub(super) fn settle(&mut self, at: Timestamp) {
        let derived = self.derived_status();
        self.status.settled.update(at, derived);
    }

    /// What the units say together.
    pub(super) fn derived_status(&self) -> StatusReport {
        StatusReport::of_units(self.status.units.iter())
    }
}

impl StatusReport {
    /// What an application's status is, of whose record only this is known: its units, by number, and the provisioner's own
    /// word. The same as [`Application::shown_status`].
    pub fn shown<'a>(units: impl Iterator<Item = &'a Unit> + Clone, own: &StatusReport) -> Self {
        let derived = StatusReport::of_units(units);
        if own.is_shown_over(&derived) {
            own.clone()
        } else {
            derived
        }
    }

    fn of_units<'a>(units: impl Iterator<Item = &'a Unit> + Clone) -> Self {
        let stay = |unit: &&Unit| unit.life == Life::Alive;
        let most_severe = first_most_severe(units.clone().filter(stay));
        most_severe
            .or_else(|| first_most_severe(units))
            .map_or_else(StatusReport::default, |unit| unit.workload.report.clone())
    }

    /// Whether a provisioner's own word is laid over what the units say.
    fn is_shown_over(&self, derived: &StatusReport) -> bool {
        let severity = self.word.severity();
        let speaks = severity >= Word::Waiting.severity();
        let more = severity > derived.word.severity();
        let better = severity == derived.word.severity()
            && *derived.message == *NO_POD_YET
            && self.obstacle().is_some();
        speaks && (more || better)
    }

    fn obstacle(&self) -> Option<&str> {
        let says = !self.message.is_empty() && *self.message != *SETTLING;
        (says && self.word.severity() >= Word::Waiting.severity()).then_some(&*self.message)
    }
}

fn first_most_severe<'a>(units: impl Iterator<Item = &'a Unit>) -> Option<&'a Unit> {
    units.reduce(|first, unit| {
        let more = unit.workload.report.word.severity() > first.workload.report.word.severity();
        if more { unit } else { first }
    })
}
