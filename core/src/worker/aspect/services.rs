//! The application's services.

use crate::kubernetes::Kind;
use crate::time::Timestamp;
use crate::worker::memory::Memory;
use crate::worker::verdict::Verdict;
use crate::worker::view::View;

use super::ensure::ensure;

/// The application's address, and the names of its pods.
pub fn services(view: &View, memory: &Memory, at: Timestamp) -> Verdict {
    let objects = view
        .wanted
        .iter()
        .filter(|wanted| wanted.kind == Kind::Service);
    ensure(
        view,
        memory,
        at,
        objects.map(|wanted| (wanted.kind, &*wanted.name)),
        0,
    )
}
