//! Configuration options of a charm and their values.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::Charm;
use super::document::{At, Scalar, ScalarKind, excerpt};
use super::mistake::{self, Report};

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

/// Settings of an application itself, which stand among its charm's options (command line, 2.3).
pub const SETTINGS: [&str; 14] = [
    "juju-application-path",
    "juju-external-hostname",
    "kubernetes-ingress-allow-http",
    "kubernetes-ingress-class",
    "kubernetes-ingress-ssl-passthrough",
    "kubernetes-ingress-ssl-redirect",
    "kubernetes-service-annotations",
    "kubernetes-service-external-ips",
    "kubernetes-service-externalname",
    "kubernetes-service-loadbalancer-ip",
    "kubernetes-service-loadbalancer-sourceranges",
    "kubernetes-service-target-port",
    "kubernetes-service-type",
    "trust",
];

/// Whether an option is a setting of the application itself, which no charm declares.
pub fn is_setting(option: &str) -> bool {
    SETTINGS.contains(&option)
}

/// Why a value is refused; in Juju's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ValueRefused {
    /// The charm has no such option.
    #[error("unknown option {0:?}")]
    Unknown(String),
    /// The value is not of the option's kind.
    #[error("option {option:?} expected {kind}, got {got}")]
    WrongKind {
        /// Name of the option.
        option: String,
        /// What its values are.
        kind: OptionKind,
        /// The value, text in quotes.
        got: String,
    },
}

impl OptionKind {
    /// Reads text, as a command line gives it.
    pub fn parse(self, text: &str) -> Option<ConfigValue> {
        match self {
            Self::String => Some(ConfigValue::String(text.into())),
            Self::Secret => Some(ConfigValue::Secret(text.into())),
            Self::Int => text.parse().ok().map(ConfigValue::Int),
            Self::Float => canonical_decimal(text).map(ConfigValue::Float),
            Self::Boolean => match text {
                "1" | "t" | "T" | "TRUE" | "true" | "True" => Some(ConfigValue::Boolean(true)),
                "0" | "f" | "F" | "FALSE" | "false" | "False" => Some(ConfigValue::Boolean(false)),
                _ => None,
            },
        }
    }

    /// Reads a scalar of a file, where text is what stands in quotes or looks like nothing else.
    fn read(self, scalar: &Scalar) -> Option<ConfigValue> {
        match (self, scalar.kind()) {
            (Self::Boolean, ScalarKind::Boolean(value)) => Some(ConfigValue::Boolean(value)),
            (Self::String | Self::Secret, ScalarKind::Text) => self.parse(&scalar.text),
            (Self::String | Self::Secret, _) => None,
            (kind, _) => kind.parse(&scalar.text),
        }
    }
}

impl core::fmt::Display for OptionKind {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::String => "string",
            Self::Int => "int",
            Self::Float => "float",
            Self::Boolean => "boolean",
            Self::Secret => "secret",
        })
    }
}

impl core::fmt::Display for ConfigValue {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::String(text) | Self::Float(text) | Self::Secret(text) => f.write_str(text),
            Self::Int(number) => write!(f, "{number}"),
            Self::Boolean(value) => write!(f, "{value}"),
        }
    }
}

impl Charm {
    /// Reads the text that a user gives for an option.
    ///
    /// # Errors
    ///
    /// [`ValueRefused`] where the charm has no such option, or the text is not of its kind.
    pub fn parse_value(&self, option: &str, text: &str) -> Result<ConfigValue, ValueRefused> {
        let declared = self
            .option(option)
            .ok_or_else(|| ValueRefused::Unknown(option.into()))?;
        declared
            .kind
            .parse(text)
            .ok_or_else(|| ValueRefused::WrongKind {
                option: option.into(),
                kind: declared.kind,
                got: format!("{text:?}"),
            })
    }

    /// Reads the value that a file gives for an option; `None` where it gives nothing, which leaves the default.
    ///
    /// # Errors
    ///
    /// [`ValueRefused`] where the charm has no such option, or the value is not of its kind.
    pub fn read_value(
        &self,
        option: &str,
        scalar: &Scalar,
    ) -> Result<Option<ConfigValue>, ValueRefused> {
        let declared = self
            .option(option)
            .ok_or_else(|| ValueRefused::Unknown(option.into()))?;
        if scalar.is_null() {
            return Ok(None);
        }
        match declared.kind.read(scalar) {
            Some(value) => Ok(Some(value)),
            None => Err(ValueRefused::WrongKind {
                option: option.into(),
                kind: declared.kind,
                got: shown(scalar),
            }),
        }
    }
}

/// A scalar as written, text in quotes.
fn shown(scalar: &Scalar) -> String {
    match scalar.kind() {
        ScalarKind::Text => excerpt(&scalar.text),
        _ => scalar.text.clone(),
    }
}

/// A decimal number in the shortest form that reads back as the same number of 64 bits: `0.50` is `0.5`.
pub fn canonical_decimal(text: &str) -> Option<String> {
    // Words such as `inf` are numbers for some parsers, and for no charm.
    if !text.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number: f64 = text.parse().ok()?;
    if !number.is_finite() {
        return None;
    }
    let exponent = number != 0.0 && !(1e-6..1e21).contains(&number.abs());
    Some(if exponent {
        format!("{number:e}")
    } else {
        format!("{number}")
    })
}

