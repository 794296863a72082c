//! `status`: from records to a value, from the value to text.

pub mod build;
pub mod lines;
pub mod select;
pub mod storage;
pub mod tabular;
pub mod view;

#[cfg(test)]
mod tests;

pub use build::{Source, status_view};
