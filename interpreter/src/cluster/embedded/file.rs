//! The file that keeps the embedded cluster.

use std::path::{Path, PathBuf};

use pilotage_sim::cluster::Cluster;
use pilotage_sim::cluster::object::Stored;
use pilotage_sim::cluster::persist::Counters;
use pilotage_sim::cluster::settings::Settings;
use rusqlite::{Connection, OptionalExtension, TransactionBehavior};
use serde_json::Value;

use crate::cluster::ClusterError;
use crate::identity::draw_incarnation;
use crate::store::StoreError;
use crate::store::sqlite::{file, schema};

/// `application_id` of our files: "PILC".
const APPLICATION_ID: i64 = 0x5049_4c43;
/// `user_version` of our files.
const FORMAT: i64 = 1;

const TABLES: &str = "
CREATE TABLE cluster (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    settings TEXT NOT NULL,
    counters TEXT NOT NULL
) STRICT;
CREATE TABLE objects (
    kind TEXT NOT NULL,
    namespace TEXT NOT NULL,
    name TEXT NOT NULL,
    object TEXT NOT NULL,
    PRIMARY KEY (kind, namespace, name)
) STRICT;
";

/// The objects and counters of a cluster, in a file beside its state.
#[derive(Debug)]
pub(super) struct File {
    path: PathBuf,
    connection: Connection,
}

/// Where the cluster of a state lies.
fn beside(state: &Path) -> PathBuf {
    let mut name = state.as_os_str().to_owned();
    name.push(".cluster");
    name.into()
}

impl File {
    /// Whether there is a cluster beside a state.
    pub(super) fn exists(state: &Path) -> bool {
        beside(state).exists()
    }

    /// Opens the file beside a state, and reads the cluster in it; a new one if there is none.
    pub(super) fn open(state: &Path) -> Result<(Self, Cluster), ClusterError> {
        let path = beside(state);
        file::make_private(&path)?;
        let connection = file::connect(&path)?;
        let file = File { path, connection };
        let number = |pragma: &str| {
            let read = file
                .connection
                .pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
            read.map_err(|source| schema::error(&file.path, source))
        };
        match (number("application_id")?, number("user_version")?) {
            (0 | APPLICATION_ID, 0 | FORMAT) => {}
            (APPLICATION_ID, theirs) => {
                return Err(ClusterError::File(StoreError::Newer {
                    path: file.path,
                    theirs,
                    ours: FORMAT,
                }));
            }
            _ => return Err(ClusterError::File(StoreError::Foreign { path: file.path })),
        }
        let settled = file::settle(&file.connection, "normal");
        settled.map_err(|source| schema::error(&file.path, source))?;
        match file.read()? {
            Some(cluster) => Ok((file, cluster)),
            None => file.found(),
        }
    }

    /// The cluster in the file, if there is one.
    fn read(&self) -> Result<Option<Cluster>, ClusterError> {
        let failed = |source| ClusterError::File(schema::error(&self.path, source));
        let tables: i64 = self
            .connection
            .query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get(0))
            .map_err(failed)?;
        if tables == 0 {
            return Ok(None);
        }
        let row = self.connection.query_row(
            "SELECT settings, counters FROM cluster WHERE one = 1",
            [],
            |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)),
        );
        let (settings, counters) = row
            .optional()
            .map_err(failed)?
            .ok_or_else(|| self.damaged("it has no counters"))?;
        let unreadable = |error: serde_json::Error| self.damaged(&error.to_string());
        let settings: Settings = serde_json::from_str(&settings).map_err(unreadable)?;
        let counters: Counters = serde_json::from_str(&counters).map_err(unreadable)?;
        let mut query = self
            .connection
            .prepare("SELECT object FROM objects ORDER BY kind, namespace, name")
            .map_err(failed)?;
        let mut rows = query.query([]).map_err(failed)?;
        let mut objects: Vec<Value> = Vec::new();
        while let Some(row) = rows.next().map_err(failed)? {
            let text: String = row.get(0).map_err(failed)?;
            objects.push(serde_json::from_str(&text).map_err(unreadable)?);
        }
        let restored = Cluster::restore(settings, counters, objects);
        let cluster = restored.map_err(|error| self.damaged(&error.to_string()))?;
        Ok(Some(cluster))
    }

    /// Founds a cluster.
    fn found(mut self) -> Result<(Self, Cluster), ClusterError> {
        let settings = Settings {
            seed: u64::from(draw_incarnation().map_err(StoreError::from)?),
            ..Settings::default()
        };
        let text = serde_json::to_string(&settings).unwrap_or_default();
        let cluster = Cluster::new(settings);
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .and_then(|transaction| {
                transaction.execute_batch(TABLES)?;
                transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
                transaction.pragma_update(None, "user_version", FORMAT)?;
                let insert = "INSERT INTO cluster (one, settings, counters) VALUES (1, ?1, ?2)";
                transaction.execute(insert, (text, counters(&cluster)))?;
                for object in cluster.all_objects() {
                    put(&transaction, object)?;
                }
                transaction.commit()
            });
        transaction.map_err(|source| schema::error(&self.path, source))?;
        Ok((self, cluster))
    }

    /// Writes what changed after a version.
    pub(super) fn write(&mut self, cluster: &Cluster, since: u64) -> Result<(), StoreError> {
        let written = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .and_then(|transaction| {
                for change in cluster.changes_since(since) {
                    if change.gone {
                        take(&transaction, &change.after)?;
                    } else {
                        put(&transaction, &change.after)?;
                    }
                }
                transaction
                    .prepare_cached("UPDATE cluster SET counters = ?1 WHERE one = 1")?
                    .execute([counters(cluster)])?;
                transaction.commit()
            });
        written.map_err(|source| schema::error(&self.path, source))
    }

    /// The error that what is in the file is no cluster.
    pub(super) fn damaged(&self, what: &str) -> ClusterError {
        ClusterError::Damaged {
            path: self.path.clone(),
            what: what.to_owned(),
        }
    }
}

fn counters(cluster: &Cluster) -> String {
    serde_json::to_string(&cluster.counters()).unwrap_or_default()
}

fn kind(object: &Stored) -> String {
    format!("{:?}", object.resource)
}

fn put(connection: &Connection, object: &Stored) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO objects (kind, namespace, name, object) VALUES (?1, ?2, ?3, ?4)",
        )?
        .execute((
            kind(object),
            object.namespace(),
            object.name(),
            object.whole().to_string(),
        ))
        .map(|_| ())
}

fn take(connection: &Connection, object: &Stored) -> rusqlite::Result<()> {
    connection
        .prepare_cached("DELETE FROM objects WHERE kind = ?1 AND namespace = ?2 AND name = ?3")?
        .execute((kind(object), object.namespace(), object.name()))
        .map(|_| ())
}
