//! What `run` offers to who operates it as a service.

pub mod log;
