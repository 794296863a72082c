//! How values become text: JSON, YAML, tables, times.

mod structured;
mod table;
pub mod times;

pub use structured::{json, yaml};
pub use table::{Align, Table};

/// JSON and YAML, for commands that show a value; YAML first.
pub const YAML_JSON: &[&str] = &["yaml", "json"];
/// The same with a table first.
pub const TABULAR_JSON_YAML: &[&str] = &["tabular", "json", "yaml"];
