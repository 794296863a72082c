//! The filesystems that each unit of an application gets.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::{Charm, Count, StorageDeclaration, StorageDirective, StorageKind};

/// One filesystem that every unit gets: what a charm's storage, a user's directive and a model's defaults make together.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Filesystem {
    /// Name of the storage in the charm.
    pub storage: String,
    /// Which of several, from 0; `None` where the charm does not declare `multiple`. It is part of the claim's name.
    pub index: Option<u32>,
    /// Name of the pool as the user or the model gave it; `None` where neither did. What `storage` shows.
    pub pool: Option<String>,
    /// What it is made of.
    pub kind: FilesystemKind,
    /// Size in MiB.
    pub size_mib: u64,
    /// Absolute path at which the charm itself sees it.
    pub path: String,
    /// Whether it is only read.
    pub read_only: bool,
    /// Where workload containers see it; by container, then as written.
    pub mounts: Vec<ContainerMount>,
}

/// Where one workload container sees a filesystem.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ContainerMount {
    /// Name of the container.
    pub container: String,
    /// Absolute path in it.
    pub path: String,
}

/// What a filesystem is made of.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FilesystemKind {
    /// A persistent volume claim.
    Claim {
        /// Name of the storage class; `None` leaves it to the cluster's default.
        class: Option<String>,
        /// How nodes may mount it.
        mode: AccessMode,
    },
    /// A directory of the node that ends with the pod.
    Rootfs,
    /// Memory of the node that ends with the pod.
    Tmpfs,
}

/// How nodes may mount a claim, in Kubernetes' words.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum AccessMode {
    /// Read and written by one node.
    #[default]
    ReadWriteOnce,
    /// Only read, by many nodes.
    ReadOnlyMany,
    /// Read and written by many nodes.
    ReadWriteMany,
}

/// A pool: a name for a way of making filesystems.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Pool {
    /// Its name.
    pub name: String,
    /// What makes its filesystems.
    pub provider: Provider,
    /// Attributes of the provider, such as `storage-class`.
    pub attributes: BTreeMap<String, String>,
}

/// What makes the filesystems of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Provider {
    /// The cluster, by claims.
    Kubernetes,
    /// The node's disk.
    Rootfs,
    /// The node's memory.
    Tmpfs,
}

/// What a model says about storage.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct StorageDefaults {
    /// Pool or storage class for storages without one; `None`: the cluster's default class.
    pub pool: Option<String>,
    /// Pools that users made, by name.
    pub pools: Vec<Pool>,
}

/// The size of a filesystem of which neither user nor charm says one, in MiB.
const DEFAULT_SIZE_MIB: u64 = 1024;

/// The most filesystems that a unit can have of one storage: a bound on what a slip of the user costs.
const MOST: u64 = 250;

/// Why an application's storage is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StorageRefused {
    /// A directive for a storage that the charm does not declare; in Juju's words.
    #[error("charm {charm:?} has no store called {storage:?}")]
    Unknown {
        /// Name of the charm.
        charm: String,
        /// Name of the storage.
        storage: String,
    },
    /// Containers get no block devices; in Juju's words.
    #[error("block storage {0:?} is not supported for container charms")]
    Block(String),
    /// More than the charm takes; in Juju's words.
    #[error(
        "charm {charm:?} store {storage:?}: at most {most} instances supported, {count} specified"
    )]
    TooMany {
        /// Name of the charm.
        charm: String,
        /// Name of the storage.
        storage: String,
        /// The most that the charm takes.
        most: u64,
        /// What was asked for.
        count: u64,
    },
    /// Fewer than the charm needs; in Juju's words.
    #[error("charm {charm:?} store {storage:?}: {least} instances required, {count} specified")]
    TooFew {
        /// Name of the charm.
        charm: String,
        /// Name of the storage.
        storage: String,
        /// The least that the charm needs.
        least: u64,
        /// What was asked for.
        count: u64,
    },
    /// Smaller than the charm needs.
    #[error(
        "charm {charm:?} store {storage:?}: minimum storage size is {least}M, {size}M specified"
    )]
    TooSmall {
        /// Name of the charm.
        charm: String,
        /// Name of the storage.
        storage: String,
        /// The least size in MiB.
        least: u64,
        /// What was asked for, in MiB.
        size: u64,
    },
    /// A filesystem without room for anything.
    #[error("storage {0:?} has a size of 0: give one, as {0}=1G")]
    NoSize(String),
    /// A pool with an access mode that Kubernetes does not know.
    #[error(
        "storage pool {pool:?}: storage mode {mode:?} not supported; use ReadWriteOnce, ReadWriteMany or ReadOnlyMany"
    )]
    Mode {
        /// Name of the pool.
        pool: String,
        /// The mode.
        mode: String,
    },
    /// Two filesystems would be mounted at one path of a container.
    #[error(
        "container {container:?} would have two storages at {path}; change a mount's location in the charm"
    )]
    SamePath {
        /// Name of the container.
        container: String,
        /// The path.
        path: String,
    },
}

