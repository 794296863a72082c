//! What is told late, in parts, or not at all: a server that is behind, a list in pages, a watch that says nothing any more.

use std::collections::BTreeSet;

use pilotage_core::event::{Event, Source};
use pilotage_core::kubernetes::Kind;
use pilotage_core::state::ApplicationCommand;
use pilotage_core::time::Span;
use pilotage_sim::cluster::controllers::instruction::Behaviour;
use pilotage_sim::cluster::request::Propagation;
use pilotage_sim::cluster::resource::Resource;
use pilotage_sim::world::{Choice, Then};

use crate::stage::{DESTROY, Stage, play};

/// The provisioner starts again, and its cluster is that of a former version, for ten minutes.
fn restart_in_the_past(stage: &mut Stage, version: u64) {
    stage.world.restart_from(version);
    let until = stage.world.now.after(Span::seconds(600));
    for kind in Kind::ALL {
        let source = Source::Cluster(kind);
        stage.world.hold(source, until, Then::List);
        let end = Event::Synced { source };
        while stage.world.steps.last().map(|(_, event, _)| event) != Some(&end) {
            stage.world.take(&Choice::Tell(source));
        }
    }
    let begun = (stage.world.steps.iter())
        .rposition(|(_, event, _)| matches!(event, Event::Listing { .. }))
        .map_or(0, |last| last + 1 - Kind::ALL.len());
    let versions = stage.world.steps[begun..]
        .iter()
        .filter_map(|(_, event, _)| match event {
            Event::PodUpdated(pod) => Some(pod.metadata.version),
            Event::ObjectUpdated(object) => Some(object.metadata().version),
            _ => None,
        });
    assert!(
        versions.max().is_some_and(|newest| newest.0 <= version),
        "it was told of the past"
    );
}

/// What must not be touched: the uids of an application's pods, claims and workload.
fn precious(stage: &Stage, name: &str) -> BTreeSet<String> {
    [
        Resource::Pod,
        Resource::PersistentVolumeClaim,
        Resource::StatefulSet,
    ]
    .into_iter()
    .flat_map(|resource| stage.uids(resource, name))
    .collect()
}

/// Half an hour in which nothing of what is there may go.
fn nothing_goes(stage: &mut Stage, name: &str, units: u32) {
    let there = precious(stage, name);
    stage.watch(|stage| {
        let now = precious(stage, name);
        assert!(there.is_subset(&now), "{there:?} became {now:?}");
    });
    stage.assert_active(name, units);
}

#[test]
fn b81_an_old_deletion_mark_deletes_no_new_claim() {
    play(|stage| {
        stage.world.history = usize::MAX;
        let first = stage.active("ledger", 2);
        stage.remove(first, DESTROY);
        stage.until("claims of the first are going", |stage| {
            let mut claims = stage.labelled(Resource::PersistentVolumeClaim, "ledger");
            claims.any(|claim| claim.deleting())
        });
        let past = stage.world.cluster.version();
        stage.settle();
        stage.assert_nothing_left("ledger");
        stage.active("ledger", 2);
        restart_in_the_past(stage, past);
        nothing_goes(stage, "ledger", 2);
    });
}

#[test]
fn b82_an_old_number_of_replicas_shrinks_nothing() {
    play(|stage| {
        stage.world.history = usize::MAX;
        let app = stage.active("ledger", 2);
        stage.scale(app, 1);
        stage.settle();
        stage.assert_active("ledger", 1);
        let past = stage.world.cluster.version();
        stage.scale(app, 2);
        stage.settle();
        restart_in_the_past(stage, past);
        nothing_goes(stage, "ledger", 2);
    });
}

#[test]
fn b84_an_old_deletion_mark_or_an_old_wish_replaces_no_workload() {
    play(|stage| {
        stage.world.history = usize::MAX;
        let first = stage.active("ledger", 1);
        stage.remove(first, DESTROY);
        stage.until("the first's workload is going", |stage| {
            stage.set("ledger").is_none_or(|set| set.deleting())
        });
        let marked = stage.world.cluster.version();
        stage.settle();
        let app = stage.active("ledger", 1);
        for trust in [true, false] {
            stage.command(app, ApplicationCommand::SetTrust { trust });
            stage.settle();
        }
        let switched = stage.world.cluster.version();
        stage.command(app, ApplicationCommand::SetTrust { trust: true });
        stage.settle();
        for past in [marked, switched] {
            restart_in_the_past(stage, past);
            nothing_goes(stage, "ledger", 1);
        }
    });
}

