//! Commands: each is one guarded request wherever it can be.
//!
//! | what | requests, in order | after a crash between them |
//! |---|---|---|
//! | a new record | make it | |
//! | the same, with values for the vault | values; the record; the values become the record's | values without a record are swept; values without an owner are given to it |
//! | the same, before its namespace is there | the namespace, as the model's worker makes it; the record | an empty namespace, which the model's worker finds as its own |
//! | a user's change | write the spec | |
//! | the same, where the record has not seen the last spec | keep the record; write the spec | the record has seen the last spec |
//! | numbers that a user draws; everything a provisioner says | write the status | |
//! | the write after one that replaced a password | the write; the former password is forgotten | a password that nobody needs, until the next write |
//! | the end | take the finalizer off; delete | a dead record without a finalizer, which is cleared again |
//! | the end of what was deleted | take the finalizer off | |

use std::collections::BTreeSet;
use std::sync::Arc;

use pilotage_core::kubernetes::labels::API_VERSION;
use pilotage_core::outcome::{Outcome, Refusal, Reply};
use pilotage_core::secret::SecretRef;
use pilotage_core::state::{
    ApplicationCommand, Caller, Command, Stopped, Transaction, Write as Kept, transaction,
};
use pilotage_core::time::Timestamp;
use serde_json::{Map, Value, json};

use super::api::{Api, Failed, Write};
use super::cache::{Entry, View};
use super::kind::{Key, Kind};
use super::link::{Link, Subject};
use super::object::{FINALIZER, Object, WRITTEN};
use super::record::{Record, differences};
use super::size::{LARGEST_SPEC, LARGEST_STATUS, too_large};
use super::spec;
use super::status::status;
use super::vault::Owner;
use super::wanted::{Wanted, wanted};
use crate::store::StoreError;

/// How often a command is tried again whose record somebody else had changed: nothing was done.
const ATTEMPTS: u32 = 8;

/// Why a command was not carried out yet.
enum Stop {
    /// Somebody else was faster: look again.
    Again(Key),
    /// For good.
    Failed(Failed),
    /// For good, and everything.
    Error(StoreError),
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        Stop::Error(error)
    }
}

/// What was written.
type Written = Result<Option<Object>, Stop>;

impl Link {
    /// The server, for requests whose failure is an outcome.
    pub(super) async fn reached(&self) -> Result<&Api, Failed> {
        let api = self.api().await;
        api.map_err(|error| Failed::NotSent(error.to_string()))
    }

    /// Carries out one command.
    pub(super) async fn execute(
        self: &Arc<Self>,
        at: Timestamp,
        command: &Command,
        secrets: &[(SecretRef, String)],
    ) -> Result<Outcome, StoreError> {
        use std::sync::atomic::Ordering::SeqCst;
        self.begin().await?;
        if !self.installed.load(SeqCst) {
            self.install().await?;
        }
        let turn = self.turn(subject(command));
        let _mine = turn.lock().await;
        let by_user = is_by_user(command);
        let mut looked = false;
        if by_user && let Some(key) = self.place(command) {
            // People act on what there is now, whoever wrote it.
            self.look(&key).await?;
            looked = true;
        }
        for _ in 0..ATTEMPTS {
            let (done, before) = {
                let cache = self.cache();
                let view = View {
                    cache: &cache,
                    without: None,
                };
                let done = transaction(&view, at, command);
                let place = place_in(&cache, command);
                (done, place.and_then(|key| cache.entry(&key).cloned()))
            };
            let done = match done {
                Ok(done) => done,
                Err(Stopped::Failed(damaged)) => {
                    if !looked {
                        looked = true;
                        if self.look_for(command).await? {
                            continue;
                        }
                    }
                    return Err(damaged.into());
                }
                Err(Stopped::Denied(denial)) => {
                    // Perhaps only by what is no longer so.
                    if !looked {
                        looked = true;
                        if self.look_for(command).await? {
                            continue;
                        }
                    }
                    return Ok(denial.into());
                }
            };
            if done.write.is_none() && secrets.is_empty() {
                return Ok(Outcome::from(&done));
            }
            let written = self.commit(at, by_user, &done, before.as_ref(), secrets);
            match written.await {
                Ok(object) => {
                    if let (Some(entry), Some(needs)) = (&before, &done.needs) {
                        let comes = secrets.iter().map(|(secret, _)| secret);
                        let needs: BTreeSet<&SecretRef> = needs.iter().chain(comes).collect();
                        // Where this fails, the next write does it.
                        let _ = self.forget_secrets(&owner(entry), &needs, by_user).await;
                    }
                    return Ok(self.reply(done, before.as_ref(), object));
                }
                Err(Stop::Again(key)) => {
                    self.look(&key).await?;
                }
                Err(Stop::Failed(failed)) => return Ok(failed.outcome()),
                Err(Stop::Error(error)) => return Err(error),
            }
        }
        Ok(Outcome::Refused {
            reason: Refusal::TryAgain,
            message: "others change the record all the time".into(),
        })
    }

