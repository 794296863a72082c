//! Amounts with units (Kubernetes: "Quantity"), and their canonical form (fact K16).

use alloc::format;
use alloc::string::{String, ToString};

/// What an amount must look like, as the server's messages quote it.
pub(crate) const PATTERN: &str = "^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$";

/// A parsed amount: `value` times 10^-9, and the family of units it was written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Amount {
    nanos: i128,
    binary: bool,
    exponent: bool,
}

fn parse(text: &str) -> Option<Amount> {
    let (negative, unsigned) = match text.as_bytes().first()? {
        b'-' => (true, text.get(1..)?),
        b'+' => (false, text.get(1..)?),
        _ => (false, text),
    };
    let end = unsigned
        .find(|sign: char| !sign.is_ascii_digit() && sign != '.')
        .unwrap_or(unsigned.len());
    let (digits, suffix) = unsigned.split_at(end);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
        return None;
    }
    let (multiplier, power, binary, exponent): (i128, i32, bool, bool) = match suffix {
        "" => (1, 0, false, false),
        "n" => (1, -9, false, false),
        "u" => (1, -6, false, false),
        "m" => (1, -3, false, false),
        "k" => (1, 3, false, false),
        "M" => (1, 6, false, false),
        "G" => (1, 9, false, false),
        "T" => (1, 12, false, false),
        "P" => (1, 15, false, false),
        "E" => (1, 18, false, false),
        "Ki" => (1 << 10, 0, true, false),
        "Mi" => (1 << 20, 0, true, false),
        "Gi" => (1 << 30, 0, true, false),
        "Ti" => (1 << 40, 0, true, false),
        "Pi" => (1 << 50, 0, true, false),
        "Ei" => (1 << 60, 0, true, false),
        other => {
            let power = other.strip_prefix(['e', 'E'])?;
            (1, power.parse().ok()?, false, true)
        }
    };
    // Nine digits behind the point are all that is kept; what is finer is rounded up.
    let places = i32::try_from(fraction.len()).ok()?;
    let written = format!("{whole}{fraction}");
    let mut nanos: i128 = written
        .trim_start_matches('0')
        .parse()
        .or_else(|error| {
            if written.bytes().all(|digit| digit == b'0') {
                Ok(0)
            } else {
                Err(error)
            }
        })
        .ok()?;
    nanos = nanos.checked_mul(multiplier)?;
    let shift = power.saturating_add(9).saturating_sub(places);
    if nanos != 0 {
        if shift >= 0 {
            nanos = nanos.checked_mul(10_i128.checked_pow(shift.unsigned_abs())?)?;
        } else {
            let divisor = 10_i128.checked_pow(shift.unsigned_abs());
            nanos = match divisor {
                Some(divisor) => nanos / divisor + i128::from(nanos % divisor != 0),
                None => 1,
            };
        }
    }
    Some(Amount {
        nanos: if negative { -nanos } else { nanos },
        binary,
        exponent,
    })
}

const ONE: i128 = 1_000_000_000;

/// The form in which the server keeps an amount: no fraction, the largest unit of the same family that needs none.
/// `None` if the text is no amount.
///
/// ```
/// use pilotage_sim::cluster::quantity::canonical;
/// assert_eq!(canonical("1000m").as_deref(), Some("1"));
/// assert_eq!(canonical("1024Mi").as_deref(), Some("1Gi"));
/// assert_eq!(canonical("1.5Gi").as_deref(), Some("1536Mi"));
/// assert_eq!(canonical("0.5").as_deref(), Some("500m"));
/// assert_eq!(canonical("much"), None);
/// ```
pub fn canonical(text: &str) -> Option<String> {
    let amount = parse(text)?;
    if amount.nanos == 0 {
        return Some("0".into());
    }
    let sign = if amount.nanos < 0 { "-" } else { "" };
    let nanos = amount.nanos.abs();
    // Binary units are for whole numbers of at least one Ki.
    if amount.binary && nanos % ONE == 0 && nanos / ONE >= 1024 {
        let mut value = nanos / ONE;
        let mut unit = "";
        for next in ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"] {
            if value % 1024 != 0 {
                break;
            }
            value /= 1024;
            unit = next;
        }
        return Some(format!("{sign}{value}{unit}"));
    }
    let mut value = nanos;
    let mut power = -9;
    while value % 1_000 == 0 && power < 18 {
        value /= 1_000;
        power += 3;
    }
    let unit = match (power, amount.exponent) {
        (0, _) => String::new(),
        (power, true) => format!("e{power}"),
        (-9, _) => "n".to_string(),
        (-6, _) => "u".to_string(),
        (-3, _) => "m".to_string(),
        (3, _) => "k".to_string(),
        (6, _) => "M".to_string(),
        (9, _) => "G".to_string(),
        (12, _) => "T".to_string(),
        (15, _) => "P".to_string(),
        _ => "E".to_string(),
    };
    Some(format!("{sign}{value}{unit}"))
}

/// The amount in billionths, to compare amounts; `None` if the text is no amount.
pub fn nanos(text: &str) -> Option<i128> {
    parse(text).map(|amount| amount.nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_kept_in_their_canonical_form() {
        for (given, kept) in [
            ("1000m", "1"),
            ("1024Mi", "1Gi"),
            ("1Gi", "1Gi"),
            ("1025Mi", "1025Mi"),
            ("0.1", "100m"),
            ("1500M", "1500M"),
            ("2000M", "2G"),
            ("0", "0"),
            ("00", "0"),
            ("1e3", "1e3"),
            ("1000", "1k"),
            ("10", "10"),
            ("512Ki", "512Ki"),
            ("-1000m", "-1"),
            ("100Ei", "100Ei"),
        ] {
            assert_eq!(canonical(given).as_deref(), Some(kept), "{given}");
        }
        for wrong in [
            "",
            "Gi",
            "1Gig",
            "1.2.3",
            "one",
            "1 Gi",
            "ä",
            "--1",
            "1e",
            "99999999999999999999999999999999999999999",
        ] {
            assert_eq!(canonical(wrong), None, "{wrong}");
        }
        assert!(nanos("1Gi") > nanos("1G"));
    }
}
