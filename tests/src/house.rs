//! A state and a provisioner on a real cluster, in this process.

use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use pilotage_core::name::Uid;
use pilotage_core::outcome::{Outcome, Refusal};
use pilotage_core::state::{
    Application, ApplicationCommand, Caller, Command, ModelCommand, NewApplication, RemovalWish,
    Word,
};
use pilotage_interpreter::cluster::{Access, Cluster, Kubernetes, Timing};
use pilotage_interpreter::runtime::{self, Observer, Settings};
use pilotage_interpreter::store::{self, Snapshot, Store};
use pilotage_interpreter::trace::Tracing;
use pilotage_interpreter::{clock, identity};
use pilotage_sim::workload;
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::oneshot;

use crate::control_plane::{Call, Client, ControlPlane, kind};
use crate::patience::until;

/// A state, one model of it, and the provisioner that runs on it.
pub struct House {
    folder: TempDir,
    store: Arc<dyn Store>,
    client: Client,
    /// The model, whose name is its namespace's.
    pub model: Uid,
    name: String,
    access: Access,
    timing: Timing,
    running: Option<(JoinHandle<()>, oneshot::Sender<()>)>,
}

impl House {
    /// An empty state with a model of that name, provisioned on a control plane as a kubeconfig says, or as the user
    /// `pilotage`.
    ///
    /// # Panics
    /// If its files cannot be made.
    pub fn new(
        control_plane: &ControlPlane,
        name: &str,
        kubeconfig: Option<String>,
        timing: Timing,
    ) -> House {
        let folder = TempDir::new().expect("a temporary folder");
        let text = kubeconfig.unwrap_or_else(|| control_plane.kubeconfig_of("pilotage", None));
        let kubeconfig = folder.path().join("kubeconfig");
        std::fs::write(&kubeconfig, text).expect("a kubeconfig");
        let mut house = House {
            store: store::open(&folder.path().join("state.db")),
            client: control_plane.client().clone(),
            model: identity::draw_uid().expect("a uid"),
            name: name.into(),
            access: Access::Kubeconfig {
                file: Some(kubeconfig),
                context: None,
            },
            timing,
            running: None,
            folder,
        };
        house.model(ModelCommand::Add {
            name: name.into(),
            settings: Default::default(),
        });
        house.start();
        house
    }

    /// What the model says of itself.
    ///
    /// # Panics
    /// If the state cannot be read, or there is no model.
    pub fn model_status(&self) -> pilotage_core::state::StatusReport {
        let snapshot = self.snapshot();
        let model = snapshot.models.iter().find(|model| model.uid == self.model);
        model.expect("the model").status.status.report.clone()
    }

    /// The file of the state.
    pub fn path(&self) -> PathBuf {
        self.folder.path().join("state.db")
    }

    /// Starts the provisioner.
    ///
    /// # Panics
    /// If one runs.
    pub fn start(&mut self) {
        assert!(self.running.is_none(), "one runs");
        let (stop, stopped) = oneshot::channel();
        let (store, access, timing) = (self.store.clone(), self.access.clone(), self.timing);
        let tracing = Tracing::read(Some("all"), &self.path());
        let thread = std::thread::spawn(move || {
            let ended = runtime::block_on(async move {
                let held = store.hold(clock::now()).expect("nobody holds it");
                let key = store.fingerprint_key().expect("a key");
                let cluster = Kubernetes::connect(&access, key, timing).await;
                let cluster: Arc<dyn Cluster> = Arc::new(cluster.expect("a kubeconfig"));
                let settings = Settings::new(tracing, Arc::new(Loud));
                let stop = async {
                    let _ = stopped.await;
                };
                runtime::run(store, &held, cluster, settings, stop).await
            });
            ended.expect("there are threads").expect("it runs");
        });
        self.running = Some((thread, stop));
    }

    /// Ends the provisioner in order.
    ///
    /// # Panics
    /// If it had ended by a failure.
    pub fn end(&mut self) {
        if let Some((thread, stop)) = self.running.take() {
            let _ = stop.send(());
            assert!(thread.join().is_ok(), "the provisioner failed");
        }
    }

    fn user(&self, command: &Command) {
        until("the command is taken", || {
            match self.store.execute(clock::now(), command, &[]) {
                Ok(Outcome::Done(_)) => Some(()),
                Ok(Outcome::Refused {
                    reason: Refusal::TryAgain,
                    ..
                }) => None,
                other => panic!("{command:?}: {other:?}"),
            }
        });
    }

    /// A command to the model, as its user.
    ///
    /// # Panics
    /// If it is refused.
    pub fn model(&self, body: ModelCommand) {
        self.user(&Command::Model {
            model: self.model,
            caller: Caller::User,
            expect: None,
            body,
        });
    }

    /// A command to an application, as its user.
    ///
    /// # Panics
    /// If it is refused.
    pub fn application(&self, application: Uid, body: ApplicationCommand) {
        self.user(&Command::Application {
            application,
            caller: Caller::User,
            expect: None,
            body,
        });
    }

    /// Deploys the simulator's standard application under a name.
    ///
    /// # Panics
    /// If it is refused.
    pub fn deploy(&self, name: &str, scale: u32) -> Uid {
        self.add(workload::ledger_application(self.model, name, scale))
    }

    /// Deploys any application.
    ///
    /// # Panics
    /// If it is refused.
    pub fn add(&self, new: NewApplication) -> Uid {
        let uid = identity::draw_uid().expect("a uid");
        self.application(uid, ApplicationCommand::Add(Box::new(new)));
        uid
    }