    fn place(&self, command: &Command) -> Option<Key> {
        place_in(&self.cache(), command)
    }

    /// Looks again at what a command is about; says whether there is anything new.
    async fn look_for(&self, command: &Command) -> Result<bool, StoreError> {
        let news = self.cache().news();
        match self.place(command) {
            Some(key) => drop(self.look(&key).await?),
            None => drop(self.list().await?),
        }
        Ok(self.cache().news() != news)
    }

    /// What is answered: the record as it stands now, and what that changed.
    fn reply(&self, done: Transaction, before: Option<&Entry>, object: Option<Object>) -> Outcome {
        let Some(object) = object else {
            return Outcome::from(&done);
        };
        let key = object.key.clone();
        let mut cache = self.cache();
        cache.see(object);
        let after = cache.entry(&key).and_then(|entry| entry.record.clone());
        drop(cache);
        let (
            Some(after),
            Reply::Recorded {
                before: at, drawn, ..
            },
        ) = (after, &done.reply)
        else {
            return Outcome::from(&done);
        };
        let before = before.and_then(|entry| entry.record.as_ref());
        Outcome::Done(Reply::Recorded {
            before: *at,
            version: after.version(),
            changes: differences(before, Some(&after)),
            drawn: *drawn,
        })
    }

    async fn commit(
        &self,
        at: Timestamp,
        by_user: bool,
        done: &Transaction,
        before: Option<&Entry>,
        secrets: &[(SecretRef, String)],
    ) -> Written {
        let after = match &done.write {
            None => {
                if let Some(entry) = before {
                    self.keep_for(entry, secrets).await?;
                }
                return Ok(None);
            }
            Some(Kept::PutModel(model)) => Record::Model(model.clone()),
            Some(Kept::PutApplication(application)) => Record::Application(application.clone()),
            Some(Kept::PutStorage(storage)) => Record::Storage(storage.clone()),
            Some(Kept::DropModel(_) | Kept::DropApplication(_) | Kept::DropStorage { .. }) => {
                return match before {
                    Some(entry) => self.clear(entry).await.map(|()| None),
                    None => Ok(None),
                };
            }
        };
        let Some(entry) = before else {
            return self.create(at, &after, secrets).await.map(Some);
        };
        self.keep_for(entry, secrets).await?;
        if by_user && let Some(wanted) = wanted(entry, &after) {
            if !entry.object.is_settled() {
                self.settle(&entry.object.key).await?;
                return Err(Stop::Again(entry.object.key.clone()));
            }
            self.check_size(entry, &after, at)?;
            if let Some(written) = self.write_spec(at, entry, wanted).await? {
                return Ok(Some(written));
            }
        }
        self.check_size(entry, &after, at)?;
        let written = self.write_status(at, entry, Some(&after), entry.refused.as_deref());
        written.await.map(Some)
    }

    async fn keep_for(&self, entry: &Entry, secrets: &[(SecretRef, String)]) -> Result<(), Stop> {
        let kept = self.keep_secrets(&owner(entry), secrets).await;
        kept.map_err(|failed| stop(&entry.object.key, failed))
    }

