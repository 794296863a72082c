//! Records in their tables.

use std::path::Path;
use std::sync::Arc;

use pilotage_core::event::{Event, RecordName};
use pilotage_core::name::{NotUuid, Uid};
use pilotage_core::secret::SecretRef;
use pilotage_core::state::{Application, Model, Records, Storage, Write};
use rusqlite::{Connection, OptionalExtension, Params};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::kept::Kept;
use super::schema;
use crate::store::{Damaged, Position, StoreError};

/// How many changes are remembered for whoever watches. Who lags further behind takes a snapshot.
pub(super) const REMEMBERED: u64 = 10_000;

const BY_UID: &str = "uid = ?1";
const BY_NUMBER: &str = "model = ?1 AND number = ?2";

/// The tables, within one transaction of the engine.
pub(super) struct Tables<'a> {
    pub(super) connection: &'a Connection,
    pub(super) path: &'a Path,
}

impl Tables<'_> {
    fn failed(&self, source: rusqlite::Error) -> StoreError {
        schema::error(self.path, source)
    }

    fn read<T: DeserializeOwned>(&self, what: &str, text: &str) -> Result<T, StoreError> {
        serde_json::from_str(text).map_err(|error| StoreError::Damaged {
            path: self.path.to_owned(),
            what: format!("{what} cannot be read: {error}"),
        })
    }

    /// One text, if a row says one.
    pub(super) fn text(
        &self,
        query: &str,
        parameters: impl Params,
    ) -> Result<Option<String>, StoreError> {
        self.connection
            .prepare_cached(query)
            .and_then(|mut query| query.query_row(parameters, |row| row.get(0)).optional())
            .map_err(|source| self.failed(source))
    }

    /// The record of a kind that a condition finds.
    fn record<T: Kept>(
        &self,
        condition: &str,
        parameters: impl Params,
    ) -> Result<Option<Arc<T>>, StoreError> {
        match self.query(&format!("WHERE {condition}"), parameters)?.pop() {
            None => Ok(None),
            Some(Ok(record)) => Ok(Some(Arc::new(record))),
            Some(Err(damaged)) => Err(damaged.into()),
        }
    }

    /// Every record of a kind; those that cannot be read are named.
    pub(super) fn all<T: Kept>(&self, damaged: &mut Vec<Damaged>) -> Result<Vec<T>, StoreError> {
        let rows = self.query(&format!("ORDER BY {}", T::ORDER), [])?;
        let mut records = Vec::with_capacity(rows.len());
        for row in rows {
            match row {
                Ok(record) => records.push(record),
                Err(found) => damaged.push(found),
            }
        }
        Ok(records)
    }

    /// What is wrong with a record, if it is there and cannot be read.
    pub(super) fn damage_of(&self, record: &RecordName) -> Result<Option<Damaged>, StoreError> {
        let found = match record {
            RecordName::Model { model, .. } => {
                self.record::<Model>(BY_UID, [model.to_string()]).map(drop)
            }
            RecordName::Application { application, .. } => self
                .record::<Application>(BY_UID, [application.to_string()])
                .map(drop),
            RecordName::Storage { model, number } => self
                .record::<Storage>(BY_NUMBER, (model.to_string(), number))
                .map(drop),
        };
        match found {
            Err(StoreError::Record(damaged)) => Ok(Some(damaged)),
            other => other.map(|()| None),
        }
    }

    /// The records of a kind, each as it is or why it cannot be read.
    fn query<T: Kept>(
        &self,
        rest: &str,
        parameters: impl Params,
    ) -> Result<Vec<Result<T, Damaged>>, StoreError> {
        let query = format!("SELECT record, {} FROM {} {rest}", T::COLUMNS, T::TABLE);
        let mut query = self
            .connection
            .prepare_cached(&query)
            .map_err(|source| self.failed(source))?;
        let rows = query.query_map(parameters, |row| {
            let read = serde_json::from_slice::<T>(row.get_ref(0)?.as_bytes()?);
            Ok((read, T::named(row)?))
        });
        let rows: Vec<_> = rows
            .and_then(Iterator::collect)
            .map_err(|source| self.failed(source))?;
        rows.into_iter()
            .map(|(read, named)| self.judge(read, named))
            .collect()
    }

    /// A record is what it is found by, or it is damaged. What has no name cannot even be told apart.
    fn judge<T: Kept>(
        &self,
        read: serde_json::Result<T>,
        named: Result<RecordName, NotUuid>,
    ) -> Result<Result<T, Damaged>, StoreError> {
        let record = named.map_err(|error| StoreError::Damaged {
            path: self.path.to_owned(),
            what: format!(
                "what a row of the table {} is found by is {error}",
                T::TABLE
            ),
        })?;
        let reason = match read {
            Ok(read) if read.name() == record => return Ok(Ok(read)),
            Ok(read) => format!("it says that it is the record of {}", read.name()),
            Err(error) => error.to_string(),
        };
        Ok(Err(Damaged {
            record,
            reason,
            place: format!("state file {}, table {}", self.path.display(), T::TABLE),
        }))
    }

    fn rows(&self, query: &str, parameters: impl Params) -> Result<Vec<String>, StoreError> {
        let mut query = self
            .connection
            .prepare_cached(query)
            .map_err(|source| self.failed(source))?;
        let rows = query.query_map(parameters, |row| row.get(0));
        rows.and_then(Iterator::collect)
            .map_err(|source| self.failed(source))
    }

    pub(super) fn run(&self, statement: &str, parameters: impl Params) -> Result<(), StoreError> {
        self.connection
            .prepare_cached(statement)
            .and_then(|mut statement| statement.execute(parameters))
            .map(|_| ())
            .map_err(|source| self.failed(source))
    }

    /// Writes what came of a command.
    pub(super) fn write(&self, write: &Write) -> Result<(), StoreError> {
        match write {
            Write::PutModel(model) => self.run(
                "INSERT INTO models (uid, name, record) VALUES (?1, ?2, ?3)
                 ON CONFLICT (uid) DO UPDATE SET name = ?2, record = ?3",
                (model.uid.to_string(), &*model.name, json(model)),
            ),
            Write::DropModel(uid) => {
                self.run("DELETE FROM models WHERE uid = ?1", [uid.to_string()])
            }
            Write::PutApplication(application) => self.run(
                "INSERT INTO applications (uid, model, name, record) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (uid) DO UPDATE SET model = ?2, name = ?3, record = ?4",
                (
                    application.uid.to_string(),
                    application.model.to_string(),
                    &*application.name,
                    json(application),
                ),
            ),
            Write::DropApplication(uid) => {
                let uid = uid.to_string();
                self.run("DELETE FROM vault WHERE application = ?1", [&uid])?;
                self.run("DELETE FROM applications WHERE uid = ?1", [&uid])
            }
            Write::PutStorage(storage) => self.run(
                "INSERT INTO storages (model, number, record) VALUES (?1, ?2, ?3)
                 ON CONFLICT (model, number) DO UPDATE SET record = ?3",
                (
                    storage.model.to_string(),
                    storage.instance.number,
                    json(storage),
                ),
            ),
            Write::DropStorage { model, number } => self.run(
                "DELETE FROM storages WHERE model = ?1 AND number = ?2",
                (model.to_string(), number),
            ),
        }
    }

    /// Puts a value into the vault. The first one stays: whoever names it again means the same.
    pub(super) fn keep_secret(&self, secret: &SecretRef, value: &str) -> Result<(), StoreError> {
        self.run(
            "INSERT OR IGNORE INTO vault (application, name, generation, value) VALUES (?1, ?2, ?3, ?4)",
            (
                secret.application.to_string(),
                &*secret.name,
                secret.generation,
                value,
            ),
        )
    }

    /// Forgets the values of an application that it no longer needs.
    pub(super) fn forget_secrets(
        &self,
        application: Uid,
        needs: impl Fn(&SecretRef) -> bool,
    ) -> Result<(), StoreError> {
        let owner = application.to_string();
        let kept: Vec<SecretRef> = {
            let select = "SELECT name, generation FROM vault WHERE application = ?1";
            let query = self.connection.prepare_cached(select);
            let mut query = query.map_err(|source| self.failed(source))?;
            let rows = query.query_map([&owner], |row| {
                Ok(SecretRef {
                    application,
                    name: row.get(0)?,
                    generation: row.get(1)?,
                })
            });
            let kept = rows.and_then(Iterator::collect);
            kept.map_err(|source| self.failed(source))?
        };
        for secret in kept.iter().filter(|secret| !needs(secret)) {
            self.run(
                "DELETE FROM vault WHERE application = ?1 AND name = ?2 AND generation = ?3",
                (&owner, &*secret.name, secret.generation),
            )?;
        }
        Ok(())
    }

    /// Appends what one command changed, and forgets what is long past.
    pub(super) fn append(&self, events: &[Event]) -> Result<(), StoreError> {
        self.run("INSERT INTO changes (events) VALUES (?1)", [json(&events)])?;
        let newest = u64::try_from(self.connection.last_insert_rowid()).unwrap_or(0);
        self.run(
            "DELETE FROM changes WHERE position <= ?1",
            [signed(newest.saturating_sub(REMEMBERED))],
        )
    }

    /// The position of the last change.
    pub(super) fn newest(&self) -> Result<Position, StoreError> {
        // The sequence outlives the rows.
        let text = self.text(
            "SELECT CAST(seq AS TEXT) FROM sqlite_sequence WHERE name = 'changes'",
            [],
        )?;
        let newest = text.and_then(|text| text.parse().ok()).unwrap_or(0);
        Ok(Position(newest))
    }

    /// Every change after a position; none if some of them are forgotten.
    pub(super) fn changes(&self, after: Position) -> Result<Option<Vec<Event>>, StoreError> {
        let rows = self.rows(
            "SELECT events FROM changes WHERE position > ?1 ORDER BY position",
            [signed(after.0)],
        )?;
        let Position(newest) = self.newest()?;
        let missed = newest.checked_sub(after.0);
        if missed != u64::try_from(rows.len()).ok() {
            return Ok(None);
        }
        let mut events = Vec::new();
        for row in rows {
            // What cannot be read is lost, as what is forgotten.
            let Ok(mut change) = serde_json::from_str(&row) else {
                return Ok(None);
            };
            events.append(&mut change);
        }
        Ok(Some(events))
    }
}