/// Reads `options` of a charm's configuration.
pub(super) fn read(root: &At<'_>, report: &mut Report) -> Vec<ConfigOption> {
    let keys = root.entries(report);
    let Some(at) = root.get("options") else {
        // An empty file has no options; one with a slip in the only key that counts would lose them all.
        let slip = keys
            .iter()
            .find(|(key, _)| *key != "options" && mistake::closest(key, &["options"]).is_some());
        if let Some((key, slip)) = slip {
            report.error(
                slip.key,
                &slip.path,
                format!("unknown key {key:?}"),
                "did you mean \"options\"?",
            );
        }
        return Vec::new();
    };
    at.declared(report, read_one)
}

fn read_one(name: &str, at: &At<'_>, report: &mut Report) -> Option<ConfigOption> {
    const KEYS: [&str; 3] = ["type", "default", "description"];
    at.warn_unknown("an option", &KEYS, report, |key| {
        mistake::closest(key, &KEYS).map(|near| format!("did you mean {near:?}?"))
    });
    let description = at.description(report);
    let kind = read_kind(at, report)?;
    let default = at
        .get("default")
        .and_then(|at| read_default(kind, &at, report));
    Some(ConfigOption {
        name: name.into(),
        kind,
        default,
        description,
    })
}

/// An option without a type takes text.
fn read_kind(at: &At<'_>, report: &mut Report) -> Option<OptionKind> {
    let Some(kind) = at.get("type") else {
        return Some(OptionKind::String);
    };
    Some(match kind.text(report)? {
        "string" => OptionKind::String,
        "int" => OptionKind::Int,
        "float" => OptionKind::Float,
        "boolean" => OptionKind::Boolean,
        "secret" => OptionKind::Secret,
        other => {
            report.error(
                kind.node.place,
                &kind.path,
                format!("{other:?} is not a type of option"),
                mistake::did_you_mean(other, &["string", "int", "float", "boolean", "secret"]),
            );
            return None;
        }
    })
}

fn read_default(kind: OptionKind, at: &At<'_>, report: &mut Report) -> Option<ConfigValue> {
    let scalar = at.scalar("a single value", report)?;
    // Empty text has always stood for no default, whatever the type.
    if scalar.text.is_empty() && kind != OptionKind::String {
        return None;
    }
    let value = kind.read(scalar);
    if value.is_none() {
        report.error(
            at.node.place,
            &at.path,
            format!("the default {} is not of type {kind}", shown(scalar)),
            match kind {
                OptionKind::String | OptionKind::Secret => String::from("put it in quotes"),
                OptionKind::Int => String::from("write a whole number"),
                OptionKind::Float => String::from("write a number"),
                OptionKind::Boolean => String::from("write true or false"),
            },
        );
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn text_is_read_by_the_kind_of_the_option() {
        assert_eq!(OptionKind::Int.parse("-5"), Some(ConfigValue::Int(-5)));
        assert_eq!(OptionKind::Int.parse("9223372036854775808"), None);
        assert_eq!(OptionKind::Int.parse("1.0"), None);
        assert_eq!(
            OptionKind::Boolean.parse("t"),
            Some(ConfigValue::Boolean(true))
        );
        assert_eq!(OptionKind::Boolean.parse("yes"), None);
        assert_eq!(
            OptionKind::String.parse("yes"),
            Some(ConfigValue::String("yes".into()))
        );
        assert_eq!(
            OptionKind::Float.parse("0.50"),
            Some(ConfigValue::Float("0.5".into()))
        );
    }

    #[test]
    fn decimals_have_one_form() {
        for (text, canonical) in [
            ("0.50", "0.5"),
            ("2", "2"),
            ("1e300", "1e300"),
            ("-0.1", "-0.1"),
            ("1e3", "1000"),
        ] {
            assert_eq!(canonical_decimal(text).as_deref(), Some(canonical));
        }
        for refused in ["", "inf", "nan", "1e999", "0x10", "one", " 1"] {
            assert_eq!(canonical_decimal(refused), None, "{refused:?}");
        }
    }

    proptest! {
        #[test]
        fn the_form_of_a_decimal_is_a_fixed_point(number in any::<f64>().prop_filter("finite", |n| n.is_finite())) {
            let once = canonical_decimal(&format!("{number}")).unwrap();
            prop_assert_eq!(once.parse::<f64>().unwrap(), number);
            prop_assert_eq!(canonical_decimal(&once), Some(once));
        }

        #[test]
        fn reading_a_value_is_total_and_gives_what_it_prints(text in ".*") {
            for kind in [OptionKind::String, OptionKind::Int, OptionKind::Float, OptionKind::Boolean, OptionKind::Secret] {
                if let Some(value) = kind.parse(&text) {
                    prop_assert_eq!(value.kind(), kind);
                    prop_assert_eq!(kind.parse(&format!("{value}")), Some(value));
                }
            }
        }
    }
}