    /// Makes the object of a new record.
    async fn create(
        &self,
        at: Timestamp,
        record: &Record,
        secrets: &[(SecretRef, String)],
    ) -> Result<Object, Stop> {
        let (key, spec, model) = match record {
            Record::Model(model) => {
                let spec = spec::write_model(model.uid, &model.spec);
                (Key::new(Kind::Model, "", &model.name), spec, None)
            }
            Record::Application(application) => {
                let model = self.model(application.model)?;
                let spec = spec::write_application(application.uid, &application.spec.desire());
                let key = Key::new(Kind::Application, model.namespace(), &application.name);
                (key, spec, Some(model))
            }
            Record::Storage(storage) => {
                let model = self.model(storage.model)?;
                let name = format!("{}-{}", model.name, storage.instance.number);
                let spec = json!({ "storage": storage, "destroy": storage.destroy });
                let spec = spec.as_object().cloned().unwrap_or_default();
                (Key::new(Kind::Storage, "", &name), spec, Some(model))
            }
        };
        let status = status(Some(record), None, 1, at, &[]);
        check_sizes(&key, &json!(spec), &status)?;
        let mut metadata = json!({
            "name": key.name,
            "finalizers": [FINALIZER],
            "annotations": { WRITTEN: written_at(1, at) },
        });
        if key.kind.is_namespaced() {
            metadata["namespace"] = json!(key.namespace);
        }
        if let Some(model) = &model {
            let place = Key::new(Kind::Model, "", &model.name);
            if let Some(entry) = self.cache().entry(&place) {
                metadata["ownerReferences"] = json!([{
                    "apiVersion": API_VERSION,
                    "kind": Kind::Model.name(),
                    "name": model.name,
                    "uid": entry.object.uid,
                }]);
            }
        }
        let body = json!({
            "apiVersion": API_VERSION,
            "kind": key.kind.name(),
            "metadata": metadata,
            "spec": spec,
        });
        let made = self.make_record(&key, &body, record, secrets).await;
        match made {
            Err(Stop::Failed(failed)) if failed.misses_namespace() => {
                if let Some(model) = &model {
                    let made = self.make_namespace(model).await;
                    made.map_err(Stop::Failed)?;
                }
                self.make_record(&key, &body, record, secrets).await
            }
            other => other,
        }
    }

    async fn make_record(
        &self,
        key: &Key,
        body: &Value,
        record: &Record,
        secrets: &[(SecretRef, String)],
    ) -> Result<Object, Stop> {
        let api = self.reached().await.map_err(Stop::Failed)?;
        let mut owner = Owner {
            application: record.uid(),
            name: key.name.clone(),
            namespace: key.namespace.clone(),
            object: None,
        };
        let kept = self.keep_secrets(&owner, secrets).await;
        kept.map_err(Stop::Failed)?;
        let path = key.collection();
        match api.write::<Value>(&path, Write::Create(body)).await {
            Ok(value) => {
                let object = self.read(key.kind, value)?;
                if !secrets.is_empty() {
                    owner.object = Some(object.uid);
                    // Where this fails, the next provisioner does it.
                    let _ = self.own_secrets(&owner).await;
                }
                Ok(object)
            }
            Err(failed) => {
                if !secrets.is_empty() && !matches!(failed, Failed::Unknown(_)) {
                    let _ = self.drop_secrets(&owner).await;
                }
                Err(stop_unless_new(key, failed))
            }
        }
    }

    fn model(
        &self,
        uid: pilotage_core::name::Uid,
    ) -> Result<Arc<pilotage_core::state::Model>, Stop> {
        let cache = self.cache();
        let key = cache.place(Kind::Model, uid);
        let entry = key.as_ref().and_then(|key| cache.entry(key));
        match entry.and_then(|entry| entry.record.as_ref()) {
            Some(Record::Model(model)) => Ok(model.clone()),
            // The transaction has just found it.
            _ => Err(Stop::Failed(Failed::NotSent("its model is gone".into()))),
        }
    }

    fn check_size(&self, entry: &Entry, after: &Record, at: Timestamp) -> Result<(), Stop> {
        let object = &entry.object;
        let spec = match after {
            Record::Application(application) => {
                spec::write_application(application.uid, &application.spec.desire())
            }
            Record::Model(model) => spec::write_model(model.uid, &model.spec),
            Record::Storage(_) => Map::new(),
        };
        let status = status(Some(after), None, object.generation, at, &object.conditions);
        check_sizes(&object.key, &json!(spec), &status)
    }

