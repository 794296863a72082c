//! Plays a transcript on the simulated cluster, and says where it does something else than the real one did.
//!
//! Compared are the status code and the reason of every answer, every field of every object that an answer or a watch event shows,
//! `managedFields` included, and the order of the events of each object. Uids, versions, addresses and names that a server draws are mapped one to
//! one; of a time it is compared that there is one; texts for people are not compared.

mod compare;
pub mod known;
mod translate;

use std::collections::BTreeMap;

use pilotage_core::time::{Span, Timestamp};
use pilotage_sim::cluster::Cluster;
use pilotage_sim::cluster::controllers::{Controller, settings};
use pilotage_sim::cluster::resource::Resource;
use pilotage_sim::cluster::settings::Settings;
use pilotage_sim::cluster::watch::{WatchEvent, WatchKind};
use serde_json::{Value, json};

use crate::transcript::difference::merge_patch;
use crate::transcript::normal::normal;
use crate::transcript::{Event, Request, Step, Transcript, Watch, key};
use compare::Bindings;

/// When a replay begins: 2026-07-01. Any moment would do.
const BEGIN: Timestamp = Timestamp(1_782_864_000_000);
/// Between two requests.
const PAUSE: Span = Span(20);
/// A recording's rest ends when what was waited for has happened and then nothing more did for so long.
const QUIET: Span = Span(350);
/// The longest rest, as in recordings: controllers that look again and again never come to rest by themselves.
const LONGEST: Span = Span::seconds(40);

/// A place at which the simulated cluster did something else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The name of the transcript.
    pub transcript: String,
    /// The step, from 1.
    pub step: usize,
    /// The object and the field.
    pub place: String,
    /// What the real cluster did.
    pub real: String,
    /// What the simulated one did.
    pub simulated: String,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Difference {
            transcript,
            step,
            place,
            real,
            simulated,
        } = self;
        write!(
            f,
            "{transcript}, step {step}, {place}:\n    real      {real}\n    simulated {simulated}"
        )
    }
}

/// How closely the events of an object are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Each of them: for what was recorded, where a recording gives the same each time.
    EveryEvent,
    /// All but those with which a workload's controller reports on the way to where it ends: how often it does is not
    /// promised, and differs from run to run when pods come and go.
    WhereReportsEnd,
}

/// Plays a transcript from its first step to its last.
pub fn replay(transcript: &Transcript, pace: Pace) -> Vec<Difference> {
    let mut cluster = Cluster::new(Settings::default());
    cluster.start_controllers(
        BEGIN,
        settings::Settings {
            nodes: Vec::new(),
            storage: None,
            // The transcript plays them.
            by_hand: vec![
                Controller::Scheduler,
                Controller::Kubelet,
                Controller::Service,
                Controller::PodCollector,
                Controller::NodeLifecycle,
                Controller::RootCertificate,
            ],
            ..settings::Settings::instant()
        },
    );
    cluster.advance(BEGIN);
    let mut player = Player {
        told: cluster.version(),
        cluster,
        now: BEGIN,
        pace,
        transcript,
        bindings: Bindings::default(),
        step: 0,
        differences: Vec::new(),
    };
    for (index, step) in transcript.steps.iter().enumerate() {
        player.step = index + 1;
        player.play(step);
    }
    let unordered = player.bindings.out_of_order();
    for symbol in unordered {
        player.differ(
            &symbol,
            "a later version than the one before",
            "an earlier one",
        );
    }
    player.differences
}

struct Player<'a> {
    cluster: Cluster,
    now: Timestamp,
    pace: Pace,
    transcript: &'a Transcript,
    bindings: Bindings,
    /// Up to this version the events were compared.
    told: u64,
    step: usize,
    differences: Vec<Difference>,
}

