//! Names: which application names are allowed, and every name that is derived from one.
//!
//! Kubernetes bounds names by kind, and an application, its storages and its containers share the namespace of a model
//! with all others. No suffix is reserved and no length is fixed: what an application *derives* is checked before
//! anything is stored, so that neither a name that is too long nor one that is taken shows up in a running cluster (B114,
//! B116).

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::{Charm, Filesystem, FilesystemKind};
use crate::kubernetes::names;
use crate::name::Uid;

/// The longest DNS label: names of services, containers and volumes, and the values of labels.
const LABEL: usize = 63;
/// The longest DNS subdomain: names of most objects.
const SUBDOMAIN: usize = 253;

/// Why a text is no application name; in Juju's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameRefused {
    /// It has an upper-case letter.
    #[error("invalid application name {0:?}, unexpected uppercase character")]
    Uppercase(String),
    /// A group after a hyphen has only digits, so it could be the name of a unit's pod.
    #[error("invalid application name {0:?}, unexpected number(s) found after last hyphen")]
    Number(String),
    /// It has a character other than lower-case letters, digits and hyphens.
    #[error("invalid application name {0:?}, unexpected character {1}")]
    Character(String, char),
    /// It is empty, does not begin with a letter, or has a hyphen too many.
    #[error("invalid application name {0:?}")]
    Malformed(String),
}

impl NameRefused {
    /// What is wrong, without the name.
    pub fn reason(&self) -> String {
        match self {
            Self::Uppercase(_) => "unexpected uppercase character".into(),
            Self::Number(_) => "unexpected number(s) found after last hyphen".into(),
            Self::Character(_, letter) => format!("unexpected character {letter}"),
            Self::Malformed(_) => {
                "it must begin with a letter and have no empty part between hyphens".into()
            }
        }
    }
}

/// Checks the form of an application's name: `[a-z][a-z0-9]*(-[a-z0-9]*[a-z][a-z0-9]*)*`.
///
/// # Errors
///
/// [`NameRefused`] says what is wrong.
pub fn check_application(name: &str) -> Result<(), NameRefused> {
    if name.chars().any(char::is_uppercase) {
        return Err(NameRefused::Uppercase(name.into()));
    }
    let known =
        |letter: &char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || *letter == '-';
    if let Some(letter) = name.chars().find(|letter| !known(letter)) {
        return Err(NameRefused::Character(name.into(), letter));
    }
    let mut groups = name.split('-');
    let first = groups.next().unwrap_or_default();
    if !first.starts_with(|letter: char| letter.is_ascii_lowercase()) {
        return Err(NameRefused::Malformed(name.into()));
    }
    for group in groups {
        if group.is_empty() {
            return Err(NameRefused::Malformed(name.into()));
        }
        if group.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(NameRefused::Number(name.into()));
        }
    }
    Ok(())
}

/// Whether a text is a DNS label: at most 63 lower-case letters, digits and hyphens, none of them at an end.
pub fn is_label(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= LABEL
        && !text.starts_with('-')
        && !text.ends_with('-')
        && text
            .bytes()
            .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'))
}

/// What a derived name names. Names of different scopes never clash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// StatefulSet of the namespace.
    Workload,
    /// Service of the namespace.
    Service,
    /// ServiceAccount of the namespace.
    Account,
    /// Secret of the namespace.
    Secret,
    /// Claim of the namespace, without the unit's number.
    Claim,
    /// Cluster-wide role.
    ClusterRole,
    /// Volume of the application's pods.
    Volume,
    /// Container of the application's pods.
    Container,
    /// Value of a label on the application's pods; bounded, and free to be shared.
    Label,
}

impl Scope {
    fn longest(self) -> usize {
        match self {
            Self::Service | Self::Volume | Self::Container | Self::Label => LABEL,
            Self::Workload | Self::Account | Self::Secret | Self::ClusterRole => SUBDOMAIN,
            // The number of a unit follows, and a hyphen.
            Self::Claim => SUBDOMAIN.saturating_sub(LONGEST_ORDINAL).saturating_sub(1),
        }
    }

    /// Whether the name is unique in the application's pods only, not in the namespace.
    fn is_of_the_pod(self) -> bool {
        matches!(self, Self::Volume | Self::Container)
    }
}

impl core::fmt::Display for Scope {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::Workload => "StatefulSet",
            Self::Service => "Service",
            Self::Account => "ServiceAccount",
            Self::Secret => "Secret",
            Self::Claim => "PersistentVolumeClaim",
            Self::ClusterRole => "ClusterRole",
            Self::Volume => "volume",
            Self::Container => "container",
            Self::Label => "label",
        })
    }
}

/// Digits of the largest ordinal.
const LONGEST_ORDINAL: usize = 10;

/// Digits of the hash in a pod's `controller-revision-hash` label, which follows the StatefulSet's name and a hyphen.
const REVISION_HASH: usize = 10;

/// Every name that an application derives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Derived {
    /// Name of the application.
    pub application: String,
    /// What is named, and how.
    pub names: Vec<(Scope, String)>,
}

