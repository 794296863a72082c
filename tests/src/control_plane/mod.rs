//! A real Kubernetes control plane on loopback: etcd, kube-apiserver and kube-controller-manager in a temporary folder.
//!
//! It has no scheduler, no kubelet and no volume provisioner: whoever uses it plays them, so that nothing happens that was not asked for;
//! or lets [`Players`] do it.
//! The programs are built by `tests/control-plane/build`; where they can't be had, [`Programs`] says why.

mod audit;
mod client;
mod kinds;
mod kubectl;
mod players;
mod process;
mod programs;
mod server;
mod shared;
mod watch;

pub use audit::{Asked, count};
pub use client::{Answer, Call, Client, ClientError};
pub use kinds::{KINDS, Kind, kind, kind_of_path};
pub use kubectl::Kubectl;
pub use players::{Players, binding, running};
pub use programs::{Absent, Programs};
pub use server::{ControlPlane, NEWCOMER, STRANGER, StartError, USERS};
pub use shared::{own, shared};
pub use watch::{Seen, Watches};
