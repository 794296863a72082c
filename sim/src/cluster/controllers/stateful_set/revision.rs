//! The revisions of a set's template, kept as ControllerRevision objects.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use serde_json::{Value, json};

use super::super::client::Client;
use super::super::hash::Fnv;
use super::{Member, Set, identity};
use crate::cluster::object::{Stored, at, number_at, set_at, text_at};
use crate::cluster::request::{Failure, Propagation};
use crate::cluster::resource::Resource;

/// The label by which a pod names its revision.
pub(super) const LABEL: &str = "controller-revision-hash";
const HASH_LABEL: &str = "controller.kubernetes.io/hash";

/// One state of the template.
#[derive(Clone)]
pub(super) struct Revision(Arc<Stored>);

impl Revision {
    pub(super) fn name(&self) -> &str {
        self.0.name()
    }

    pub(super) fn template(&self) -> &Value {
        at(&self.0.value, &["data", "spec", "template"]).unwrap_or(&Value::Null)
    }

    /// Whether it is of the set's template as it is now: see [`data`].
    fn keeps(&self, set: &Set<'_>) -> bool {
        let whole = |value: &Value| value.as_object().map(serde_json::Map::len);
        let (kept, wanted) = (self.template(), set.stored.at(&["spec", "template"]));
        let (Some(kept), wanted) = (kept.as_object(), wanted.and_then(Value::as_object)) else {
            return false;
        };
        let alone = [&["data"][..], &["data", "spec"]]
            .into_iter()
            .all(|path| self.0.at(path).and_then(whole) == Some(1));
        let wanted = wanted.into_iter().flatten();
        alone
            && kept.get("$patch").is_some_and(|mark| mark == "replace")
            && wanted.clone().count() + 1 == kept.len()
            && wanted
                .into_iter()
                .all(|(key, value)| kept.get(key) == Some(value))
    }

    fn number(&self) -> u64 {
        number_at(&self.0.value, &["revision"]).unwrap_or(0)
    }
}

/// The two revisions that a rollout goes between, and how often their names collided.
pub(super) struct Revisions {
    pub(super) current: Revision,
    pub(super) update: Revision,
    pub(super) collisions: u64,
}

fn known(client: &Client<'_>, set: &Set<'_>) -> Vec<Revision> {
    let mut known: Vec<Revision> = client
        .dependents(set.uid)
        .into_iter()
        .filter(|stored| stored.resource == Resource::ControllerRevision)
        .map(Revision)
        .collect();
    known.sort_by(|a, b| (a.number(), a.name()).cmp(&(b.number(), b.name())));
    known
}

/// Finds or makes the revision of the set's template as it is now, and the one that its pods come from.
pub(super) fn settle(client: &mut Client<'_>, set: &Set<'_>) -> Result<Revisions, Failure> {
    let known = known(client, set);
    let mut collisions = number_at(&set.stored.value, &["status", "collisionCount"]).unwrap_or(0);
    let next = known.last().map_or(1, |last| last.number() + 1);
    let same = known.iter().rfind(|revision| revision.keeps(set)).cloned();
    let update = match same {
        Some(revision) if revision.number() + 1 == next => revision,
        Some(revision) => {
            // The template is an old one again: its revision becomes the newest.
            let mut after = revision.0.value.clone();
            set_at(&mut after, &["revision"], json!(next));
            client.change(&revision.0, &after)?;
            reread(client, set, revision.name()).unwrap_or(revision)
        }
        None => create(client, set, &data(set), next, &mut collisions)?,
    };
    let current = text_at(&set.stored.value, &["status", "currentRevision"]);
    let current = known
        .into_iter()
        .find(|revision| revision.name() == current)
        .unwrap_or_else(|| update.clone());
    Ok(Revisions {
        current,
        update,
        collisions,
    })
}

fn reread(client: &Client<'_>, set: &Set<'_>, name: &str) -> Option<Revision> {
    client
        .peek_in(Resource::ControllerRevision, set.namespace, name)
        .map(Revision)
}

/// What a revision keeps: the template, to replace another whole.
fn data(set: &Set<'_>) -> Value {
    let mut template = set
        .stored
        .at(&["spec", "template"])
        .cloned()
        .unwrap_or(json!({}));
    set_at(&mut template, &["$patch"], json!("replace"));
    json!({ "spec": { "template": template } })
}

fn create(
    client: &mut Client<'_>,
    set: &Set<'_>,
    data: &Value,
    number: u64,
    collisions: &mut u64,
) -> Result<Revision, Failure> {
    loop {
        let hash = hash(data, *collisions);
        let name = format!("{}-{hash}", set.name);
        let mut body = json!({
            "apiVersion": "apps/v1",
            "kind": "ControllerRevision",
            "metadata": {
                "name": name,
                "namespace": set.namespace,
                "ownerReferences": [identity::owner_reference(set)],
            },
            "data": data,
            "revision": number,
        });
        let copied = [
            (
                ["metadata", "labels"],
                set.stored.at(&["spec", "template", "metadata", "labels"]),
            ),
            (
                ["metadata", "annotations"],
                set.stored.at(&["metadata", "annotations"]),
            ),
        ];
        for (path, value) in copied {
            if let Some(value) = value {
                set_at(&mut body, &path, value.clone());
            }
        }
        set_at(&mut body, &["metadata", "labels", HASH_LABEL], json!(hash));
        match client.create(Resource::ControllerRevision, set.namespace, body) {
            Ok(()) => {}
            Err(failure) if &*failure.reason == "AlreadyExists" => {
                let ours = reread(client, set, &name)
                    .is_some_and(|found| found.0.at(&["data"]) == Some(data));
                if !ours {
                    *collisions += 1;
                    continue;
                }
            }
            Err(failure) => return Err(failure),
        }
        if let Some(revision) = reread(client, set, &name) {
            return Ok(revision);
        }
    }
}

/// The part of a revision's name that its data give.
fn hash(data: &Value, collisions: u64) -> String {
    let mut fnv = Fnv::default();
    // As the encoder of the real controller writes it: sorted keys, and no bare angle brackets or ampersands.
    let text = data
        .to_string()
        .replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026");
    fnv.write(text.as_bytes());
    fnv.write(collisions.to_string().as_bytes());
    fnv.word()
}

/// Forgets the oldest revisions that nothing uses, beyond the set's limit.
pub(super) fn trim(
    client: &mut Client<'_>,
    set: &Set<'_>,
    members: &[Member],
    revisions: &Revisions,
) -> Result<(), Failure> {
    let limit = number_at(&set.stored.value, &["spec", "revisionHistoryLimit"]).unwrap_or(10);
    let unused: Vec<Revision> = known(client, set)
        .into_iter()
        .filter(|revision| {
            let name = revision.name();
            name != revisions.current.name()
                && name != revisions.update.name()
                && !members.iter().any(|member| member.revision() == name)
        })
        .collect();
    let excess = unused.len().saturating_sub(limit as usize);
    for revision in unused.iter().take(excess) {
        client.delete(&revision.0, Propagation::Background, None)?;
    }
    Ok(())
}
