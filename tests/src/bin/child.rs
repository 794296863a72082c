//! What the suites start as another process, to end it: `child TASK STATE`.
//!
//! * `execute`: makes models, one command after the other, and prints the number of each that was answered;
//! * `hold`: becomes the provisioner of the state, prints `held`, and waits;
//! * `objects`: makes objects in the embedded cluster beside the state, and prints the uid of each that was answered;
//! * `run`: runs the provisioner of the state on the embedded cluster until it is asked to end, and prints `running`.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use pilotage_core::effect::{Action, Effect, EffectId};
use pilotage_core::kubernetes::manifest::Manifest;
use pilotage_core::kubernetes::{Key, Kind};
use pilotage_core::name::Uid;
use pilotage_core::outcome::{Outcome, Reply};
use pilotage_core::reason::Reason;
use pilotage_core::state::{Caller, Command, ModelCommand};
use pilotage_interpreter::cluster::embedded::{Embedded, latencies};
use pilotage_interpreter::cluster::{Cluster, Values};
use pilotage_interpreter::runtime::{self, Settings, Silent};
use pilotage_interpreter::trace::Tracing;
use pilotage_interpreter::{clock, store};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [task, path] = &arguments[..] else {
        panic!("child TASK STATE");
    };
    let path = Path::new(path);
    match task.as_str() {
        "execute" => execute(path),
        "hold" => hold(path),
        "objects" => objects(path),
        "run" => run(path),
        _ => panic!("there is no task {task}"),
    }
}

fn say(text: impl std::fmt::Display) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}")
        .and_then(|()| out.flush())
        .expect("somebody listens");
}

fn execute(path: &Path) {
    let store = store::open(path);
    let first = store
        .snapshot()
        .expect("the state can be read")
        .models
        .len() as u128;
    for number in first + 1.. {
        let command = Command::Model {
            model: Uid(number),
            caller: Caller::User,
            expect: None,
            body: ModelCommand::Add {
                name: format!("m{number}").into(),
                settings: Default::default(),
            },
        };
        let outcome = store.execute(clock::now(), &command, &[]);
        assert!(
            matches!(outcome, Ok(Outcome::Done(_))),
            "model {number}: {outcome:?}"
        );
        say(number);
    }
}

fn hold(path: &Path) {
    let held = store::open(path)
        .hold(clock::now())
        .expect("nobody holds it");
    say("held");
    loop {
        std::thread::park();
        assert_eq!(held.holder.pid, std::process::id());
    }
}

fn objects(path: &Path) {
    let store = store::open(path);
    let held = store.hold(clock::now()).expect("nobody holds it");
    let latencies = latencies().expect("the latencies can be read");
    let cluster = Embedded::open(path, &*store, &held, latencies).expect("it can be opened");
    let values: Values = Arc::new(|_| None);
    let work = async {
        for sequence in 0.. {
            let key = Key::new(
                Kind::ServiceAccount,
                "default",
                &format!("a{}", clock::now().0),
            );
            let name = format!("{}-{sequence}", key.name);
            let key = Key {
                name: name.clone().into(),
                ..key
            };
            let body = serde_json::json!({
                "apiVersion": "v1", "kind": "ServiceAccount",
                "metadata": {
                    "name": name, "namespace": "default",
                    "labels": {"app.kubernetes.io/managed-by": "pilotage"},
                },
            });
            let effect = Effect {
                id: EffectId {
                    owner: Uid(1),
                    incarnation: 1,
                    sequence,
                },
                subject: "test".into(),
                because: Reason::Missing { key: key.clone() },
                action: Action::Create {
                    manifest: Manifest {
                        key,
                        birth: Vec::new(),
                        body,
                    },
                },
            };
            match cluster.run(Arc::new(effect), values.clone()).await {
                Outcome::Done(Reply::Object(object)) => say(object.metadata().uid),
                other => panic!("{other:?}"),
            }
        }
    };
    runtime::block_on(work).expect("there are threads");
}

fn run(path: &Path) {
    let store = store::open(path);
    let held = store.hold(clock::now()).expect("nobody holds it");
    let latencies = latencies().expect("the latencies can be read");
    let cluster = Embedded::open(path, &*store, &held, latencies).expect("it can be opened");
    let settings = Settings::new(Tracing::read(Some("all"), path), Arc::new(Silent));
    let ended = runtime::block_on(async move {
        let stop = runtime::stop_signal().expect("signals can be listened to");
        say("running");
        runtime::run(store, &held, Arc::new(cluster), settings, stop).await
    });
    ended.expect("there are threads").expect("it runs");
}
