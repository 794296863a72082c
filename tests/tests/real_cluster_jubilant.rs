//! Jubilant's rows against a real control plane: the same script that `.ci/run` runs on the embedded cluster.
#![allow(missing_docs)]

use std::io::Write;
use std::process::Command;

use pilotage_tests::charms::own;
use pilotage_tests::control_plane::{Players, own as own_control_plane};
use pilotage_tests::program::{Desk, program};

/// The Python that has Jubilant.
const PYTHON: &str = "PILOTAGE_JUBILANT_PYTHON";

#[test]
fn every_row_of_jubilant_passes_on_a_real_control_plane() {
    every_row_passes("every_row_of_jubilant_passes_on", &[]);
}

#[test]
fn every_row_of_jubilant_passes_with_its_state_in_the_cluster() {
    let variables = [("PILOTAGE_JUBILANT_STATE", "kubernetes")];
    every_row_passes("every_row_of_jubilant_passes_with", &variables);
}

fn every_row_passes(test: &str, variables: &[(&str, &str)]) {
    let Ok(python) = std::env::var(PYTHON) else {
        // Past the test runner's capture.
        let said = writeln!(
            std::io::stderr(),
            "NOT RUN: {test}: no Python is named that has it; then {PYTHON}=VENV/bin/python cargo test -p pilotage-tests {test}"
        );
        drop(said);
        return;
    };
    let Some(cluster) = own_control_plane(test) else {
        return;
    };
    let _players = Players::everywhere(&cluster);
    let desk = Desk::on(&cluster, "pilotage");
    let output = Command::new(python)
        .arg(own("tests/jubilant/run.py"))
        .arg(program())
        .env("KUBECONFIG", desk.folder().join("kubeconfig"))
        .env("PILOTAGE_CLUSTER", "kubeconfig")
        .envs(variables.iter().copied())
        .output()
        .expect("Python runs");
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{errors}");
    assert!(said.contains(" passed, 0 failed"), "{said}");
}
