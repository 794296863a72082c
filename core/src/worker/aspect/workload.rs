//! The workload, and a rollout that does not get on.

use crate::effect::Action;
use crate::kubernetes::{Key, Kind, Propagation, names};
use crate::reason::Reason;
use crate::state::TEMPLATE_REVISION;
use crate::time::{Span, Timestamp};
use crate::worker::memory::{Memory, Rollout};
use crate::worker::verdict::Verdict;
use crate::worker::view::{PodSeen, View};

use super::ensure::ensure;
use super::{scale, secrets};

/// How long a rollout may make no progress before a pod that holds it up is deleted (Kubernetes: "Forced Rollback").
const PATIENCE: Span = Span::seconds(60);

/// The StatefulSet; then its rollout.
pub fn workload(view: &View, memory: &Memory, at: Timestamp) -> Verdict {
    if let (None, Some(Err(text))) = (view.stateful_set(), &view.record.provisioning) {
        return Verdict::wait(Reason::NotProvisioned { text: text.clone() });
    }
    let object = core::iter::once((Kind::StatefulSet, &*view.name));
    let object = object.filter(|_| !belongs_to_an_older_release(view, memory));
    match ensure(view, memory, at, object, scale::pods_wanted(view)) {
        Verdict::Settled => {}
        verdict => return verdict,
    }
    match rollout(view, memory, at) {
        Verdict::Settled => {}
        verdict => return verdict,
    }
    match unmade(view, memory, at) {
        Verdict::Settled => {}
        verdict => return verdict,
    }
    match (secrets::surplus(view), &view.record.provisioning) {
        // What runs goes on running; that it could not be made again is named (B121).
        (Verdict::Settled, Some(Err(text))) => {
            Verdict::wait(Reason::NotProvisioned { text: text.clone() })
        }
        (verdict, _) => verdict,
    }
}

/// Whether the workload is there as an older release built it: then it is neither compared nor written until a user
/// changes something of it, or asks for this release's, because a difference would restart everybody's pods (B111).
fn belongs_to_an_older_release(view: &View, memory: &Memory) -> bool {
    let there = view.stateful_set().is_some_and(|set| !set.deleting)
        && !memory.is_suspect(Kind::StatefulSet, &view.name);
    there
        && view
            .provisioning()
            .is_some_and(|made_from| made_from.template != TEMPLATE_REVISION)
}

/// Whether the workload's controller has seen how many pods are asked for, and has not made them all.
pub fn lacks_pods(view: &View) -> bool {
    let Some(workload) = &view.workload else {
        return false;
    };
    let pods = view.pods.iter();
    let pods = pods.filter(|pod| pod.owner == Some(workload.uid)).count();
    workload.observed && u32::try_from(pods).unwrap_or(u32::MAX) < workload.replicas
}

/// Pods that do not come: a quota or a policy for pods is seen by the workload's controller alone, and told in its
/// warnings (B98).
fn unmade(view: &View, memory: &Memory, at: Timestamp) -> Verdict {
    let (Some(missing), Some(workload)) = (&memory.missing, &view.workload) else {
        return Verdict::Settled;
    };
    if at >= missing.look_at {
        let about = Key::new(Kind::StatefulSet, view.namespace(), &view.name);
        let uid = workload.uid;
        return Verdict::act(Action::Warnings { about, uid }, Reason::PodsMissing);
    }
    Verdict::Wait {
        until: Some(missing.look_at),
        reason: match &missing.warning {
            Some(message) => Reason::PodsRefused {
                message: message.clone(),
            },
            None => Reason::PodsMissing,
        },
    }
}

/// How far a rollout is; none if there is none.
pub fn progress(view: &View) -> Option<Rollout> {
    let workload = view.workload.as_ref()?;
    let mine = |pod: &&PodSeen| pod.owner == Some(workload.uid);
    let pods = || view.pods.iter().filter(mine);
    let new = |pod: &&PodSeen| pod.revision == workload.update_revision;
    let old = pods().any(|pod| pod.revision != workload.update_revision);
    let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    (workload.observed && old).then(|| Rollout {
        revision: workload.update_revision,
        progress: (
            count(pods().filter(new).count()),
            count(pods().filter(new).filter(|p| p.ready).count()),
        ),
        since: Timestamp::default(),
    })
}

fn rollout(view: &View, memory: &Memory, at: Timestamp) -> Verdict {
    let (Some(rollout), Some(workload)) = (&memory.rollout, &view.workload) else {
        return Verdict::Settled;
    };
    let stuck = view.pods.iter().rev().find(|pod| {
        pod.owner == Some(workload.uid)
            && pod.revision != workload.update_revision
            && pod.ordinal >= workload.partition
            && !pod.ready
            && !pod.deleting
    });
    let Some(pod) = stuck else {
        let held = view.pods.iter().any(|pod| {
            pod.ordinal < workload.partition && pod.revision != workload.update_revision
        });
        return if held && workload.partition > 0 {
            Verdict::wait(Reason::PartitionHeld {
                partition: workload.partition,
            })
        } else {
            Verdict::Settled
        };
    };
    let until = rollout.since.after(PATIENCE);
    let name = names::pod(&view.name, pod.ordinal);
    // One at a time: until it is back, the next is no more stuck than before (B87).
    let going = (view.pods.iter()).any(|pod| pod.owner == Some(workload.uid) && pod.deleting);
    if at < until || going {
        // Pods that are on their way count as settling, not as stuck: nothing waits for this but its own deadline.
        return Verdict::Wait {
            until: (!going).then_some(until),
            reason: Reason::StuckRollout {
                pod: name.as_str().into(),
            },
        };
    }
    let key = Key::new(Kind::Pod, view.namespace(), &name);
    Verdict::act(
        Action::Delete {
            key,
            uid: pod.uid,
            propagation: Propagation::Background,
        },
        Reason::StuckRollout {
            pod: name.as_str().into(),
        },
    )
}
