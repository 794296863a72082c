//! Spans of time as Go writes them.

use std::time::Duration;

/// Reads a span of time in Go's syntax: `5s`, `1m30s`, `100ms`, `1.5h`, `0`. Negative ones are refused: no option has a
/// use for them.
///
/// # Errors
/// The text, with what is wrong.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let invalid = || format!("time: invalid duration \"{text}\"");
    let mut rest = text.strip_prefix('+').unwrap_or(text);
    if rest == "0" {
        return Ok(Duration::ZERO);
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    let mut nanoseconds = 0_f64;
    while !rest.is_empty() {
        let digits = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .ok_or_else(|| format!("time: missing unit in duration \"{text}\""))?;
        let (number, after) = rest.split_at(digits);
        let number: f64 = number.parse().map_err(|_| invalid())?;
        let end = after
            .find(|c: char| c.is_ascii_digit() || c == '.')
            .unwrap_or(after.len());
        let (unit, next) = after.split_at(end);
        let scale = match unit {
            "ns" => 1.0,
            "us" | "µs" | "μs" => 1e3,
            "ms" => 1e6,
            "s" => 1e9,
            "m" => 60e9,
            "h" => 3_600e9,
            _ => {
                return Err(format!(
                    "time: unknown unit \"{unit}\" in duration \"{text}\""
                ));
            }
        };
        nanoseconds += number * scale;
        rest = next;
    }
    Duration::try_from_secs_f64(nanoseconds / 1e9).map_err(|_| invalid())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read_as_go_reads_them() {
        for (text, milliseconds) in [
            ("5s", 5_000),
            ("5.0s", 5_000),
            ("1m30s", 90_000),
            ("100ms", 100),
            ("0", 0),
            ("1.5h", 5_400_000),
        ] {
            assert_eq!(
                parse_duration(text),
                Ok(Duration::from_millis(milliseconds)),
                "{text}"
            );
        }
    }

    #[test]
    fn a_number_without_a_unit_is_no_span() {
        assert_eq!(
            parse_duration("5"),
            Err("time: missing unit in duration \"5\"".into())
        );
        assert_eq!(
            parse_duration("5x"),
            Err("time: unknown unit \"x\" in duration \"5x\"".into())
        );
        assert_eq!(
            parse_duration("-5s"),
            Err("time: invalid duration \"-5s\"".into())
        );
        assert!(parse_duration("").is_err());
    }
}
