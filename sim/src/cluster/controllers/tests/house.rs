//! A cluster for tests, with the few requests that they need.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use pilotage_core::time::{Span, Timestamp};
use serde_json::{Value, json};

use super::super::instruction::{Behaviour, Incident, Rule, Rules};
use super::super::settings::Settings;
use crate::cluster::object::{Stored, items_at, number_at, text_at};
use crate::cluster::request::{Failure, Propagation, Request, Response, Subresource, Verb};
use crate::cluster::resource::Resource;
use crate::cluster::{Cluster, settings};

/// The namespace of the tests.
pub(super) const SPACE: &str = "m";

/// A running cluster and its clock.
#[derive(Clone)]
pub(super) struct House {
    pub(super) cluster: Cluster,
    pub(super) at: Timestamp,
    rules: Rules,
}

impl House {
    pub(super) fn new() -> Self {
        House::with(Settings::default())
    }

    pub(super) fn with(settings: Settings) -> Self {
        let at = Timestamp(1_700_000_000_000);
        let mut cluster = Cluster::new(settings::Settings::default());
        cluster.start_controllers(at, settings);
        let mut house = House {
            cluster,
            at,
            rules: Rules::default(),
        };
        house.create(
            Resource::Namespace,
            json!({ "metadata": { "name": SPACE } }),
        );
        house.rest();
        house
    }

    /// Sends a request as the tester.
    pub(super) fn ask(
        &mut self,
        resource: Resource,
        name: &str,
        subresource: Option<Subresource>,
        verb: Verb,
    ) -> Result<(), Failure> {
        let request = Request {
            manager: "tester".into(),
            resource,
            namespace: resource.namespaced().then(|| Box::from(SPACE)),
            name: name.into(),
            subresource,
            verb,
        };
        match self.cluster.request(self.at, request) {
            Response::Failure(failure) => Err(failure),
            _ => Ok(()),
        }
    }

    pub(super) fn create(&mut self, resource: Resource, mut body: Value) {
        body["apiVersion"] = json!(resource.api_version());
        body["kind"] = json!(resource.kind());
        self.ask(resource, "", None, Verb::Create { body })
            .expect("the object is made");
    }

    pub(super) fn patch(&mut self, resource: Resource, name: &str, body: Value) {
        self.ask(resource, name, None, Verb::MergePatch { body })
            .expect("the object is patched");
    }

    pub(super) fn delete(&mut self, resource: Resource, name: &str, propagation: Propagation) {
        let verb = Verb::Delete {
            uid: None,
            version: None,
            propagation,
            grace: None,
        };
        self.ask(resource, name, None, verb)
            .expect("the object is deleted");
    }

    pub(super) fn scale(&mut self, name: &str, replicas: u64) {
        let spec = json!({ "spec": { "replicas": replicas } });
        self.patch(Resource::StatefulSet, name, spec);
    }

    pub(super) fn rule(&mut self, rule: Rule) {
        self.rules.0.push(rule);
        self.cluster.instruct(self.at, self.rules.clone());
    }

    pub(super) fn pod_rule(&mut self, pod: &str, behaviour: Behaviour) {
        self.rule(Rule::pod(pod, behaviour));
    }

    pub(super) fn no_rules(&mut self) {
        self.rules = Rules::default();
        self.cluster.instruct(self.at, Rules::default());
    }

    pub(super) fn befall(&mut self, incident: Incident) {
        self.cluster.befall(self.at, incident);
    }

    /// Lets time pass.
    pub(super) fn wait(&mut self, span: Span) {
        let end = self.at.after(span);
        self.cluster.advance(self.at);
        while let Some(wake) = self.cluster.wake_at().filter(|wake| *wake <= end) {
            self.at = self.at.max(wake);
            self.cluster.advance(self.at);
        }
        self.at = end;
    }

    /// Lets time pass until nothing is due within the next ten minutes; says how long that took.
    pub(super) fn rest(&mut self) -> Span {
        let start = self.at;
        self.cluster.advance(self.at);
        for _ in 0..100_000 {
            match self.cluster.wake_at() {
                Some(wake) if wake <= start.after(Span::seconds(600)) => {
                    self.at = self.at.max(wake);
                    self.cluster.advance(self.at);
                }
                _ => return self.at.since(start),
            }
        }
        panic!(
            "the cluster does not come to rest: {:?}",
            self.cluster.pending(self.at)
        );
    }