impl Records for Tables<'_> {
    type Failure = StoreError;

    fn model(&self, uid: Uid) -> Result<Option<Arc<Model>>, StoreError> {
        self.record(BY_UID, [uid.to_string()])
    }

    fn model_named(&self, name: &str) -> Result<Option<Arc<Model>>, StoreError> {
        self.record("name = ?1", [name])
    }

    fn application(&self, uid: Uid) -> Result<Option<Arc<Application>>, StoreError> {
        self.record(BY_UID, [uid.to_string()])
    }

    fn application_named(
        &self,
        model: Uid,
        name: &str,
    ) -> Result<Option<Arc<Application>>, StoreError> {
        self.record("model = ?1 AND name = ?2", (model.to_string(), name))
    }

    fn application_names(&self, model: Uid) -> Result<Vec<Box<str>>, StoreError> {
        let query = "SELECT json_group_array(name) FROM applications WHERE model = ?1";
        let names = self.text(query, [model.to_string()])?;
        names.map_or(Ok(Vec::new()), |names| self.read("the names", &names))
    }

    fn storage(&self, model: Uid, number: u32) -> Result<Option<Arc<Storage>>, StoreError> {
        self.record(BY_NUMBER, (model.to_string(), number))
    }

    fn is_empty(&self, model: Uid) -> Result<bool, StoreError> {
        let anything = self.text(
            "SELECT 'yes' FROM applications WHERE model = ?1
             UNION ALL SELECT 'yes' FROM storages WHERE model = ?1 LIMIT 1",
            [model.to_string()],
        )?;
        Ok(anything.is_none())
    }
}

/// Positions fit into the engine's signed numbers: it draws them itself.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A record's text. The records of the core are all representable as JSON.
fn json(record: &impl Serialize) -> String {
    serde_json::to_string(record).unwrap_or_default()
}
