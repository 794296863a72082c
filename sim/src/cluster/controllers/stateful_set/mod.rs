//! Runs the pods of a StatefulSet (Kubernetes: "StatefulSets").
//!
//! One pass looks at the whole set: it takes in pods and revisions that belong to it, makes pods that are missing, removes pods
//! beyond the wanted number, replaces pods of old revisions, and writes down what it saw.

mod claims;
mod identity;
mod revision;
mod status;

use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;

use pilotage_core::time::{Span, Timestamp};
use serde_json::Value;

use self::identity::ordinal_of;
use self::revision::Revisions;
use super::client::{CONTROLLER_MANAGER, Client};
use super::conditions::condition;
use super::values::selects;
use super::{Next, Turn};
use crate::cluster::moment;
use crate::cluster::object::{Stored, items_at, number_at, remove_at, set_at, text_at};
use crate::cluster::request::{Failure, Propagation};
use crate::cluster::resource::Resource;

/// What the set says, read once.
struct Set<'a> {
    stored: &'a Stored,
    namespace: &'a str,
    name: &'a str,
    uid: &'a str,
    replicas: u64,
    start: u64,
    parallel: bool,
    on_delete: bool,
    partition: u64,
    min_ready: Span,
}

impl<'a> Set<'a> {
    fn read(stored: &'a Stored) -> Self {
        let number = |path: &[&str], default| number_at(&stored.value, path).unwrap_or(default);
        Set {
            stored,
            namespace: stored.namespace(),
            name: stored.name(),
            uid: stored.uid(),
            replicas: number(&["spec", "replicas"], 1),
            start: number(&["spec", "ordinals", "start"], 0),
            parallel: text_at(&stored.value, &["spec", "podManagementPolicy"]) == "Parallel",
            on_delete: text_at(&stored.value, &["spec", "updateStrategy", "type"]) == "OnDelete",
            partition: number(&["spec", "updateStrategy", "rollingUpdate", "partition"], 0),
            min_ready: Span::seconds(number(&["spec", "minReadySeconds"], 0)),
        }
    }

    fn wants(&self, ordinal: u64) -> bool {
        ordinal >= self.start && ordinal - self.start < self.replicas
    }
}

/// A pod of the set, as the pass found it.
#[derive(Clone)]
struct Member {
    ordinal: u64,
    pod: Arc<Stored>,
}

impl Member {
    fn phase(&self) -> &str {
        text_at(&self.pod.value, &["status", "phase"])
    }

    fn ended(&self) -> bool {
        matches!(self.phase(), "Failed" | "Succeeded")
    }

    fn revision(&self) -> &str {
        self.pod.label(revision::LABEL).unwrap_or("")
    }

    /// Since when the pod is running and ready, if it is.
    fn ready_since(&self) -> Option<Timestamp> {
        let ready = condition(self.pod.value.get("status")?, "Ready")?;
        let well = self.phase() == "Running" && text_at(ready, &["status"]) == "True";
        well.then(|| moment::parse(text_at(ready, &["lastTransitionTime"])).unwrap_or_default())
    }

    /// When the pod counts as available, if it is ready.
    fn available_at(&self, set: &Set<'_>) -> Option<Timestamp> {
        if set.min_ready == Span(0) {
            return self.ready_since().map(|_| Timestamp(0));
        }
        self.ready_since().map(|since| since.after(set.min_ready))
    }

    fn available(&self, set: &Set<'_>, now: Timestamp) -> bool {
        self.available_at(set).is_some_and(|moment| moment <= now)
    }

    /// Whether a rollout or scale down has to wait for this pod.
    fn unavailable(&self, set: &Set<'_>, now: Timestamp) -> bool {
        self.pod.deleting() || !self.available(set, now)
    }
}

