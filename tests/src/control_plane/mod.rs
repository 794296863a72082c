//! A real Kubernetes control plane on loopback: etcd, kube-apiserver and kube-controller-manager in a temporary folder.
//!
//! It has no scheduler, no kubelet and no volume provisioner: whoever uses it plays them, so that nothing happens that was not asked for.
//! The programs are built by `tests/control-plane/build`; where they can't be had, [`Programs`] says why.

mod client;
mod kinds;
mod process;
mod programs;
mod server;
mod watch;

pub use client::{Answer, Call, Client, ClientError};
pub use kinds::{KINDS, Kind, kind, kind_of_path};
pub use programs::{Absent, Programs};
pub use server::{ControlPlane, StartError, USERS};
pub use watch::{Seen, Watches};
