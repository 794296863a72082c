//! What a StatefulSet says of its pods.

use pilotage_core::time::Timestamp;
use serde_json::{Value, json};

use super::super::client::Client;
use super::revision::Revisions;
use super::{Member, Set};
use crate::cluster::object::{number_at, text_at};
use crate::cluster::request::Failure;

/// Writes the status if it says something new: the pods as the pass found them, less those that it rolled.
pub(super) fn write(
    client: &mut Client<'_>,
    set: &Set<'_>,
    members: &[Member],
    revisions: &Revisions,
    now: Timestamp,
    rolled: u64,
) -> Result<(), Failure> {
    let count = |test: &dyn Fn(&Member) -> bool| {
        members.iter().filter(|member| test(member)).count() as u64
    };
    let of =
        |revision: &str| count(&|member| !member.pod.deleting() && member.revision() == revision);
    let replicas = count(&|member| !member.phase().is_empty());
    let ready = count(&|member| member.ready_since().is_some());
    let available = count(&|member| member.available(set, now));
    let updated = of(revisions.update.name());
    let mut current_revision = revisions.current.name();
    let mut current = of(current_revision).saturating_sub(rolled);
    let all = |number: u64| number == set.replicas;
    if !set.on_delete && all(updated) && all(ready) && all(replicas) {
        current = updated;
        current_revision = revisions.update.name();
    }
    let mut status = json!({
        "observedGeneration": set.stored.generation(),
        "replicas": replicas,
        "availableReplicas": available,
        "currentRevision": current_revision,
        "updateRevision": revisions.update.name(),
        "collisionCount": revisions.collisions,
    });
    // Zeros of these are not written.
    for (field, number) in [
        ("readyReplicas", ready),
        ("currentReplicas", current),
        ("updatedReplicas", updated),
    ] {
        if number > 0 {
            status[field] = json!(number);
        }
    }
    let known = set.stored.value.get("status").unwrap_or(&Value::Null);
    let seen = number_at(known, &["observedGeneration"]).unwrap_or(0);
    let differs = |field: &str| {
        number_at(known, &[field]).unwrap_or(0) != number_at(&status, &[field]).unwrap_or(0)
    };
    let news = set.stored.generation() > seen
        || [
            "replicas",
            "readyReplicas",
            "availableReplicas",
            "currentReplicas",
            "updatedReplicas",
        ]
        .into_iter()
        .any(differs)
        || ["currentRevision", "updateRevision"]
            .into_iter()
            .any(|field| text_at(known, &[field]) != text_at(&status, &[field]));
    if !news {
        return Ok(());
    }
    let Some(set) = client.peek(super::super::client::Address::of(set.stored)) else {
        return Ok(());
    };
    client.set_status(&set, &status)
}
