//! The runtime as a process of its own, on a state file and the embedded cluster beside it: a whole life, undisturbed and
//! with the process killed on the way; its traces; its end.

mod kill;
mod life;
mod listen;
mod traces;

use pilotage_tests::child::Worker;
use pilotage_tests::patience::until;
use tempfile::tempdir;

const CHILD: &str = env!("CARGO_BIN_EXE_child");
/// Nothing takes any time in the cluster.
const INSTANT: (&str, &str) = ("PILOTAGE_EMBEDDED_LATENCIES", "instant");

#[test]
fn one_runs_and_a_signal_ends_it_in_order() {
    for signal in ["TERM", "INT"] {
        let folder = tempdir().unwrap();
        let path = folder.path().join("state.db");
        let mut worker = Worker::start(CHILD, "run", &path, &[INSTANT]);
        assert_eq!(worker.line().as_deref(), Some("running"));
        let store = pilotage_interpreter::store::open(&path);
        let holder = store.provisioner().unwrap().expect("it holds the state");
        assert_eq!(holder.pid, worker.pid());
        let second = Worker::start(CHILD, "run", &path, &[INSTANT]).rest();
        assert!(!second.1.success(), "there is one provisioner per state");
        worker.signal(signal);
        let (_, status) = worker.rest();
        assert!(status.success(), "{signal}: {status}");
        until("the state is free", || {
            store.provisioner().unwrap().is_none().then_some(())
        });
    }
}
