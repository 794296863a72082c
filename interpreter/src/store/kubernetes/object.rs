//! A custom resource as it stands in the cluster, and the record that it is.

use std::sync::Arc;

use pilotage_core::name::{Uid, Version};
use pilotage_core::state::{Application, Desire, Kept, Model, ModelSpec, Storage, Written};
use pilotage_core::time::Timestamp;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::kind::{Key, Kind};
use super::record::Record;
use super::spec;
use super::status::{Condition, moment};

/// What keeps an object from going before its record says so.
pub(super) const FINALIZER: &str = "pilotage.dev/record";
/// Annotation: `GENERATION@MILLISECONDS`, when that generation of the spec was written through Pilotage.
pub(super) const WRITTEN: &str = "pilotage.dev/written";

/// A custom resource, as far as it matters.
#[derive(Clone, Debug)]
pub(super) struct Object {
    pub(super) key: Key,
    /// The object's own uid.
    pub(super) uid: Uid,
    /// Its resource version.
    pub(super) version: Version,
    pub(super) generation: u64,
    /// Whether it is to go.
    pub(super) deleting: bool,
    pub(super) finalizers: Vec<Box<str>>,
    /// Whether its spec was written through Pilotage, and so has been judged by all rules.
    pub(super) judged: bool,
    /// Whether it has annotations.
    pub(super) annotated: bool,
    /// Why what was kept of it cannot be read, if so: then nothing is known of its record.
    pub(super) damage: Option<Box<str>>,
    pub(super) conditions: Vec<Condition>,
    /// The generation that its status speaks of.
    pub(super) observed: Option<u64>,
    pub(super) content: Content,
}

/// What an object asks for, and what was kept of it.
#[derive(Clone, Debug)]
pub(super) enum Content {
    Model {
        written: Written<Box<ModelSpec>>,
        kept: Option<Kept<Model>>,
    },
    Application {
        written: Written<Box<Desire>>,
        kept: Option<Kept<Application>>,
    },
    Storage {
        written: Written<bool>,
        number: u32,
        /// What was kept; else as it was made.
        kept: Option<Kept<Storage>>,
    },
}

#[derive(Deserialize)]
struct Wire {
    metadata: Metadata,
    #[serde(default)]
    spec: Value,
    status: Option<Status>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    name: Box<str>,
    #[serde(default)]
    namespace: Box<str>,
    uid: Uid,
    resource_version: Version,
    #[serde(default)]
    generation: u64,
    creation_timestamp: Option<Box<str>>,
    deletion_timestamp: Option<Box<str>>,
    #[serde(default)]
    finalizers: Vec<Box<str>>,
    annotations: Option<std::collections::BTreeMap<Box<str>, Box<str>>>,
    #[serde(default)]
    managed_fields: Vec<Managed>,
}

#[derive(Deserialize)]
struct Managed {
    time: Option<Box<str>>,
    #[serde(default)]
    subresource: Box<str>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Status {
    observed_generation: Option<u64>,
    conditions: Vec<Condition>,
    record: Option<Value>,
}

impl Metadata {
    /// When the spec was written through Pilotage, if it was.
    fn written(&self) -> Option<Timestamp> {
        let written = self.annotations.as_ref()?.get(WRITTEN)?;
        let (generation, at) = written.split_once('@')?;
        (generation.parse() == Ok(self.generation)).then_some(())?;
        Some(Timestamp(at.parse().ok()?))
    }

