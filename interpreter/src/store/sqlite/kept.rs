//! How each kind of record is kept, and how a row is named that cannot be read.

use pilotage_core::event::RecordName;
use pilotage_core::name::{NotUuid, Uid};
use pilotage_core::state::{Application, Model, Storage};
use rusqlite::Row;
use serde::de::DeserializeOwned;

/// A kind of record. Its columns tell what it is found by; the whole is JSON in the column `record`.
pub(super) trait Kept: DeserializeOwned {
    /// Its table.
    const TABLE: &'static str;
    /// The columns that name it.
    const COLUMNS: &'static str;
    /// The order in which all are told.
    const ORDER: &'static str;

    /// What these columns say, from the second column of a row on.
    fn named(row: &Row<'_>) -> rusqlite::Result<Result<RecordName, NotUuid>>;

    /// What the record itself says.
    fn name(&self) -> RecordName;
}

fn uid(row: &Row<'_>, column: usize) -> rusqlite::Result<Result<Uid, NotUuid>> {
    let text: String = row.get(column)?;
    Ok(text.parse())
}

impl Kept for Model {
    const TABLE: &'static str = "models";
    const COLUMNS: &'static str = "uid, name";
    const ORDER: &'static str = "uid";

    fn named(row: &Row<'_>) -> rusqlite::Result<Result<RecordName, NotUuid>> {
        let (model, name) = (uid(row, 1)?, row.get(2)?);
        Ok(model.map(|model| RecordName::Model { model, name }))
    }

    fn name(&self) -> RecordName {
        RecordName::Model {
            model: self.uid,
            name: self.name.clone(),
        }
    }
}

impl Kept for Application {
    const TABLE: &'static str = "applications";
    const COLUMNS: &'static str = "uid, name, model";
    const ORDER: &'static str = "uid";

    fn named(row: &Row<'_>) -> rusqlite::Result<Result<RecordName, NotUuid>> {
        let (application, name, model) = (uid(row, 1)?, row.get(2)?, uid(row, 3)?);
        Ok(application.and_then(|application| {
            Ok(RecordName::Application {
                application,
                name,
                model: model?,
            })
        }))
    }

    fn name(&self) -> RecordName {
        RecordName::Application {
            application: self.uid,
            name: self.name.clone(),
            model: self.model,
        }
    }
}

impl Kept for Storage {
    const TABLE: &'static str = "storages";
    const COLUMNS: &'static str = "model, number";
    const ORDER: &'static str = "model, number";

    fn named(row: &Row<'_>) -> rusqlite::Result<Result<RecordName, NotUuid>> {
        let (model, number) = (uid(row, 1)?, row.get(2)?);
        Ok(model.map(|model| RecordName::Storage { model, number }))
    }

    fn name(&self) -> RecordName {
        RecordName::Storage {
            model: self.model,
            number: self.instance.number,
        }
    }
}