/// What a unit's filesystems are: each storage of the charm, by the user's directives and the model's defaults.
///
/// They are sorted by storage, then index. A storage of several filesystems is mounted below its location, each in a
/// directory named by its index (B49); a storage of at most one, at the location itself.
///
/// # Errors
///
/// Everything that is refused, not only the first.
pub fn filesystems(
    charm: &Charm,
    directives: &BTreeMap<String, StorageDirective>,
    defaults: &StorageDefaults,
) -> Result<Vec<Filesystem>, Vec<StorageRefused>> {
    let mut refused: Vec<StorageRefused> = directives
        .keys()
        .filter(|storage| charm.storage(storage).is_none())
        .map(|storage| StorageRefused::Unknown {
            charm: charm.name.clone(),
            storage: storage.clone(),
        })
        .collect();
    let mut filesystems = Vec::new();
    for storage in &charm.storages {
        match of_storage(charm, storage, directives.get(&storage.name), defaults) {
            Ok(some) => filesystems.extend(some),
            Err(reason) => refused.push(reason),
        }
    }
    refused.extend(same_paths(&filesystems));
    if refused.is_empty() {
        Ok(filesystems)
    } else {
        Err(refused)
    }
}

fn of_storage(
    charm: &Charm,
    storage: &StorageDeclaration,
    directive: Option<&StorageDirective>,
    defaults: &StorageDefaults,
) -> Result<Vec<Filesystem>, StorageRefused> {
    if storage.kind == StorageKind::Block {
        return Err(StorageRefused::Block(storage.name.clone()));
    }
    let count = count(charm, storage, directive)?;
    if count == 0 {
        return Ok(Vec::new());
    }
    let size_mib = size(charm, storage, directive)?;
    let pool = directive
        .and_then(|directive| directive.pool.clone())
        .or_else(|| defaults.pool.clone());
    let kind = kind(pool.as_deref(), defaults)?;
    let multiple = storage.count != Count::One;
    let below = storage.count.maximum() != Some(1);
    let place = |location: &str, index: u32| {
        if below {
            format!("{location}/{index}")
        } else {
            String::from(location)
        }
    };
    Ok((0..count)
        .map(|index| {
            let path = match &storage.location {
                Some(location) => place(location, index),
                None => format!("/var/lib/pilotage/storage/{}/{index}", storage.name),
            };
            let mounts = charm.containers.iter().flat_map(|container| {
                let own = container
                    .mounts
                    .iter()
                    .filter(|mount| mount.storage == storage.name);
                own.map(|mount| ContainerMount {
                    container: container.name.clone(),
                    path: mount
                        .location
                        .as_deref()
                        .map_or_else(|| path.clone(), |location| place(location, index)),
                })
            });
            Filesystem {
                storage: storage.name.clone(),
                index: multiple.then_some(index),
                pool: pool.clone(),
                kind: kind.clone(),
                size_mib,
                mounts: mounts.collect(),
                path,
                read_only: storage.read_only,
            }
        })
        .collect())
}

