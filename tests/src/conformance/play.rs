//! Operations as requests to the real cluster.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::forms::{FINALIZER, LABEL, NOTE, full_name, object, part};
use super::operation::{Deed, Edit, Guard, Operation, Target};
use super::rest::at_rest;
use crate::control_plane::{Answer, kind};
use crate::recorder::{Recorder, wrong_uid};

const JSON: &str = "application/json";
const APPLY: &str = "application/apply-patch+yaml";
const JSON_PATCH: &str = "application/json-patch+json";
const MERGE_PATCH: &str = "application/merge-patch+json";

/// Plays them, one after the other; where controllers have something to do, it waits until they have done it.
pub(super) fn play(recorder: &mut Recorder<'_>, operations: &[Operation]) {
    let mut player = Player {
        own: recorder.namespace(),
        recorder,
        seen: BTreeMap::new(),
    };
    for operation in operations {
        player.play(operation);
    }
    player.release();
}

/// What was seen under a name first, and whether controllers have to be waited for.
struct Player<'b, 'a> {
    own: &'static str,
    recorder: &'b mut Recorder<'a>,
    /// By path: the uid and version that were seen first.
    seen: BTreeMap<String, (Value, Value)>,
}

impl Player<'_, '_> {
    fn play(&mut self, operation: &Operation) {
        let who = operation.who;
        match &operation.deed {
            Deed::Create(target, form) => {
                let mut body = object(self.own, *target, *form);
                self.own_by(who, &mut body, form.owner);
                let path = kind(target.kind).collection(self.own);
                self.request(who, "POST", &path, &[], JSON, Some(body));
            }
            Deed::Apply {
                target,
                form,
                force,
                guard,
            } => {
                let mut body = object(self.own, *target, *form);
                self.own_by(who, &mut body, form.owner);
                let (uid, version) = self.guard(who, *target, *guard);
                set(&mut body, "uid", uid);
                set(&mut body, "resourceVersion", version);
                let path = self.path(*target);
                let query: &[(&str, &str)] = if *force { &[("force", "true")] } else { &[] };
                self.request(who, "PATCH", &path, query, APPLY, Some(body));
            }
            Deed::TakeOver(target, guard) => self.take_over(who, *target, *guard),
            Deed::Edit(target, edit) => {
                let path = self.path(*target);
                let patch = self.edit(*target, *edit);
                self.request(who, "PATCH", &path, &[], MERGE_PATCH, Some(patch));
            }
            Deed::Scale {
                name,
                replicas,
                guard,
            } => {
                let target = Target {
                    kind: "StatefulSet",
                    name,
                };
                let (uid, version) = self.guard(who, target, *guard);
                let answer = self.recorder.by(who).scale(name, *replicas, uid, version);
                if answer.status < 300 {
                    self.rest();
                }
            }
            Deed::Delete {
                target,
                guard,
                propagation,
                at_once,
            } => {
                let (uid, version) = self.guard(who, *target, *guard);
                let mut options = json!({});
                for (key, value) in [("uid", uid), ("resourceVersion", version)] {
                    if !value.is_null() {
                        options["preconditions"][key] = value;
                    }
                }
                // Who first takes its finalizer off a claim, its protector or the collector, is not promised.
                let propagation = propagation.filter(|_| target.kind != "PersistentVolumeClaim");
                if let Some(propagation) = propagation {
                    options["propagationPolicy"] = json!(propagation);
                }
                if *at_once {
                    options["gracePeriodSeconds"] = json!(0);
                }
                let path = self.path(*target);
                self.request(who, "DELETE", &path, &[], JSON, Some(options));
            }
            Deed::Get(target) => {
                self.read(who, *target);
            }
            // Those that lie in no namespace are among those of the cluster.
            Deed::List(of, _) if !kind(of).namespaced => {}
            Deed::List(kind, labelled) => {
                let label = format!("{LABEL}=pilotage");
                self.recorder
                    .by(who)
                    .list(kind, if *labelled { &label } else { "" });
            }
            Deed::Schedule(pod) => {
                self.recorder.schedule(pod);
                self.rest_if_there(pod);
            }
            Deed::Report(pod, phase, ready) => {
                self.recorder.report(pod, phase, *ready);
                self.rest_if_there(pod);
            }
            Deed::End(pod) => {
                let ends = self.recorder.sees(|live| live.ends(pod));
                if ends {
                    self.recorder.end(pod);
                    self.rest();
                }
            }
            Deed::Provide(claim) => {
                let pending = format!("PersistentVolumeClaim {claim}");
                let waits = self.recorder.sees(|live| {
                    live.field(&pending, "/status/phase") == "Pending"
                        && live
                            .field(&pending, "/metadata/deletionTimestamp")
                            .is_null()
                });
                if waits {
                    self.recorder.provide(claim, "2Gi");
                }
            }
        }
    }

