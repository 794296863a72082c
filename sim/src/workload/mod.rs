//! Standard workloads: small charms, and applications of them.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec;

use pilotage_core::charm::config::{ConfigOption, ConfigValue, OptionKind};
use pilotage_core::charm::{
    AccessMode, Charm, CharmUser, Constraints, Container, ContainerMount, Filesystem,
    FilesystemKind, Format, ResourceDeclaration, ResourceKind,
};
use pilotage_core::name::Uid;
use pilotage_core::state::{CharmOrigin, NewApplication};

/// A charm with one container, whose image it names itself, and one option, `port`.
pub fn ledger() -> Charm {
    Charm {
        name: "ledger-k8s".into(),
        summary: String::new(),
        description: String::new(),
        format: Format::Sidecar,
        user: CharmUser::Default,
        bases: vec![],
        assumes: vec![],
        containers: vec![Container {
            name: "ledger".into(),
            resource: "ledger-image".into(),
            mounts: vec![],
            uid: None,
            gid: None,
        }],
        storages: vec![],
        resources: vec![image("ledger-image", Some("registry.example/ledger:1"))],
        devices: vec![],
        options: vec![ConfigOption {
            name: "port".into(),
            kind: OptionKind::Int,
            default: Some(ConfigValue::Int(5432)),
            description: String::new(),
        }],
    }
}

/// A resource that is an image.
pub fn image(name: &str, upstream: Option<&str>) -> ResourceDeclaration {
    ResourceDeclaration {
        name: name.into(),
        kind: ResourceKind::OciImage,
        description: String::new(),
        upstream_source: upstream.map(Into::into),
        filename: None,
    }
}

/// A filesystem that is a claim.
pub fn claim(storage: &str, size_mib: u64) -> Filesystem {
    Filesystem {
        storage: storage.into(),
        index: None,
        pool: None,
        kind: FilesystemKind::Claim {
            class: None,
            mode: AccessMode::ReadWriteOnce,
        },
        size_mib,
        path: format!("/srv/{storage}"),
        read_only: false,
        mounts: vec![ContainerMount {
            container: "ledger".into(),
            path: format!("/var/lib/{storage}"),
        }],
    }
}

/// A new application of that charm, with one claim `data` and one directory `scratch` for each unit.
pub fn ledger_application(model: Uid, name: &str, scale: u32) -> NewApplication {
    let scratch = Filesystem {
        kind: FilesystemKind::Rootfs,
        ..claim("scratch", 64)
    };
    NewApplication {
        model,
        name: name.into(),
        charm: Arc::new(ledger()),
        origin: CharmOrigin {
            revision: 0,
            version: None,
        },
        resources: BTreeMap::new(),
        scale,
        trust: false,
        config: BTreeMap::new(),
        settings: BTreeMap::new(),
        constraints: Constraints::default(),
        storage: BTreeMap::new(),
        filesystems: vec![claim("data", 1024), scratch],
        devices: BTreeMap::new(),
        base: None,
    }
}
