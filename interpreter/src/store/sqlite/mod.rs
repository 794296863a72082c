//! The state in one SQLite file.
//!
//! # Guarantees
//! * The file, its log and its lock are readable and writable by their owner alone: the vault is in it.
//! * Any number of processes may use one file. Reads never wait for writes.
//! * A commit is on the disk (`synchronous = full`) before it is answered.
//!
//! # Assumptions
//! * The file lies on a local file system: SQLite's write-ahead log needs shared memory, and the lock needs `flock`.

pub(crate) mod file;
mod kept;
mod records;
pub(crate) mod schema;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use pilotage_core::digest::DigestKey;
use pilotage_core::name::Uid;
use pilotage_core::outcome::{Outcome, Refusal, Reply};
use pilotage_core::secret::SecretRef;
use pilotage_core::state::{Command, Stopped, transaction};
use pilotage_core::time::Timestamp;
use rusqlite::{Connection, TransactionBehavior};

use self::records::Tables;
use super::{
    BoundCluster, Changes, Damaged, Held, Holder, Position, Snapshot, Store, StoreError, holder,
};
use crate::failpoint::{Point, hit};

/// The state in one SQLite file.
#[derive(Debug)]
pub struct Sqlite {
    path: PathBuf,
    /// Opened by the first use that finds, or makes, the file.
    connection: Mutex<Option<Connection>>,
    /// Records that were found unreadable.
    damaged: Mutex<Vec<Damaged>>,
}

impl Sqlite {
    /// The state at a path. Nothing is read or made yet.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Sqlite {
            path: path.into(),
            connection: Mutex::new(None),
            damaged: Mutex::new(Vec::new()),
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn lock(&self) -> MutexGuard<'_, Option<Connection>> {
        // A thread that panicked left no transaction behind: dropping one rolls it back.
        self.connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn known_damage(&self) -> MutexGuard<'_, Vec<Damaged>> {
        self.damaged.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers that a record was found unreadable.
    fn found(&self, damaged: &Damaged) {
        let mut known = self.known_damage();
        known.retain(|one| one.record != damaged.record);
        known.push(damaged.clone());
        known.sort_by(|a, b| a.record.cmp(&b.record));
    }

