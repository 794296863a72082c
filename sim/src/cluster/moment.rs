//! Moments as Kubernetes writes them: RFC 3339 in UTC, whole seconds.

use alloc::format;
use alloc::string::String;

use pilotage_core::time::Timestamp;

/// The text of a moment; the milliseconds are cut off.
///
/// ```
/// # use pilotage_core::time::Timestamp;
/// # use pilotage_sim::cluster::moment;
/// assert_eq!(moment::text(Timestamp(1_709_210_096_999)), "2024-02-29T12:34:56Z");
/// ```
pub fn text(at: Timestamp) -> String {
    let seconds = at.0 / 1_000;
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = date(days);
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z",
        rest / 3_600,
        rest / 60 % 60,
        rest % 60
    )
}

/// The moment of a text in UTC; fractions of a second are dropped.
pub fn parse(text: &str) -> Option<Timestamp> {
    let number = |from: usize, to: usize| text.get(from..to)?.parse::<u64>().ok();
    let separators = [(4, "-"), (7, "-"), (10, "T"), (13, ":"), (16, ":")];
    let written = separators
        .iter()
        .all(|&(place, sign)| text.get(place..place + 1) == Some(sign));
    if !written || !text.ends_with('Z') {
        return None;
    }
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    if !(1970..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let clock = number(11, 13)? * 3_600 + number(14, 16)? * 60 + number(17, 19)?;
    Some(Timestamp((days(year, month, day) * 86_400 + clock) * 1_000))
}

/// Days from 1970-01-01 to a date of the Gregorian calendar: years begin in March, so that the leap day comes last.
fn days(year: u64, month: u64, day: u64) -> u64 {
    let year = if month <= 2 { year - 1 } else { year };
    let month = (month + 9) % 12;
    let to_march = year * 365 + year / 4 - year / 100 + year / 400;
    (to_march + (month * 153 + 2) / 5 + day - 1).saturating_sub(719_468)
}

/// The date so many days after 1970-01-01.
fn date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (year * 365 + year / 4 - year / 100);
    let month = (day * 5 + 2) / 153;
    let day = day - (month * 153 + 2) / 5 + 1;
    let year = era * 400 + year;
    if month < 10 {
        (year, month + 3, day)
    } else {
        (year + 1, month - 9, day)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_read_as_it_was_written() {
        assert_eq!(text(Timestamp(0)), "1970-01-01T00:00:00Z");
        assert_eq!(text(Timestamp(951_782_400_000)), "2000-02-29T00:00:00Z");
        for seconds in (0..5_000_000_000_u64).step_by(7_654_321) {
            let at = Timestamp(seconds * 1_000);
            assert_eq!(parse(&text(at)), Some(at));
        }
        assert_eq!(
            parse("2024-02-29T12:34:56.789123Z"),
            Some(Timestamp(1_709_210_096_000))
        );
    }

    #[test]
    fn what_is_no_moment_is_refused() {
        for wrong in [
            "",
            "now",
            "2024-02-29",
            "2024-13-01T00:00:00Z",
            "äää4-02-29T12:34:56Z",
        ] {
            assert_eq!(parse(wrong), None);
        }
    }
}