impl Player<'_> {
    fn differ(&mut self, place: &str, real: &str, simulated: &str) {
        self.differences.push(Difference {
            transcript: self.transcript.name.clone(),
            step: self.step,
            place: place.to_owned(),
            real: real.to_owned(),
            simulated: simulated.to_owned(),
        });
    }

    fn play(&mut self, step: &Step) {
        self.now = self.now.after(PAUSE);
        match step {
            Step::Request(request) => self.request(request),
            Step::Watch(watch) => self.watch(watch),
            Step::Compact { before } => {
                let version = self.version(before);
                let newer = self.cluster.changes_since(version).count();
                self.cluster.compact(newer);
            }
            Step::Rest { events, .. } => {
                self.rest(events);
                self.events(events);
            }
        }
    }

    fn request(&mut self, request: &Request) {
        let path = &request.path;
        let call = match translate::request(request, &self.bindings, &self.cluster) {
            Ok(call) => call,
            Err(problem) => return self.differ(path, "is served", &problem),
        };
        let resource = call.resource;
        let response = self.cluster.request(self.now, call);
        let (status, answer) = translate::response(response, resource);
        let place = format!("{} {path}", request.method);
        if status != request.status {
            let real = format!("{} {}", request.status, request.answer["message"]);
            let simulated = format!("{status} {}", answer["message"]);
            return self.differ(&format!("{place} status"), &real, &simulated);
        }
        self.compare(&place, &request.answer, &normal(answer));
    }

    fn watch(&mut self, watch: &Watch) {
        let Some((resource, namespace)) = translate::collection(&watch.path) else {
            return self.differ(&watch.path, "is served", "is not");
        };
        let query = |name: &str| {
            let found = watch.query.iter().find(|(key, _)| key == name);
            found.map(|(_, value)| value.as_str()).unwrap_or_default()
        };
        let version = self.version(query("resourceVersion"));
        let labels = translate::labels(query("labelSelector"));
        let seen = match self
            .cluster
            .watch_since(resource, namespace.as_deref(), &labels, version)
        {
            Ok(events) => events.iter().map(event).collect(),
            Err(failure) => vec![Event {
                event: "ERROR".into(),
                object: translate::failure(&failure),
            }],
        };
        self.compare_events(&watch.path, &watch.events, &seen);
    }

    /// Lets the controllers work until as much has happened as in the recording, and then nothing more for a while.
    fn rest(&mut self, events: &[(String, Vec<Event>)]) {
        let awaited: usize = events.iter().map(|(_, events)| events.len()).sum();
        let begin = self.now;
        while let Some(wake) = self.cluster.wake_at() {
            let enough = self.new_events().values().map(Vec::len).sum::<usize>() >= awaited;
            if wake.since(begin) > LONGEST || (enough && wake.since(self.now) > QUIET) {
                break;
            }
            self.now = self.now.max(wake);
            self.cluster.advance(self.now);
        }
        self.now = self.now.after(QUIET);
    }

    fn events(&mut self, real: &[(String, Vec<Event>)]) {
        let mut simulated = self.new_events();
        self.told = self.cluster.version();
        // Names that a server draws are learned from what speaks of them before they are looked up.
        let (drawn, known): (Vec<_>, Vec<_>) = real.iter().partition(|(key, _)| key.contains('<'));
        for (key, events) in known.into_iter().chain(drawn) {
            let found = self.bindings.resolve(key).or_else(|| {
                let kind = key.split(' ').next().unwrap_or_default();
                simulated
                    .keys()
                    .find(|other| other.split(' ').next() == Some(kind))
                    .cloned()
            });
            let seen = found
                .and_then(|key| simulated.remove(&key))
                .unwrap_or_default();
            self.compare_events(key, events, &seen);
        }
        for (key, events) in simulated {
            self.compare_events(&key, &[], &events);
        }
    }

    fn new_events(&self) -> BTreeMap<String, Vec<Event>> {
        let own = &self.transcript.name;
        let mut by_object: BTreeMap<String, Vec<Event>> = BTreeMap::new();
        for kind in &self.transcript.watched {
            let Some(resource) = Resource::ALL
                .iter()
                .find(|resource| resource.kind() == kind)
            else {
                continue;
            };
            let events = self.cluster.watch_since(*resource, None, &[], self.told);
            for seen in events.unwrap_or_default() {
                let (namespace, name) = (seen.object.namespace(), seen.object.name());
                let ours = match namespace {
                    "" => name.starts_with(own.as_str()),
                    namespace => namespace == own && name != "kube-root-ca.crt",
                };
                if ours {
                    let event = event(&seen);
                    let key = key(&event.object, own).unwrap_or_default();
                    by_object.entry(key).or_default().push(event);
                }
            }
        }
        by_object
    }

    fn compare_events(&mut self, place: &str, real: &[Event], simulated: &[Event]) {
        match self.pace {
            Pace::EveryEvent => self.compare_each(place, real, simulated),
            Pace::WhereReportsEnd => {
                self.compare_each(place, &without_reports(real), &without_reports(simulated));
            }
        }
    }

    fn compare_each(&mut self, place: &str, real: &[Event], simulated: &[Event]) {
        if real.len() != simulated.len() {
            self.differ(
                &format!("events of {place}"),
                &changes(real),
                &changes(simulated),
            );
            // Where they end has to be the same all the more.
            if let (Some(real), Some(simulated)) = (real.last(), simulated.last()) {
                self.compare(
                    &format!("last event of {place}"),
                    &real.object,
                    &simulated.object,
                );
            }
            return;
        }
        for (index, (real, simulated)) in real.iter().zip(simulated).enumerate() {
            let place = format!("{} event of {place}", ordinal(index + 1));
            if real.event != simulated.event {
                self.differ(&place, &real.event, &simulated.event);
            }
            self.compare(&place, &real.object, &simulated.object);
        }
    }

    fn compare(&mut self, place: &str, real: &Value, simulated: &Value) {
        self.bindings.learn(real, simulated);
        for (field, real, simulated) in self.bindings.compare(real, simulated) {
            self.differ(&format!("{place} {field}"), &real, &simulated);
        }
    }

    fn version(&self, symbol: &str) -> u64 {
        let text = self
            .bindings
            .resolve(symbol)
            .unwrap_or_else(|| symbol.to_owned());
        text.parse().unwrap_or_default()
    }
}

