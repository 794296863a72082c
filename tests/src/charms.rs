//! Charms for the suites: our own, and the real ones that a folder named by an environment variable holds.

use std::io::Write;
use std::path::{Path, PathBuf};

/// Names the folder of real charms, each in a directory of its own, with `INDEX.md` that says what is in them.
pub const CHARMS: &str = "PILOTAGE_CHARMS";

/// The folder of real charms. Where it is not named, says so past the test runner's capture, and what would run the test.
pub fn real_charms(test: &str) -> Option<PathBuf> {
    match std::env::var_os(CHARMS) {
        Some(folder) => Some(PathBuf::from(folder)),
        None => {
            let said = writeln!(
                std::io::stderr(),
                "NOT RUN: {test}: no real charms; run it with {CHARMS}=FOLDER cargo test -p pilotage-tests {test}"
            );
            // Where not even this can be written, nobody reads it.
            drop(said);
            None
        }
    }
}

/// A folder of this repository.
pub fn own(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}
