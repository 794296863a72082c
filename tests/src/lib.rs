//! What the suites of Pilotage share.

pub mod charms;
pub mod control_plane;
pub mod recorder;
pub mod replay;
pub mod store_suite;
pub mod transcript;
