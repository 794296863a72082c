//! The half of Pilotage that does: runs the core's effects against Kubernetes and the state.
//!
//! * [`store`]: where the state is kept;
//! * [`cluster`]: where the pods are kept;
//! * [`charm`]: charms and bundles as files.

pub mod charm;
pub mod clock;
pub mod cluster;
pub mod failpoint;
pub mod identity;
pub mod store;
