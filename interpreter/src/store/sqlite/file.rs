//! Opening the file: to read, where it exists; to write, making it and its folder.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use super::schema::{self, State};
use crate::store::StoreError;

/// How long a write waits for another process's.
const PATIENCE: Duration = Duration::from_secs(5);

/// Opens a state that exists; none if there is no file, or nothing in it yet.
pub(super) fn open(path: &Path) -> Result<Option<Connection>, StoreError> {
    match std::fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(failed("read", path, source)),
        Ok(what) if what.is_dir() => {
            let source = io::Error::from(io::ErrorKind::IsADirectory);
            return Err(failed("open", path, source));
        }
        Ok(_) => {}
    }
    let connection = connect(path)?;
    // At one moment: another process may just be making it.
    let moment = connection
        .unchecked_transaction()
        .map_err(|source| schema::error(path, source))?;
    let state = schema::check(&moment, path)?;
    drop(moment);
    match state {
        State::Empty => Ok(None),
        State::Ours => {
            settle(&connection, "full").map_err(|source| schema::error(path, source))?;
            Ok(Some(connection))
        }
    }
}

/// Opens a state to write to it, and makes it first if it does not exist.
pub(super) fn open_or_make(path: &Path) -> Result<Connection, StoreError> {
    if let Some(connection) = open(path)? {
        return Ok(connection);
    }
    make_private(path)?;
    let mut connection = connect(path)?;
    settle(&connection, "full").map_err(|source| schema::error(path, source))?;
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(|source| schema::error(path, source))?;
    // Another process may have been faster.
    if schema::check(&transaction, path)? == State::Empty {
        schema::make(&transaction, path)?;
    }
    transaction
        .commit()
        .map_err(|source| schema::error(path, source))?;
    keep_name(path)?;
    Ok(connection)
}

/// Makes an empty file, and its folder, for their owner alone; a file that is there stays as it is.
///
/// Made by us and not by the engine, so that it never has wider permissions, not for a moment.
pub(crate) fn make_private(path: &Path) -> Result<(), StoreError> {
    make_folder(path)?;
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(path)
        .map(|_| ())
        .map_err(|source| failed("make", path, source))
}

/// A file's name must outlive a power cut as its content does.
fn keep_name(path: &Path) -> Result<(), StoreError> {
    match folder(path) {
        Some(folder) => File::open(folder)
            .and_then(|folder| folder.sync_all())
            .map_err(|source| failed("keep", path, source)),
        None => Ok(()),
    }
}

/// Makes the folder of a file.
pub(super) fn make_folder(path: &Path) -> Result<(), StoreError> {
    match folder(path) {
        Some(folder) => DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)
            .map_err(|source| failed("make", folder, source)),
        None => Ok(()),
    }
}

fn folder(path: &Path) -> Option<&Path> {
    let folder = path.parent()?;
    Some(match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    })
}

fn failed(action: &'static str, path: &Path, source: io::Error) -> StoreError {
    StoreError::Io {
        action,
        path: path.to_owned(),
        source,
    }
}

/// Opens a file that is there.
pub(crate) fn connect(path: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags);
    let connection = connection.map_err(|source| schema::error(path, source))?;
    connection
        .busy_timeout(PATIENCE)
        .map_err(|source| schema::error(path, source))?;
    Ok(connection)
}

/// Readers see the last commit while somebody writes; a commit outlives the process, and with `synchronous = full` also a
/// power cut.
///
/// Turning the write-ahead log on does not wait for others by itself.
pub(crate) fn settle(connection: &Connection, synchronous: &str) -> rusqlite::Result<()> {
    let begun = Instant::now();
    loop {
        let mode = connection.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()));
        match mode {
            Err(error)
                if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy)
                    && begun.elapsed() < PATIENCE =>
            {
                thread::sleep(Duration::from_millis(5));
            }
            other => break other?,
        }
    }
    connection.pragma_update(None, "synchronous", synchronous)?;
    // A trusted schema could call functions; ours has none.
    connection.pragma_update(None, "trusted_schema", false)
}
