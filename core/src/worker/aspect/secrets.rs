//! Secrets with which images are pulled: one per container whose image needs a login, and none beyond (KAPP-13).

use alloc::vec::Vec;

use crate::effect::Action;
use crate::kubernetes::{Key, Kind, Propagation};
use crate::reason::Reason;
use crate::time::Timestamp;
use crate::worker::memory::Memory;
use crate::worker::verdict::Verdict;
use crate::worker::view::View;

use super::ensure::ensure;

/// Pull secrets that are wanted.
pub fn secrets(view: &View, memory: &Memory, at: Timestamp) -> Verdict {
    let objects = view
        .wanted
        .iter()
        .filter(|wanted| wanted.kind == Kind::Secret);
    ensure(
        view,
        memory,
        at,
        objects.map(|wanted| (wanted.kind, &*wanted.name)),
        0,
    )
}

/// Pull secrets that no container needs any more. They go after the workload has stopped naming them.
pub fn surplus(view: &View) -> Verdict {
    if view.provisioning().is_none() {
        return Verdict::Settled;
    }
    let unwanted = view.objects.iter().filter(|seen| {
        seen.kind == Kind::Secret
            && !seen.deleting
            && !view
                .wanted
                .iter()
                .any(|w| w.kind == Kind::Secret && w.name == seen.name)
            && is_pull_secret(&view.name, &seen.name)
    });
    let deletes: Vec<(Action, Reason)> = unwanted
        .map(|seen| {
            let key = Key::new(Kind::Secret, view.namespace(), &seen.name);
            let action = Action::Delete {
                key: key.clone(),
                uid: seen.uid,
                propagation: Propagation::Background,
            };
            (action, Reason::Changed { key })
        })
        .collect();
    if deletes.is_empty() {
        Verdict::Settled
    } else {
        Verdict::Act(deletes)
    }
}

/// Whether the name has the form of a pull secret of the application. That it is ours its labels have said.
fn is_pull_secret(application: &str, name: &str) -> bool {
    let inner = name
        .strip_prefix(application)
        .and_then(|rest| rest.strip_prefix('-'));
    inner
        .and_then(|rest| rest.strip_suffix("-secret"))
        .is_some_and(|inner| !inner.is_empty())
}
