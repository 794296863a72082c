//! Kubernetes quantities (API conventions, "Quantity"): `1000m` and `1` are the same, so are `1024Mi` and `1Gi`.

/// The amount in thousandths; none if the text is no quantity or the amount is beyond reason.
pub fn thousandths(text: &str) -> Option<u128> {
    let digits = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, suffix) = text.split_at_checked(digits)?;
    // The amount is `number * numerator / denominator` thousandths.
    let (numerator, denominator): (u128, u128) = match suffix {
        "n" => (1, 1_000_000),
        "u" => (1, 1_000),
        "m" => (1, 1),
        "" => (1_000, 1),
        "k" => (1_000_000, 1),
        "M" => (1_000_000_000, 1),
        "G" => (1_000_000_000_000, 1),
        "T" => (1_000_000_000_000_000, 1),
        "P" => (1_000_000_000_000_000_000, 1),
        "E" => (1_000_000_000_000_000_000_000, 1),
        "Ki" => (1_000 << 10, 1),
        "Mi" => (1_000 << 20, 1),
        "Gi" => (1_000 << 30, 1),
        "Ti" => (1_000 << 40, 1),
        "Pi" => (1_000 << 50, 1),
        "Ei" => (1_000 << 60, 1),
        _ => {
            let exponent: u32 = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
            (10_u128.checked_pow(exponent)?.checked_mul(1_000)?, 1)
        }
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let scale = 10_u128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let whole: u128 = if whole.is_empty() {
        0
    } else {
        whole.parse().ok()?
    };
    let part: u128 = if fraction.is_empty() {
        0
    } else {
        fraction.parse().ok()?
    };
    let amount = whole
        .checked_mul(scale)?
        .checked_add(part)?
        .checked_mul(numerator)?;
    // A quantity is rounded up to the finest unit that is kept.
    Some(amount.div_ceil(scale.checked_mul(denominator)?))
}

/// The amount in MiB, rounded up.
pub fn mebibytes(text: &str) -> Option<u64> {
    u64::try_from(thousandths(text)?.div_ceil(1_000 << 20)).ok()
}

/// Whether two texts are the same amount.
pub fn same(a: &str, b: &str) -> bool {
    a == b || thousandths(a).is_some_and(|amount| Some(amount) == thousandths(b))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_forms_that_a_server_rewrites_are_the_same() {
        for (sent, stored) in [
            ("1000m", "1"),
            ("1024Mi", "1Gi"),
            ("0.5", "500m"),
            ("1e3", "1k"),
            ("2048Ki", "2Mi"),
        ] {
            assert!(same(sent, stored), "{sent} {stored}");
        }
        for (a, b) in [("1G", "1Gi"), ("1", "1m"), ("x", "y"), ("", "0")] {
            assert!(!same(a, b), "{a} {b}");
        }
        assert_eq!(mebibytes("1Gi"), Some(1024));
    }

    proptest! {
        #[test]
        fn no_text_breaks_it(text in ".{0,30}") {
            let _ = thousandths(&text);
        }
    }
}
