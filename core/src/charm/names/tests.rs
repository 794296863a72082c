//! Tests of names.

use super::*;
use crate::charm::{Container, Filesystem, FilesystemKind, Format};
use alloc::string::ToString;
use alloc::vec;
use proptest::prelude::*;

fn charm(containers: &[String]) -> Charm {
    Charm {
        name: "charm".into(),
        summary: String::new(),
        description: String::new(),
        format: Format::Sidecar,
        user: Default::default(),
        bases: vec![],
        assumes: vec![],
        containers: containers
            .iter()
            .map(|name| Container {
                name: name.clone(),
                resource: "image".into(),
                mounts: vec![],
                uid: None,
                gid: None,
            })
            .collect(),
        storages: vec![],
        resources: vec![],
        devices: vec![],
        options: vec![],
    }
}

fn filesystem(storage: &str, index: Option<u32>, kind: FilesystemKind) -> Filesystem {
    Filesystem {
        storage: storage.into(),
        index,
        pool: None,
        kind,
        size_mib: 1,
        path: "/data".into(),
        read_only: false,
        mounts: vec![],
    }
}

fn claim() -> FilesystemKind {
    FilesystemKind::Claim {
        class: None,
        mode: Default::default(),
    }
}

fn plain(application: &str) -> Derived {
    derive(application, Uid(1), "m", &charm(&["web".into()]), &[])
}

#[test]
fn the_form_of_a_name_is_told_in_the_words_of_juju() {
    for good in ["a", "ledger", "ledger-k8s", "a1", "a-1b", "a-b1-c"] {
        assert_eq!(check_application(good), Ok(()), "{good}");
    }
    for (bad, text) in [
        (
            "Ledger",
            "invalid application name \"Ledger\", unexpected uppercase character",
        ),
        (
            "a-1",
            "invalid application name \"a-1\", unexpected number(s) found after last hyphen",
        ),
        (
            "a_b",
            "invalid application name \"a_b\", unexpected character _",
        ),
        ("", "invalid application name \"\""),
        ("1a", "invalid application name \"1a\""),
        ("a--b", "invalid application name \"a--b\""),
        ("a-", "invalid application name \"a-\""),
    ] {
        assert_eq!(check_application(bad).unwrap_err().to_string(), text);
    }
}

#[test]
fn b114_a_name_whose_derived_names_are_too_long_is_refused_before_anything_is_stored() {
    let long = "a".repeat(60);
    let problems = check(&plain(&long), "m", &[]).unwrap_err();
    assert!(
        problems[0]
            .to_string()
            .ends_with("has 70 characters, Kubernetes takes 63; choose a name that is 7 shorter"),
        "{}",
        problems[0]
    );
    assert_eq!(check(&plain(&"a".repeat(52)), "m", &[]), Ok(()));
    assert!(
        check(&plain(&"a".repeat(53)), "m", &[]).is_err(),
        "the hash of the revision"
    );
}

#[test]
fn the_name_of_a_storage_counts_too() {
    let storage = "s".repeat(40);
    let application = "a".repeat(20);
    let derived = derive(
        &application,
        Uid(1),
        "m",
        &charm(&[]),
        &[filesystem(&storage, None, claim())],
    );
    let problems = check(&derived, "m", &[]).unwrap_err();
    assert_eq!(problems.len(), 1);
    assert!(
        problems[0].to_string().contains("the volume name"),
        "{}",
        problems[0]
    );
}

#[test]
fn b116_a_name_that_another_application_derives_is_refused_whichever_comes_first() {
    let (x, endpoints) = (plain("x"), plain("x-endpoints"));
    assert_eq!(
        check(&endpoints, "m", core::slice::from_ref(&x)).unwrap_err()[0].to_string(),
        "application name \"x-endpoints\" cannot be used: its Service \"x-endpoints\" is the Service of application \
         \"x\"; choose another name"
    );
    assert!(check(&x, "m", &[endpoints]).is_err());
    assert_eq!(
        check(&plain("x-operator"), "m", &[x]),
        Ok(()),
        "no suffix is reserved"
    );
}

