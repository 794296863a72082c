//! Charms for the suites: our own, and the real ones that a folder named by an environment variable holds.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde_yaml_ng::Value as Yaml;

/// Names the folder of real charms, each in a directory of its own, with `INDEX.md` that says what is in them.
pub const CHARMS: &str = "PILOTAGE_CHARMS";

/// The folder of real charms. Where it is not named, says so past the test runner's capture, and what would run the test.
pub fn real_charms(test: &str) -> Option<PathBuf> {
    match std::env::var_os(CHARMS) {
        Some(folder) => Some(PathBuf::from(folder)),
        None => {
            let said = writeln!(
                std::io::stderr(),
                "NOT RUN: {test}: no real charms; run it with {CHARMS}=FOLDER cargo test -p pilotage-tests {test}"
            );
            // Where not even this can be written, nobody reads it.
            drop(said);
            None
        }
    }
}

/// A folder of this repository.
pub fn own(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

/// Charms without a workload container: they wait for the model's agent image.
pub const WAITING: [&str; 2] = ["istio-pilot", "nginx-ingress-integrator"];

/// The charms that are to be deployed: neither pod-spec, nor drafts, nor broken on purpose.
///
/// # Panics
/// If the folder cannot be read.
pub fn v2(folder: &Path) -> Vec<String> {
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
pub fn application(charm: &str) -> String {
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
///
/// # Panics
/// If there is none, or it is no YAML.
pub fn metadata(charm: &Path) -> Yaml {
    let read = |file: &str| std::fs::read_to_string(charm.join(file)).ok();
    let text = read("metadata.yaml")
        .or_else(|| read("charmcraft.yaml"))
        .expect("metadata");
    serde_yaml_ng::from_str(&text).expect("YAML")
}

/// The entries of a map inside a map.
///
/// # Panics
/// If one has no name.
pub fn entries<'a>(yaml: &'a Yaml, key: &str) -> Vec<(String, &'a Yaml)> {
    let map = yaml.get(key).and_then(Yaml::as_mapping);
    let pairs = map.into_iter().flatten();
    pairs
        .map(|(name, value)| (name.as_str().expect("a name").to_owned(), value))
        .collect()
}

/// A text inside a map.
pub fn text(yaml: &Yaml, key: &str) -> Option<String> {
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

/// The image that is given for a resource.
pub fn given(resource: &str) -> String {
    format!("registry.example/{resource}:1")
}

/// The words that deploy a charm of the folder.
///
/// # Panics
/// If its metadata cannot be read.
pub fn deploy(folder: &Path, charm: &str) -> String {
    let path = folder.join(charm);
    let mut words = format!("deploy {} {}", path.display(), application(charm));
    for resource in unsourced(&metadata(&path)) {
        words += &format!(" --resource {resource}={}", given(&resource));
    }
    words
}
