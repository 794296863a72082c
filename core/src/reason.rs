//! Why something is done, or waited for: data, so that logs, dry runs, Kubernetes events and replays say the same.

use alloc::boxed::Box;

use serde::{Deserialize, Serialize};

use crate::kubernetes::Key;
use crate::outcome::Refusal;

/// Why something is done, or waited for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// The application has no such object yet.
    Missing {
        /// Which.
        key: Key,
    },
    /// Something else changed what we set.
    Drift {
        /// The object.
        key: Key,
        /// The first field that differs, as a path.
        field: Box<str>,
    },
    /// What is wanted of the object has changed.
    Changed {
        /// The object.
        key: Key,
    },
    /// Our next act on the object rests on what it really is now.
    ReadAgain {
        /// The object.
        key: Key,
    },
    /// More units are wanted.
    ScaleUp {
        /// Pods now.
        from: u32,
        /// Pods wanted.
        to: u32,
    },
    /// Fewer units are wanted, and those that go are dead.
    ScaleDown {
        /// Pods now.
        from: u32,
        /// Pods wanted.
        to: u32,
    },
    /// As many pods are asked for as are wanted, and no unit leaves any more.
    Scaled {
        /// Pods asked for.
        to: u32,
    },
    /// Units at or above the target are to end.
    EndUnits {
        /// The lowest that goes.
        from: u32,
    },
    /// A dead unit's record goes once its pod is confirmed gone.
    ConfirmGone {
        /// The pod.
        key: Key,
    },
    /// A pod of an old revision holds up a rollout that makes no progress.
    StuckRollout {
        /// The pod.
        pod: Box<str>,
    },
    /// What the cluster shows differs from what the record says.
    Report,
    /// The worker's own verdict has changed.
    Status,
    /// Storages of units get their numbers.
    NumberStorage,
    /// The application is being removed.
    Removal,
    /// The user asked to destroy the storage.
    DestroyStorage {
        /// The storage's id.
        storage: Box<str>,
    },
    /// An object of an application that was removed is still there.
    Leftover {
        /// Which.
        key: Key,
    },
    /// The model's namespace is to be made, or to go.
    Namespace,
    /// The model is being destroyed.
    ModelRemoval,

    /// Wait: the state or the cluster has not been read yet.
    NotSynced,
    /// Wait: the model's namespace is not ready.
    ModelNotReady,
    /// Wait: what the pods are made from is not known yet.
    NotProvisioned {
        /// What is missing, for people.
        text: Box<str>,
    },
    /// Wait: an object of a former application of this name is still going.
    PredecessorLeaving {
        /// Which.
        key: Key,
    },
    /// Pods that the workload asks for are not made; wait, or find out why.
    PodsMissing,
    /// Wait: the workload's controller cannot make pods.
    PodsRefused {
        /// What it said last.
        message: Box<str>,
    },
    /// Wait: somebody else's object has the name.
    Foreign {
        /// Which.
        key: Key,
    },
    /// Wait: the cluster or the state refused.
    Refused {
        /// What was refused.
        key: Option<Key>,
        /// The kind of refusal.
        refusal: Refusal,
        /// What it said.
        message: Box<str>,
    },
    /// Wait: no answer; what happened is being found out.
    NoAnswer {
        /// What was asked, if it concerns one object.
        key: Option<Key>,
    },
    /// Wait: a field is changed back again and again.
    Contested {
        /// The object.
        key: Key,
        /// The field.
        field: Box<str>,
    },
    /// Wait: units are not ready yet.
    Settling {
        /// Ready.
        ready: u32,
        /// Wanted.
        wanted: u32,
    },
    /// Wait: pods of dead units are still ending.
    PodsEnding,
    /// Wait: a rollout is held by a partition that somebody set.
    PartitionHeld {
        /// The partition.
        partition: u32,
    },
    /// Wait: objects are still going.
    ObjectsEnding,
    /// Wait: the worker itself broke an invariant and starts again.
    Broken {
        /// Which.
        text: Box<str>,
    },
}
