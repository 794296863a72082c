//! Every v2 charm of the given folder, deployed by the real program on the embedded cluster; what comes to be is checked
//! against the charm's files by a reader that shares nothing with ours.
#![allow(missing_docs)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pilotage_tests::program::{Desk, texts};
use rusqlite::{Connection, OpenFlags};
use serde_json::Value;
use serde_yaml_ng::Value as Yaml;

/// Charms without a workload container: they wait for the model's agent image.
const WAITING: [&str; 2] = ["istio-pilot", "nginx-ingress-integrator"];

fn folder() -> Option<PathBuf> {
    match std::env::var_os("PILOTAGE_CHARMS") {
        Some(folder) => Some(folder.into()),
        None => {
            println!(
                "NOT RUN: PILOTAGE_CHARMS names no folder of charms; run it with\n\
                 PILOTAGE_CHARMS=DIR cargo test -p pilotage-tests --test real_charms"
            );
            None
        }
    }
}

/// The charms that are to be deployed: neither pod-spec, nor drafts, nor broken on purpose.
fn v2(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("the folder of charms");
    let names = entries.map(|entry| entry.expect("an entry"));
    let mut names: Vec<String> = names
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| {
            !["v1-", "bad-", "draft-", "_"]
                .iter()
                .any(|kind| name.starts_with(kind))
        })
        .collect();
    names.sort();
    names
}

/// The name that a charm is deployed under: its folder's, with a letter before a number that stands alone (Juju takes
/// no group of digits alone in a name).
fn application(charm: &str) -> String {
    let groups = charm.split('-').map(|group| {
        let digits = group.bytes().all(|byte| byte.is_ascii_digit());
        if digits {
            format!("v{group}")
        } else {
            group.into()
        }
    });
    groups.collect::<Vec<String>>().join("-")
}

/// A charm's metadata, read without our reader: the file `metadata.yaml`, or what `charmcraft.yaml` says.
fn metadata(charm: &Path) -> Yaml {
    let read = |file: &str| std::fs::read_to_string(charm.join(file)).ok();
    let text = read("metadata.yaml")
        .or_else(|| read("charmcraft.yaml"))
        .expect("metadata");
    serde_yaml_ng::from_str(&text).expect("YAML")
}

fn entries<'a>(yaml: &'a Yaml, key: &str) -> Vec<(String, &'a Yaml)> {
    let map = yaml.get(key).and_then(Yaml::as_mapping);
    let pairs = map.into_iter().flatten();
    pairs
        .map(|(name, value)| (name.as_str().expect("a name").to_owned(), value))
        .collect()
}

fn text(yaml: &Yaml, key: &str) -> Option<String> {
    yaml.get(key).and_then(Yaml::as_str).map(str::to_owned)
}

/// Images that have no source of their own and so must be given.
fn unsourced(metadata: &Yaml) -> Vec<String> {
    let resources = entries(metadata, "resources").into_iter();
    let images = resources.filter(|(_, r)| text(r, "type").as_deref() == Some("oci-image"));
    images
        .filter(|(_, r)| text(r, "upstream-source").is_none())
        .map(|(name, _)| name)
        .collect()
}

fn given(resource: &str) -> String {
    format!("registry.example/{resource}:1")
}

/// Objects of the embedded cluster, from its file.
fn objects(desk: &Desk, kind: &str) -> BTreeMap<String, Value> {
    let file = desk.folder().join("state.db.cluster");
    let cluster = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY)
        .expect("the cluster's file");
    let mut query = cluster
        .prepare("SELECT name, object FROM objects WHERE kind = ?1")
        .expect("a query");
    let rows = query.query_map([kind], |row| Ok((row.get(0)?, row.get::<_, String>(1)?)));
    let rows = rows.expect("rows").map(|row| row.expect("a row"));
    rows.map(|(name, object)| (name, serde_json::from_str(&object).expect("JSON")))
        .collect()
}

/// A size as charms write it, in MiB: `10G`, `5M`, `1GiB`, or a bare number of MiB.
fn mebibytes(size: &str) -> u64 {
    let digits: String = size.chars().take_while(char::is_ascii_digit).collect();
    let number: u64 = digits.parse().expect("a number");
    match size[digits.len()..].chars().next() {
        None | Some('M') => number,
        Some('G') => number << 10,
        Some('T') => number << 20,
        Some(other) => panic!("a size in {other}"),
    }
}

