//! What users see (command line, section 5).

use pilotage_core::state::{ApplicationCommand, Report, StatusReport, UnitReport, Word};
use pilotage_core::time::Timestamp;

use crate::record::Record;

fn shown(record: &Record) -> (Word, String) {
    let status = record.application.shown_status();
    (status.report.word, status.report.message.to_string())
}

fn says(word: Word, message: &str) -> (Word, String) {
    (word, message.into())
}

fn active(scale: u32) -> Record {
    let mut record = Record::of_scale(scale);
    for number in 0..scale {
        record.unit_shows(number, Word::Active, "");
    }
    record
}

#[test]
fn the_most_severe_unit_speaks_for_all_with_its_message() {
    let mut record = active(3);
    assert_eq!(shown(&record), says(Word::Active, ""));
    record.unit_shows(2, Word::Maintenance, "starting: ledger");
    record.unit_shows(1, Word::Error, "container ledger: ErrImagePull");
    assert_eq!(
        shown(&record),
        says(Word::Error, "container ledger: ErrImagePull")
    );
    assert_eq!(record.application.ready_units(), 1);
}

#[test]
fn b59_waiting_until_ready_units_reach_the_scale() {
    let mut record = active(1);
    record.set_scale(3);
    record.provisioner_says(Word::Waiting, "waiting for units to settle down");
    record.unit_shows(1, Word::Active, "");
    record.unit_shows(2, Word::Terminated, "unit stopped by the cloud");
    assert_eq!(
        shown(&record),
        says(Word::Waiting, "waiting for units to settle down")
    );
    record.unit_shows(2, Word::Active, "");
    record.provisioner_says(Word::Active, "");
    assert_eq!(shown(&record), says(Word::Active, ""));
}

#[test]
fn b59_scaling_down_keeps_active() {
    let mut record = active(3);
    record.set_scale(1);
    record.worker(ApplicationCommand::BeginScaling { target: 1 });
    record.worker(ApplicationCommand::DestroyUnits { from: 1 });
    record.unit_shows(2, Word::Maintenance, "starting: ledger");
    assert_eq!(shown(&record), says(Word::Active, ""));
}

#[test]
fn without_units_nothing_is_known_however_settled_the_provisioner_is() {
    let mut record = Record::of_scale(0);
    record.provisioner_says(Word::Active, "");
    assert_eq!(shown(&record), says(Word::Unknown, ""));
    record.provisioner_says(Word::Error, "quota");
    assert_eq!(shown(&record), says(Word::Error, "quota"));
}

#[test]
fn the_provisioners_own_status_shows_only_where_it_is_more_severe() {
    let mut record = active(1);
    record.provisioner_says(Word::Blocked, "namespace is not ours");
    assert_eq!(shown(&record), says(Word::Blocked, "namespace is not ours"));
    record.unit_shows(0, Word::Error, "crash");
    assert_eq!(shown(&record), says(Word::Error, "crash"));
    record.provisioner_says(Word::Error, "refused");
    assert_eq!(shown(&record), says(Word::Error, "crash"), "as severe");
}

#[test]
fn b61_since_changes_only_with_word_or_message() {
    let mut record = active(1);
    let since = record.application.shown_status().since;
    assert_eq!(
        record.unit_shows(0, Word::Active, ""),
        [],
        "an equal report writes nothing"
    );
    record.set_scale(1);
    assert_eq!(record.application.shown_status().since, since);
    record.unit_shows(0, Word::Error, "ErrImagePull");
    let later = record.application.shown_status().since;
    assert_eq!(later, Timestamp(record.now));
    record.unit_shows(0, Word::Active, "");
    assert_eq!(
        shown(&record),
        says(Word::Active, ""),
        "running clears the error"
    );
    assert!(record.application.shown_status().since > later);
}

#[test]
fn the_lowest_living_unit_leads() {
    let mut record = Record::of_scale(2);
    assert_eq!(record.application.leader(), Some(0));
    record.set_scale(0);
    record.worker(ApplicationCommand::BeginScaling { target: 0 });
    record.worker(ApplicationCommand::DestroyUnits { from: 0 });
    assert_eq!(record.application.leader(), None);
}

#[test]
fn a_unit_that_was_ready_once_has_started_for_good() {
    let mut record = active(1);
    record.unit_shows(0, Word::Maintenance, "starting: ledger");
    assert!(record.application.unit(0).expect("a unit").started);
}

#[test]
fn afac_20_b13_a_report_makes_no_unit_and_leaves_the_scale() {
    let mut record = Record::of_scale(1);
    let unit = |number| UnitReport {
        number,
        pod: None,
        ready: true,
        workload: StatusReport::new(Word::Active, ""),
        agent: StatusReport::new(Word::Idle, ""),
    };
    record.worker(ApplicationCommand::Report(Report {
        units: (0..5).map(unit).collect(),
        ..Report::default()
    }));
    assert_eq!(record.numbers(), [0]);
    assert_eq!(record.application.spec.scale, 1);
}
