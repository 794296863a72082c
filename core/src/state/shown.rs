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
        let severity = own.report.word.severity();
        let speaks = severity >= Word::Waiting.severity();
        let more = severity > derived.report.word.severity();
        let better = severity == derived.report.word.severity()
            && *derived.report.message == *NO_POD_YET
            && self.obstacle().is_some();
        if speaks && (more || better) {
            own.clone()
        } else {
            derived.clone()
        }
    }

    /// What stands in the way of pods, if the provisioner knows more of it than that they are not ready (B06).
    pub fn obstacle(&self) -> Option<&str> {
        let own = &self.status.provisioner.report;
        let says = !own.message.is_empty() && *own.message != *SETTLING;
        (says && own.word.severity() >= Word::Waiting.severity()).then_some(&*own.message)
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
        let stay = |unit: &&Unit| unit.life == Life::Alive;
        let units = &self.status.units;
        let most_severe = first_most_severe(units.iter().filter(stay));
        most_severe
            .or_else(|| first_most_severe(units.iter()))
            .map_or_else(StatusReport::default, |unit| unit.workload.report.clone())
    }
}

fn first_most_severe<'a>(units: impl Iterator<Item = &'a Unit>) -> Option<&'a Unit> {
    units.reduce(|first, unit| {
        let more = unit.workload.report.word.severity() > first.workload.report.word.severity();
        if more { unit } else { first }
    })
}
