//! The one way in which an object of ours comes to be what its manifest says.
//!
//! | what is there | what is done |
//! |---|---|
//! | nothing | `Create` |
//! | something that was not told to us, or a doubt | `Get` |
//! | ours, going | wait until it is gone (B06) |
//! | ours, as wanted | nothing |
//! | ours, not as wanted, our entry not yet taken over | `Get`, then `TakeOver`, then `Apply` |
//! | ours, not as wanted | `Apply` |
//! | not ours | wait, and say so (B80) |

use alloc::vec::Vec;

use crate::effect::Action;
use crate::kubernetes::satisfies::Match;
use crate::kubernetes::{Key, Kind, ownership};
use crate::reason::Reason;
use crate::time::Timestamp;
use crate::worker::memory::Memory;
use crate::worker::verdict::Verdict;
use crate::worker::view::{Seen, View};
use crate::worker::wanted;

/// Brings objects to what their manifests say, as many at once as are at the same point.
///
/// `replicas` is the number of pods that a workload is born with.
pub fn ensure<'a>(
    view: &View,
    memory: &Memory,
    at: Timestamp,
    objects: impl Iterator<Item = (Kind, &'a str)>,
    replicas: u32,
) -> Verdict {
    let mut creates = Vec::new();
    let mut changes = Vec::new();
    let mut reads = Vec::new();
    let mut wait = None;
    for (kind, name) in objects {
        match next(view, memory, at, kind, name, replicas) {
            Next::Settled => {}
            Next::Create(step) => creates.push(step),
            Next::Change(step) => changes.push(step),
            Next::Read(step) => reads.push(step),
            Next::Wait(until, reason) => {
                wait.get_or_insert((until, reason));
            }
        }
    }
    for steps in [reads, creates, changes] {
        if !steps.is_empty() {
            return Verdict::Act(steps);
        }
    }
    match wait {
        Some((until, reason)) => Verdict::Wait { until, reason },
        None => Verdict::Settled,
    }
}

enum Next {
    Settled,
    Read((Action, Reason)),
    Create((Action, Reason)),
    Change((Action, Reason)),
    Wait(Option<Timestamp>, Reason),
}

fn next(
    view: &View,
    memory: &Memory,
    at: Timestamp,
    kind: Kind,
    name: &str,
    replicas: u32,
) -> Next {
    let key = Key::new(kind, view.namespace(), name);
    let read = |key: Key| Next::Read((Action::Get { key: key.clone() }, Reason::ReadAgain { key }));
    if memory.is_suspect(kind, name) {
        return read(key);
    }
    let Some(seen) = view.object(kind, name) else {
        // What stands in the way is tried again when the backoff lets us: a POST touches nothing.
        let Some(manifest) = wanted::manifest(view, kind, name, replicas) else {
            return Next::Settled;
        };
        return Next::Create((Action::Create { manifest }, Reason::Missing { key }));
    };
    if seen.deleting {
        return Next::Wait(None, Reason::PredecessorLeaving { key });
    }
    let Some(wanted) = view
        .wanted
        .iter()
        .find(|w| w.kind == kind && *w.name == *name)
    else {
        return Next::Settled;
    };
    let standing = seen
        .standing
        .as_ref()
        .filter(|(digest, _)| *digest == wanted.digest);
    let because = match standing {
        Some((_, Match::Satisfied)) => return Next::Settled,
        Some((_, Match::Differs(_))) if seen.outdated => Reason::Changed { key: key.clone() },
        Some((_, Match::Differs(field))) => {
            if let Some(until) = memory.contested(at, seen.uid, field) {
                return Next::Wait(
                    Some(until),
                    Reason::Contested {
                        key,
                        field: field.clone(),
                    },
                );
            }
            Reason::Drift {
                key: key.clone(),
                field: field.clone(),
            }
        }
        // Compared with something else that we wanted before, or not at all: the live object has to say.
        Some((_, Match::Surplus(_))) | None => Reason::Changed { key: key.clone() },
    };
    change(view, memory, seen, key, because, replicas)
}

fn change(
    view: &View,
    memory: &Memory,
    seen: &Seen,
    key: Key,
    because: Reason,
    replicas: u32,
) -> Next {
    let Some(manifest) = wanted::manifest(view, seen.kind, &seen.name, replicas) else {
        return Next::Settled;
    };
    let (uid, version) = (seen.uid, seen.version);
    let apply = |manifest| {
        Next::Change((
            Action::Apply {
                uid,
                version,
                manifest,
            },
            because.clone(),
        ))
    };
    // Whether a surplus is ours only managed fields can tell.
    if seen.taken_over && matches!(seen.standing, Some((_, Match::Differs(_)))) {
        return apply(manifest);
    }
    let Some(fetched) = memory.fetched(uid, version) else {
        return Next::Read((Action::Get { key: key.clone() }, Reason::ReadAgain { key }));
    };
    match ownership::take_over(fetched, &manifest) {
        Some(patch) => Next::Change((
            Action::TakeOver {
                key,
                uid,
                version,
                patch,
            },
            because,
        )),
        None => apply(manifest),
    }
}
