//! What is true of records after any sequence of commands (design, section 3; reference, section 15, items 2 and 3).

mod charms;
mod properties;
