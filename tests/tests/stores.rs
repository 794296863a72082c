//! Every store, by one suite.

mod memory {
    use pilotage_tests::store_suite::InMemory;

    pilotage_tests::store_suite!(InMemory::default());
    pilotage_tests::damage_suite!(InMemory::default());
    pilotage_tests::vault_suite!(InMemory::default());
}

mod sqlite {
    use pilotage_core::event::RecordName;
    use pilotage_interpreter::store::Sqlite;
    use pilotage_tests::store_suite::{Kept, Place};
    use tempfile::TempDir;

    struct InAFile(TempDir);

    fn new() -> Kept<InAFile> {
        Kept::new(InAFile(TempDir::new().expect("a temporary folder")))
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
            let file = rusqlite::Connection::open(self.0.path().join("state.db"));
            let file = file.expect("the file");
            let select = format!("SELECT record FROM {table} WHERE {key}");
            let before = file.query_row(&select, [], |row| row.get(0));
            let update = format!("UPDATE {table} SET record = ?1 WHERE {key}");
            file.execute(&update, [text]).expect("the record is there");
            before.expect("the record is there")
        }
    }

    impl Place for InAFile {
        type Store = Sqlite;
        type Text = String;
        const AT_ONCE: bool = true;

        fn open(&self) -> Sqlite {
            Sqlite::new(self.0.path().join("state.db"))
        }

        fn damage(&mut self, record: &RecordName) -> String {
            self.replace(record, "{\"uid\": 7}")
        }

        fn mend(&mut self, record: &RecordName, text: String) {
            self.replace(record, &text);
        }
    }

    pilotage_tests::store_suite!(new());
    pilotage_tests::damage_suite!(new());
    pilotage_tests::vault_suite!(new());
}

mod in_a_cluster {
    use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

    use pilotage_core::event::RecordName;
    use pilotage_interpreter::cluster::Access;
    use pilotage_interpreter::store::CustomResources;
    use pilotage_tests::control_plane::{ControlPlane, shared};
    use pilotage_tests::custom::Custom;
    use pilotage_tests::store_suite::{Kept, Place};
    use serde_json::{Value, json};
    use tempfile::TempDir;

    /// The cluster is one state, so the tests take turns.
    static TURN: Mutex<()> = Mutex::new(());

    struct InACluster {
        access: Access,
        custom: Custom,
        _folder: TempDir,
        _turn: MutexGuard<'static, ()>,
        _cluster: Arc<ControlPlane>,
    }

    fn new() -> Option<Kept<InACluster>> {
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
        Some(Kept::new(InACluster {
            access,
            custom,
            _folder: folder,
            _turn: turn,
            _cluster: cluster,
        }))
    }

    /// The path of the status that a record is in.
    fn status_of(record: &RecordName) -> String {
        match record {
            RecordName::Model { name, .. } => format!("models/{name}/status"),
            RecordName::Application { name, .. } => {
                format!("namespaces/shop/applications/{name}/status")
            }
            RecordName::Storage { number, .. } => format!("storages/shop-{number}/status"),
        }
    }

    impl Place for InACluster {
        type Store = CustomResources;
        type Text = Value;
        /// Its watches have to tell.
        const AT_ONCE: bool = false;

        fn open(&self) -> CustomResources {
            CustomResources::new(self.access.clone()).expect("there is randomness")
        }

        fn damage(&mut self, record: &RecordName) -> Value {
            let place = status_of(record);
            let before = self.custom.get(&place)["status"].clone();
            let damage =
                json!([{ "op": "add", "path": "/status", "value": { "record": { "uid": 7 } } }]);
            self.custom.patch(&place, &damage);
            before
        }

        fn mend(&mut self, record: &RecordName, status: Value) {
            let mend = match status {
                Value::Null => json!([{ "op": "remove", "path": "/status" }]),
                status => json!([{ "op": "add", "path": "/status", "value": status }]),
            };
            self.custom.patch(&status_of(record), &mend);
        }
    }

    pilotage_tests::store_suite!(if new());
    pilotage_tests::damage_suite!(if new());
    pilotage_tests::vault_suite!(if new());
}