    /// Writes what a user wants into the spec; nothing if the spec says it already.
    async fn write_spec(
        &self,
        at: Timestamp,
        entry: &Entry,
        wanted: Wanted,
    ) -> Result<Option<Object>, Stop> {
        let object = &entry.object;
        let Some(value) = self.look(&object.key).await? else {
            return Err(Stop::Again(object.key.clone()));
        };
        let there = self.read(object.key.kind, value.clone())?;
        if there.version != object.version {
            return Err(Stop::Again(object.key.clone()));
        }
        let nothing = Map::new();
        let spec = value["spec"].as_object().unwrap_or(&nothing);
        let operations = wanted.operations(spec, entry.refused.is_some());
        if operations.is_empty() {
            return Ok(None);
        }
        let mut patch = vec![guard(object)];
        let written = written_at(object.generation.saturating_add(1), at);
        patch.push(if object.annotated {
            let key = WRITTEN.replace('/', "~1");
            json!({ "op": "add", "path": format!("/metadata/annotations/{key}"), "value": written })
        } else {
            json!({ "op": "add", "path": "/metadata/annotations", "value": { WRITTEN: written } })
        });
        patch.extend(operations);
        let path = object.key.path();
        self.patch(&object.key, &path, &patch).await.map(Some)
    }

    /// Keeps a record in the status, as one that has seen the spec as it is.
    pub(super) async fn write_status_of(
        &self,
        at: Timestamp,
        entry: &Entry,
        record: Option<&Record>,
        refused: Option<&str>,
    ) -> Result<Object, Failed> {
        match self.write_status(at, entry, record, refused).await {
            Ok(object) => Ok(object),
            Err(Stop::Failed(failed)) => Err(failed),
            Err(Stop::Again(_)) => Err(Failed::Refused {
                code: 409,
                reason: "Conflict".into(),
                message: "somebody else was faster".into(),
                causes: Vec::new(),
                retry_after: None,
            }),
            Err(Stop::Error(error)) => Err(Failed::Unknown(error.to_string())),
        }
    }

    async fn write_status(
        &self,
        at: Timestamp,
        entry: &Entry,
        record: Option<&Record>,
        refused: Option<&str>,
    ) -> Result<Object, Stop> {
        let object = &entry.object;
        let status = status(record, refused, object.generation, at, &object.conditions);
        let patch = [
            guard(object),
            json!({ "op": "add", "path": "/status", "value": status }),
        ];
        let path = format!("{}/status", object.key.path());
        self.patch(&object.key, &path, &patch).await
    }

    /// Takes the record away: its finalizer, then what is left.
    async fn clear(&self, entry: &Entry) -> Result<(), Stop> {
        let object = &entry.object;
        let mut version = object.version;
        if object.has_finalizer() {
            version = self.release(object).await?.unwrap_or(version);
        }
        if !object.deleting {
            let api = self.reached().await.map_err(Stop::Failed)?;
            let options = json!({ "preconditions": {
                "uid": object.uid,
                "resourceVersion": version,
            }});
            let path = object.key.path();
            match api.write::<Value>(&path, Write::Delete(&options)).await {
                Ok(_) => {}
                Err(failed) if failed.is_missing() => {}
                Err(failed) => return Err(stop(&object.key, failed)),
            }
        }
        self.cache().lose(&object.key, object.uid);
        Ok(())
    }

    /// Takes our finalizer off; the version after it, if the object is still there.
    async fn release(&self, object: &Object) -> Result<Option<pilotage_core::name::Version>, Stop> {
        let others = object.finalizers.iter();
        let others: Vec<_> = others.filter(|name| &***name != FINALIZER).collect();
        let patch = [
            guard(object),
            json!({ "op": "replace", "path": "/metadata/finalizers", "value": others }),
        ];
        let api = self.reached().await.map_err(Stop::Failed)?;
        let path = object.key.path();
        match api.write::<Value>(&path, Write::Patch(&json!(patch))).await {
            Ok(value) => Ok(Some(self.read(object.key.kind, value)?.version)),
            Err(failed) if failed.is_missing() => Ok(None),
            Err(failed) => Err(stop(&object.key, failed)),
        }
    }

