//! The manifests of three applications as people can read them, and what of them may never change unnoticed.
#![allow(missing_docs)]

use pilotage_core::charm::{
    AccessMode, CharmUser, Constraints, ContainerMount, Filesystem, FilesystemKind,
};
use pilotage_core::digest::Digest;
use pilotage_core::kubernetes::manifest::Manifest;
use pilotage_core::kubernetes::write::{self, Site};
use pilotage_core::life::Life;
use pilotage_core::name::{Uid, Version};
use pilotage_core::secret::SecretRef;
use pilotage_core::state::{
    Login, ModelView, ProvisionedContainer, Provisioning, StatusReport, TEMPLATE_REVISION,
};
use serde_json::Value;

/// Digests of the pod templates below, by the revision that built them. Bytes that differ restart everybody's pods
/// (B111): they come with a new revision and a new line here, and the old line stays.
const TEMPLATES: &[(u32, &str)] = &[(1, "e045d3d4ecc2919d3230f9a8d7a55ae1")];

fn model() -> ModelView {
    ModelView {
        uid: Uid(0xa),
        version: Version(1),
        name: "shop".into(),
        namespace: "shop".into(),
        owns_namespace: true,
        life: Life::Alive,
        removal: None,
        resource_tags: [("team", "till")].into_iter().collect(),
        constraints: Constraints::default(),
        removed: vec![],
        destroyed: vec![],
        status: StatusReport::default(),
    }
}

fn container(name: &str) -> ProvisionedContainer {
    ProvisionedContainer {
        name: name.into(),
        image: format!("registry.example/{name}:1"),
        login: None,
        uid: None,
        gid: None,
    }
}

fn plain() -> Provisioning {
    Provisioning {
        revision: 3,
        template: TEMPLATE_REVISION,
        user: CharmUser::Default,
        containers: vec![container("web")],
        filesystems: vec![],
        constraints: Constraints::default(),
        service: Default::default(),
    }
}

fn filesystem(storage: &str, index: Option<u32>, kind: FilesystemKind) -> Filesystem {
    let at = index.map_or_else(String::new, |index| format!("/{index}"));
    let mount = |container: &str| ContainerMount {
        container: container.into(),
        path: format!("/srv/{storage}{at}"),
    };
    Filesystem {
        storage: storage.into(),
        index,
        pool: None,
        kind,
        size_mib: 256,
        path: format!("/charm/{storage}{at}"),
        read_only: storage == "scratch",
        mounts: vec![mount("db"), mount("backup")],
    }
}

fn rich() -> Provisioning {
    let claim = || FilesystemKind::Claim {
        class: Some("fast".into()),
        mode: AccessMode::ReadWriteOnce,
    };
    let login = Login {
        username: "clerk".into(),
        secret: SecretRef {
            application: Uid(0xb),
            name: "db-image".into(),
            generation: 2,
        },
        fingerprint: Digest::of(&"sesame"),
    };
    Provisioning {
        containers: vec![
            container("backup"),
            ProvisionedContainer {
                login: Some(login),
                uid: Some(10_001),
                gid: Some(10_002),
                ..container("db")
            },
        ],
        filesystems: vec![
            filesystem("data", Some(0), claim()),
            filesystem("data", Some(1), claim()),
            filesystem("cache", None, FilesystemKind::Tmpfs),
            filesystem("scratch", None, FilesystemKind::Rootfs),
        ],
        constraints: Constraints {
            mem: Some(2_048),
            tags: Some(vec!["disk=ssd".into(), "^spot=yes".into()]),
            zones: Some(vec!["a".into(), "b".into()]),
            ..Constraints::default()
        },
        ..plain()
    }
}

fn manifests(provisioning: &Provisioning, trust: bool) -> Vec<Manifest> {
    let model = model();
    let site = Site {
        application: "ledger",
        uid: Uid(0xb),
        model: &model,
    };
    let mut manifests = vec![
        write::service_account(site),
        write::role(site, trust),
        write::role_binding(site),
        write::cluster_role(site, trust),
        write::cluster_role_binding(site),
    ];
    for container in &provisioning.containers {
        if let Some(login) = &container.login {
            manifests.push(write::pull_secret(site, container, login));
        }
    }
    manifests.push(write::service(site, &provisioning.service));
    manifests.push(write::endpoints(site));
    manifests.push(write::stateful_set(site, provisioning, 3));
    manifests
}

fn bodies(provisioning: &Provisioning, trust: bool) -> Vec<Value> {
    let manifests = manifests(provisioning, trust).into_iter();
    manifests.map(|manifest| manifest.body).collect()
}

fn spec(provisioning: &Provisioning) -> Value {
    bodies(provisioning, false).pop().expect("a StatefulSet")["spec"].clone()
}

#[test]
fn manifests_of_a_plain_application() {
    insta::assert_yaml_snapshot!(bodies(&plain(), false));
}

#[test]
fn manifests_of_an_application_that_asks_for_much() {
    insta::assert_yaml_snapshot!(bodies(&rich(), false));
}

#[test]
fn manifests_of_a_trusted_application() {
    // Trust changes two objects.
    insta::assert_yaml_snapshot!([&bodies(&plain(), true)[1], &bodies(&plain(), true)[3]]);
}

#[test]
fn pod_templates_change_only_with_their_revision() {
    let now = Digest::of(&[&spec(&plain())["template"], &spec(&rich())["template"]]).to_string();
    let (revision, kept) = TEMPLATES.last().expect("a revision");
    assert_eq!(*revision, TEMPLATE_REVISION, "a line for every revision");
    assert_eq!(
        now, *kept,
        "the templates differ: raise TEMPLATE_REVISION, and add a line to TEMPLATES"
    );
}

#[test]
fn what_a_stateful_set_can_never_change_stays_as_it_is() {
    // B104: everything but replicas, ordinals, template, updateStrategy, retention and minReadySeconds is immutable.
    let mut spec = spec(&rich());
    let fields = spec.as_object_mut().expect("an object");
    for mutable in [
        "replicas",
        "ordinals",
        "template",
        "updateStrategy",
        "persistentVolumeClaimRetentionPolicy",
    ] {
        fields.remove(mutable);
    }
    insta::assert_yaml_snapshot!(spec);
}
