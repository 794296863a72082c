//! The query language of `wait-for` (command line, 2.10).
//!
//! ```text
//! query   = and { "||" and }
//! and     = compare { "&&" compare }
//! compare = value [ ("==" | "!=" | "<" | "<=" | ">" | ">=") value ]
//! value   = text | number | "true" | "false" | "(" query ")" | name { "." name } | name "(" arguments ")"
//! ```
//!
//! `forEach(units, u => …)` is true if it is true of each, and false over nothing.

mod evaluate;
mod parse;
mod token;

use std::collections::BTreeMap;
use std::fmt;

pub use evaluate::{Answer, evaluate};
pub use parse::parse;

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Text.
    Text(String),
    /// A whole number.
    Number(i64),
    /// A truth value.
    Truth(bool),
    /// Several things, each with properties.
    Things(Vec<Properties>),
}

/// Properties by name.
pub type Properties = BTreeMap<String, Value>;

impl Value {
    /// What it is, in words.
    fn described(&self) -> &'static str {
        match self {
            Value::Text(_) => "text",
            Value::Number(_) => "a number",
            Value::Truth(_) => "a truth value",
            Value::Things(_) => "a list",
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Text(text) => f.write_str(text),
            Value::Number(number) => write!(f, "{number}"),
            Value::Truth(truth) => write!(f, "{truth}"),
            Value::Things(things) => write!(f, "{} things", things.len()),
        }
    }
}

/// An expression, with the place in the query where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expression {
    /// Letters before it.
    pub at: usize,
    /// What it is.
    pub kind: Kind,
}

/// What an expression is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A value as written.
    Literal(Value),
    /// A property, or a property of a thing.
    Name(Vec<String>),
    /// Both.
    And(Box<Expression>, Box<Expression>),
    /// One of them.
    Or(Box<Expression>, Box<Expression>),
    /// A comparison.
    Compare(Comparison, Box<Expression>, Box<Expression>),
    /// A function.
    Call(Function, Vec<Expression>),
    /// `forEach(things, name => expression)`.
    ForEach {
        /// The things.
        things: Box<Expression>,
        /// What each is called.
        name: String,
        /// What must be true of it.
        body: Box<Expression>,
    },
}

/// How two values compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // The words themselves.
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// A function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// How many things, or letters.
    Length,
    /// Whether a text begins with another.
    StartsWith,
    /// Whether a text ends with another.
    EndsWith,
}

/// A mistake in a query, shown under it; of a long query under what is around it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot parse query: {problem}\n{}", around(query, *at))]
pub struct QueryError {
    /// The query.
    pub query: String,
    /// Letters before the mistake.
    pub at: usize,
    /// What is wrong.
    pub problem: String,
}

/// What is around a place in a text, and a sign under the place.
fn around(text: &str, at: usize) -> String {
    const BEFORE: usize = 40;
    const WIDEST: usize = 100;
    let letters: Vec<char> = text.chars().collect();
    let whole = letters.len() <= WIDEST;
    let start = if whole { 0 } else { at.saturating_sub(BEFORE) };
    let shown: String = letters.iter().skip(start).take(WIDEST).collect();
    let (left, right) = (
        if start > 0 { "…" } else { "" },
        if start + WIDEST < letters.len() {
            "…"
        } else {
            ""
        },
    );
    let width = at - start + left.chars().count() + 1;
    format!("{left}{shown}{right}\n{:>width$}", "^")
}

#[cfg(test)]
mod tests;