#[test]
fn b87_of_two_pods_that_hold_up_a_rollout_one_goes_at_a_time_however_late_the_watch_is() {
    play(|stage| {
        let app = stage.deploy_as("ledger", |new| new.scale = 3);
        stage.pods_do("ledger-*", Behaviour::NeverReady);
        stage.run_for(Span::seconds(120));
        stage.world.refresh(app, 7);
        // The controller replaces the last one and waits for it; the others are ours to help.
        stage.run_for(Span::seconds(10));
        let until = stage.world.now.after(Span::seconds(900));
        let pods = Source::Cluster(Kind::Pod);
        stage.world.hold(pods, until, Then::Tell);
        let mut went = BTreeSet::new();
        stage.watch(|stage| {
            let pods = stage.labelled(Resource::Pod, "ledger");
            let going = pods.filter(|pod| pod.deleting());
            let going: Vec<String> = going.map(|pod| pod.uid().to_string()).collect();
            assert!(going.len() <= 1, "two at once: {going:?}");
            went.extend(going);
        });
        assert_eq!(went.len(), 2, "in the end all are of the new revision");
    });
}

#[test]
fn b88_a_watch_that_falls_silent_for_a_while_costs_that_while_and_nothing_else() {
    play(|stage| {
        let app = stage.active("ledger", 3);
        let until = stage.world.now.after(Span::seconds(300));
        for kind in Kind::ALL {
            stage.world.hold(Source::Cluster(kind), until, Then::List);
        }
        stage.delete(Resource::Pod, "ledger-1", Propagation::Background);
        stage.delete(Resource::Service, "ledger", Propagation::Background);
        stage.scale(app, 2);
        stage.settle();
        stage.assert_active("ledger", 2);
        assert!(stage.object(Resource::Service, "ledger").is_some());
        assert!(stage.world.now >= until);
    });
}

#[test]
fn b89_no_absence_is_believed_before_a_list_is_complete() {
    play(|stage| {
        stage.active("ledger", 8);
        let there = precious(stage, "ledger");
        // One object at a time, as from pages of one: after each, everything else is still missing.
        for kind in Kind::ALL {
            let source = Source::Cluster(kind);
            stage.world.list(source);
            let from = stage.steps();
            while stage.world.steps.last().map(|(_, event, _)| event)
                != Some(&Event::Synced { source })
            {
                stage.world.take(&Choice::Tell(source));
            }
            assert_eq!(stage.effects(from).next(), None, "{kind:?}");
        }
        let from = stage.steps();
        stage.settle();
        assert_eq!(stage.effects(from).next(), None);
        assert_eq!(precious(stage, "ledger"), there);
        stage.assert_active("ledger", 8);
    });
}

#[test]
fn b102_a_watch_from_a_version_that_is_forgotten_lists_again_and_tells_deletions_too() {
    play(|stage| {
        let app = stage.active("ledger", 2);
        stage.scale(app, 1);
        stage.until("the second pod is to go", |stage| {
            stage.replicas("ledger") == Some(1)
        });
        let until = stage.world.now.after(Span::seconds(50));
        let pods = Source::Cluster(Kind::Pod);
        stage.world.hold(pods, until, Then::Tell);
        // It is silent while the pod goes; and what was told meanwhile is not remembered.
        stage.world.history = 0;
        stage.run_for(Span::seconds(45));
        assert_eq!(stage.pods("ledger"), ["ledger-0"]);
        assert_eq!(stage.units("ledger"), [0, 1], "its end was not told");
        let from = stage.steps();
        stage.settle();
        stage.assert_active("ledger", 1);
        let again = Event::Listing { source: pods };
        let told = stage.world.steps[from..].iter();
        assert!(told.into_iter().any(|(_, event, _)| *event == again));
    });
}
