//! Real charms: each is read as its row of the index says, or refused with the reason, file, line and place.
//!
//! The index was written by a script that knows nothing of our parser, and by people who looked at the files.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use pilotage_core::charm::resource::choose_images;
use pilotage_core::charm::{Charm, Count, ResourceKind, Severity, StorageKind, assumes::Features};
use pilotage_interpreter::charm::{
    CharmsFolder, Kind, Located, Mistakes, ReadCharm, ReadError, kind, read_bundle, read_charm,
};
use pilotage_tests::charms::real_charms;

/// A row of the index.
struct Row {
    charm: String,
    containers: BTreeSet<String>,
    storages: BTreeSet<String>,
    resources: BTreeSet<String>,
}

/// The rows of the table of charms in `INDEX.md`.
fn index(folder: &Path) -> Vec<Row> {
    let text = std::fs::read_to_string(folder.join("INDEX.md"))
        .expect("the folder of charms has an INDEX.md");
    let cells = |line: &str| {
        line.split('|')
            .map(|cell| cell.trim().to_string())
            .collect::<Vec<_>>()
    };
    let words = |cell: &str| {
        cell.split_whitespace()
            .filter(|word| *word != "none")
            .map(String::from)
            .collect::<BTreeSet<_>>()
    };
    text.lines()
        .map(cells)
        .filter(|cells| cells.len() == 8 && cells[2].contains('/'))
        .map(|cells| Row {
            charm: cells[1].clone(),
            containers: words(&cells[3]),
            storages: words(&cells[4]),
            resources: words(&cells[5]),
        })
        .collect()
}

/// A charm in the words of the index.
fn row(name: &str, charm: &Charm) -> Row {
    let size = |mib: u64| {
        if mib.is_multiple_of(1024) {
            format!("{}G", mib / 1024)
        } else {
            format!("{mib}M")
        }
    };
    let containers = charm.containers.iter().map(|container| {
        let uid = container
            .uid
            .map(|uid| format!(",uid={uid}"))
            .unwrap_or_default();
        format!("{}[{}m{uid}]", container.name, container.mounts.len())
    });
    let storages = charm.storages.iter().map(|storage| {
        let kind = match storage.kind {
            StorageKind::Filesystem => "filesystem",
            StorageKind::Block => "block",
        };
        let location = match &storage.location {
            Some(path) => format!("loc={path}"),
            None => String::from("noloc"),
        };
        let minimum = storage
            .minimum_size_mib
            .map(|mib| format!(",min={}", size(mib)));
        assert_eq!(
            storage.count,
            Count::One,
            "no sidecar charm of the index has several"
        );
        format!(
            "{}({kind},{location}{})",
            storage.name,
            minimum.unwrap_or_default()
        )
    });
    let resources = charm.resources.iter().map(|resource| {
        let kind = match resource.kind {
            ResourceKind::OciImage => "oci-image",
            ResourceKind::File => "file",
        };
        let source = if resource.upstream_source.is_some() {
            "us"
        } else {
            "-"
        };
        format!("{}({kind},{source})", resource.name)
    });
    Row {
        charm: name.into(),
        containers: containers.collect(),
        storages: storages.collect(),
        resources: resources.collect(),
    }
}

fn is_refused(charm: &str) -> bool {
    ["v1-", "draft-", "bad-"]
        .iter()
        .any(|prefix| charm.starts_with(prefix))
}

fn read(folder: &Path, charm: &str) -> ReadCharm {
    read_charm(&folder.join(charm)).unwrap_or_else(|error| panic!("{charm} is refused:\n{error}"))
}

#[test]
fn every_sidecar_charm_is_read_as_its_row_says() {
    let Some(folder) = real_charms("every_sidecar_charm_is_read_as_its_row_says") else {
        return;
    };
    let rows = index(&folder);
    let accepted: Vec<&Row> = rows.iter().filter(|row| !is_refused(&row.charm)).collect();
    assert!(
        accepted.len() >= 29,
        "the index has {} sidecar charms",
        accepted.len()
    );
    for expected in accepted {
        let charm = read(&folder, &expected.charm).charm;
        let found = row(&expected.charm, &charm);
        assert_eq!(
            found.containers, expected.containers,
            "containers of {}",
            expected.charm
        );
        assert_eq!(
            found.storages, expected.storages,
            "storages of {}",
            expected.charm
        );
        assert_eq!(
            found.resources, expected.resources,
            "resources of {}",
            expected.charm
        );
        assert_eq!(
            Features::ours().unmet(&charm.assumes),
            Vec::<String>::new(),
            "what {} assumes",
            expected.charm
        );
        let json = serde_json::to_string(&charm).expect("a charm is data");
        let back: Charm = serde_json::from_str(&json).expect("a charm reads back");
        assert_eq!(back, charm, "{} after a round trip", expected.charm);
    }
}