/// Derives every name of an application: from its own, its namespace, its charm's containers and its filesystems.
pub fn derive(
    application: &str,
    uid: Uid,
    namespace: &str,
    charm: &Charm,
    filesystems: &[Filesystem],
) -> Derived {
    let mut derived = Vec::new();
    derived.push((Scope::Workload, application.into()));
    derived.push((Scope::Account, application.into()));
    derived.push((Scope::Service, application.into()));
    derived.push((Scope::Service, names::endpoints(application)));
    derived.push((
        Scope::ClusterRole,
        names::cluster_role(namespace, application),
    ));
    // Pods' names are labels of theirs, too; the hash of the revision is at least as long as any ordinal.
    derived.push((
        Scope::Label,
        format!("{application}-{}", "0".repeat(REVISION_HASH)),
    ));
    for container in &charm.containers {
        derived.push((Scope::Container, container.name.clone()));
        derived.push((
            Scope::Secret,
            names::pull_secret(application, &container.name),
        ));
    }
    for filesystem in filesystems {
        match filesystem.kind {
            FilesystemKind::Claim { .. } => {
                let template =
                    names::claim_template(application, &filesystem.storage, filesystem.index, uid);
                derived.push((Scope::Claim, format!("{template}-{application}")));
                derived.push((Scope::Volume, template));
            }
            FilesystemKind::Rootfs | FilesystemKind::Tmpfs => {
                derived.push((
                    Scope::Volume,
                    names::volume(application, &filesystem.storage, filesystem.index),
                ));
            }
        }
    }
    Derived {
        application: application.into(),
        names: derived,
    }
}

/// Why an application cannot have its name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameProblem {
    /// A derived name is longer than Kubernetes takes.
    #[error(
        "application name {application:?} is too long: the {scope} name {name:?} has {length} characters, Kubernetes \
         takes {longest}; choose a name that is {} shorter", .length.saturating_sub(*.longest)
    )]
    TooLong {
        /// Name of the application.
        application: String,
        /// What the derived name names.
        scope: Scope,
        /// The derived name.
        name: String,
        /// Its length.
        length: usize,
        /// The most that Kubernetes takes.
        longest: usize,
    },
    /// A derived name belongs to another application of the model.
    #[error(
        "application name {application:?} cannot be used: its {scope} {name:?} is the {scope} of application \
         {owner:?}; choose another name"
    )]
    Taken {
        /// Name of the application.
        application: String,
        /// What the derived name names.
        scope: Scope,
        /// The derived name.
        name: String,
        /// The application that has it.
        owner: String,
    },
    /// A derived name comes twice in the application itself.
    #[error(
        "application name {application:?} cannot be used: two of its {scope}s would be named {name:?}"
    )]
    Twice {
        /// Name of the application.
        application: String,
        /// What the derived name names.
        scope: Scope,
        /// The derived name.
        name: String,
    },
    /// A derived name belongs to Kubernetes itself.
    #[error(
        "application name {application:?} cannot be used: the {scope} {name:?} belongs to Kubernetes itself; choose \
         another name"
    )]
    OfKubernetes {
        /// Name of the application.
        application: String,
        /// What the derived name names.
        scope: Scope,
        /// The derived name.
        name: String,
    },
}

/// Checks every derived name of an application: its length, and that nobody else of the model has it.
///
/// # Errors
///
/// All problems, in the order of the names.
pub fn check(
    derived: &Derived,
    namespace: &str,
    others: &[Derived],
) -> Result<(), Vec<NameProblem>> {
    let application = &derived.application;
    let mut taken: BTreeMap<(Scope, &str), &str> = BTreeMap::new();
    for other in others
        .iter()
        .filter(|other| other.application != *application)
    {
        for (scope, name) in &other.names {
            if !scope.is_of_the_pod() && *scope != Scope::Label {
                taken.insert((*scope, name), &other.application);
            }
        }
    }
    let mut own = alloc::collections::BTreeSet::new();
    let mut problems = Vec::new();
    for (scope, name) in &derived.names {
        let (scope, longest) = (*scope, scope.longest());
        if name.len() > longest {
            problems.push(NameProblem::TooLong {
                application: application.clone(),
                scope,
                name: name.clone(),
                length: name.len(),
                longest,
            });
        }
        if let Some(owner) = taken.get(&(scope, name.as_str())) {
            problems.push(NameProblem::Taken {
                application: application.clone(),
                scope,
                name: name.clone(),
                owner: (*owner).to_string(),
            });
        }
        if !own.insert((scope, name)) {
            problems.push(NameProblem::Twice {
                application: application.clone(),
                scope,
                name: name.clone(),
            });
        }
        if is_of_kubernetes(scope, name, namespace) {
            problems.push(NameProblem::OfKubernetes {
                application: application.clone(),
                scope,
                name: name.clone(),
            });
        }
    }
    if problems.is_empty() {
        Ok(())
    } else {
        Err(problems)
    }
}

/// Every namespace has an account `default`, and the namespace `default` has the API server's own service.
fn is_of_kubernetes(scope: Scope, name: &str, namespace: &str) -> bool {
    match scope {
        Scope::Account => name == "default",
        Scope::Service => name == "kubernetes" && namespace == "default",
        _ => false,
    }
}

#[cfg(test)]
mod tests;
