//! Refusals, conflicts, and crashes between two writes.

use pilotage_core::effect::Action;
use pilotage_core::state::Word;
use pilotage_core::time::Span;
use pilotage_sim::cluster::resource::Resource;
use pilotage_sim::cluster::settings::Denial;
use pilotage_sim::world::Choice;
use serde_json::json;

use crate::stage::{Verbs, failure, play};

#[test]
fn b91_a_crash_between_any_two_writes_of_a_deployment_loses_no_object() {
    play(|stage| {
        stage.deploy_as("ledger", |new| new.scale = 2);
        let mut undisturbed = stage.clone();
        undisturbed.settle();
        let all = undisturbed.left("ledger");
        stage.with_a_crash_at_every_moment(|stage| {
            stage.assert_active("ledger", 2);
            assert_eq!(stage.left("ledger"), all);
        });
    });
}

#[test]
fn b97_a_policy_is_named_with_growing_patience_until_it_is_lifted() {
    play(|stage| {
        let text = "admission webhook \"policy.example\" denied the request: no sets here";
        let no = failure(403, "Forbidden", text);
        stage.deny(Resource::StatefulSet, Verbs::Create, no);
        stage.deploy_as("ledger", |_| {});
        let from = stage.steps();
        stage.run_for(Span::seconds(60));
        stage.watch_for(Span::seconds(1_200), |stage| {
            let status = stage.status("ledger");
            assert_eq!(status.word, Word::Error, "the error stays visible");
            assert!(status.message.contains("no sets here"), "{status:?}");
        });
        let tries: Vec<_> = stage
            .effects(from)
            .filter(|(_, effect)| {
                matches!(&effect.action, Action::Create { manifest }
                    if manifest.key.kind == pilotage_core::kubernetes::Kind::StatefulSet)
            })
            .map(|(at, _)| at)
            .collect();
        let delays: Vec<Span> = tries.windows(2).map(|two| two[1].since(two[0])).collect();
        assert!(delays.is_sorted(), "delays grow: {delays:?}");
        assert!(delays.iter().all(|delay| *delay >= Span::seconds(3)));
        assert!((4..20).contains(&tries.len()), "{delays:?}");
        stage.world.cluster.allow_all();
        stage.settle();
        stage.assert_active("ledger", 1);
        assert_eq!(stage.status("ledger").word, Word::Active);
    });
}

#[test]
fn whatever_is_refused_is_in_the_status_until_it_goes_through_and_costs_one_write() {
    let kinds = [
        Resource::ServiceAccount,
        Resource::Role,
        Resource::RoleBinding,
        Resource::ClusterRole,
        Resource::ClusterRoleBinding,
        Resource::Service,
        Resource::StatefulSet,
    ];
    let refusals = [
        (403, "Forbidden", Word::Error),
        (422, "Invalid", Word::Error),
        (429, "TooManyRequests", Word::Waiting),
        (500, "InternalError", Word::Waiting),
        (503, "ServiceUnavailable", Word::Waiting),
    ];
    for kind in kinds {
        for (code, reason, word) in refusals {
            play(|stage| {
                let no = failure(code, reason, "the range is full");
                stage.deny(kind, Verbs::Create, no);
                stage.deploy_as("ledger", |_| {});
                stage.run_for(Span::seconds(60));
                let from = stage.steps();
                stage.watch_for(Span::seconds(1_200), |stage| {
                    let status = stage.status("ledger");
                    assert_eq!(status.word, word, "{kind:?} {code}: {status:?}");
                    assert!(
                        status.message.contains("the range is full"),
                        "{kind:?} {code}: {status:?}"
                    );
                });
                let writes = stage.effects(from);
                let writes = writes.filter(|(_, effect)| matches!(effect.action, Action::Store(_)));
                assert_eq!(writes.count(), 0, "{kind:?} {code}: it is told once");
                stage.world.cluster.allow_all();
                stage.settle();
                stage.assert_active("ledger", 1);
                assert_eq!(stage.status("ledger").word, Word::Active);
            });
        }
    }
}

