//! Waiting for what must come, without guessing how long it takes.

use std::thread;
use std::time::{Duration, Instant};

/// How long anything may take before a test gives up on it. Nothing is measured by it: it ends what would hang.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Asks again and again until there is an answer.
///
/// # Panics
/// If there is none for a minute.
pub fn until<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(
            begun.elapsed() < PATIENCE,
            "this did not come about within {PATIENCE:?}: {what}"
        );
        thread::sleep(Duration::from_millis(5));
    }
}
