//! Plays scripts on a real control plane and writes down what it did, as [transcripts](crate::transcript).
//!
//! A script is a function that speaks through [`Hand`]s: it does one thing after the other, as one person or program after the other, and says
//! where it [rests](Recorder::rest) and what it waits for there. It plays scheduler, kubelet and volume provisioner itself (`parts`).

mod hand;
pub mod manifests;
mod parts;
mod raw;
pub mod scripts;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::control_plane::{ControlPlane, Seen, Watches, kind};
use crate::transcript::{Transcript, key};

pub use hand::{Hand, wrong_uid};
pub use parts::THEN;
use raw::RawStep;

/// So long nothing may happen before it counts as rest. Controllers answer a change within some 10 ms.
const QUIET: Duration = Duration::from_millis(350);
/// So long a rest may be awaited: the slowest controllers look again after some seconds.
const PATIENCE: Duration = Duration::from_secs(40);

/// The kinds that every recording watches; a transcript shows those that its script names.
pub const WATCHED: &[&str] = &[
    "Namespace",
    "ServiceAccount",
    "Secret",
    "ConfigMap",
    "Role",
    "RoleBinding",
    "ClusterRole",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "Service",
    "ControllerRevision",
    "StatefulSet",
    "Pod",
];

/// A story to be played.
#[derive(Clone, Copy)]
pub struct Script {
    /// The name of the transcript and of the namespace in which it plays.
    pub name: &'static str,
    /// What can be learned from it.
    pub shows: &'static str,
    /// The rows of the table of facts that it records.
    pub facts: &'static [&'static str],
    /// The kinds whose events the transcript shows.
    pub watched: &'static [&'static str],
    /// The story.
    pub play: fn(&mut Recorder<'_>),
}

/// Writes down one script.
pub struct Recorder<'a> {
    control_plane: &'a mut ControlPlane,
    watches: &'a mut Watches,
    script: Script,
    steps: Vec<RawStep>,
    /// Events since the last rest.
    pending: Vec<Seen>,
    /// The objects of this script as the watches show them, by [`key`].
    live: BTreeMap<String, Value>,
    shown: hand::Shown,
}

/// Plays a script in a namespace of its own and gives its transcript.
///
/// # Panics
///
/// When the control plane does not do what the script waits for: then the script is wrong about Kubernetes, and its author wants to see where.
pub fn record(
    control_plane: &mut ControlPlane,
    watches: &mut Watches,
    script: Script,
) -> Transcript {
    record_played(control_plane, watches, script, script.play)
}

/// The same, of a story that is not in the script: its author may have made it up this moment.
///
/// # Panics
///
/// As [`record`] does.
pub fn record_played(
    control_plane: &mut ControlPlane,
    watches: &mut Watches,
    script: Script,
    play: impl FnOnce(&mut Recorder<'_>),
) -> Transcript {
    let mut recorder = Recorder {
        control_plane,
        watches,
        script,
        steps: Vec::new(),
        pending: Vec::new(),
        live: BTreeMap::new(),
        shown: BTreeMap::new(),
    };
    recorder.by("alice").create(json!({
        "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": script.name },
    }));
    recorder.rest("the namespace has its default account", |live| {
        live.has("ServiceAccount default")
    });
    play(&mut recorder);
    if !recorder.pending.is_empty() {
        recorder.rest("the last events have come", |_| true);
    }
    let transcript = raw::transcript(script, &recorder.steps);
    recorder.clean();
    transcript
}

/// The objects of a script as the watches show them.
#[derive(Debug)]
pub struct Live<'a>(&'a BTreeMap<String, Value>);

impl Live<'_> {
    /// Whether there is such an object: kind and name.
    pub fn has(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    /// How many objects of a kind there are.
    pub fn count(&self, kind: &str) -> usize {
        self.of(kind).count()
    }

    /// A field of an object by JSON pointer; null if there is none.
    pub fn field(&self, key: &str, pointer: &str) -> Value {
        self.0
            .get(key)
            .and_then(|object| object.pointer(pointer))
            .cloned()
            .unwrap_or_default()
    }

    /// Every object.
    pub fn all(&self) -> impl Iterator<Item = &Value> {
        self.0.values()
    }

    /// Whether a pod is to end, but still there.
    pub fn ends(&self, pod: &str) -> bool {
        !self
            .field(&format!("Pod {pod}"), "/metadata/deletionTimestamp")
            .is_null()
    }

    /// The objects of a kind.
    pub fn of(&self, kind: &str) -> impl Iterator<Item = &Value> {
        self.0.values().filter(move |object| object["kind"] == kind)
    }
}

