//! The scripts, by subject.

mod applies;
mod endings;
mod found;
mod guards;
mod objects;
mod rollout;
mod storage;
mod watching;

use super::Script;

/// Every script, in the order in which they are recorded.
pub fn all() -> Vec<Script> {
    [
        applies::SCRIPTS,
        guards::SCRIPTS,
        objects::SCRIPTS,
        rollout::SCRIPTS,
        storage::SCRIPTS,
        endings::SCRIPTS,
        watching::SCRIPTS,
        found::SCRIPTS,
    ]
    .concat()
}
