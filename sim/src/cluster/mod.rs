//! A Kubernetes cluster without IO: API server, controllers and kubelet as one machine that is told the time.
//!
//! Its truth is recorded, not believed: transcripts of a real control plane are replayed against it by the tests.

pub mod object;
pub mod request;
pub mod resource;
