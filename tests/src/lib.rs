//! What the suites of Pilotage share.

pub mod control_plane;
pub mod recorder;
pub mod replay;
pub mod transcript;
