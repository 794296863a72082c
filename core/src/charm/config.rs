//! Configuration options of a charm and their values.

use alloc::string::String;

use serde::{Deserialize, Serialize};

/// One configuration option, as the charm declares it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ConfigOption {
    /// Name of the option.
    pub name: String,
    /// What its values are.
    pub kind: OptionKind,
    /// The value while the user gives none; `None` where the charm gives none or `null`.
    pub default: Option<ConfigValue>,
    /// What it is for.
    pub description: String,
}

/// What the values of an option are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OptionKind {
    /// Any text.
    String,
    /// A whole number of 64 bits.
    Int,
    /// A decimal number.
    Float,
    /// True or false.
    Boolean,
    /// The identity of a secret, as text: never its content.
    Secret,
}

/// The value of an option.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConfigValue {
    /// Any text.
    String(String),
    /// A whole number.
    Int(i64),
    /// A decimal number, as canonical text (`0.5`, `2`, `1e300`): values are compared and hashed.
    Float(String),
    /// True or false.
    Boolean(bool),
    /// The identity of a secret.
    Secret(String),
}

impl ConfigValue {
    /// The kind of option that takes this value.
    pub fn kind(&self) -> OptionKind {
        match self {
            Self::String(_) => OptionKind::String,
            Self::Int(_) => OptionKind::Int,
            Self::Float(_) => OptionKind::Float,
            Self::Boolean(_) => OptionKind::Boolean,
            Self::Secret(_) => OptionKind::Secret,
        }
    }
}