#[test]
fn b100_a_conflict_is_followed_by_a_fresh_read_and_not_by_the_same_write() {
    play(|stage| {
        let app = stage.active("ledger", 1);
        stage.world.refresh(app, 1);
        let mut edits = 0;
        let from = stage.steps();
        // Somebody is always faster, three times.
        for _ in 0..20_000 {
            let next = stage.world.batches.values().find_map(|batch| batch.front());
            let write = next.is_some_and(|effect| {
                matches!(
                    &effect.action,
                    Action::Apply { .. } | Action::TakeOver { .. }
                )
            });
            if write && edits < 3 {
                edits += 1;
                let note = json!({ "metadata": { "annotations": { "seen": edits.to_string() } } });
                stage.edit(Resource::StatefulSet, "ledger", note);
                let owner = *stage.world.batches.keys().next().expect("a batch");
                stage.world.take(&Choice::Run(owner));
            }
            if !stage.step(stage.world.now.after(Span::seconds(60))) {
                break;
            }
        }
        assert_eq!(edits, 3, "three writes met a newer version");
        stage.settle();
        stage.assert_active("ledger", 1);
        let set = stage.set("ledger").expect("there");
        assert_eq!(set.value["metadata"]["annotations"]["seen"], "3");
        let mut guards: Vec<(u64, &str)> = Vec::new();
        for (_, effect) in stage.effects(from) {
            match &effect.action {
                Action::Apply { version, .. } => guards.push((version.0, "apply")),
                Action::TakeOver { version, .. } => guards.push((version.0, "take over")),
                _ => {}
            }
        }
        let mut unique = guards.clone();
        unique.dedup();
        assert_eq!(unique, guards, "the same write at the same version again");
    });
}

#[test]
fn b100_conflicts_without_end_are_bounded_and_end_with_what_caused_them() {
    play(|stage| {
        let app = stage.active("ledger", 1);
        let always = failure(409, "Conflict", "the object has been modified");
        let denial = Denial::new(Resource::StatefulSet, Verbs::Patch, always);
        stage.world.cluster.deny(denial);
        stage.world.refresh(app, 1);
        let from = stage.steps();
        stage.run_for(Span::seconds(900));
        let writes = stage.writes(from).len();
        assert!((4..40).contains(&writes), "{writes} writes in 15 minutes");
        let own = &stage.record("ledger").status.provisioner.report;
        assert!(own.message.contains("modified"), "{own:?}");
        stage.world.cluster.allow_all();
        stage.settle();
        stage.assert_active("ledger", 1);
    });
}

#[test]
fn b98_pods_that_a_quota_forbids_are_in_the_status_and_come_when_it_is_gone() {
    play(|stage| {
        let app = stage.active("ledger", 1);
        let text =
            "pods \"ledger-1\" is forbidden: failed quota: limits: must specify limits.memory";
        let no = failure(403, "Forbidden", text);
        stage
            .world
            .cluster
            .deny(Denial::new(Resource::Pod, Verbs::Create, no));
        stage.scale(app, 2);
        let from = stage.steps();
        stage.run_for(Span::seconds(3_600));
        let status = stage.status("ledger");
        assert_eq!(status.word, Word::Error);
        assert!(
            status.message.contains("must specify limits.memory"),
            "{status:?}"
        );
        let unit = &stage.record("ledger").status.units[1];
        assert!(
            unit.workload.report.message.contains("limits.memory"),
            "{unit:?}"
        );
        let asked = stage.effects(from);
        let asked = asked.filter(|(_, effect)| matches!(effect.action, Action::Warnings { .. }));
        // After 5 s, 10, 20, 40 and so on, at last every five minutes.
        assert!((10..=20).contains(&asked.count()));

        stage.world.cluster.allow_all();
        stage.settle();
        stage.assert_active("ledger", 2);
        let from = stage.steps();
        stage.run_for(Span::seconds(3_600));
        assert_eq!(stage.effects(from).next(), None);
    });
}
