//! Pilotage with its state in the cluster, on a real control plane.
#![allow(missing_docs)]

mod kubectl;
mod life;
mod stage;
