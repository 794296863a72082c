//! Pilotage on a real control plane (etcd, API server, controllers; scheduler, kubelet and volumes are played).
#![allow(missing_docs)]

mod access;
mod charms;
mod chart;
mod install;
mod kubectl;
mod leader;
mod life;
mod namespaces;
mod program;
mod refusals;
mod secrets;
mod watches;
