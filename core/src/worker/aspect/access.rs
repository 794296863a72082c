//! What the pods may do. Written before the pod template, so that no pod ever runs without the rights that it was
//! given (B02, B71; fact K18).

use crate::kubernetes::Kind;
use crate::time::Timestamp;
use crate::worker::memory::Memory;
use crate::worker::verdict::Verdict;
use crate::worker::view::View;

use super::ensure::ensure;

/// Account, roles, bindings.
pub fn access(view: &View, memory: &Memory, at: Timestamp) -> Verdict {
    let kinds = [
        Kind::ServiceAccount,
        Kind::Role,
        Kind::RoleBinding,
        Kind::ClusterRole,
        Kind::ClusterRoleBinding,
    ];
    let objects = view
        .wanted
        .iter()
        .filter(|wanted| kinds.contains(&wanted.kind));
    ensure(
        view,
        memory,
        at,
        objects.map(|wanted| (wanted.kind, &*wanted.name)),
        0,
    )
}
