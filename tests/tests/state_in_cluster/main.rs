//! Pilotage with its state in the cluster, on a real control plane.
#![allow(missing_docs)]

mod autoscaler;
mod events;
mod install;
mod kubectl;
mod leader;
mod life;
mod mortal;
mod outage;
mod stage;
