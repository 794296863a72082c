//! Every store, by one suite.

mod memory {
    pilotage_tests::store_suite!(pilotage_tests::store_suite::InMemory::default());
    pilotage_tests::damage_suite!(pilotage_tests::store_suite::InMemory::default());
}

mod sqlite {
    use pilotage_core::event::{Event, RecordName};
    use pilotage_core::outcome::{Outcome, Refusal};
    use pilotage_core::secret::SecretRef;
    use pilotage_core::state::Command;
    use pilotage_core::time::Timestamp;
    use pilotage_interpreter::store::{Changes, Damaged, Position, Sqlite, Store, StoreError};
    use pilotage_tests::store_suite::{Damageable, StoreUnderTest};
    use tempfile::TempDir;

    struct InAFile {
        folder: TempDir,
        store: Sqlite,
        heard: Position,
        /// What the last list told as unreadable.
        told: Vec<Damaged>,
        /// What was there before it was damaged.
        good: Vec<(RecordName, String)>,
    }

    fn open(folder: &TempDir) -> Sqlite {
        Sqlite::new(folder.path().join("state.db"))
    }

    fn new() -> InAFile {
        let folder = TempDir::new().expect("a temporary folder");
        InAFile {
            store: open(&folder),
            folder,
            heard: Position::default(),
            told: Vec::new(),
            good: Vec::new(),
        }
    }

    impl StoreUnderTest for InAFile {
        fn execute(
            &mut self,
            at: Timestamp,
            command: &Command,
            secrets: &[(SecretRef, String)],
        ) -> Outcome {
            match self.store.execute(at, command, secrets) {
                // As the runtime answers a command of the provisioner.
                Err(StoreError::Record(damaged)) => Outcome::Refused {
                    reason: Refusal::NotSent,
                    message: damaged.to_string().into(),
                },
                outcome => outcome.expect("a state that can be written"),
            }
        }

        fn list(&mut self) -> Vec<Event> {
            let snapshot = self.store.snapshot().expect("a state that can be read");
            self.heard = snapshot.position;
            self.told.clone_from(&snapshot.damaged);
            snapshot.events().collect()
        }

        fn changes(&mut self) -> Vec<Event> {
            let changes = self.store.changes_since(self.heard);
            match changes.expect("a state that can be read") {
                Changes::Events(events, position) => {
                    self.heard = position;
                    events
                }
                Changes::Lost => panic!("so few changes are not forgotten"),
            }
        }

        fn secret(&mut self, secret: &SecretRef) -> Option<String> {
            self.store.secret(secret).expect("a state that can be read")
        }

        fn reopen(&mut self) {
            self.store = open(&self.folder);
        }
    }

    impl InAFile {
        /// Puts a text in the place of a record's, and gives what was there.
        fn replace(&self, record: &RecordName, text: &str) -> String {
            let (table, key) = match record {
                RecordName::Model { model, .. } => ("models", format!("uid = '{model}'")),
                RecordName::Application { application, .. } => {
                    ("applications", format!("uid = '{application}'"))
                }
                RecordName::Storage { model, number } => (
                    "storages",
                    format!("model = '{model}' AND number = {number}"),
                ),
            };
            let file = rusqlite::Connection::open(self.folder.path().join("state.db"));
            let file = file.expect("the file");
            let select = format!("SELECT record FROM {table} WHERE {key}");
            let before = file.query_row(&select, [], |row| row.get(0));
            let update = format!("UPDATE {table} SET record = ?1 WHERE {key}");
            file.execute(&update, [text]).expect("the record is there");
            before.expect("the record is there")
        }
    }

    impl Damageable for InAFile {
        fn damage(&mut self, record: &RecordName) {
            let before = self.replace(record, "{\"uid\": 7}");
            self.good.push((record.clone(), before));
        }

        fn mend(&mut self, record: &RecordName) {
            let good = self.good.iter().find(|(good, _)| good == record);
            let (_, text) = good.expect("it was damaged").clone();
            self.replace(record, &text);
        }

        fn tells_again(&mut self) -> bool {
            self.store.damaged().expect("a state that can be read") != self.told
        }
    }

    pilotage_tests::store_suite!(new());
    pilotage_tests::damage_suite!(new());
}
