//! What the controllers do, behaviour by behaviour.

mod house;
mod kubelet;
mod objects;
mod properties;
mod stateful_set;
mod story;
