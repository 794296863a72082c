//! A life from the first command to nothing, as a user drives it; and what is there at its moments of rest, without what
//! differs from run to run.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};

use pilotage_core::name::Uid;
use pilotage_core::outcome::{Outcome, Refusal};
use pilotage_core::state::{ApplicationCommand, Caller, Command, ModelCommand, RemovalWish, Word};
use pilotage_interpreter::clock;
use pilotage_interpreter::store::{self, Store};
use pilotage_sim::workload;
use pilotage_tests::child::Worker;
use pilotage_tests::patience::until;
use serde_json::Value;
use tempfile::TempDir;

use super::{CHILD, INSTANT};

const MODEL: Uid = Uid(0x1111_1111_0000_4000_8000_0000_0000_0001);
const APPLICATION: Uid = Uid(0x2222_2222_0000_4000_8000_0000_0000_0002);

/// A state, its cluster, and a process that provisions it; started again whenever it was killed.
pub struct House {
    _folder: TempDir,
    pub path: PathBuf,
    store: std::sync::Arc<dyn Store>,
    worker: Option<Worker>,
    /// How often the process was killed.
    pub kills: u32,
}

impl House {
    /// A new state, whose first process has this environment.
    pub fn new(environment: &[(&str, &str)]) -> Self {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("state.db");
        let mut all = vec![INSTANT];
        all.extend(environment);
        let worker = Some(Worker::start(CHILD, "run", &path, &all));
        House {
            store: store::open(&path),
            _folder: folder,
            path,
            worker,
            kills: 0,
        }
    }

    /// Kills the process now; the next look at it starts another.
    pub fn kill(&mut self) {
        if let Some(worker) = self.worker.take() {
            worker.kill();
            self.kills += 1;
        }
    }

    /// Ends the process in order.
    pub fn end(&mut self) {
        if let Some(mut worker) = self.worker.take() {
            worker.signal("TERM");
            worker.rest();
        }
    }

    /// Starts the process again if a fail point, or we, ended it.
    fn tend(&mut self) {
        if let Some(status) = self.worker.as_mut().and_then(Worker::ended) {
            assert_eq!(status.signal(), Some(9), "it ended by itself: {status}");
            self.kills += 1;
            self.worker = None;
        }
        if self.worker.is_none() {
            self.worker = Some(Worker::start(CHILD, "run", &self.path, &[INSTANT]));
        }
    }

    fn user(&self, command: &Command) {
        // As the program does with a race that it loses.
        until("the command is taken", || {
            match self.store.execute(clock::now(), command, &[]).unwrap() {
                Outcome::Done(_) => Some(()),
                Outcome::Refused {
                    reason: Refusal::TryAgain,
                    ..
                } => None,
                other => panic!("{command:?}: {other:?}"),
            }
        });
    }

    fn application(&self, body: ApplicationCommand) {
        self.user(&Command::Application {
            application: APPLICATION,
            caller: Caller::User,
            expect: None,
            body,
        });
    }

    fn model(&self, body: ModelCommand) {
        self.user(&Command::Model {
            model: MODEL,
            caller: Caller::User,
            expect: None,
            body,
        });
    }

