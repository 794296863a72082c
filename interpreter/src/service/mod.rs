//! What `run` offers to who operates it as a service.

pub mod listen;
pub mod log;
pub mod metrics;
pub mod spans;
pub mod statuses;