pub(super) fn reconcile(turn: &mut Turn<'_>, namespace: &str, name: &str) -> Next {
    let now = turn.at;
    let client = turn.client(CONTROLLER_MANAGER);
    let Some(stored) = client.peek_in(Resource::StatefulSet, namespace, name) else {
        return Next::Settled;
    };
    let set = Set::read(&stored);
    let mut next = adopt(turn, &set).or(adopt_revisions(turn, &set));
    let ended = turn
        .memory
        .ending
        .remove(&(namespace.into(), name.into()))
        .unwrap_or_default();
    let mut client = turn.client(CONTROLLER_MANAGER);
    let members = members(&client, &set, &ended);
    let revisions = match revision::settle(&mut client, &set) {
        Ok(revisions) => revisions,
        Err(_) => return Next::Retry,
    };
    let mut pass = Pass {
        client,
        set: &set,
        revisions: &revisions,
        members: &members,
        now,
        rolled: 0,
        refused: false,
    };
    if !stored.deleting() {
        pass.work();
    }
    let (rolled, refused) = (pass.rolled, pass.refused);
    let mut client = turn.client(CONTROLLER_MANAGER);
    let written = status::write(&mut client, &set, &members, &revisions, now, rolled);
    let trimmed = revision::trim(&mut client, &set, &members, &revisions);
    if refused || written.is_err() || trimmed.is_err() {
        next = Next::Retry;
    }
    if !ended.is_empty() {
        next = next.or(Next::At(now));
    }
    // A pod that is ready becomes available by waiting.
    for moment in members
        .iter()
        .filter_map(|member| member.available_at(&set))
        .filter(|moment| *moment > now)
    {
        next = next.or(Next::At(moment));
    }
    next
}

/// Takes in pods that match the selector, bear a fitting name and belong to nobody; lets go of pods that no longer match.
fn adopt(turn: &mut Turn<'_>, set: &Set<'_>) -> Next {
    if set.stored.deleting() {
        return Next::Settled;
    }
    let selector = set.stored.at(&["spec", "selector"]);
    let loose: Vec<Arc<str>> = turn
        .memory
        .index
        .loose
        .iter()
        .filter(|(namespace, name)| {
            **namespace == *set.namespace && ordinal_of(set.name, name).is_some()
        })
        .map(|(_, name)| name.clone())
        .collect();
    let mut client = turn.client(CONTROLLER_MANAGER);
    let mut next = Next::Settled;
    for name in loose {
        let Some(pod) = client.peek_in(Resource::Pod, set.namespace, &name) else {
            continue;
        };
        if !selects(selector, pod.at(&["metadata", "labels"])) {
            continue;
        }
        next = next.or(Next::after(own(&mut client, set, &pod)));
    }
    for pod in client.dependents(set.uid) {
        if pod.resource == Resource::Pod
            && !pod.deleting()
            && pod.controller().is_some_and(|owner| owner.uid == set.uid)
            && !selects(selector, pod.at(&["metadata", "labels"]))
        {
            let mut after = pod.value.clone();
            let owners: Vec<Value> = items_at(&after, &["metadata", "ownerReferences"])
                .iter()
                .filter(|reference| text_at(reference, &["uid"]) != set.uid)
                .cloned()
                .collect();
            if owners.is_empty() {
                remove_at(&mut after, &["metadata", "ownerReferences"]);
            } else {
                set_at(&mut after, &["metadata", "ownerReferences"], owners.into());
            }
            next = next.or(Next::after(client.change(&pod, &after)));
        }
    }
    next
}

/// Takes in revisions that a former set of this selector left behind, so that its pods are known again.
fn adopt_revisions(turn: &mut Turn<'_>, set: &Set<'_>) -> Next {
    if set.stored.deleting() {
        return Next::Settled;
    }
    let selector = set.stored.at(&["spec", "selector"]);
    let loose: Vec<Arc<str>> = turn
        .memory
        .index
        .loose_revisions
        .iter()
        .filter(|(namespace, _)| **namespace == *set.namespace)
        .map(|(_, name)| name.clone())
        .collect();
    let mut client = turn.client(CONTROLLER_MANAGER);
    let mut next = Next::Settled;
    for name in loose {
        let revision = client.peek_in(Resource::ControllerRevision, set.namespace, &name);
        if let Some(revision) = revision
            && selects(selector, revision.at(&["metadata", "labels"]))
        {
            next = next.or(Next::after(own(&mut client, set, &revision)));
        }
    }
    next
}

