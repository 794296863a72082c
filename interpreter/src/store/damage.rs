//! Records that are there and cannot be read.

use pilotage_core::event::RecordName;

/// A record that is there and cannot be read, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the record of {record} cannot be read: {reason} ({place}); put back a good copy of it, until then everything of it is left as it is"
)]
pub struct Damaged {
    /// Which.
    pub record: RecordName,
    /// What is wrong with it.
    pub reason: String,
    /// Where it is kept, for people.
    pub place: String,
}
