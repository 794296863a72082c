//! One control plane for all tests of a process.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::{Absent, ControlPlane, Programs};

/// The control plane that all tests share that run at this time; it ends with the last of them. Where its programs are
/// not there, says so past the test runner's capture, and what would run the test.
///
/// # Panics
///
/// If the programs are there and do not start.
pub fn shared(test: &str) -> Option<Arc<ControlPlane>> {
    static SHARED: Mutex<Weak<ControlPlane>> = Mutex::new(Weak::new());
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(running) = shared.upgrade() {
        return Some(running);
    }
    let started = Arc::new(own(test)?);
    *shared = Arc::downgrade(&started);
    Some(started)
}

/// A control plane of one's own: for who stops parts of it.
///
/// # Panics
///
/// If the programs are there and do not start.
pub fn own(test: &str) -> Option<ControlPlane> {
    match Programs::find() {
        Ok(programs) => {
            let started = ControlPlane::start(&programs);
            Some(started.unwrap_or_else(|error| panic!("{error}")))
        }
        Err(absent) => {
            not_run(test, &absent);
            None
        }
    }
}

/// Says past the test runner's capture that a test was not run, why, and what would run it.
pub(super) fn not_run(test: &str, absent: &Absent) {
    let said = writeln!(
        std::io::stderr(),
        "NOT RUN: {test}: {absent}; then cargo test -p pilotage-tests {test}"
    );
    // Where not even this can be written, nobody reads it.
    drop(said);
}