#[test]
fn every_folder_has_a_row_so_that_none_is_left_out() {
    let Some(folder) = real_charms("every_folder_has_a_row_so_that_none_is_left_out") else {
        return;
    };
    let rows: BTreeSet<String> = index(&folder).into_iter().map(|row| row.charm).collect();
    let folders: BTreeSet<String> = std::fs::read_dir(&folder)
        .expect("the folder can be read")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.is_dir() && !path.ends_with("_bundles"))
        .filter_map(|path| Some(path.file_name()?.to_str()?.to_string()))
        .collect();
    assert_eq!(rows, folders);
}

/// The mistakes of a refused charm, files without their folder.
fn mistakes(folder: &Path, charm: &str) -> Vec<Located> {
    match read_charm(&folder.join(charm)) {
        Err(ReadError::Mistakes(Mistakes(mistakes))) => mistakes
            .into_iter()
            .filter(|mistake| mistake.severity == Severity::Error)
            .map(|mistake| Located {
                file: mistake
                    .file
                    .rsplit('/')
                    .next()
                    .unwrap_or_default()
                    .to_string(),
                ..mistake
            })
            .collect(),
        Err(other) => panic!("{charm} is refused for another reason: {other}"),
        Ok(_) => panic!("{charm} is not refused"),
    }
}