    fn wait(
        &mut self,
        what: &str,
        disturb: &mut dyn FnMut(&mut House),
        met: impl Fn(&House) -> bool,
    ) {
        let store = self.store.clone();
        let mut wait = || {
            disturb(self);
            self.tend();
            met(self).then_some(())
        };
        let answer =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| until(what, &mut wait)));
        if let Err(panic) = answer {
            let snapshot = store.snapshot().unwrap();
            for application in &snapshot.applications {
                eprintln!("{:?} {:?}", application.spec.scale, application.status);
            }
            std::panic::resume_unwind(panic);
        }
    }

    fn active(&self, units: usize) -> bool {
        let snapshot = self.store.snapshot().unwrap();
        snapshot.applications.iter().any(|application| {
            let status = &application.status;
            status.units.len() == units
                && status.scaling.is_none()
                && status.provisioner.report.word == Word::Active
                && status
                    .storage
                    .iter()
                    .all(|storage| storage.given.is_some() || storage.claim.is_none())
                && status
                    .units
                    .iter()
                    .all(|unit| unit.workload.report.word == Word::Active)
        })
    }

    /// Deploy, scale up, trust, scale down, remove with its storage, destroy the model. At each rest the world as it is.
    pub fn live(&mut self, disturb: &mut dyn FnMut(&mut House)) -> Vec<BTreeMap<String, Value>> {
        let mut rests = Vec::new();
        self.model(ModelCommand::Add {
            name: "shop".into(),
            settings: BTreeMap::new(),
        });
        let new = workload::ledger_application(MODEL, "ledger", 2);
        self.application(ApplicationCommand::Add(Box::new(new)));
        self.wait("two units are active", disturb, |house| house.active(2));
        self.application(ApplicationCommand::SetScale { scale: 3 });
        self.wait("three units are active", disturb, |house| house.active(3));
        self.application(ApplicationCommand::SetTrust { trust: true });
        self.application(ApplicationCommand::SetScale { scale: 1 });
        self.wait("one unit is active, and trusted", disturb, |house| {
            house.active(1)
                && house
                    .world()
                    .keys()
                    .any(|key| key.contains("ClusterRoleBinding"))
        });
        rests.push(self.world());
        self.application(ApplicationCommand::Remove {
            wish: RemovalWish {
                destroy_storage: true,
                force: false,
            },
        });
        self.wait("the application is gone", disturb, |house| {
            house.store.snapshot().unwrap().applications.is_empty()
        });
        self.model(ModelCommand::Destroy {
            wish: RemovalWish::default(),
        });
        self.wait("the model is gone", disturb, |house| {
            house.store.snapshot().unwrap().models.is_empty()
        });
        rests.push(self.world());
        rests
    }

    /// Records, and objects of ours, by name; without uids, versions, times and addresses.
    fn world(&self) -> BTreeMap<String, Value> {
        let mut world = BTreeMap::new();
        let snapshot = self.store.snapshot().unwrap();
        for application in &snapshot.applications {
            let storages = application.status.storage.iter();
            let numbers: BTreeSet<u32> = storages.map(|storage| storage.number).collect();
            assert_eq!(
                numbers.len(),
                application.status.storage.len(),
                "{numbers:?}"
            );
            let record = serde_json::to_value(application).unwrap();
            world.insert(format!("record {}", application.name), plain(&record));
        }
        for storage in &snapshot.storages {
            let record = serde_json::to_value(storage).unwrap();
            world.insert(
                format!("record of storage {}", storage.instance.number),
                plain(&record),
            );
        }
        for object in objects(&self.path) {
            let key = format!(
                "{} {}/{}",
                object["kind"].as_str().unwrap(),
                object["metadata"]["namespace"].as_str().unwrap_or(""),
                object["metadata"]["name"].as_str().unwrap(),
            );
            if object["metadata"]["labels"]["app.kubernetes.io/managed-by"] == "pilotage" {
                let parts: serde_json::Map<String, Value> = object
                    .as_object()
                    .unwrap()
                    .iter()
                    .filter(|(field, _)| *field != "status")
                    .map(|(field, value)| (field.clone(), plain(value)))
                    .collect();
                world.insert(key, parts.into());
            }
        }
        world
    }
}

/// Everything in the file of the embedded cluster.
fn objects(state: &Path) -> Vec<Value> {
    let file = state.with_extension("db.cluster");
    if !file.exists() {
        return Vec::new();
    }
    let connection = rusqlite::Connection::open(file).unwrap();
    connection
        .busy_timeout(pilotage_tests::patience::PATIENCE)
        .unwrap();
    let Ok(mut query) = connection.prepare("SELECT object FROM objects") else {
        // It has not been founded yet.
        return Vec::new();
    };
    let rows = query.query_map([], |row| row.get::<_, String>(0)).unwrap();
    rows.map(|row| serde_json::from_str(&row.unwrap()).unwrap())
        .collect()
}

/// A value without what differs between two runs of one life.
fn plain(value: &Value) -> Value {
    const DIFFERENT: [&str; 15] = [
        "uid",
        "version",
        "resourceVersion",
        "generation",
        "managedFields",
        "creationTimestamp",
        "since",
        "created",
        "clusterIP",
        "clusterIPs",
        "address",
        "addresses",
        "volume",
        "volumeName",
        "claim",
    ];
    match value {
        Value::Object(map) => map
            .iter()
            .filter(|(field, _)| !DIFFERENT.contains(&field.as_str()))
            // A crash leaves a gap in the numbers of storages.
            .filter(|(field, _)| *field != "number" || !map.contains_key("mount_point"))
            .map(|(field, value)| (field.clone(), plain(value)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
        Value::Array(items) => items.iter().map(plain).collect(),
        // The rest of this name is drawn.
        Value::String(text) if text.starts_with("kube-api-access-") => "kube-api-access-".into(),
        other => other.clone(),
    }
}

#[test]
fn an_undisturbed_life_leaves_nothing() {
    let mut house = House::new(&[]);
    let rests = house.live(&mut |_| {});
    house.end();
    assert_eq!(house.kills, 0);
    let [middle, end] = &rests[..] else {
        panic!("two rests");
    };
    assert!(
        middle.keys().any(|key| key.starts_with("StatefulSet")),
        "{:?}",
        middle.keys()
    );
    assert_eq!(end.len(), 0, "{:?}", end.keys());
}
