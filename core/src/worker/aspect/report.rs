//! What users see: what the cluster shows, written to the record where it differs, in one command.

use crate::kubernetes::unit_status::{self, UnitStatus};
use crate::life::Life;
use crate::reason::Reason;
use crate::state::{
    ApplicationCommand, NO_POD_YET, Report, StatusReport, StorageInstance, StorageReport,
    StorageWord, Unit, UnitReport, Word,
};
use crate::worker::phase::Phase;
use crate::worker::verdict::{Verdict, Verdicts};
use crate::worker::view::{ClaimPhase, ClaimSeen, View};

use super::{command, status, workload};

/// Reports what differs from the record; whether all is at rest only to those who asked for it.
pub fn report(view: &View, phase: Phase, verdicts: &Verdicts, confirm: bool) -> Verdict {
    let reported = &view.record.report;
    let service = view.service.clone().unwrap_or_default();
    let known = reported.service.clone().unwrap_or_default();
    let own = status::status(view, phase, verdicts);
    if matches!(phase, Phase::Unwatched | Phase::WithoutModel) {
        // Nothing is known of its units: what is said of them stays.
        if own == reported.provisioner {
            return Verdict::Settled;
        }
        let provisioner = Some(own);
        let report = Report {
            provisioner,
            ..Report::default()
        };
        let body = ApplicationCommand::Report(report);
        return Verdict::act(command(view, false, body), Reason::Report);
    }
    let units = view.record.units.iter().filter_map(|unit| {
        let report = unit_report(view, unit, &own);
        differs(unit, &report).then_some(report)
    });
    let storage = view.record.storage.iter().filter_map(|storage| {
        let report = storage_report(view, storage);
        let same = report.word == storage.word
            && report.given == storage.given
            && report.message == storage.status.report.message;
        (!same).then_some(report)
    });
    let report = Report {
        service: (service != known).then_some(service),
        units: units.collect(),
        storage: storage.collect(),
        at_rest: confirm
            .then(|| is_at_rest(view, phase, verdicts, &own))
            .filter(|at_rest| *at_rest != reported.at_rest),
        provisioner: (own != reported.provisioner).then_some(own),
    };
    if report == Report::default() {
        return Verdict::Settled;
    }
    Verdict::act(
        command(view, false, ApplicationCommand::Report(report)),
        Reason::Report,
    )
}

/// Whether all that users want is there, and every pod is built by it.
fn is_at_rest(view: &View, phase: Phase, verdicts: &Verdicts, own: &StatusReport) -> bool {
    phase == Phase::Alive
        && own.word == Word::Active
        && verdicts.waits().next().is_none()
        && view.workload.as_ref().is_some_and(|set| set.observed)
        && workload::progress(view).is_none()
}

fn differs(unit: &Unit, report: &UnitReport) -> bool {
    let started = unit.started || report.ready;
    unit.pod != report.pod
        || unit.started != started
        || unit.workload.report != report.workload
        || unit.agent.report != report.agent
}

fn unit_report(view: &View, unit: &Unit, own: &StatusReport) -> UnitReport {
    let pod = view.pod(unit.number);
    let status = match pod {
        Some(pod) if pod.ready => UnitStatus {
            workload: StatusReport::new(Word::Active, ""),
            agent: StatusReport::new(Word::Idle, ""),
            ready: true,
        },
        Some(pod) => {
            let mut status = pod
                .trouble
                .as_deref()
                .cloned()
                .unwrap_or_else(|| unit_status::without_pod(unit.started, true, ""));
            if unit.started && status.agent.word == Word::Allocating {
                status.agent.word = Word::Idle;
            }
            status
        }
        None => {
            let error =
                own.word >= Word::Blocked && matches!(own.word, Word::Error | Word::Blocked);
            let why = if error { &*own.message } else { NO_POD_YET };
            unit_status::without_pod(unit.started, unit.pod.is_some(), why)
        }
    };
    UnitReport {
        number: unit.number,
        // The pod of a unit keeps its name: a unit whose pod is away keeps what is known of it.
        pod: match pod {
            Some(pod) => Some(view.pod_facts(pod)),
            None => unit.pod.clone(),
        },
        ready: status.ready,
        workload: status.workload,
        agent: status.agent,
    }
}

fn storage_report(view: &View, storage: &StorageInstance) -> StorageReport {
    let attached = view
        .unit(storage.unit)
        .is_some_and(|unit| unit.life == Life::Alive);
    let report = |word, message: &str, given| StorageReport {
        number: storage.number,
        word,
        message: message.into(),
        given,
    };
    let Some(name) = storage.claim.as_deref() else {
        let ready = view.pod(storage.unit).is_some_and(|pod| pod.ready);
        let word = match (attached, ready) {
            (false, _) => StorageWord::Detached,
            (true, true) => StorageWord::Attached,
            // What was attached once stays so while its pod is away for a moment.
            (true, false) => match storage.word {
                StorageWord::Attached => StorageWord::Attached,
                _ => StorageWord::Pending,
            },
        };
        return report(word, "", None);
    };
    match view.claim(name) {
        Some(claim) => of_claim(storage, claim, attached),
        None if attached => report(StorageWord::Pending, "", None),
        None => report(StorageWord::Detached, "", storage.given.clone()),
    }
}

/// What is said of a storage whose claim is there.
pub fn of_claim(storage: &StorageInstance, claim: &ClaimSeen, attached: bool) -> StorageReport {
    let message = claim.message.as_deref().unwrap_or("");
    let (word, message, given) = match (claim.phase, attached) {
        _ if claim.deleting => (StorageWord::Detaching, "", &claim.given),
        (ClaimPhase::Bound, true) => (StorageWord::Attached, "", &claim.given),
        (ClaimPhase::Bound, false) => (StorageWord::Detached, "", &claim.given),
        (ClaimPhase::Pending, true) => (StorageWord::Pending, message, &None),
        (ClaimPhase::Pending, false) => (StorageWord::Detached, message, &None),
        (ClaimPhase::Lost, _) => (
            StorageWord::Error,
            "the volume of the claim is lost",
            &storage.given,
        ),
    };
    StorageReport {
        number: storage.number,
        word,
        message: message.into(),
        given: given.clone(),
    }
}
