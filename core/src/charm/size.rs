//! Sizes as people write them, in MiB.
//!
//! There are three grammars (command line, section 6): of constraints, of storage directives and of a charm's
//! `minimum-size`. They differ in which suffixes are allowed and in what a bare number means; powers are of 1024 and
//! fractions of a MiB are rounded up in all of them. No floating point is involved, so that the result is exact.

/// Which suffixes a size may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grammar {
    /// One of `M G T P`, or none for MiB.
    Constraint,
    /// One of `M G T P E Z Y`, then perhaps `B` or `iB`.
    Directive,
    /// As a directive, or none for MiB.
    MinimumSize,
}

/// Reads a size, in MiB; `None` where it is none by that grammar, or beyond what 64 bits hold.
pub(crate) fn parse(text: &str, grammar: Grammar) -> Option<u64> {
    let end = text
        .find(|letter: char| !letter.is_ascii_digit() && letter != '.')
        .unwrap_or(text.len());
    let (number, suffix) = text.split_at(end);
    let suffix = match grammar {
        Grammar::Constraint => suffix,
        Grammar::Directive | Grammar::MinimumSize => {
            let bare = suffix
                .strip_suffix("iB")
                .or_else(|| suffix.strip_suffix('B'))
                .unwrap_or(suffix);
            // `B` alone is no unit: what it follows must be there.
            if bare.is_empty() && !suffix.is_empty() {
                return None;
            }
            bare
        }
    };
    let power = match (suffix, grammar) {
        ("", Grammar::Constraint | Grammar::MinimumSize) | ("M", _) => 0_u32,
        ("G", _) => 10,
        ("T", _) => 20,
        ("P", _) => 30,
        ("E", Grammar::Directive | Grammar::MinimumSize) => 40,
        ("Z", Grammar::Directive | Grammar::MinimumSize) => 50,
        ("Y", Grammar::Directive | Grammar::MinimumSize) => 60,
        _ => return None,
    };
    scaled(number, power)
}

/// A decimal number times a power of two, rounded up.
fn scaled(number: &str, power: u32) -> Option<u64> {
    /// Digits of a fraction that are computed with; whatever follows only rounds up.
    const PRECISION: usize = 18;
    let (whole, fraction) = match number.split_once('.') {
        None => (number, ""),
        Some((whole, fraction)) => (whole, fraction),
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if (whole.is_empty() && fraction.is_empty()) || !digits(whole) || !digits(fraction) {
        return None;
    }
    let factor = 1_u128.checked_shl(power)?;
    let whole = if whole.is_empty() {
        0
    } else {
        whole.parse::<u128>().ok()?
    };
    let fraction = fraction.trim_end_matches('0');
    let (near, far) = fraction.split_at(fraction.len().min(PRECISION));
    let unit = 10_u128.checked_pow(u32::try_from(near.len()).ok()?)?;
    let near = if near.is_empty() {
        0
    } else {
        near.parse::<u128>().ok()?
    };
    // Rounding the cut fraction up first can only change what is rounded up anyway.
    let near = near.checked_add(u128::from(!far.is_empty()))?;
    let part = near.checked_mul(factor)?.div_ceil(unit);
    let total = whole.checked_mul(factor)?.checked_add(part)?;
    u64::try_from(total).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_bare_number_is_mib_in_constraints_and_charms_and_nothing_in_a_directive() {
        assert_eq!(parse("512", Grammar::Constraint), Some(512));
        assert_eq!(parse("512", Grammar::MinimumSize), Some(512));
        assert_eq!(parse("512", Grammar::Directive), None);
    }

    #[test]
    fn suffixes_are_those_of_the_grammar() {
        assert_eq!(parse("1G", Grammar::Constraint), Some(1024));
        for refused in [
            "1GB", "1GiB", "1E", "1g", "1K", "-1G", "G", "", ".", "1.2.3G", "1e3", " 1G",
        ] {
            assert_eq!(parse(refused, Grammar::Constraint), None, "{refused:?}");
        }
        for (text, size) in [
            ("1G", 1024),
            ("1GB", 1024),
            ("1GiB", 1024),
            ("2E", 2 << 40),
            ("1M", 1),
        ] {
            assert_eq!(parse(text, Grammar::Directive), Some(size), "{text:?}");
        }
        for refused in ["1iB", "1B", "1m", "1Gi", "1GBB"] {
            assert_eq!(parse(refused, Grammar::MinimumSize), None, "{refused:?}");
        }
    }

    #[test]
    fn fractions_are_rounded_up() {
        assert_eq!(parse("1.5G", Grammar::Directive), Some(1536));
        assert_eq!(parse("0.1G", Grammar::Directive), Some(103));
        assert_eq!(parse("1.2", Grammar::Constraint), Some(2));
        assert_eq!(parse(".5G", Grammar::Constraint), Some(512));
        assert_eq!(
            parse("1.0000000000000000000000001M", Grammar::Directive),
            Some(2)
        );
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert_eq!(parse("15Y", Grammar::Directive), Some(15 << 60));
        assert_eq!(parse("16Y", Grammar::Directive), None);
        assert_eq!(
            parse(
                "99999999999999999999999999999999999999999999M",
                Grammar::Directive
            ),
            None
        );
    }

    proptest! {
        #[test]
        fn reading_a_size_is_total(text in ".*") {
            for grammar in [Grammar::Constraint, Grammar::Directive, Grammar::MinimumSize] {
                let _ = parse(&text, grammar);
            }
        }

        #[test]
        fn a_size_in_mib_reads_back(size in any::<u64>()) {
            prop_assert_eq!(parse(&alloc::format!("{size}M"), Grammar::Directive), Some(size));
        }
    }
}