/// Adds the set as the controlling owner of an object.
fn own(client: &mut Client<'_>, set: &Set<'_>, stored: &Stored) -> Result<(), Failure> {
    let mut after = stored.value.clone();
    let mut owners = items_at(&after, &["metadata", "ownerReferences"]).to_vec();
    owners.push(identity::owner_reference(set));
    set_at(
        &mut after,
        &["metadata", "ownerReferences"],
        Value::Array(owners),
    );
    client.change(stored, &after)
}

/// The pods that the set controls, by ordinal, and those that it has yet to see the end of.
fn members(client: &Client<'_>, set: &Set<'_>, ended: &[Arc<Stored>]) -> Vec<Member> {
    let mut members: Vec<Member> = client
        .dependents(set.uid)
        .into_iter()
        .chain(ended.iter().cloned())
        .filter(|pod| {
            pod.resource == Resource::Pod
                && pod.controller().is_some_and(|owner| owner.uid == set.uid)
        })
        .filter_map(|pod| {
            let ordinal = ordinal_of(set.name, pod.name())?;
            Some(Member { ordinal, pod })
        })
        .collect();
    // Of two of a name the living one counts.
    members.sort_by_key(|member| (member.ordinal, member.pod.deleting()));
    members.dedup_by_key(|member| member.ordinal);
    members
}

/// One pass over the pods of a set that is not being deleted.
struct Pass<'a> {
    client: Client<'a>,
    set: &'a Set<'a>,
    revisions: &'a Revisions,
    members: &'a [Member],
    now: Timestamp,
    /// How many pods this pass deleted because of their revision.
    rolled: u64,
    /// Whether a request was refused.
    refused: bool,
}

/// Whether a pass goes on.
#[derive(PartialEq, Eq)]
enum Step {
    Continue,
    Stop,
}

