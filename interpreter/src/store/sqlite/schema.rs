//! What stands in the file, and how a file of ours is told from any other.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension, Transaction};

use crate::identity::draw_key;
use crate::store::StoreError;

/// `application_id` of our files: "PILT".
const APPLICATION_ID: i64 = 0x5049_4c54;
/// `user_version` of our files: the format of the tables and of the records in them.
const FORMAT: i64 = 1;

/// Records are kept as JSON, beside the columns that they are found by.
const TABLES: &str = "
CREATE TABLE meta (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE models (
    uid TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    record TEXT NOT NULL
) STRICT;
CREATE TABLE applications (
    uid TEXT PRIMARY KEY,
    model TEXT NOT NULL,
    name TEXT NOT NULL,
    record TEXT NOT NULL,
    UNIQUE (model, name)
) STRICT;
CREATE TABLE storages (
    model TEXT NOT NULL,
    number INTEGER NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (model, number)
) STRICT;
CREATE TABLE vault (
    application TEXT NOT NULL,
    name TEXT NOT NULL,
    generation INTEGER NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (application, name, generation)
) STRICT, WITHOUT ROWID;
CREATE TABLE changes (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    events TEXT NOT NULL
) STRICT;
";

/// Name of the key of fingerprints in `meta`.
pub(super) const FINGERPRINT_KEY: &str = "fingerprint-key";
/// Name of the cluster's uid in `meta`.
pub(super) const CLUSTER: &str = "cluster";

/// Name of what the cluster was called last in `meta`.
pub(super) const CLUSTER_NAME: &str = "cluster-name";

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// There is nothing in it yet.
    Empty,
    /// It is a state of ours.
    Ours,
}

/// Tells what a file is, without changing it.
pub(super) fn check(connection: &Connection, path: &Path) -> Result<State, StoreError> {
    let failed = |source| error(path, source);
    let number = |pragma: &str| connection.pragma_query_value(None, pragma, |row| row.get(0));
    let id: i64 = number("application_id").map_err(failed)?;
    let format: i64 = number("user_version").map_err(failed)?;
    if id == APPLICATION_ID {
        return match format {
            FORMAT => Ok(State::Ours),
            newer if newer > FORMAT => Err(StoreError::Newer {
                path: path.to_owned(),
                theirs: newer,
                ours: FORMAT,
            }),
            other => Err(StoreError::Damaged {
                path: path.to_owned(),
                what: format!("there is no format {other}"),
            }),
        };
    }
    let anything: Option<i64> = connection
        .query_row("SELECT 1 FROM sqlite_master LIMIT 1", [], |row| row.get(0))
        .optional()
        .map_err(failed)?;
    if id == 0 && format == 0 && anything.is_none() {
        Ok(State::Empty)
    } else {
        Err(StoreError::Foreign {
            path: path.to_owned(),
        })
    }
}

/// Makes an empty file a state.
pub(super) fn make(transaction: &Transaction<'_>, path: &Path) -> Result<(), StoreError> {
    let key = serde_json::to_string(&draw_key()?).unwrap_or_default();
    let made = transaction
        .execute_batch(TABLES)
        .and_then(|()| transaction.pragma_update(None, "application_id", APPLICATION_ID))
        .and_then(|()| transaction.pragma_update(None, "user_version", FORMAT))
        .and_then(|()| {
            let insert = "INSERT INTO meta (name, value) VALUES (?1, ?2)";
            transaction.execute(insert, (FINGERPRINT_KEY, key))
        });
    made.map(|_| ()).map_err(|source| error(path, source))
}

/// What an error of the engine means for whoever wanted to use the state.
pub(crate) fn error(path: &Path, source: rusqlite::Error) -> StoreError {
    use rusqlite::ErrorCode;
    let path = path.to_owned();
    match source.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => StoreError::Foreign { path },
        Some(ErrorCode::DatabaseCorrupt) => StoreError::Damaged {
            path,
            what: source.to_string(),
        },
        Some(ErrorCode::DiskFull) => StoreError::Full { path },
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Busy { path },
        _ => StoreError::Sqlite { path, source },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_named_with_what_to_do() {
        let connection = Connection::open_in_memory().unwrap();
        connection
            .execute_batch("CREATE TABLE one (text TEXT); PRAGMA max_page_count = 2;")
            .unwrap();
        let full = connection
            .execute("INSERT INTO one VALUES (hex(randomblob(100000)))", [])
            .unwrap_err();
        let said = error(Path::new("/home/me/state.db"), full).to_string();
        assert_eq!(
            said,
            "state file /home/me/state.db: the disk is full; nothing was changed, make room and try again"
        );
    }
}
