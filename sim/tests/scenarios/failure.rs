//! A cluster that cannot be watched is seen in the model's status: one write when it has lasted, one when it is over.

use pilotage_core::effect::Action;
use pilotage_core::event::{Event, Source};
use pilotage_core::kubernetes::Kind;
use pilotage_core::state::{StatusReport, Word};
use pilotage_core::time::Span;
use pilotage_sim::world::Then;

use crate::stage::{Stage, play};

fn fail(stage: &mut Stage, kind: Kind, reason: &str) {
    stage.world.step(Event::SourceFailed {
        source: Source::Cluster(kind),
        reason: reason.into(),
    });
}

fn resume(stage: &mut Stage, kind: Kind) {
    let source = Source::Cluster(kind);
    stage.world.step(Event::SourceResumed { source });
}

fn status(stage: &Stage) -> StatusReport {
    let model = stage.world.store.models().next().expect("the model");
    model.status.status.report.clone()
}

/// Everything that was asked of state and cluster since then, reads aside.
fn writes(stage: &Stage, from: usize) -> usize {
    let effects = stage.effects(from);
    let reads = |action: &Action| matches!(action, Action::Get { .. } | Action::List { .. });
    effects.filter(|(_, effect)| !reads(&effect.action)).count()
}

#[test]
fn a_watch_that_fails_for_a_moment_is_not_worth_a_word() {
    play(|stage| {
        stage.active("ledger", 1);
        let from = stage.steps();
        for _ in 0..10 {
            fail(stage, Kind::Pod, "connection reset");
            stage.run_for(Span::seconds(50));
            resume(stage, Kind::Pod);
            stage.run_for(Span::seconds(1));
        }
        assert_eq!(writes(stage, from), 0);
        assert_eq!(status(stage), StatusReport::new(Word::Active, ""));
    });
}

#[test]
fn a_watch_that_fails_for_long_is_named_once_and_once_more_when_it_is_over() {
    play(|stage| {
        stage.active("ledger", 1);
        let from = stage.steps();
        fail(stage, Kind::Pod, "pods is forbidden");
        stage.run_for(Span::seconds(59));
        assert_eq!(writes(stage, from), 0);
        stage.run_for(Span::seconds(2));
        assert_eq!(writes(stage, from), 1);
        let said = status(stage);
        assert_eq!(
            said,
            StatusReport::new(
                Word::Error,
                "objects of kind Pod cannot be watched: pods is forbidden; what is shown may be out of date"
            )
        );
        // Whatever else is said of it, and whatever fails beside it, costs nothing.
        for (kind, reason) in [
            (Kind::Pod, "the server does not answer"),
            (Kind::Service, "connection refused"),
            (Kind::Role, "connection refused"),
        ] {
            fail(stage, kind, reason);
            stage.run_for(Span::seconds(100));
        }
        assert_eq!(writes(stage, from), 1);
        for kind in [Kind::Service, Kind::Role, Kind::Pod] {
            resume(stage, kind);
            stage.run_for(Span::seconds(1));
        }
        stage.settle();
        assert_eq!(status(stage), StatusReport::new(Word::Active, ""));
        assert_eq!(writes(stage, from), 2);
    });
}

#[test]
fn what_still_fails_when_the_failure_that_was_named_is_over_is_named_after_its_time() {
    play(|stage| {
        stage.settle();
        fail(stage, Kind::Pod, "first");
        stage.run_for(Span::seconds(61));
        fail(stage, Kind::Role, "second");
        stage.run_for(Span::seconds(61));
        assert!(status(stage).message.contains("Pod"));
        resume(stage, Kind::Pod);
        stage.run_for(Span::seconds(59));
        assert_eq!(status(stage).word, Word::Active);
        stage.run_for(Span::seconds(2));
        assert!(
            status(stage).message.contains("Role"),
            "{:?}",
            status(stage)
        );
    });
}

#[test]
fn a_cluster_that_never_could_be_read_is_named_though_nothing_is_decided() {
    play(|stage| {
        let ledger = stage.active("ledger", 1);
        stage.world.restart();
        let pods = Source::Cluster(Kind::Pod);
        let until = stage.world.now.after(Span::seconds(300));
        stage.world.hold(pods, until, Then::List);
        fail(stage, Kind::Pod, "pods is forbidden");
        let from = stage.steps();
        stage.scale(ledger, 2);
        stage.run_for(Span::seconds(200));
        let said = status(stage);
        assert_eq!(
            &*said.message,
            "objects of kind Pod cannot be watched: pods is forbidden; nothing is done until they can"
        );
        assert_eq!(writes(stage, from), 1);
        assert_eq!(stage.writes(from), Vec::<String>::new());
        stage.settle();
        assert_eq!(status(stage), StatusReport::new(Word::Active, ""));
        stage.assert_active("ledger", 2);
    });
}

#[test]
fn a_provisioner_that_dies_meanwhile_leaves_a_word_that_the_next_takes_back() {
    play(|stage| {
        stage.active("ledger", 1);
        fail(stage, Kind::Pod, "pods is forbidden");
        stage.run_for(Span::seconds(61));
        assert_eq!(status(stage).word, Word::Error);
        stage.world.restart();
        stage.settle();
        assert_eq!(status(stage), StatusReport::new(Word::Active, ""));
    });
}
