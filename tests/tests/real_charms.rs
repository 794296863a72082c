//! Every v2 charm of the given folder, deployed by the real program on the embedded cluster; what comes to be is checked
//! against the charm's files by a reader that shares nothing with ours.
#![allow(missing_docs)]

use std::collections::BTreeMap;

use pilotage_tests::charms::{
    WAITING, application, deploy, entries, given, metadata, real_charms, text, v2,
};
use pilotage_tests::program::{Desk, texts};
use rusqlite::{Connection, OpenFlags};
use serde_json::Value;
use serde_yaml_ng::Value as Yaml;

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
    let Some(folder) = real_charms("every_v2_charm_becomes_what_its_files_say") else {
        return;
    };
    let desk = Desk::new();
    let service = desk.start("run");
    let charms = v2(&folder);
    assert!(charms.len() > 25, "{charms:?}");
    for charm in &charms {
        let words = deploy(&folder, charm);
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