impl<'a> Recorder<'a> {
    /// The namespace of the script.
    pub fn namespace(&self) -> &'static str {
        self.script.name
    }

    /// Somebody's hand; see [`crate::control_plane::USERS`].
    pub fn by(&mut self, who: &'static str) -> Hand<'_, 'a> {
        Hand::new(self, who)
    }

    /// Waits until `reached` holds and then nothing more happens, and writes down all events since the last rest.
    pub fn rest(&mut self, until: &str, reached: impl Fn(&Live<'_>) -> bool) {
        let begin = Instant::now();
        let mut quiet_since = Instant::now();
        loop {
            match self
                .watches
                .next(QUIET.saturating_sub(quiet_since.elapsed()))
            {
                Some(seen) if self.is_ours(&seen) => {
                    self.take(seen);
                    quiet_since = Instant::now();
                }
                Some(_) => {}
                None if reached(&Live(&self.live)) => break,
                None => quiet_since = Instant::now(),
            }
            assert!(
                begin.elapsed() < PATIENCE,
                "{}: waited in vain until {until}; there is:\n{}",
                self.script.name,
                self.live
                    .values()
                    .map(|object| format!("{object}\n"))
                    .collect::<String>()
            );
        }
        let events = std::mem::take(&mut self.pending);
        self.steps.push(RawStep::Rest {
            until: until.to_owned(),
            events,
        });
    }

    fn is_ours(&self, seen: &Seen) -> bool {
        let metadata = &seen.object["metadata"];
        let name = metadata["name"].as_str().unwrap_or_default();
        match metadata["namespace"].as_str() {
            Some(namespace) => namespace == self.script.name && name != "kube-root-ca.crt",
            None => name.starts_with(self.script.name),
        }
    }

    /// The objects as the watches showed them up to the last rest.
    pub fn live(&self) -> Live<'_> {
        Live(&self.live)
    }

    /// Whether something holds for what the watches showed up to the last rest.
    pub fn sees(&self, holds: impl Fn(&Live<'_>) -> bool) -> bool {
        holds(&self.live())
    }

    /// The server forgets all versions before `version`: etcd is compacted, and the API server started anew, since it has a memory of its own.
    ///
    /// # Panics
    ///
    /// When the server does not come back.
    pub fn forget(&mut self, version: &str) {
        self.rest("everything is told", |_| true);
        let number = version.parse().expect("a version is a number");
        self.control_plane.compact(number).expect("etcd answers");
        self.control_plane
            .restart_api_server()
            .expect("the API server comes back");
        let client = self.control_plane.client();
        *self.watches = Watches::start(client, WATCHED).expect("the server lists every kind");
        self.steps.push(RawStep::Compact {
            before: version.to_owned(),
        });
    }

    /// Takes away what the script left, so that its controllers do not disturb the next one.
    fn clean(mut self) {
        let namespace = self.script.name;
        let cluster_scoped: Vec<(String, String)> = self
            .live
            .values()
            .filter(|object| {
                object["metadata"]["namespace"].is_null() && object["kind"] != "Namespace"
            })
            .map(|object| {
                (
                    object["kind"].to_string(),
                    object["metadata"]["name"].to_string(),
                )
            })
            .map(|(kind, name)| (kind.replace('"', ""), name.replace('"', "")))
            .collect();
        let now = json!({ "gracePeriodSeconds": 0 });
        let mut hand = self.by("alice");
        hand.delete("Namespace", namespace, json!({}));
        for (kind, name) in cluster_scoped {
            hand.delete(&kind, &name, json!({}));
        }
        // Nobody would end pods that have a node.
        hand.request(
            "DELETE",
            &kind("Pod").collection(namespace),
            &[],
            "application/json",
            Some(now),
        );
    }

    fn take(&mut self, seen: Seen) {
        let Some(key) = key(&seen.object, self.script.name) else {
            return;
        };
        match seen.event.as_str() {
            "DELETED" => self.live.remove(&key),
            _ => self.live.insert(key, seen.object.clone()),
        };
        if self
            .script
            .watched
            .iter()
            .any(|kind| seen.object["kind"] == **kind)
        {
            self.pending.push(seen);
        }
    }
}
