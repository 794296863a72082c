//! Another revision of the charm, or the same with other resources, options, storage or trust.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;

use crate::charm::{AccessMode, Filesystem, FilesystemKind};
use crate::state::{Application, Denial, Refresh, TEMPLATE_REVISION};
use crate::time::Timestamp;

use super::{resources, settings};

impl Application {
    /// All of it or nothing. What is absent stays as it is.
    pub(super) fn refresh(&mut self, at: Timestamp, refresh: &Refresh) -> Result<(), Denial> {
        self.must_be_alive()?;
        let spec = &mut self.spec;
        let before = spec.clone();
        if let Some((charm, origin)) = &refresh.charm {
            spec.charm = charm.clone();
            spec.origin = origin.clone();
            // An option that the new revision does not have, or has with another kind, cannot keep its value.
            spec.config
                .retain(|name, value| settings::check_option(charm, name, Some(value)).is_ok());
        }
        spec.resources =
            resources::at_refresh(at, &spec.charm, &refresh.resources, &before.resources)?;
        settings::check_config(&spec.charm, &refresh.config)?;
        for (name, value) in &refresh.config {
            spec.config.insert(name.clone(), value.clone());
        }
        if refresh.charm.is_some() || !refresh.storage.is_empty() {
            if let Some(storage) = first_difference(&spec.filesystems, &refresh.filesystems) {
                return Err(Denial::ClaimsChange {
                    application: self.name.clone(),
                    storage,
                });
            }
            spec.filesystems = refresh.filesystems.clone();
            for (name, directive) in &refresh.storage {
                spec.storage.insert(name.clone(), directive.clone());
            }
        }
        if let Some(trust) = refresh.trust {
            spec.trust = trust;
        }
        if let Some(base) = &refresh.base {
            spec.base = Some(base.clone());
        }
        if spec.charm != before.charm
            || spec.origin != before.origin
            || spec.resources != before.resources
        {
            spec.modified = spec.modified.saturating_add(1);
        }
        if spec.modified != before.modified || spec.filesystems != before.filesystems {
            spec.template = TEMPLATE_REVISION;
        }
        let texts: BTreeMap<String, Option<String>> = refresh
            .settings
            .iter()
            .map(|(key, text)| (key.clone(), Some(text.clone())))
            .collect();
        self.change_settings(&texts)
    }
}

/// What of a filesystem stands in a claim template, which Kubernetes never changes ("StatefulSets": only replicas,
/// template, updateStrategy, retention policy, minReadySeconds and ordinals may).
type Claim<'a> = (&'a str, Option<u32>, Option<&'a str>, AccessMode, u64);

fn claims(filesystems: &[Filesystem]) -> BTreeSet<Claim<'_>> {
    filesystems
        .iter()
        .filter_map(|filesystem| match &filesystem.kind {
            FilesystemKind::Claim { class, mode } => Some((
                filesystem.storage.as_str(),
                filesystem.index,
                class.as_deref(),
                *mode,
                filesystem.size_mib,
            )),
            FilesystemKind::Rootfs | FilesystemKind::Tmpfs => None,
        })
        .collect()
}

/// The first storage whose claims would change. The worker does not recreate a workload for them yet, so such a refresh
/// is refused up front rather than left half way (B47).
pub(super) fn first_difference(before: &[Filesystem], after: &[Filesystem]) -> Option<String> {
    claims(before)
        .symmetric_difference(&claims(after))
        .next()
        .map(|claim| String::from(claim.0))
}
