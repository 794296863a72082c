//! Storage directives: what a user asks for with `--storage NAME=DIRECTIVE`.

use alloc::string::String;

use serde::{Deserialize, Serialize};

use super::size::{self, Grammar};

/// What a user asks of one storage; at least one part is given. What is not given, the charm and the model decide.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct StorageDirective {
    /// Name of a pool or of a storage class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<String>,
    /// Number of filesystems for each unit, at least 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// Size of each in MiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_mib: Option<u64>,
}

/// Why a text is not a storage directive; in Juju's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DirectiveError {
    /// A part is neither pool, count nor size.
    #[error("cannot parse disk constraints: unrecognized storage constraint {0:?} not valid")]
    Unrecognized(String),
    /// Two pools.
    #[error(
        "cannot parse disk constraints: pool name is already set to {0:?}, new value {1:?} not valid"
    )]
    SecondPool(String, String),
    /// Two counts.
    #[error(
        "cannot parse disk constraints: storage instance count is already set to {0}, new value {1} not valid"
    )]
    SecondCount(u64, u64),
    /// Two sizes, in MiB.
    #[error(
        "cannot parse disk constraints: storage size is already set to {0}, new value {1} not valid"
    )]
    SecondSize(u64, u64),
    /// A count of nothing, or less, or more than any number.
    #[error("cannot parse count: count must be greater than zero, got {0:?}")]
    Count(String),
    /// Nothing is said.
    #[error("storage constraints require at least one field to be specified")]
    Empty,
}

impl core::str::FromStr for StorageDirective {
    type Err = DirectiveError;

    /// Reads pool, count and size, separated by commas, in any order, each at most once.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut directive = Self::default();
        for part in text.split(',').filter(|part| !part.is_empty()) {
            if is_pool_name(part) {
                if let Some(pool) = directive.pool {
                    return Err(DirectiveError::SecondPool(pool, part.into()));
                }
                directive.pool = Some(part.into());
            } else if is_count(part) {
                let count = part.parse().ok().filter(|count| *count > 0);
                let count = count.ok_or_else(|| DirectiveError::Count(part.into()))?;
                if let Some(first) = directive.count {
                    return Err(DirectiveError::SecondCount(first, count));
                }
                directive.count = Some(count);
            } else if let Some(size) = size::parse(part, Grammar::Directive) {
                if let Some(first) = directive.size_mib {
                    return Err(DirectiveError::SecondSize(first, size));
                }
                directive.size_mib = Some(size);
            } else {
                return Err(DirectiveError::Unrecognized(part.into()));
            }
        }
        if directive == Self::default() {
            return Err(DirectiveError::Empty);
        }
        Ok(directive)
    }
}

impl core::fmt::Display for StorageDirective {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let mut separator = "";
        if let Some(pool) = &self.pool {
            write!(f, "{pool}")?;
            separator = ",";
        }
        if let Some(count) = self.count {
            write!(f, "{separator}{count}")?;
            separator = ",";
        }
        if let Some(size) = self.size_mib {
            write!(f, "{separator}{size}M")?;
        }
        Ok(())
    }
}

/// Whether a text can be the name of a pool.
pub fn is_pool_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'?'))
}

fn is_count(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use proptest::prelude::*;

    fn error(text: &str) -> String {
        text.parse::<StorageDirective>().unwrap_err().to_string()
    }

    #[test]
    fn the_parts_come_in_any_order() {
        let all = StorageDirective {
            pool: Some("ebs".into()),
            count: Some(3),
            size_mib: Some(1024),
        };
        for text in ["ebs,3,1G", "1G,3,ebs", "3,ebs,1024M", "ebs,,3,1GiB"] {
            assert_eq!(text.parse(), Ok(all.clone()), "{text}");
        }
    }

    #[test]
    fn a_bare_number_is_a_count() {
        let three = "3".parse::<StorageDirective>().unwrap();
        assert_eq!((three.count, three.size_mib), (Some(3), None));
    }

    #[test]
    fn mistakes_are_told_in_the_words_of_juju() {
        assert_eq!(
            error("1.5"),
            "cannot parse disk constraints: unrecognized storage constraint \"1.5\" not valid"
        );
        assert_eq!(
            error("a,b"),
            "cannot parse disk constraints: pool name is already set to \"a\", new value \"b\" not valid"
        );
        assert_eq!(
            error("0"),
            "cannot parse count: count must be greater than zero, got \"0\""
        );
        assert_eq!(
            error("-1"),
            "cannot parse count: count must be greater than zero, got \"-1\""
        );
        assert_eq!(
            error(""),
            "storage constraints require at least one field to be specified"
        );
        assert!(error("1,2").contains("already set to 1"));
        assert!(error("1G,2G").contains("already set to 1024"));
    }

    proptest! {
        #[test]
        fn reading_is_total(text in ".*") {
            let _ = text.parse::<StorageDirective>();
        }

        #[test]
        fn what_is_read_prints_back(
            pool in proptest::option::of("[a-zA-Z][-a-zA-Z0-9]{0,8}"),
            count in proptest::option::of(1..u64::MAX),
            size_mib in proptest::option::of(any::<u64>()),
        ) {
            let directive = StorageDirective { pool, count, size_mib };
            prop_assume!(directive != StorageDirective::default());
            prop_assert_eq!(directive.to_string().parse(), Ok(directive));
        }
    }
}