#[test]
fn pod_spec_charms_drafts_and_mistakes_are_refused_with_file_line_and_place() {
    let Some(folder) =
        real_charms("pod_spec_charms_drafts_and_mistakes_are_refused_with_file_line_and_place")
    else {
        return;
    };
    /// File, line, keys that lead there, and what the problem says.
    type Expected = (&'static str, u32, &'static str, &'static str);
    let expected: &[(&str, &[Expected])] = &[
        (
            "v1-ambassador",
            &[(
                "metadata.yaml",
                17,
                "deployment",
                "pod-spec charms are not supported yet",
            )],
        ),
        (
            "v1-katib-controller",
            &[(
                "metadata.yaml",
                10,
                "min-juju-version",
                "pod-spec charms are not supported yet",
            )],
        ),
        (
            "v1-mariadb",
            &[(
                "metadata.yaml",
                16,
                "series",
                "pod-spec charms are not supported yet",
            )],
        ),
        (
            "v1-mediawiki",
            &[(
                "metadata.yaml",
                14,
                "series",
                "pod-spec charms are not supported yet",
            )],
        ),
        (
            "v1-minio",
            &[(
                "metadata.yaml",
                10,
                "min-juju-version",
                "pod-spec charms are not supported yet",
            )],
        ),
        (
            "v1-mysql",
            &[(
                "metadata.yaml",
                16,
                "series",
                "pod-spec charms are not supported yet",
            )],
        ),
        (
            "v1-redis-k8s",
            &[(
                "metadata.yaml",
                31,
                "deployment",
                "pod-spec charms are not supported yet",
            )],
        ),
        (
            "v1-tf-serving",
            &[(
                "metadata.yaml",
                23,
                "min-juju-version",
                "pod-spec charms are not supported yet",
            )],
        ),
        (
            "draft-snappass-test-systems",
            &[
                (
                    "metadata.yaml",
                    6,
                    "min-juju-version",
                    "keys of both formats",
                ),
                (
                    "metadata.yaml",
                    15,
                    "containers.snappass",
                    "unknown key \"systems\"",
                ),
                (
                    "metadata.yaml",
                    18,
                    "containers.redis",
                    "unknown key \"systems\"",
                ),
            ],
        ),
        (
            "bad-katib-controller-resources-typo",
            &[(
                "metadata.yaml",
                12,
                "containers.katib-controller",
                "unknown key \"resources\"",
            )],
        ),
        (
            "bad-loki-k8s-yaml",
            &[("metadata.yaml", 36, "", "this is not YAML")],
        ),
        (
            "bad-prometheus-k8s-charmcraft-yaml",
            &[("charmcraft.yaml", 245, "", "this is not YAML")],
        ),
    ];
    let rows = index(&folder);
    let refused: BTreeSet<&str> = rows
        .iter()
        .map(|row| row.charm.as_str())
        .filter(|charm| is_refused(charm))
        .collect();
    let listed: BTreeSet<&str> = expected.iter().map(|(charm, _)| *charm).collect();
    assert_eq!(
        refused, listed,
        "every refused charm of the index has its mistakes here"
    );
    for (charm, expected) in expected {
        let found = mistakes(&folder, charm);
        assert_eq!(found.len(), expected.len(), "{charm}: {found:#?}");
        for (found, (file, line, path, problem)) in found.iter().zip(*expected) {
            let place = (found.file.as_str(), found.line, found.path.as_str());
            assert_eq!(place, (*file, *line, *path), "{charm}: {found}");
            assert!(found.problem.contains(problem), "{charm}: {found}");
            assert!(!found.advice.is_empty(), "{charm}: {found}");
        }
    }
    let typo = mistakes(&folder, "bad-katib-controller-resources-typo");
    assert_eq!(typo[0].advice, "did you mean \"resource\"?");
}

#[test]
fn slips_that_do_no_harm_are_warnings_with_their_line() {
    let Some(folder) = real_charms("slips_that_do_no_harm_are_warnings_with_their_line") else {
        return;
    };
    let mut found = Vec::new();
    for row in index(&folder).iter().filter(|row| !is_refused(&row.charm)) {
        for warning in read(&folder, &row.charm).warnings {
            let file = warning
                .file
                .rsplit('/')
                .next()
                .unwrap_or_default()
                .to_string();
            found.push(format!(
                "{}: {file}:{}: {}",
                row.charm, warning.line, warning.problem
            ));
        }
    }
    assert_eq!(
        found,
        [
            "glance-k8s: config.yaml:83: the key \"default\" comes twice; the last one counts",
            "mariadb-k8s: charmcraft.yaml:58: no container mounts this storage; each unit gets it all the same",
            "mongodb-k8s: metadata.yaml:72: no container mounts this storage; each unit gets it all the same",
            "postgresql-k8s-16: config.yaml:746: the key \"escription\" means nothing in an option and is ignored",
            "postgresql-k8s-nonroot: config.yaml:710: the key \"escription\" means nothing in an option and is ignored",
            "redis-k8s: metadata.yaml:48: the key \"upstream\" means nothing in a resource and is ignored",
        ]
    );
}

#[test]
fn images_without_a_source_must_be_given_and_are_named_at_once() {
    let Some(folder) = real_charms("images_without_a_source_must_be_given_and_are_named_at_once")
    else {
        return;
    };
    let nothing = std::collections::BTreeMap::new();
    let mut missing = Vec::new();
    for row in index(&folder).iter().filter(|row| !is_refused(&row.charm)) {
        if let Err(error) = choose_images(&read(&folder, &row.charm).charm, &nothing) {
            let said = error.to_string();
            let (what, advice) = said.split_once('\n').expect("what to do about it");
            assert!(advice.contains("--resource NAME=IMAGE"), "{advice}");
            missing.push(format!("{}: {what}", row.charm));
        }
    }
    assert_eq!(
        missing,
        [
            "discourse-k8s: local charm missing OCI images for: discourse-image",
            "mariadb-k8s: local charm missing OCI images for: mariadb-image",
            "redis-k8s: local charm missing OCI images for: redis-image",
            "snappass-test: local charm missing OCI images for: redis-image, snappass-image",
            "wordpress-k8s: local charm missing OCI images for: wordpress-image",
        ]
    );
}

/// The charms that a bundle names, found by looking at its lines.
fn named_charms(bundle: &Path) -> BTreeSet<String> {
    let text = std::fs::read_to_string(bundle).expect("the bundle can be read");
    text.lines()
        .filter(|line| !line.trim_start().starts_with('#'))
        .filter_map(|line| line.split_once("charm:"))
        .map(|(_, rest)| {
            rest.split([',', '}', '#'])
                .next()
                .unwrap_or_default()
                .trim()
                .to_string()
        })
        .collect()
}

#[test]
fn bundles_whose_charms_are_not_there_are_refused_and_every_missing_charm_is_named() {
    let test = "bundles_whose_charms_are_not_there_are_refused_and_every_missing_charm_is_named";
    let Some(folder) = real_charms(test) else {
        return;
    };
    let charms = CharmsFolder::new(Some(folder.clone()));
    for name in [
        "kubeflow-lite-1.4/bundle.yaml",
        "kubeflow-airgap-1.7/bundle-airgap.yaml",
        "kfp-operators/bundle.yaml",
        "traefik-manual-3/bundle_3_reverse_termination.yaml",
        "kubernetes-simple/bundle.yaml",
    ] {
        let path = folder.join("_bundles").join(name);
        assert_eq!(kind(&path).expect("a bundle"), Kind::Bundle, "{name}");
        let Err(ReadError::Mistakes(Mistakes(mistakes))) = read_bundle(&path, &[], &charms) else {
            panic!("{name} is not refused for its charms");
        };
        let refused: Vec<&Located> = mistakes
            .iter()
            .filter(|mistake| mistake.path.ends_with(".charm"))
            .collect();
        let is_there = |charm: &str| {
            let name = charm.trim_start_matches("ch:").trim_start_matches("cs:");
            !name.starts_with('.') && folder.join(name).is_dir()
        };
        let missing: BTreeSet<String> = named_charms(&path)
            .into_iter()
            .filter(|charm| !is_there(charm))
            .collect();
        assert!(
            !missing.is_empty(),
            "{name} names charms that are not there"
        );
        for charm in &missing {
            let shown = charm.trim_start_matches("./");
            let named = |mistake: &&Located| {
                mistake.problem.contains(&format!("{charm:?}"))
                    || mistake.problem.contains(&format!("/{shown}\""))
            };
            let found: Vec<_> = refused.iter().copied().filter(named).collect();
            assert!(!found.is_empty(), "{name}: {charm} is not named as missing");
            assert!(
                found.iter().all(|mistake| mistake.line > 0),
                "{name}: {charm} has no line"
            );
        }
    }
}

#[test]
fn a_template_of_a_bundle_fails_with_what_to_do() {
    let Some(folder) = real_charms("a_template_of_a_bundle_fails_with_what_to_do") else {
        return;
    };
    let template = folder.join("_bundles/cos-lite-template");
    for path in [template.clone(), template.join("bundle.yaml.j2")] {
        let error = kind(&path)
            .expect_err("a template is no bundle")
            .to_string();
        assert!(
            error.ends_with("is a template, not YAML: render it first, and name what comes out"),
            "{error}"
        );
        let error = read_bundle(&path, &[], &CharmsFolder::default())
            .expect_err("nor is it read as one")
            .to_string();
        assert!(error.contains("is a template"), "{error}");
    }
}

#[test]
fn a_bundle_of_charms_of_the_folder_is_read_with_their_options_and_images() {
    let test = "a_bundle_of_charms_of_the_folder_is_read_with_their_options_and_images";
    let Some(folder) = real_charms(test) else {
        return;
    };
    let place = tempfile::tempdir().expect("a temporary folder");
    let write = |name: &str, text: &str| -> PathBuf {
        let path = place.path().join(name);
        std::fs::write(&path, text).expect("the file is written");
        path
    };
    let bundle = write(
        "bundle.yaml",
        "bundle: kubernetes\napplications:\n  store:\n    charm: ch:minio\n    scale: 2\n    trust: true\n    storage: {minio-data: 20G}\n  \
         pages:\n    charm: wordpress-k8s\n    num_units: 1\n    resources: {wordpress-image: docker.io/library/wordpress:6}\n\
         relations:\n- [store:object-storage, pages:object-storage]\n",
    );
    let overlay = write(
        "overlay.yaml",
        "applications:\n  store: {scale: 3, options: {port: 9001}}\n",
    );
    let charms = CharmsFolder::new(Some(folder));
    let read = read_bundle(&bundle, &[overlay], &charms).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(
        read.ignored,
        ["relation store:object-storage - pages:object-storage"]
    );
    let [pages, store] = read.applications.as_slice() else {
        panic!("two applications");
    };
    assert_eq!(
        (store.application.scale, store.application.trust),
        (Some(3), Some(true))
    );
    assert_eq!(store.read.charm.name, "minio");
    assert_eq!(store.config["port"].to_string(), "9001");
    assert_eq!(
        store.application.storage["minio-data"].size_mib,
        Some(20 * 1024)
    );
    assert!(store.images[0].from_upstream);
    assert_eq!(pages.images[0].image, "docker.io/library/wordpress:6");
    assert!(!pages.images[0].from_upstream);
}