    /// When the spec was last changed: as it was written with it; else when somebody last changed the object.
    fn at(&self) -> Timestamp {
        let edited = || {
            let edits = self.managed_fields.iter();
            edits
                .filter(|managed| &*managed.subresource != "status")
                .filter_map(|managed| moment(managed.time.as_deref()?))
                .max()
        };
        let made = || moment(self.creation_timestamp.as_deref()?);
        self.written()
            .or_else(edited)
            .or_else(made)
            .unwrap_or_default()
    }
}

/// A value that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} cannot be read: {why}")]
pub(super) struct Unreadable {
    pub(super) what: String,
    pub(super) why: String,
}

fn read<T: DeserializeOwned>(what: impl ToString, value: Value) -> Result<T, Unreadable> {
    serde_json::from_value(value).map_err(|error| Unreadable {
        what: what.to_string(),
        why: error.to_string(),
    })
}

impl Object {
    /// Reads one.
    pub(super) fn read(kind: Kind, value: Value) -> Result<Object, Unreadable> {
        let wire: Wire = read(format_args!("an object of kind {}", kind.name()), value)?;
        let metadata = wire.metadata;
        let key = Key::new(kind, &metadata.namespace, &metadata.name);
        let status = wire.status.unwrap_or_default();
        let observed = status.observed_generation;
        let mut damage = None;
        let at = metadata.at();
        let uid = spec::uid(&wire.spec).unwrap_or(metadata.uid);
        let leaving = metadata.deletion_timestamp.is_some();
        let written = |name: &str| Written {
            uid,
            name: name.into(),
            generation: metadata.generation,
            at,
            desire: Ok(()),
            leaving,
        };
        let content = match kind {
            Kind::Model => Content::Model {
                written: with(written(&key.name), spec::read_model(&wire.spec)),
                kept: kept(status.record, observed, &mut damage),
            },
            Kind::Application => {
                let mut desire = spec::read_application(&wire.spec);
                let kept: Option<Kept<Application>> = kept(status.record, observed, &mut damage);
                // One copy of a charm is enough.
                if let (Ok(desire), Some(kept)) = (&mut desire, &kept)
                    && desire.charm == kept.record.spec.charm
                {
                    desire.charm = kept.record.spec.charm.clone();
                }
                Content::Application {
                    written: with(written(&key.name), desire),
                    kept,
                }
            }
            Kind::Storage => {
                let destroy = wire.spec.get("destroy") == Some(&Value::Bool(true));
                let born = wire.spec.get("storage").cloned().unwrap_or_default();
                // Its name is the model's, a hyphen, and its number.
                let number = key.name.rsplit_once('-');
                let number = number.and_then(|(_, number)| number.parse().ok());
                let (record, observed) = match status.record {
                    Some(record) => (record, observed),
                    None => (born, Some(1)),
                };
                Content::Storage {
                    written: with(written(&key.name), Ok(destroy)),
                    number: number.unwrap_or(u32::MAX),
                    kept: kept(Some(record), observed, &mut damage),
                }
            }
        };
        Ok(Object {
            uid: metadata.uid,
            version: metadata.resource_version,
            generation: metadata.generation,
            deleting: leaving,
            judged: metadata.written().is_some(),
            annotated: metadata.annotations.is_some(),
            finalizers: metadata.finalizers,
            damage,
            conditions: status.conditions,
            observed,
            content,
            key,
        })
    }

    /// Whether a record of it was ever kept.
    pub(super) fn is_kept(&self) -> bool {
        match &self.content {
            Content::Model { kept, .. } => kept.is_some(),
            Content::Application { kept, .. } => kept.is_some(),
            Content::Storage { kept, .. } => kept.is_some(),
        }
    }

    /// Whether the kept record has seen the spec as it is.
    pub(super) fn is_settled(&self) -> bool {
        let observed = match &self.content {
            Content::Model { kept, .. } => kept.as_ref().map(|kept| kept.observed),
            Content::Application { kept, .. } => kept.as_ref().map(|kept| kept.observed),
            Content::Storage { kept, .. } => kept.as_ref().map(|kept| kept.observed),
        };
        observed.is_some_and(|observed| observed >= self.generation)
    }

    /// The identity of the record that it is; of a storage, its own.
    pub(super) fn record_uid(&self) -> Uid {
        match &self.content {
            Content::Model { written, kept } => match kept {
                Some(kept) => kept.record.uid,
                None => written.uid,
            },
            Content::Application { written, kept } => match kept {
                Some(kept) => kept.record.uid,
                None => written.uid,
            },
            Content::Storage { written, .. } => written.uid,
        }
    }

    /// Whether its record waits for our finalizer to go.
    pub(super) fn has_finalizer(&self) -> bool {
        self.finalizers.iter().any(|name| &**name == FINALIZER)
    }

    /// The record that it is, in the model that its namespace is of; and why its spec is not followed, if so.
    pub(super) fn record(&self, model: Option<Uid>) -> (Option<Record>, Option<Box<str>>) {
        match &self.content {
            Content::Model { written, kept } => {
                let observed = written.model(kept.as_ref());
                (observed.record.map(Record::Model), observed.refused)
            }
            Content::Application { written, kept } => {
                let observed = written.application(kept.as_ref(), model);
                (observed.record.map(Record::Application), observed.refused)
            }
            Content::Storage { written, kept, .. } => match kept {
                Some(kept) => {
                    let observed = written.storage(kept);
                    (observed.record.map(Record::Storage), observed.refused)
                }
                None => (None, None),
            },
        }
    }

    /// Why the spec that was seen is not followed, as its status says.
    pub(super) fn said(&self) -> Option<&str> {
        let accepted = self
            .conditions
            .iter()
            .find(|condition| &*condition.r#type == "Accepted")?;
        (&*accepted.status == "False").then_some(&*accepted.message)
    }
}

fn with<D>(written: Written<()>, desire: Result<D, Box<str>>) -> Written<D> {
    Written {
        uid: written.uid,
        name: written.name,
        generation: written.generation,
        at: written.at,
        desire,
        leaving: written.leaving,
    }
}

fn kept<R: DeserializeOwned>(
    record: Option<Value>,
    observed: Option<u64>,
    damage: &mut Option<Box<str>>,
) -> Option<Kept<R>> {
    match serde_json::from_value(record?) {
        Ok(record) => Some(Kept {
            record: Arc::new(record),
            observed: observed.unwrap_or(0),
        }),
        Err(error) => {
            *damage = Some(error.to_string().into());
            None
        }
    }
}
