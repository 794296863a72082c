//! The simulated cluster and a real one do the same, whatever is done to them.
//!
//! `PILOTAGE_SEED` names the first life, `PILOTAGE_SEEDS` how many: more than the usual ones take about two seconds each.
#![allow(missing_docs)]

use std::cell::RefCell;

use pilotage_tests::conformance::differences;
use pilotage_tests::conformance::operation::{Operation, lives};
use pilotage_tests::control_plane::{Watches, own};
use pilotage_tests::recorder::WATCHED;
use pilotage_tests::replay::Difference;
use pilotage_tests::replay::known::KNOWN;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};

/// How many operations a life has.
const OPERATIONS: std::ops::Range<usize> = 15..30;

fn setting(name: &str, otherwise: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text
            .parse()
            .unwrap_or_else(|_| panic!("{name} is a number")),
        Err(_) => otherwise,
    }
}

fn runner(seed: u64) -> TestRunner {
    let config = Config {
        cases: 1,
        failure_persistence: None,
        max_shrink_iters: 60,
        ..Config::default()
    };
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes))
}

fn text(differences: &[Difference]) -> String {
    differences
        .iter()
        .map(|difference| format!("{difference}\n"))
        .collect()
}

#[test]
fn whatever_is_done_the_simulated_cluster_shows_what_a_real_one_shows() {
    let Some(mut cluster) = own("whatever_is_done") else {
        return;
    };
    let watches = Watches::start(cluster.client(), WATCHED).expect("the server lists every kind");
    let (from, count) = (setting("PILOTAGE_SEED", 1), setting("PILOTAGE_SEEDS", 20));
    let both = RefCell::new((&mut cluster, watches));
    let unknown = |operations: &[Operation]| {
        let (cluster, watches) = &mut *both.borrow_mut();
        let mut found = differences(cluster, watches, operations);
        found.retain(|difference| !KNOWN.iter().any(|known| known.covers(difference)));
        found
    };
    for seed in from..from + count {
        let outcome = runner(seed).run(&lives(OPERATIONS), |operations| {
            let found = unknown(&operations);
            if found.is_empty() {
                Ok(())
            } else {
                Err(TestCaseError::fail(text(&found)))
            }
        });
        if let Err(TestError::Fail(found, operations)) = outcome {
            panic!(
                "{operations:#?}\n{found}\nrerun: PILOTAGE_SEED={seed} PILOTAGE_SEEDS=1 cargo test -p pilotage-tests --test conformance"
            );
        }
        outcome.expect("a life can be drawn");
    }
}
