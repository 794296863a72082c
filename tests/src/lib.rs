//! What the suites of Pilotage share.

pub mod charms;
pub mod child;
pub mod collector;
pub mod conformance;
pub mod control_plane;
pub mod custom;
pub mod faulty;
pub mod helm;
pub mod house;
pub mod installed;
pub mod life;
pub mod listener;
pub mod measure;
pub mod patience;
pub mod program;
pub mod recorder;
pub mod replay;
pub mod store_suite;
pub mod transcript;