    /// Reads at one moment; the answer of an empty state if there is none yet.
    fn read<T: Default>(
        &self,
        read: impl FnOnce(&Tables<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut slot = self.lock();
        if slot.is_none() {
            *slot = file::open(&self.path)?;
        }
        let Some(connection) = slot.as_mut() else {
            return Ok(T::default());
        };
        let transaction = connection
            .transaction()
            .map_err(|source| schema::error(&self.path, source))?;
        read(&Tables {
            connection: &transaction,
            path: &self.path,
        })
    }

    /// Writes, all or nothing; says whether the commit is certain. `write` says whether there is anything to commit.
    fn write<T>(
        &self,
        write: impl FnOnce(&Tables<'_>) -> Result<(T, bool), StoreError>,
    ) -> Result<(T, Committed), StoreError> {
        let mut slot = self.lock();
        if slot.is_none() {
            *slot = Some(file::open_or_make(&self.path)?);
        }
        let Some(connection) = slot.as_mut() else {
            return Err(StoreError::Busy {
                path: self.path.clone(),
            });
        };
        let transaction = connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(|source| schema::error(&self.path, source))?;
        let tables = Tables {
            connection: &transaction,
            path: &self.path,
        };
        let (answer, anything) = write(&tables)?;
        if !anything {
            return Ok((answer, Committed::Yes));
        }
        hit(Point::CommitBefore);
        let committed = match transaction.commit() {
            Ok(()) => Committed::Yes,
            Err(error) => Committed::Perhaps(schema::error(&self.path, error)),
        };
        hit(Point::CommitAfter);
        Ok((answer, committed))
    }

    fn cluster_uid(&self, text: &str) -> Result<Uid, StoreError> {
        text.parse().map_err(|_| StoreError::Damaged {
            path: self.path.clone(),
            what: "the uid of its cluster cannot be read".into(),
        })
    }

    /// One value of `meta`; none of an empty state.
    fn meta(tables: &Tables<'_>, name: &str) -> Result<Option<String>, StoreError> {
        tables.text("SELECT value FROM meta WHERE name = ?1", [name])
    }
}

/// Whether a commit happened.
enum Committed {
    Yes,
    Perhaps(StoreError),
}

impl Committed {
    fn certain(self) -> Result<(), StoreError> {
        match self {
            Committed::Yes => Ok(()),
            Committed::Perhaps(error) => Err(error),
        }
    }
}

impl Store for Sqlite {
    fn execute(
        &self,
        at: Timestamp,
        command: &Command,
        secrets: &[(SecretRef, String)],
    ) -> Result<Outcome, StoreError> {
        let executed = self.write(|tables| {
            let done = match transaction(tables, at, command) {
                Ok(done) => done,
                Err(Stopped::Denied(denial)) => return Ok((Outcome::from(denial), false)),
                Err(Stopped::Failed(error)) => return Err(error),
            };
            for (secret, value) in secrets {
                tables.keep_secret(secret, value)?;
            }
            if let Some(write) = &done.write {
                tables.write(write)?;
            }
            if let (Some(needs), Command::Application { application, .. }) = (&done.needs, command)
            {
                let comes = |secret: &SecretRef| secrets.iter().any(|(one, _)| one == secret);
                tables.forget_secrets(*application, |secret| {
                    needs.contains(secret) || comes(secret)
                })?;
            }
            if let Reply::Recorded { changes, .. } = &done.reply
                && !changes.is_empty()
            {
                tables.append(changes)?;
            }
            let anything = done.write.is_some() || !secrets.is_empty();
            Ok((Outcome::from(&done), anything))
        });
        match executed {
            Ok((outcome, Committed::Yes)) => Ok(outcome),
            Ok((_, Committed::Perhaps(_))) => Ok(Outcome::Unknown),
            Err(error @ StoreError::Busy { .. }) => Ok(Outcome::Refused {
                reason: Refusal::TryAgain,
                message: error.to_string().into(),
            }),
            Err(error) => {
                if let StoreError::Record(damaged) = &error {
                    self.found(damaged);
                }
                Err(error)
            }
        }
    }

    fn snapshot(&self) -> Result<Snapshot, StoreError> {
        let snapshot = self.read(|tables| {
            let mut snapshot = Snapshot {
                position: tables.newest()?,
                ..Snapshot::default()
            };
            let damaged = &mut snapshot.damaged;
            snapshot.models = tables.all(damaged)?;
            snapshot.applications = tables.all(damaged)?;
            snapshot.storages = tables.all(damaged)?;
            damaged.sort_by(|a, b| a.record.cmp(&b.record));
            Ok(snapshot)
        })?;
        self.known_damage().clone_from(&snapshot.damaged);
        Ok(snapshot)
    }

    fn damaged(&self) -> Result<Vec<Damaged>, StoreError> {
        let known = self.known_damage().clone();
        if known.is_empty() {
            return Ok(known);
        }
        let still = self.read(|tables| {
            let mut still = Vec::new();
            for one in &known {
                still.extend(tables.damage_of(&one.record)?);
            }
            Ok(still)
        })?;
        // Others may have been found meanwhile.
        let mut now = self.known_damage();
        now.retain(|one| !known.contains(one));
        now.extend(still);
        now.sort_by(|a, b| a.record.cmp(&b.record));
        Ok(now.clone())
    }

    fn changes_since(&self, position: Position) -> Result<Changes, StoreError> {
        let changes = self.read(|tables| {
            let newest = tables.newest()?;
            if newest == position {
                return Ok(Some(Changes::Events(Vec::new(), newest)));
            }
            let events = tables.changes(position)?;
            Ok(Some(events.map_or(Changes::Lost, |events| {
                Changes::Events(events, newest)
            })))
        })?;
        Ok(match changes {
            Some(changes) => changes,
            // There is no state, as there was none at the beginning.
            None if position == Position::default() => Changes::Events(Vec::new(), position),
            None => Changes::Lost,
        })
    }

    fn secret(&self, secret: &SecretRef) -> Result<Option<String>, StoreError> {
        self.read(|tables| {
            tables.text(
                "SELECT value FROM vault WHERE application = ?1 AND name = ?2 AND generation = ?3",
                (
                    secret.application.to_string(),
                    &*secret.name,
                    secret.generation,
                ),
            )
        })
    }

    fn fingerprint_key(&self) -> Result<DigestKey, StoreError> {
        let (text, committed) =
            self.write(|tables| Ok((Self::meta(tables, schema::FINGERPRINT_KEY)?, false)))?;
        committed.certain()?;
        let key = text.and_then(|text| serde_json::from_str(&text).ok());
        key.ok_or_else(|| StoreError::Damaged {
            path: self.path.clone(),
            what: "its key of fingerprints cannot be read".into(),
        })
    }

    fn bind_cluster(&self, cluster: Uid) -> Result<(), StoreError> {
        let ((), committed) = self.write(|tables| {
            let Some(theirs) = Self::meta(tables, schema::CLUSTER)? else {
                let insert = "INSERT INTO meta (name, value) VALUES (?1, ?2)";
                tables.run(insert, (schema::CLUSTER, cluster.to_string()))?;
                return Ok(((), true));
            };
            match self.cluster_uid(&theirs)? {
                theirs if theirs == cluster => Ok(((), false)),
                theirs => Err(StoreError::OtherCluster {
                    path: self.path.clone(),
                    theirs,
                    ours: cluster,
                }),
            }
        })?;
        committed.certain()
    }

    fn cluster(&self) -> Result<Option<BoundCluster>, StoreError> {
        self.read(|tables| {
            let Some(uid) = Self::meta(tables, schema::CLUSTER)? else {
                return Ok(None);
            };
            Ok(Some(BoundCluster {
                uid: self.cluster_uid(&uid)?,
                name: Self::meta(tables, schema::CLUSTER_NAME)?,
            }))
        })
    }

    fn name_cluster(&self, name: &str) -> Result<(), StoreError> {
        let known = self.cluster()?.and_then(|cluster| cluster.name);
        if known.as_deref() == Some(name) {
            return Ok(());
        }
        let ((), committed) = self.write(|tables| {
            let put = "INSERT OR REPLACE INTO meta (name, value) VALUES (?1, ?2)";
            tables.run(put, (schema::CLUSTER_NAME, name))?;
            Ok(((), true))
        })?;
        committed.certain()
    }

    fn provisioner(&self) -> Result<Option<Holder>, StoreError> {
        holder::holder(&self.path)
    }

    fn hold(&self, at: Timestamp) -> Result<Held, StoreError> {
        file::make_folder(&self.path)?;
        holder::hold(&self.path, at)
    }
}