    /// A request; if there is something that controllers may do about it, they are waited for.
    fn request(
        &mut self,
        who: &'static str,
        method: &str,
        path: &str,
        query: &[(&str, &str)],
        content_type: &str,
        body: Option<Value>,
    ) -> Answer {
        let hand = &mut self.recorder.by(who);
        let answer = hand.request(method, path, query, content_type, body);
        self.note(path, &answer);
        let metadata = &answer.body["metadata"];
        let controlled = ["StatefulSet", "Pod", "PersistentVolumeClaim"]
            .iter()
            .any(|kind| answer.body["kind"] == *kind)
            || method == "DELETE"
            || !metadata["deletionTimestamp"].is_null()
            || !metadata["ownerReferences"].is_null();
        if method != "GET" && answer.status < 300 && controlled {
            self.rest();
        }
        if answer.status == 201 && answer.body["kind"] == "PersistentVolumeClaim" {
            // The first write of a claim makes a version even if it says nothing new, which is known; so that no life is
            // about that, this is never the first.
            let path = kind("PersistentVolumeClaim").object(self.own, text(metadata, "name"));
            let mark = json!({ "metadata": { "annotations": { "pilotage.dev/made": "yes" } } });
            self.request(who, "PATCH", &path, &[], MERGE_PATCH, Some(mark));
        }
        answer
    }

    fn rest_if_there(&mut self, pod: &str) {
        if self.recorder.live().has(&format!("Pod {pod}")) {
            self.rest();
        }
    }

    fn note(&mut self, path: &str, answer: &Answer) {
        let metadata = &answer.body["metadata"];
        if metadata["uid"].is_string() {
            let name = text(metadata, "name");
            let path = if path.ends_with(&format!("/{name}")) {
                path.to_owned()
            } else {
                format!("{path}/{name}")
            };
            let first = (metadata["uid"].clone(), metadata["resourceVersion"].clone());
            self.seen.entry(path).or_insert(first);
        }
    }

    fn path(&self, target: Target) -> String {
        let Target { kind: of, name } = target;
        kind(of).object(self.own, &full_name(self.own, of, name))
    }

    /// The object as it is; null if there is none.
    fn read(&mut self, who: &'static str, target: Target) -> Value {
        let path = self.path(target);
        let answer = self.request(who, "GET", &path, &[], "", None);
        match answer.status {
            200 => answer.body,
            _ => Value::Null,
        }
    }

    /// Uid and version to name, null where there are none.
    fn guard(&mut self, who: &'static str, target: Target, guard: Guard) -> (Value, Value) {
        let none = (Value::Null, Value::Null);
        let first = self.seen.get(&self.path(target)).cloned();
        match guard {
            Guard::None => none,
            Guard::Nobody => (wrong_uid(), Value::Null),
            Guard::Absent => (Value::Null, json!("1")),
            Guard::Former => first.map_or(none, |(uid, _)| (uid, Value::Null)),
            Guard::Uid | Guard::Read | Guard::Stale => {
                let live = self.read(who, target);
                let (uid, version) = (
                    &live["metadata"]["uid"],
                    &live["metadata"]["resourceVersion"],
                );
                let version = match guard {
                    Guard::Read => version.clone(),
                    Guard::Stale => first.map_or(Value::Null, |(_, version)| version),
                    _ => Value::Null,
                };
                (uid.clone(), version)
            }
        }
    }

    /// Makes an object belong to a ConfigMap, if there is one of that name.
    fn own_by(&mut self, who: &'static str, object: &mut Value, owner: Option<&'static str>) {
        let Some(name) = owner else { return };
        if object["kind"] == "ClusterRole" {
            return;
        }
        let kind = "ConfigMap";
        let live = self.read(who, Target { kind, name });
        if live.is_object() {
            object["metadata"]["ownerReferences"] = json!([{
                "apiVersion": "v1", "kind": kind, "name": name, "uid": live["metadata"]["uid"],
                "blockOwnerDeletion": true, "controller": false,
            }]);
        }
    }

