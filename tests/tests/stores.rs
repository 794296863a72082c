//! Every store, by one suite.

mod memory {
    pilotage_tests::store_suite!(pilotage_tests::store_suite::InMemory::default());
    pilotage_tests::damage_suite!(pilotage_tests::store_suite::InMemory::default());
    pilotage_tests::vault_suite!(pilotage_tests::store_suite::InMemory::default());
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
    pilotage_tests::vault_suite!(new());
}

mod in_a_cluster {
    use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

    use pilotage_core::event::{Event, RecordName};
    use pilotage_core::outcome::{Outcome, Refusal};
    use pilotage_core::secret::SecretRef;
    use pilotage_core::state::Command;
    use pilotage_core::time::Timestamp;
    use pilotage_interpreter::cluster::Access;
    use pilotage_interpreter::store::{
        Changes, CustomResources, Damaged, Position, Store, StoreError,
    };
    use pilotage_tests::control_plane::{ControlPlane, shared};
    use pilotage_tests::custom::Custom;
    use pilotage_tests::store_suite::{Damageable, StoreUnderTest};
    use serde_json::{Value, json};
    use tempfile::TempDir;

    /// The cluster is one state, so the tests take turns.
    static TURN: Mutex<()> = Mutex::new(());

    struct InACluster {
        store: CustomResources,
        access: Access,
        custom: Custom,
        heard: Position,
        /// What the last list told as unreadable.
        told: Vec<Damaged>,
        /// What was there before it was damaged.
        good: Vec<(RecordName, Value)>,
        _folder: TempDir,
        _turn: MutexGuard<'static, ()>,
        _cluster: Arc<ControlPlane>,
    }

    fn open(access: &Access) -> CustomResources {
        CustomResources::new(access.clone()).expect("there is randomness")
    }

    fn new() -> Option<InACluster> {
        let cluster = shared("stores in_a_cluster")?;
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let custom = Custom::of(&cluster);
        custom.wipe();
        let folder = TempDir::new().expect("a temporary folder");
        let file = folder.path().join("kubeconfig");
        let text = cluster.kubeconfig_of("pilotage", None);
        std::fs::write(&file, text).expect("a kubeconfig");
        let access = Access::Kubeconfig {
            file: Some(file),
            context: None,
        };
        Some(InACluster {
            store: open(&access),
            access,
            custom,
            heard: Position::default(),
            told: Vec::new(),
            good: Vec::new(),
            _folder: folder,
            _turn: turn,
            _cluster: cluster,
        })
    }

    impl StoreUnderTest for InACluster {
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
            self.store = open(&self.access);
        }
    }

    impl InACluster {
        fn place(&self, record: &RecordName) -> String {
            match record {
                RecordName::Model { name, .. } => format!("models/{name}"),
                RecordName::Application { name, .. } => {
                    format!("namespaces/shop/applications/{name}")
                }
                RecordName::Storage { number, .. } => format!("storages/shop-{number}"),
            }
        }
    }

    impl Damageable for InACluster {
        fn damage(&mut self, record: &RecordName) {
            let place = self.place(record);
            let status = self.custom.get(&place)["status"].clone();
            self.good.push((record.clone(), status));
            let damage =
                json!([{ "op": "add", "path": "/status", "value": { "record": { "uid": 7 } } }]);
            self.custom.patch(&format!("{place}/status"), &damage);
        }

        fn mend(&mut self, record: &RecordName) {
            let good = self.good.iter().find(|(good, _)| good == record);
            let (_, status) = good.expect("it was damaged");
            let mend = match status {
                Value::Null => json!([{ "op": "remove", "path": "/status" }]),
                status => json!([{ "op": "add", "path": "/status", "value": status }]),
            };
            let place = format!("{}/status", self.place(record));
            self.custom.patch(&place, &mend);
        }

        fn tells_again(&mut self) -> bool {
            // What others do is seen a moment later.
            pilotage_tests::patience::until("the damage is seen", || {
                let Changes::Events(..) = self.store.changes_since(self.heard).ok()? else {
                    return None;
                };
                let damaged = self.store.damaged().expect("a state that can be read");
                (damaged != self.told).then_some(true)
            })
        }
    }

    pilotage_tests::store_suite!(if new());
    pilotage_tests::damage_suite!(if new());
    pilotage_tests::vault_suite!(if new());
}