#[test]
fn every_v2_charm_becomes_what_its_files_say() {
    let Some(folder) = folder() else { return };
    let desk = Desk::new();
    let service = desk.start("run");
    let charms = v2(&folder);
    assert!(charms.len() > 25, "{charms:?}");
    for charm in &charms {
        let path = folder.join(charm);
        let mut words = format!("deploy {} {}", path.display(), application(charm));
        for resource in unsourced(&metadata(&path)) {
            words += &format!(" --resource {resource}={}", given(&resource));
        }
        let output = desk.call(&words);
        let (_, said) = texts(&output);
        assert!(output.status.success(), "{words}: {said}");
    }
    let settled = |status: &Value| {
        charms.iter().all(|charm| {
            let word = &status["applications"][application(charm)]["application-status"]["current"];
            let expected = if WAITING.contains(&charm.as_str()) {
                "blocked"
            } else {
                "active"
            };
            *word == expected
        })
    };
    let status = desk.wait("every charm is active, or says why not", settled);
    for charm in WAITING {
        let message = status["applications"][charm]["application-status"]["message"].as_str();
        assert!(
            message.is_some_and(|text| text.contains("agent image")),
            "{charm}: {message:?}"
        );
    }
    let (sets, claims) = (
        objects(&desk, "StatefulSet"),
        objects(&desk, "PersistentVolumeClaim"),
    );
    for charm in charms
        .iter()
        .filter(|charm| !WAITING.contains(&charm.as_str()))
    {
        let name = application(charm);
        check(&name, &metadata(&folder.join(charm)), &sets[&name], &claims);
    }
    let (_, words, well) = service.stop();
    assert!(well, "{words}");
}

/// Images, uids, mounts and claim sizes of one application against its charm.
fn check(charm: &str, metadata: &Yaml, set: &Value, claims: &BTreeMap<String, Value>) {
    let pod = &set["spec"]["template"]["spec"];
    let containers = pod["containers"].as_array().expect("containers");
    let declared = entries(metadata, "containers");
    assert_eq!(containers.len(), declared.len(), "{charm}");
    let mut any_uid = false;
    for (name, declared) in declared {
        let made = containers
            .iter()
            .find(|c| c["name"] == name.as_str())
            .expect("the container");
        let resource = text(declared, "resource").expect("a resource");
        let source = entries(metadata, "resources")
            .into_iter()
            .find(|(n, _)| *n == resource);
        let image = source
            .and_then(|(_, r)| text(r, "upstream-source"))
            .unwrap_or_else(|| given(&resource));
        assert_eq!(made["image"], image.as_str(), "{charm}/{name}");
        for (key, field) in [("uid", "runAsUser"), ("gid", "runAsGroup")] {
            let wanted = declared.get(key).and_then(Yaml::as_u64);
            any_uid |= wanted.is_some();
            assert_eq!(
                made["securityContext"][field].as_u64(),
                wanted,
                "{charm}/{name} {key}"
            );
        }
        let mut paths: Vec<String> = (declared.get("mounts").and_then(Yaml::as_sequence))
            .into_iter()
            .flatten()
            .map(|mount| text(mount, "location").expect("a location"))
            .map(|path| {
                if path == "/" {
                    path
                } else {
                    path.trim_end_matches('/').to_owned()
                }
            })
            .collect();
        let mut made: Vec<String> = (made["volumeMounts"].as_array())
            .into_iter()
            .flatten()
            .map(|mount| mount["mountPath"].as_str().expect("a path").to_owned())
            .collect();
        paths.sort();
        made.sort();
        assert_eq!(made, paths, "{charm}/{name}");
    }
    assert_eq!(
        pod["securityContext"]["fsGroup"].as_u64(),
        any_uid.then_some(170),
        "{charm}"
    );
    for (storage, declared) in entries(metadata, "storage") {
        let wanted = match declared.get("minimum-size") {
            Some(Yaml::String(size)) => mebibytes(size),
            Some(size) => size.as_u64().expect("a number"),
            None => 1024,
        };
        let prefix = format!("{charm}-{storage}-");
        let claim = claims
            .iter()
            .find(|(name, _)| name.starts_with(&prefix) && name.ends_with("-0"));
        let (name, claim) = claim.unwrap_or_else(|| panic!("{charm} has no claim for {storage}"));
        let size = claim["spec"]["resources"]["requests"]["storage"]
            .as_str()
            .expect("a size");
        assert_eq!(quantity(size), wanted, "{name}: {size}");
        assert_eq!(claim["status"]["phase"], "Bound", "{name}");
    }
}

/// A binary quantity in MiB.
fn quantity(text: &str) -> u64 {
    let number = |suffix: &str| {
        text.strip_suffix(suffix)
            .map(|n| n.parse::<u64>().expect("a number"))
    };
    number("Gi")
        .map(|n| n << 10)
        .or(number("Mi"))
        .unwrap_or_else(|| panic!("a quantity like {text}"))
}