/// The events of a workload without those that only change its status, save the last of a row; and of one that is ending,
/// without a status: how far its controller comes before that is not promised either.
fn without_reports(events: &[Event]) -> Vec<Event> {
    let outline = |event: &Event| {
        let mut object = event.object.clone();
        object["status"] = Value::Null;
        object["metadata"]["resourceVersion"] = Value::Null;
        if let Some(entries) = object["metadata"]["managedFields"].as_object_mut() {
            entries.retain(|label, _| !label.ends_with(" status"));
        }
        object
    };
    let mut kept: Vec<Event> = Vec::new();
    for event in events {
        let workload = event.object["kind"] == "StatefulSet";
        let mut event = event.clone();
        if workload && !event.object["metadata"]["deletionTimestamp"].is_null() {
            event.object = outline(&event);
        }
        match kept.last_mut() {
            Some(last)
                if workload
                    && event.event == "MODIFIED"
                    && last.event == "MODIFIED"
                    && outline(last) == outline(&event) =>
            {
                *last = event;
            }
            _ => kept.push(event),
        }
    }
    kept
}

fn event(seen: &WatchEvent) -> Event {
    let event = match seen.kind {
        WatchKind::Added => "ADDED",
        WatchKind::Modified => "MODIFIED",
        WatchKind::Deleted => "DELETED",
    };
    Event {
        event: event.into(),
        object: normal(seen.object.whole()),
    }
}

/// What changed from event to event, for a reader who wants to know which one is too many.
fn changes(events: &[Event]) -> String {
    let mut before = json!({});
    let mut text = format!("{} events:", events.len());
    for event in events {
        let change = match event.event.as_str() {
            "MODIFIED" => merge_patch(&before, &event.object).unwrap_or_default(),
            _ => Value::Null,
        };
        text.push_str(&format!("\n        {} {change}", event.event));
        before = event.object.clone();
    }
    text
}

fn ordinal(number: usize) -> String {
    match number {
        1 => "1st".to_owned(),
        2 => "2nd".to_owned(),
        3 => "3rd".to_owned(),
        other => format!("{other}th"),
    }
}