/// How many: what the user asks for, else as few as the charm needs. A directive without a number asks for one.
fn count(
    charm: &Charm,
    storage: &StorageDeclaration,
    directive: Option<&StorageDirective>,
) -> Result<u32, StorageRefused> {
    let least = storage.count.minimum();
    let count = match directive {
        None => u64::from(least),
        Some(directive) => directive.count.unwrap_or_else(|| u64::from(least.max(1))),
    };
    let most = storage.count.maximum().map_or(MOST, u64::from).min(MOST);
    if count > most {
        return Err(StorageRefused::TooMany {
            charm: charm.name.clone(),
            storage: storage.name.clone(),
            most,
            count,
        });
    }
    if count < u64::from(least) {
        return Err(StorageRefused::TooFew {
            charm: charm.name.clone(),
            storage: storage.name.clone(),
            least: u64::from(least),
            count,
        });
    }
    Ok(u32::try_from(count).unwrap_or(u32::MAX))
}

fn size(
    charm: &Charm,
    storage: &StorageDeclaration,
    directive: Option<&StorageDirective>,
) -> Result<u64, StorageRefused> {
    let least = storage.minimum_size_mib;
    let size = directive
        .and_then(|directive| directive.size_mib)
        .or(least)
        .unwrap_or(DEFAULT_SIZE_MIB);
    if let Some(least) = least.filter(|least| size < *least) {
        return Err(StorageRefused::TooSmall {
            charm: charm.name.clone(),
            storage: storage.name.clone(),
            least,
            size,
        });
    }
    if size == 0 {
        return Err(StorageRefused::NoSize(storage.name.clone()));
    }
    Ok(size)
}

/// What a pool makes. A name that no pool has is that of a storage class; no name leaves the class to the cluster.
fn kind(pool: Option<&str>, defaults: &StorageDefaults) -> Result<FilesystemKind, StorageRefused> {
    let claim = |class: Option<&str>, mode| FilesystemKind::Claim {
        class: class.map(String::from),
        mode,
    };
    match pool {
        None | Some("kubernetes") => Ok(claim(None, AccessMode::default())),
        Some("rootfs") => Ok(FilesystemKind::Rootfs),
        Some("tmpfs") => Ok(FilesystemKind::Tmpfs),
        Some(name) => {
            let Some(pool) = defaults.pools.iter().find(|pool| pool.name == name) else {
                return Ok(claim(Some(name), AccessMode::default()));
            };
            match pool.provider {
                Provider::Rootfs => Ok(FilesystemKind::Rootfs),
                Provider::Tmpfs => Ok(FilesystemKind::Tmpfs),
                Provider::Kubernetes => {
                    let class = pool.attributes.get("storage-class").map(String::as_str);
                    Ok(claim(class, mode(pool)?))
                }
            }
        }
    }
}

/// The access mode of a pool (KAPP-61).
fn mode(pool: &Pool) -> Result<AccessMode, StorageRefused> {
    match pool.attributes.get("storage-mode").map(String::as_str) {
        None | Some("" | "ReadWriteOnce" | "RWO") => Ok(AccessMode::ReadWriteOnce),
        Some("ReadWriteMany" | "RWX") => Ok(AccessMode::ReadWriteMany),
        Some("ReadOnlyMany" | "ROX") => Ok(AccessMode::ReadOnlyMany),
        Some(mode) => Err(StorageRefused::Mode {
            pool: pool.name.clone(),
            mode: mode.into(),
        }),
    }
}

fn same_paths(filesystems: &[Filesystem]) -> Vec<StorageRefused> {
    let mut seen = BTreeSet::new();
    filesystems
        .iter()
        .flat_map(|filesystem| &filesystem.mounts)
        .filter(|mount| !seen.insert(*mount))
        .map(|mount| StorageRefused::SamePath {
            container: mount.container.clone(),
            path: mount.path.clone(),
        })
        .collect()
}
