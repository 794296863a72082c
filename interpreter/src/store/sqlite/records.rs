//! Records in their tables.

use std::path::Path;
use std::sync::Arc;

use pilotage_core::event::Event;
use pilotage_core::name::Uid;
use pilotage_core::secret::SecretRef;
use pilotage_core::state::{Application, Model, Records, Storage, Write};
use rusqlite::{Connection, OptionalExtension, Params};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::schema;
use crate::store::{Position, StoreError};

/// How many changes are remembered for whoever watches. Who lags further behind takes a snapshot.
pub(super) const REMEMBERED: u64 = 10_000;

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

    fn record<T: DeserializeOwned>(
        &self,
        query: &str,
        parameters: impl Params,
    ) -> Result<Option<Arc<T>>, StoreError> {
        let text = self.text(query, parameters)?;
        text.map(|text| self.read("a record", &text).map(Arc::new))
            .transpose()
    }

    /// Every record that a query gives.
    pub(super) fn all<T: DeserializeOwned>(&self, query: &str) -> Result<Vec<T>, StoreError> {
        self.rows(query, [])?
            .iter()
            .map(|text| self.read("a record", text))
            .collect()
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
            events.append(&mut self.read("a change", &row)?);
        }
        Ok(Some(events))
    }
}

impl Records for Tables<'_> {
    type Failure = StoreError;

    fn model(&self, uid: Uid) -> Result<Option<Arc<Model>>, StoreError> {
        let query = "SELECT record FROM models WHERE uid = ?1";
        self.record(query, [uid.to_string()])
    }

    fn model_named(&self, name: &str) -> Result<Option<Arc<Model>>, StoreError> {
        self.record("SELECT record FROM models WHERE name = ?1", [name])
    }

    fn application(&self, uid: Uid) -> Result<Option<Arc<Application>>, StoreError> {
        let query = "SELECT record FROM applications WHERE uid = ?1";
        self.record(query, [uid.to_string()])
    }

    fn application_named(
        &self,
        model: Uid,
        name: &str,
    ) -> Result<Option<Arc<Application>>, StoreError> {
        let query = "SELECT record FROM applications WHERE model = ?1 AND name = ?2";
        self.record(query, (model.to_string(), name))
    }

    fn application_names(&self, model: Uid) -> Result<Vec<Box<str>>, StoreError> {
        let query = "SELECT json_group_array(name) FROM applications WHERE model = ?1";
        let names = self.text(query, [model.to_string()])?;
        names.map_or(Ok(Vec::new()), |names| self.read("the names", &names))
    }

    fn storage(&self, model: Uid, number: u32) -> Result<Option<Arc<Storage>>, StoreError> {
        let query = "SELECT record FROM storages WHERE model = ?1 AND number = ?2";
        self.record(query, (model.to_string(), number))
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
