//! Every store, by one suite.

mod memory {
    pilotage_tests::store_suite!(pilotage_tests::store_suite::InMemory::default());
}

mod sqlite {
    use pilotage_core::event::{Event, Source};
    use pilotage_core::outcome::Outcome;
    use pilotage_core::secret::SecretRef;
    use pilotage_core::state::{Command, changes, model_changes, storage_changes};
    use pilotage_core::time::Timestamp;
    use pilotage_interpreter::store::{Changes, Position, Sqlite, Store};
    use pilotage_tests::store_suite::StoreUnderTest;
    use tempfile::TempDir;

    struct InAFile {
        folder: TempDir,
        store: Sqlite,
        heard: Position,
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
        }
    }

    impl StoreUnderTest for InAFile {
        fn execute(
            &mut self,
            at: Timestamp,
            command: &Command,
            secrets: &[(SecretRef, String)],
        ) -> Outcome {
            let outcome = self.store.execute(at, command, secrets);
            outcome.expect("a state that can be written")
        }

        fn list(&mut self) -> Vec<Event> {
            let snapshot = self.store.snapshot().expect("a state that can be read");
            self.heard = snapshot.position;
            let source = Source::Store;
            let mut events = vec![Event::Listing { source }];
            for model in &snapshot.models {
                events.extend(model_changes(None, Some(model)));
            }
            for application in &snapshot.applications {
                events.extend(changes(None, Some(application)));
            }
            for storage in &snapshot.storages {
                events.extend(storage_changes(None, Some(storage)));
            }
            events.push(Event::Synced { source });
            events
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

    pilotage_tests::store_suite!(new());
}