impl Pass<'_> {
    /// Fills up, then scales down, then rolls: each only when the one before has nothing left to do.
    fn work(&mut self) {
        if self.fill() == Step::Stop || self.retain() == Step::Stop || self.shrink() == Step::Stop {
            return;
        }
        if !self.set.on_delete {
            self.roll();
        }
    }

    fn member(&self, ordinal: u64) -> Option<&Member> {
        let place = self
            .members
            .binary_search_by_key(&ordinal, |member| member.ordinal);
        place.ok().and_then(|place| self.members.get(place))
    }

    /// Sees to every wanted ordinal: in order and one at a time, or all at once.
    fn fill(&mut self) -> Step {
        let (first, count) = (self.set.start, self.set.replicas);
        if !self.set.parallel {
            for ordinal in first..first + count {
                match self.fill_one(ordinal) {
                    Ok(Step::Continue) => {}
                    Ok(Step::Stop) => return Step::Stop,
                    Err(_) => return self.refuse(),
                }
            }
            return Step::Continue;
        }
        // Batches that double: a refusal ends the pass after its batch, so that a quota is not hammered.
        let mut done = 0;
        let mut batch = 1;
        while done < count {
            let end = count.min(done + batch);
            let mut refused = false;
            for index in done..end {
                refused |= self.fill_one(first + index).is_err();
            }
            if refused {
                return self.refuse();
            }
            done = end;
            batch *= 2;
        }
        Step::Continue
    }

    fn refuse(&mut self) -> Step {
        self.refused = true;
        Step::Stop
    }

    fn fill_one(&mut self, ordinal: u64) -> Result<Step, Failure> {
        let Some(member) = self.member(ordinal).cloned() else {
            if claims::leaving(&self.client, self.set, ordinal) {
                return Ok(Step::Stop);
            }
            self.create(ordinal)?;
            return Ok(if self.set.parallel {
                Step::Continue
            } else {
                Step::Stop
            });
        };
        if member.ended() {
            // The next one is made when this one is gone.
            if !member.pod.deleting() {
                self.delete(&member)?;
            }
            return Ok(Step::Stop);
        }
        if member.phase() == "Pending" {
            claims::create(&mut self.client, self.set, ordinal)?;
        }
        if !self.set.parallel && member.unavailable(self.set, self.now) {
            return Ok(Step::Stop);
        }
        if !claims::mounted(self.set, &member) {
            claims::create(&mut self.client, self.set, ordinal)?;
        }
        identity::restore(&mut self.client, self.set, &member)?;
        claims::own(&mut self.client, self.set, ordinal, &member.pod)?;
        Ok(Step::Continue)
    }

    fn create(&mut self, ordinal: u64) -> Result<(), Failure> {
        // Below the partition a pod comes back as it was before the rollout.
        let current = !self.set.on_delete && ordinal < self.set.start + self.set.partition;
        let revision = if current {
            &self.revisions.current
        } else {
            &self.revisions.update
        };
        let body = identity::pod(self.set, revision, ordinal);
        let name = identity::pod_name(self.set, ordinal);
        let made = claims::create(&mut self.client, self.set, ordinal)
            .and_then(|()| self.client.create(Resource::Pod, self.set.namespace, body));
        if let Err(failure) = &made {
            // A pod of that name that is not ours is silently waited for.
            if &*failure.reason != "AlreadyExists" {
                let text = format!(
                    "create Pod {name} in StatefulSet {} failed error: {}",
                    self.set.name, failure.message
                );
                self.client.warn(self.set.stored, "FailedCreate", &text);
            }
        }
        made?;
        if let Some(pod) = self
            .client
            .peek_in(Resource::Pod, self.set.namespace, &name)
        {
            claims::own(&mut self.client, self.set, ordinal, &pod)?;
        }
        Ok(())
    }

    fn delete(&mut self, member: &Member) -> Result<(), Failure> {
        let result = self
            .client
            .delete(&member.pod, Propagation::Background, None);
        match result {
            Err(failure) if failure.code != 404 => {
                let text = format!(
                    "delete Pod {} in StatefulSet {} failed error: {}",
                    member.pod.name(),
                    self.set.name,
                    failure.message
                );
                self.client.warn(self.set.stored, "FailedDelete", &text);
                Err(failure)
            }
            _ => Ok(()),
        }
    }

    /// The pods beyond the wanted ordinals, highest first.
    fn condemned(&self) -> Vec<Member> {
        let beyond = |member: &&Member| !self.set.wants(member.ordinal);
        self.members.iter().filter(beyond).rev().cloned().collect()
    }

    /// Gives the claims of pods that are to go the owner that the retention policy wants.
    fn retain(&mut self) -> Step {
        for member in self.condemned() {
            let owned = claims::own(&mut self.client, self.set, member.ordinal, &member.pod);
            if owned.is_err() {
                return self.refuse();
            }
        }
        Step::Continue
    }

    /// Removes what is beyond the wanted ordinals: one at a time and only when all others are well, or all at once.
    fn shrink(&mut self) -> Step {
        let condemned = self.condemned();
        let wanted = (0..self.set.replicas).map(|index| self.set.start + index);
        let unwell = wanted
            .filter_map(|ordinal| self.member(ordinal))
            .chain(condemned.iter().rev())
            .find(|member| member.unavailable(self.set, self.now))
            .map(|member| member.ordinal);
        for member in &condemned {
            if member.pod.deleting() {
                if self.set.parallel {
                    continue;
                }
                return Step::Stop;
            }
            let held = !self.set.parallel
                && !member.available(self.set, self.now)
                && unwell != Some(member.ordinal);
            if held {
                return Step::Stop;
            }
            if self.delete(member).is_err() {
                return self.refuse();
            }
            if !self.set.parallel {
                return Step::Stop;
            }
        }
        Step::Continue
    }

    /// Replaces the highest pod of an old revision, if every pod above it is well.
    fn roll(&mut self) {
        for index in (self.set.partition..self.set.replicas).rev() {
            let ordinal = self.set.start + index;
            // One that was made in this pass is not well yet.
            let Some(member) = self.member(ordinal).cloned() else {
                return;
            };
            if member.revision() != self.revisions.update.name() && !member.pod.deleting() {
                match self.delete(&member) {
                    Ok(()) => self.rolled += 1,
                    Err(_) => self.refused = true,
                }
                return;
            }
            if member.unavailable(self.set, self.now) {
                return;
            }
        }
    }
}