    /// Lets an object go of which there is no record.
    pub(super) async fn let_go(&self, object: &Object) -> Result<(), Failed> {
        match self.release(object).await {
            Ok(_) => {
                self.cache().lose(&object.key, object.uid);
                Ok(())
            }
            Err(Stop::Failed(failed)) => Err(failed),
            Err(Stop::Again(_)) => Ok(()),
            Err(Stop::Error(error)) => Err(Failed::Unknown(error.to_string())),
        }
    }

    /// Holds an object that others made until its record says that it may go.
    pub(super) async fn hold_on(&self, object: &Object) -> Result<(), Failed> {
        let add = match &*object.finalizers {
            [] => json!({ "op": "add", "path": "/metadata/finalizers", "value": [FINALIZER] }),
            _ => json!({ "op": "add", "path": "/metadata/finalizers/-", "value": FINALIZER }),
        };
        let api = self.reached().await?;
        let patch = json!([guard(object), add]);
        let path = object.key.path();
        let value = api.write::<Value>(&path, Write::Patch(&patch)).await?;
        let object = Object::read(object.key.kind, value);
        let object = object.map_err(|error| Failed::Unknown(error.to_string()))?;
        self.cache().see(object);
        Ok(())
    }

    async fn patch(&self, key: &Key, path: &str, patch: &[Value]) -> Result<Object, Stop> {
        let api = self.reached().await.map_err(Stop::Failed)?;
        let written = api.write::<Value>(path, Write::Patch(&json!(patch))).await;
        let value = written.map_err(|failed| stop(key, failed))?;
        Ok(self.read(key.kind, value)?)
    }

    fn read(&self, kind: Kind, value: Value) -> Result<Object, StoreError> {
        Object::read(kind, value).map_err(|error| self.error(error))
    }
}

/// Whose values are kept for an application.
fn owner(entry: &Entry) -> Owner {
    let object = &entry.object;
    Owner {
        application: object.record_uid(),
        name: object.key.name.clone(),
        namespace: object.key.namespace.clone(),
        object: Some(object.uid),
    }
}

fn stop(key: &Key, failed: Failed) -> Stop {
    if failed.is_conflict() || failed.is_missing() {
        Stop::Again(key.clone())
    } else {
        Stop::Failed(failed)
    }
}

fn stop_unless_new(key: &Key, failed: Failed) -> Stop {
    if failed.is_conflict() {
        Stop::Again(key.clone())
    } else {
        Stop::Failed(failed)
    }
}

/// The version that a patch is for: another is a conflict.
pub(super) fn guard(object: &Object) -> Value {
    let version = object.version;
    json!({ "op": "replace", "path": "/metadata/resourceVersion", "value": version })
}

fn written_at(generation: u64, at: Timestamp) -> String {
    format!("{generation}@{}", at.0)
}

fn check_sizes(key: &Key, spec: &Value, status: &Value) -> Result<(), Stop> {
    let spec = too_large(key, "spec", spec, LARGEST_SPEC);
    match spec.or_else(|| too_large(key, "record", status, LARGEST_STATUS)) {
        None => Ok(()),
        Some(message) => Err(Stop::Failed(Failed::Refused {
            code: 413,
            reason: "RequestEntityTooLarge".into(),
            message,
            causes: Vec::new(),
            retry_after: None,
        })),
    }
}

fn subject(command: &Command) -> Subject {
    match command {
        Command::Application { application, .. } => (Kind::Application, *application, 0),
        Command::Model { model, .. } => (Kind::Model, *model, 0),
        Command::Storage { model, number, .. } => (Kind::Storage, *model, *number),
    }
}

fn place_in(cache: &super::cache::Cache, command: &Command) -> Option<Key> {
    match command {
        // The place of another application that has the uid is none.
        Command::Application {
            body: ApplicationCommand::Add(_),
            ..
        } => None,
        Command::Application { application, .. } => cache.place(Kind::Application, *application),
        Command::Model { model, .. } => cache.place(Kind::Model, *model),
        Command::Storage { model, number, .. } => cache.storage_place(*model, *number),
    }
}

fn is_by_user(command: &Command) -> bool {
    let (Command::Application { caller, .. }
    | Command::Model { caller, .. }
    | Command::Storage { caller, .. }) = command;
    *caller == Caller::User
}
