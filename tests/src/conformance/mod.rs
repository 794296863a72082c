//! The simulated cluster against a real one: the same operations, drawn at random, on both.
//!
//! A life of [operations](operation) is [played](play) on a real control plane as a script of the [recorder](crate::recorder), and what came of it
//! [replayed](crate::replay) on the simulated cluster, which compares status codes, reasons, every field of what answers and watch
//! events show, field ownership, and the order of each object's events.

pub mod forms;
pub mod operation;
mod play;
mod rest;

use std::sync::atomic::{AtomicU32, Ordering};

use crate::control_plane::{ControlPlane, Watches};
use crate::recorder::{Script, record_played};
use crate::replay::{Difference, Pace, replay};
use crate::transcript::Transcript;
use operation::Operation;

/// The kinds whose events are compared.
const COMPARED: &[&str] = &[
    "ServiceAccount",
    "Secret",
    "ConfigMap",
    "Role",
    "RoleBinding",
    "ClusterRole",
    "PersistentVolumeClaim",
    "Service",
    "StatefulSet",
    "Pod",
];

/// Plays operations on a real cluster, in a namespace of their own.
///
/// # Panics
///
/// If the control plane does not come to rest.
pub fn play(
    control_plane: &mut ControlPlane,
    watches: &mut Watches,
    operations: &[Operation],
) -> Transcript {
    static LIVES: AtomicU32 = AtomicU32::new(0);
    let number = LIVES.fetch_add(1, Ordering::Relaxed);
    let script = Script {
        // One for each life of a test; they are needed as long as it.
        name: Box::leak(format!("conform-{number:04}").into_boxed_str()),
        shows: "What came of operations that were drawn",
        facts: &[],
        watched: COMPARED,
        play: |_| {},
    };
    record_played(control_plane, watches, script, |recorder| {
        play::play(recorder, operations);
    })
}

/// Plays operations on both clusters, and says where the simulated one did something else.
///
/// # Panics
///
/// As [`play()`] does.
pub fn differences(
    control_plane: &mut ControlPlane,
    watches: &mut Watches,
    operations: &[Operation],
) -> Vec<Difference> {
    let played = play(control_plane, watches, operations);
    replay(&played, Pace::WhereReportsEnd)
}