    /// All records of the state.
    ///
    /// # Panics
    /// If the state cannot be read.
    pub fn snapshot(&self) -> Snapshot {
        self.store.snapshot().expect("the state")
    }

    /// Removes an application with its storage, and waits until it is gone.
    ///
    /// # Panics
    /// If it does not go.
    pub fn remove(&self, application: Uid) {
        let wish = RemovalWish {
            destroy_storage: true,
            force: false,
        };
        self.application(application, ApplicationCommand::Remove { wish });
        self.wait("the application is gone", || {
            self.record(application).is_none()
        });
    }

    /// Destroys the model, and waits until it is gone.
    ///
    /// # Panics
    /// If it does not go.
    pub fn destroy(&self) {
        let wish = RemovalWish::default();
        self.model(ModelCommand::Destroy { wish });
        self.wait("the model is gone", || {
            let snapshot = self.snapshot();
            snapshot.models.is_empty()
        });
    }

    /// An application's record.
    ///
    /// # Panics
    /// If the state cannot be read.
    pub fn record(&self, application: Uid) -> Option<Application> {
        let snapshot = self.snapshot();
        let mut all = snapshot.applications.into_iter();
        all.find(|record| record.uid == application)
    }

    /// Whether an application has so many units and is active with all of them.
    pub fn active(&self, application: Uid, units: usize) -> bool {
        self.record(application)
            .is_some_and(|application| is_active(&application, units))
    }

    /// Waits.
    ///
    /// # Panics
    /// If it does not come about within a minute; with the records and the objects that there are.
    pub fn wait(&self, what: &str, holds: impl Fn() -> bool) {
        let waited = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            until(what, || holds().then_some(()));
        }));
        if waited.is_err() {
            let snapshot = self.store.snapshot();
            panic!("{what}: {snapshot:#?}\n{:#?}", self.names());
        }
    }

    /// Waits until an application is active with so many units.
    ///
    /// # Panics
    /// If it does not become so.
    pub fn until_active(&self, application: Uid, units: usize) {
        let what = format!("{units} active units");
        self.wait(&what, || self.active(application, units));
    }

    /// Waits until every application is active with the units that it is to have.
    ///
    /// # Panics
    /// If they do not become so.
    pub fn until_all_active(&self) {
        self.wait("all are active", || {
            let records = self.snapshot().applications;
            let active = |record: &Application| is_active(record, record.spec.scale as usize);
            let all = records.iter().all(active);
            if !all {
                // Where there are many, reading them is work that those who are waited for do not get.
                std::thread::sleep(Duration::from_millis(200));
            }
            all
        });
    }

    /// Everything in the cluster that carries the labels of this state's model.
    ///
    /// # Panics
    /// If the server does not answer.
    pub fn objects(&self) -> Vec<Value> {
        objects(&self.client, self.model)
    }

    /// Kind, name and uid of everything of the model.
    pub fn names(&self) -> Vec<String> {
        let objects = self.objects();
        let name = |object: &Value| {
            let metadata = &object["metadata"];
            let text = |field: &str| metadata[field].as_str().unwrap_or_default().to_owned();
            let kind = object["kind"].as_str().unwrap_or_default();
            format!("{kind} {} {}", text("name"), text("uid"))
        };
        objects.iter().map(name).collect()
    }

    /// The namespace of the model.
    pub fn namespace(&self) -> &str {
        &self.name
    }

    /// The first segment of its trace.
    pub fn trace(&self) -> PathBuf {
        let folder = self.path().with_extension("db.trace");
        folder.join("trace-00000001.jsonl")
    }
}

impl Drop for House {
    fn drop(&mut self) {
        if let Some((thread, stop)) = self.running.take() {
            let _ = stop.send(());
            let _ = thread.join();
        }
    }
}

/// Whether an application has so many units and is active with all of them.
fn is_active(application: &Application, units: usize) -> bool {
    let status = &application.status;
    status.units.len() == units
        && status.scaling.is_none()
        && status.provisioner.report.word == Word::Active
        && status
            .units
            .iter()
            .all(|unit| unit.workload.report.word == Word::Active)
}

/// The kinds that Pilotage makes, or that come of what it makes.
const KINDS: [&str; 11] = [
    "Namespace",
    "ServiceAccount",
    "Secret",
    "Role",
    "RoleBinding",
    "ClusterRole",
    "ClusterRoleBinding",
    "Service",
    "PersistentVolumeClaim",
    "StatefulSet",
    "Pod",
];

/// Everything in a cluster that carries the label of a model.
///
/// # Panics
/// If the server does not answer.
pub fn objects(client: &Client, model: Uid) -> Vec<Value> {
    let selector = (
        "labelSelector".to_owned(),
        format!("pilotage.dev/model={model}"),
    );
    let mut all = Vec::new();
    for name in KINDS {
        let call = Call {
            who: "recorder",
            method: "GET",
            path: &kind(name).collection(""),
            query: std::slice::from_ref(&selector),
            content_type: "",
            body: None,
        };
        let list = client.call(&call).expect("the server answers").expect(200);
        for mut item in list["items"].as_array().cloned().unwrap_or_default() {
            item["kind"] = name.into();
            all.push(item);
        }
    }
    all
}

/// Says warnings, where the test runner shows them when a test fails.
struct Loud;

impl Observer for Loud {
    fn warning(&self, text: &str) {
        eprintln!("WARNING {text}");
    }
}
