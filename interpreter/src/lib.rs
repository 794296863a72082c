//! The half of Pilotage that does: runs the core's effects against Kubernetes and the state.
