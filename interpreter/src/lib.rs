//! The half of Pilotage that does: runs the core's effects against Kubernetes and the state.
//!
//! * [`store`]: where the state is kept;
//! * [`cluster`]: where the pods are kept;
//! * [`charm`]: charms and bundles as files;
//! * [`install`]: what a cluster needs so that it runs there;
//! * [`leader`]: one process at a time acts;
//! * [`monitor`]: what a process knows about itself;
//! * [`runtime`]: the loop between core, store and cluster;
//! * [`trace`]: what it writes down of its steps;
//! * [`cli`]: what people and scripts say.

pub mod charm;
pub mod cli;
pub mod clock;
pub mod cluster;
pub mod failpoint;
pub mod identity;
pub mod install;
pub mod leader;
pub mod monitor;
pub mod runtime;
pub mod service;
pub mod store;
pub mod trace;