#[test]
fn secrets_of_containers_clash_across_applications() {
    let one = derive("a", Uid(1), "m", &charm(&["b-c".into()]), &[]);
    let other = derive("a-b", Uid(2), "m", &charm(&["c".into()]), &[]);
    let problems = check(&other, "m", &[one]).unwrap_err();
    assert!(
        problems[0].to_string().contains("Secret \"a-b-c-secret\""),
        "{}",
        problems[0]
    );
}

#[test]
fn volumes_of_one_application_clash_with_each_other() {
    let uid = Uid(0xdeadbeef << 96);
    let both = [
        filesystem("s", None, claim()),
        filesystem("s-deadbeef", None, FilesystemKind::Tmpfs),
    ];
    let problems = check(&derive("a", uid, "m", &charm(&[]), &both), "m", &[]).unwrap_err();
    assert_eq!(
        problems[0].to_string(),
        "application name \"a\" cannot be used: two of its volumes would be named \"a-s-deadbeef\""
    );
}

#[test]
fn what_kubernetes_has_made_itself_is_taken() {
    assert!(check(&plain("default"), "m", &[]).is_err());
    assert!(check(&plain("kubernetes"), "default", &[]).is_err());
    assert_eq!(check(&plain("kubernetes"), "m", &[]), Ok(()));
}

#[test]
fn an_application_does_not_clash_with_its_own_former_names() {
    assert_eq!(check(&plain("x"), "m", &[plain("x")]), Ok(()));
}

/// An application whose names are apt to clash with others'.
#[derive(Clone, Debug)]
struct Wanted {
    name: String,
    containers: Vec<String>,
    filesystems: Vec<Filesystem>,
}

fn wanted() -> impl Strategy<Value = Wanted> {
    let word = "(a|b|endpoints|secret|deadbeef|c1)(-(a|b|endpoints|secret|deadbeef|x2)){0,3}";
    let storage = (proptest::option::of(0..3_u32), any::<bool>());
    (
        word,
        proptest::collection::btree_set(word, 0..3),
        proptest::collection::btree_map(word, storage, 0..3),
    )
        .prop_map(|(name, containers, storages)| Wanted {
            name,
            containers: containers.into_iter().collect(),
            filesystems: storages
                .into_iter()
                .map(|(storage, (index, is_claim))| {
                    let kind = if is_claim {
                        claim()
                    } else {
                        FilesystemKind::Rootfs
                    };
                    filesystem(&storage, index, kind)
                })
                .collect(),
        })
}

proptest! {
    #[test]
    fn objects_of_accepted_applications_never_share_a_name(applications in proptest::collection::vec(wanted(), 1..6)) {
        let mut accepted: Vec<Derived> = Vec::new();
        let mut objects = alloc::collections::BTreeSet::new();
        for (number, Wanted { name, containers, filesystems }) in applications.into_iter().enumerate() {
            // A name is taken until its record is gone.
            if accepted.iter().any(|other| other.application == name) {
                continue;
            }
            // Uids that begin alike make clashes likelier, not rarer.
            let uid = Uid((0xdeadbeef << 96) | number as u128);
            let derived = derive(&name, uid, "m", &charm(&containers), &filesystems);
            if check(&derived, "m", &accepted).is_err() {
                continue;
            }
            // Told again from Kubernetes' side, object by object.
            let mut add = |kind: &str, object: String, longest: usize| {
                prop_assert!(object.len() <= longest, "{kind} {object}");
                prop_assert!(objects.insert((kind.to_string(), object.clone())), "{kind} {object} comes twice");
                Ok(())
            };
            add("StatefulSet", name.clone(), 253)?;
            add("Service", name.clone(), 63)?;
            add("Service", format!("{name}-endpoints"), 63)?;
            for ordinal in [0, 1, 10] {
                add("Pod", format!("{name}-{ordinal}"), 63)?;
                for filesystem in filesystems.iter().filter(|filesystem| filesystem.kind == claim()) {
                    let template = names::claim_template(&name, &filesystem.storage, filesystem.index, uid);
                    add("PersistentVolumeClaim", format!("{template}-{name}-{ordinal}"), 253)?;
                }
            }
            for container in &containers {
                add("Secret", format!("{name}-{container}-secret"), 253)?;
            }
            accepted.push(derived);
        }
    }

    #[test]
    fn checking_a_name_is_total(name in ".*") {
        let _ = check_application(&name);
    }
}
