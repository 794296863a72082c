//! The one place where real time enters.

use std::time::SystemTime;

use pilotage_core::time::Timestamp;

/// Now. A machine whose clock stands before 1970 gets the epoch.
pub fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let millis = since.map_or(0, |since| since.as_millis());
    Timestamp(u64::try_from(millis).unwrap_or(u64::MAX))
}