    /// What [`pilotage_core::kubernetes::ownership::take_over`] does, for any user.
    fn take_over(&mut self, who: &'static str, target: Target, guard: Guard) {
        let (uid, version) = self.guard(who, target, guard);
        let live = self.read(who, target);
        let entries = live["metadata"]["managedFields"].as_array();
        let entries = entries.cloned().unwrap_or_default();
        let of = |operation: &str| {
            entries.iter().position(|entry| {
                entry["manager"] == who
                    && entry["operation"] == operation
                    && entry["subresource"].is_null()
            })
        };
        let Some(at) = of("Update") else { return };
        let mut operations = Vec::new();
        if !uid.is_null() {
            operations.push(json!({ "op": "test", "path": "/metadata/uid", "value": uid }));
        }
        if !version.is_null() {
            operations.push(
                json!({ "op": "replace", "path": "/metadata/resourceVersion", "value": version }),
            );
        }
        let path = |rest: &str| format!("/metadata/managedFields/{at}{rest}");
        if of("Apply").is_some() {
            operations.push(json!({ "op": "remove", "path": path("") }));
        } else {
            operations
                .push(json!({ "op": "replace", "path": path("/operation"), "value": "Apply" }));
            for birth in ["f:replicas", "f:ports", "f:type"] {
                if !entries[at]["fieldsV1"]["f:spec"][birth].is_null() {
                    let path = path(&format!("/fieldsV1/f:spec/{birth}"));
                    operations.push(json!({ "op": "remove", "path": path }));
                }
            }
        }
        let path = self.path(target);
        let operations = json!(operations);
        self.request(who, "PATCH", &path, &[], JSON_PATCH, Some(operations));
    }

    fn edit(&self, target: Target, edit: Edit) -> Value {
        let metadata = |metadata: Value| json!({ "metadata": metadata });
        match edit {
            Edit::Label(value) => metadata(json!({ "labels": { LABEL: format!("by-{value}") } })),
            Edit::NoLabel => metadata(json!({ "labels": { LABEL: null } })),
            Edit::Note(value) => metadata(json!({ "annotations": { NOTE: format!("{value}") } })),
            Edit::Hold => metadata(json!({ "finalizers": [FINALIZER] })),
            Edit::Release => metadata(json!({ "finalizers": null })),
            Edit::Part(number) => part(self.own, target.kind, number),
            Edit::OnlyPart(number) => {
                let mut patch = part(self.own, target.kind, number);
                for field in patch
                    .as_object_mut()
                    .into_iter()
                    .flat_map(|all| all.values_mut())
                {
                    if let (Some(fields), "ConfigMap" | "Secret") =
                        (field.as_object_mut(), target.kind)
                    {
                        fields.entry("a").or_insert(Value::Null);
                        fields.entry("b").or_insert(Value::Null);
                    }
                }
                patch
            }
        }
    }

    /// Waits until the controllers have nothing to do.
    fn rest(&mut self) {
        self.recorder.rest("the controllers are at rest", at_rest);
    }

    /// Takes off all finalizers that were put on, so that everything can go.
    fn release(&mut self) {
        self.rest();
        let live = self.recorder.live();
        let held = live.all().filter(|object| {
            let finalizers = object["metadata"]["finalizers"].as_array();
            finalizers.is_some_and(|all| all.iter().any(|one| one == FINALIZER))
        });
        let path = |object: &Value| {
            kind(text(object, "kind")).object(self.own, text(&object["metadata"], "name"))
        };
        let paths: Vec<String> = held.map(path).collect();
        for path in paths {
            let patch = json!({ "metadata": { "finalizers": null } });
            self.request("alice", "PATCH", &path, &[], MERGE_PATCH, Some(patch));
        }
    }
}

fn text<'c>(value: &'c Value, field: &str) -> &'c str {
    value[field].as_str().unwrap_or_default()
}

fn set(object: &mut Value, field: &str, value: Value) {
    if !value.is_null() {
        object["metadata"][field] = value;
    }
}