    pub(super) fn get(&self, resource: Resource, name: &str) -> Option<Arc<Stored>> {
        let namespace = if resource.namespaced() { SPACE } else { "" };
        self.cluster.peek(resource, namespace, name).cloned()
    }

    pub(super) fn value(&self, resource: Resource, name: &str) -> Value {
        self.get(resource, name)
            .unwrap_or_else(|| panic!("there is no {resource:?} {name}"))
            .value
            .clone()
    }

    pub(super) fn pod(&self, name: &str) -> Value {
        self.value(Resource::Pod, name)
    }

    pub(super) fn names(&self, resource: Resource) -> Vec<String> {
        let namespace = resource.namespaced().then_some(SPACE);
        self.cluster
            .objects(resource, namespace)
            .map(|stored| stored.name().to_string())
            .collect()
    }

    /// The pods, each with what `kubectl get pods` would say of it.
    pub(super) fn pods(&self) -> Vec<String> {
        self.cluster
            .objects(Resource::Pod, Some(SPACE))
            .map(|pod| format!("{} {}", pod.name(), describe(&pod.value)))
            .collect()
    }

    /// The warnings about an object.
    pub(super) fn warnings(&self, name: &str) -> Vec<String> {
        self.cluster
            .objects(Resource::Event, Some(SPACE))
            .filter(|event| text_at(&event.value, &["involvedObject", "name"]) == name)
            .map(|event| {
                format!(
                    "{}: {}",
                    text_at(&event.value, &["reason"]),
                    text_at(&event.value, &["message"])
                )
            })
            .collect()
    }

    /// A StatefulSet with one container and, if asked, a claim template.
    pub(super) fn stateful_set(&mut self, name: &str, change: impl FnOnce(&mut Value)) {
        let mut set = json!({
            "metadata": { "name": name },
            "spec": {
                "replicas": 2,
                "serviceName": format!("{name}-endpoints"),
                "podManagementPolicy": "Parallel",
                "selector": { "matchLabels": { "app": name } },
                "template": {
                    "metadata": { "labels": { "app": name } },
                    "spec": { "containers": [{ "name": "work", "image": "work:1" }] },
                },
            },
        });
        change(&mut set);
        self.create(Resource::StatefulSet, set);
    }

    pub(super) fn image(&mut self, set: &str, image: &str) {
        let containers = json!([{ "name": "work", "image": image }]);
        let patch = json!({ "spec": { "template": { "spec": { "containers": containers } } } });
        self.patch(Resource::StatefulSet, set, patch);
    }
}

/// A claim template of one gibibyte.
pub(super) fn storage(name: &str) -> Value {
    json!([{
        "metadata": { "name": name },
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": { "requests": { "storage": "1Gi" } },
        },
    }])
}

/// A pod in a few words: what it waits for or why it ended, and how many of its containers are ready.
pub(super) fn describe(pod: &Value) -> String {
    let statuses = items_at(pod, &["status", "containerStatuses"]);
    let ready = statuses
        .iter()
        .filter(|status| status["ready"] == true)
        .count();
    let all = items_at(pod, &["spec", "containers"]).len();
    let reason = statuses
        .iter()
        .find_map(|status| {
            let state = &status["state"];
            [&state["waiting"], &state["terminated"]]
                .into_iter()
                .find(|state| state.is_object())
                .map(|state| text_at(state, &["reason"]))
        })
        .unwrap_or(text_at(pod, &["status", "phase"]));
    let restarts: u64 = statuses
        .iter()
        .filter_map(|status| number_at(status, &["restartCount"]))
        .sum();
    let ending = pod["metadata"].get("deletionTimestamp").is_some();
    let mut text = format!(
        "{ready}/{all} {}",
        if ending { "Terminating" } else { reason }
    );
    if restarts > 0 {
        text += &format!(" {restarts} restarts");
    }
    text
}
