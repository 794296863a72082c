//! Times as users read them (command line, 3.4).

use jiff::ZonedDateTime;
use jiff::tz::TimeZone;
use pilotage_core::time::Timestamp;

/// How times are shown.
#[derive(Clone, Debug)]
pub struct Clock {
    /// The moment at which something is shown.
    pub now: Timestamp,
    /// The user's zone.
    pub zone: TimeZone,
    /// Whether `--utc` or `JUJU_STATUS_ISO_TIME` asks for the other form.
    pub utc: bool,
}

impl Clock {
    fn zoned(&self, at: Timestamp, zone: TimeZone) -> ZonedDateTime {
        let milliseconds = i64::try_from(at.0).unwrap_or(i64::MAX);
        jiff::Timestamp::from_millisecond(milliseconds)
            .unwrap_or(jiff::Timestamp::MAX)
            .to_zoned_datetime(zone)
    }

    /// A `since`: `04 Mar 2026 10:12:31+01:00`, or `2026-03-04 09:12:31Z` with `--utc`.
    pub fn since(&self, at: Timestamp) -> String {
        if self.utc {
            self.zoned(at, TimeZone::UTC)
                .strftime("%Y-%m-%d %H:%M:%SZ")
                .to_string()
        } else {
            self.local_since(at)
        }
    }

    /// A `since` in the local form, whatever `--utc` says: storage, filesystems and volumes.
    pub fn local_since(&self, at: Timestamp) -> String {
        let moment = self.zoned(at, self.zone.clone());
        format!(
            "{}{}",
            moment.strftime("%d %b %Y %H:%M:%S"),
            offset(&moment)
        )
    }

    /// The time of day now, as `controller.timestamp` shows it.
    pub fn time_of_day(&self) -> String {
        if self.utc {
            self.zoned(self.now, TimeZone::UTC)
                .strftime("%H:%M:%S")
                .to_string()
        } else {
            let moment = self.zoned(self.now, self.zone.clone());
            format!("{}{}", moment.strftime("%H:%M:%S"), offset(&moment))
        }
    }

    /// A moment in the past, as a person says it.
    pub fn ago(&self, at: Timestamp) -> String {
        let seconds = self.now.since(at).0 / 1_000;
        let count = |number: u64, unit: &str| {
            let plural = if number == 1 { "" } else { "s" };
            format!("{number} {unit}{plural} ago")
        };
        match seconds {
            0..2 => "just now".into(),
            2..60 => count(seconds, "second"),
            60..3_600 => count(seconds / 60, "minute"),
            3_600..86_400 => count(seconds / 3_600, "hour"),
            _ => self.date(at),
        }
    }

    /// The day of a moment.
    pub fn date(&self, at: Timestamp) -> String {
        self.zoned(at, self.zone.clone())
            .strftime("%Y-%m-%d")
            .to_string()
    }

    /// RFC 3339, in the user's zone.
    pub fn rfc3339(&self, at: Timestamp) -> String {
        let moment = self.zoned(at, self.zone.clone());
        format!(
            "{}{}",
            moment.strftime("%Y-%m-%dT%H:%M:%S"),
            offset(&moment)
        )
    }
}

/// `Z` at Greenwich, else `+01:00`.
fn offset(moment: &ZonedDateTime) -> String {
    if moment.offset().is_zero() {
        "Z".into()
    } else {
        moment.strftime("%:z").to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // 2026-03-04 09:12:31 UTC.
    const AT: Timestamp = Timestamp(1_772_615_551_000);

    fn clock(zone: &str, utc: bool) -> Clock {
        Clock {
            now: AT,
            zone: TimeZone::get(zone).expect("a zone"),
            utc,
        }
    }

    #[test]
    fn since_has_a_local_form_and_one_in_utc() {
        assert_eq!(clock("UTC", false).since(AT), "04 Mar 2026 09:12:31Z");
        assert_eq!(
            clock("Europe/Paris", false).since(AT),
            "04 Mar 2026 10:12:31+01:00"
        );
        assert_eq!(
            clock("Europe/Paris", true).since(AT),
            "2026-03-04 09:12:31Z"
        );
        assert_eq!(
            clock("Europe/Paris", true).local_since(AT),
            "04 Mar 2026 10:12:31+01:00"
        );
    }

    #[test]
    fn the_time_of_day_names_its_zone_unless_it_is_asked_in_utc() {
        assert_eq!(clock("UTC", false).time_of_day(), "09:12:31Z");
        assert_eq!(clock("Europe/Paris", false).time_of_day(), "10:12:31+01:00");
        assert_eq!(clock("Europe/Paris", true).time_of_day(), "09:12:31");
    }

    #[test]
    fn the_past_is_told_relative_within_a_day() {
        let clock = clock("UTC", false);
        let ago = |seconds: u64| clock.ago(Timestamp(AT.0 - seconds * 1_000));
        assert_eq!(ago(1), "just now");
        assert_eq!(ago(5), "5 seconds ago");
        assert_eq!(ago(60), "1 minute ago");
        assert_eq!(ago(3 * 3_600), "3 hours ago");
        assert_eq!(ago(24 * 3_600), "2026-03-03");
    }
}
