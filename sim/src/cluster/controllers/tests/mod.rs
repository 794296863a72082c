//! What the controllers do, behaviour by behaviour.

mod house;
mod kubelet;
mod stateful_set;
