//! What the cluster shows. A report never makes a unit or a storage and never touches the scale (AFAC-20); equal reports
//! change nothing (ODD-04).

use alloc::collections::BTreeMap;

use crate::state::{Application, Report, StorageReport, UnitReport};
use crate::time::Timestamp;

impl Application {
    pub(super) fn report(&mut self, at: Timestamp, report: &Report) {
        if let Some(service) = &report.service {
            self.status.service = Some(service.clone());
        }
        // Of two reports on one thing the last counts, so that a report changes nothing the second time.
        let units = report.units.iter().map(|unit| (unit.number, unit));
        for unit in units.collect::<BTreeMap<_, _>>().values() {
            self.report_unit(at, unit);
        }
        let storages = report
            .storage
            .iter()
            .map(|storage| (storage.number, storage));
        for storage in storages.collect::<BTreeMap<_, _>>().values() {
            self.report_storage(at, storage);
        }
        if let Some(provisioner) = &report.provisioner {
            self.status.provisioner.update(at, provisioner.clone());
        }
        if let Some(at_rest) = report.at_rest {
            self.status.at_rest = at_rest;
        }
    }

    fn report_unit(&mut self, at: Timestamp, report: &UnitReport) {
        let units = &mut self.status.units;
        let unit = units
            .binary_search_by_key(&report.number, |unit| unit.number)
            .ok()
            .and_then(|place| units.get_mut(place));
        if let Some(unit) = unit {
            unit.pod.clone_from(&report.pod);
            unit.started |= report.ready;
            unit.workload.update(at, report.workload.clone());
            unit.agent.update(at, report.agent.clone());
        }
    }

    fn report_storage(&mut self, at: Timestamp, report: &StorageReport) {
        let storages = &self.status.storage;
        let Ok(place) = storages.binary_search_by_key(&report.number, |storage| storage.number)
        else {
            return;
        };
        let unit = storages.get(place).map(|storage| storage.unit);
        let attached = unit.is_some_and(|unit| self.unit(unit).is_some());
        if let Some(storage) = self.status.storage.get_mut(place) {
            storage.given.clone_from(&report.given);
            let word = match attached {
                true => report.word,
                false => report.word.of_nobody(),
            };
            storage.set(at, word, &report.message);
        }
    }
}
