//! The charm as a whole: which files it has, and what they say together.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::document::{At, Node, Place};
use super::mistake::{Mistake, Report, did_you_mean};
use super::{
    Base, Charm, CharmUser, Container, StorageDeclaration, assumes, config, container, device,
    format, names, resource, storage,
};

/// The files of a charm, as trees.
///
/// A charm has `metadata.yaml`, or everything in `charmcraft.yaml`; where both are there, the second says only how the
/// charm is built, and for which bases.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Files {
    /// `metadata.yaml`.
    pub metadata: Option<Node>,
    /// `charmcraft.yaml`.
    pub charmcraft: Option<Node>,
    /// `config.yaml`.
    pub config: Option<Node>,
    /// `manifest.yaml`, which a packed charm has.
    pub manifest: Option<Node>,
}

/// What reading gave: a charm, unless something is refused, and everything that deserves a look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading<T> {
    /// What was read; `None` exactly when an error is among the mistakes.
    pub value: Option<T>,
    /// Errors and warnings in the order of their places.
    pub mistakes: Vec<Mistake>,
}

/// Gives a charm's files their meaning.
pub fn read(files: &Files) -> Reading<Charm> {
    let mut report = Report::new();
    for node in [
        &files.metadata,
        &files.charmcraft,
        &files.config,
        &files.manifest,
    ]
    .into_iter()
    .flatten()
    {
        report.duplicates(node, "");
    }
    let charm = read_files(files, &mut report);
    Reading {
        value: charm.filter(|_| !report.refused()),
        mistakes: report.into_mistakes(),
    }
}

fn read_files(files: &Files, report: &mut Report) -> Option<Charm> {
    let Some(metadata) = files.metadata.as_ref().or(files.charmcraft.as_ref()) else {
        report.error(
            Place::default(),
            "",
            "there is neither metadata.yaml nor charmcraft.yaml",
            "a charm needs metadata.yaml, or charmcraft.yaml with the charm's name and containers",
        );
        return None;
    };
    let root = At::root(metadata);
    // Not a map: one mistake says it all.
    let keys = root.entries(report);
    if report.refused() {
        return None;
    }
    suggest_keys(&keys, report);
    let name = read_name(&root, report);
    let format = format::detect(&root, report);
    let resources = resource::read(&root, report);
    let storages = storage::read(&root, report);
    let containers = container::read(&root, &resources, &storages, report);
    warn_of_unmounted(&root, &storages, &containers, report);
    let options = read_options(files, report);
    let charm = Charm {
        name: name.unwrap_or_default(),
        summary: trimmed(&root, "summary", report),
        description: trimmed(&root, "description", report),
        format: format?,
        user: read_user(&root, report),
        bases: read_bases(files, &root),
        assumes: assumes::read(&root, report),
        containers,
        storages,
        resources,
        devices: device::read(&root, report),
        options,
    };
    Some(charm)
}

/// Unknown keys at the top are ignored; only those that look like a slip are named.
fn suggest_keys(keys: &[(&str, At<'_>)], report: &mut Report) {
    /// Keys that mean something here, with the slips that were seen.
    const SLIPS: [(&str, &str); 6] = [
        ("container", "containers"),
        ("storages", "storage"),
        ("resource", "resources"),
        ("device", "devices"),
        ("assume", "assumes"),
        ("charm_user", "charm-user"),
    ];
    for (key, at) in keys {
        if let Some((_, meant)) = SLIPS.iter().find(|(slip, _)| slip == key) {
            report.warning(
                at.key,
                &at.path,
                format!("the key {key:?} means nothing and is ignored"),
                format!("did you mean {meant:?}?"),
            );
        }
    }
}

/// Storage that no container mounts gets its claims all the same, as the charm's own code may use it.
fn warn_of_unmounted(
    root: &At<'_>,
    storages: &[StorageDeclaration],
    containers: &[Container],
    report: &mut Report,
) {
    let mounted = |name: &str| {
        let mut mounts = containers.iter().flat_map(|container| &container.mounts);
        mounts.any(|mount| mount.storage == name)
    };
    // Beside errors it would be noise: a slip in a mount is often the reason.
    let (Some(at), false) = (root.get("storage"), report.refused()) else {
        return;
    };
    for storage in storages.iter().filter(|storage| !mounted(&storage.name)) {
        if let Some(at) = at.get(&storage.name) {
            report.warning(
                at.key,
                &at.path,
                "no container mounts this storage; each unit gets it all the same",
                "add it to the \"mounts\" of a container, if one is to see it",
            );
        }
    }
}

fn read_name(root: &At<'_>, report: &mut Report) -> Option<String> {
    let Some(at) = root.get("name") else {
        report.error(
            root.key,
            "",
            "the charm has no name",
            "add \"name:\" with the charm's name",
        );
        return None;
    };
    let name = at.text(report)?;
    if let Err(problem) = names::check_application(name) {
        report.error(
            at.node.place,
            &at.path,
            format!("{name:?} is not a charm name: {}", problem.reason()),
            "use lower-case letters, digits and hyphens, beginning with a letter",
        );
        return None;
    }
    Some(name.to_string())
}

fn trimmed(root: &At<'_>, key: &str, report: &mut Report) -> String {
    root.get(key)
        .and_then(|at| at.text(report).map(|text| text.trim().to_string()))
        .unwrap_or_default()
}

fn read_user(root: &At<'_>, report: &mut Report) -> CharmUser {
    let Some(at) = root.get("charm-user") else {
        return CharmUser::Default;
    };
    match at.text(report) {
        Some("root") => CharmUser::Root,
        Some("sudoer") => CharmUser::Sudoer,
        Some("non-root") => CharmUser::NonRoot,
        Some(other) => {
            report.error(
                at.node.place,
                &at.path,
                format!("{other:?} is not a user that a charm can run as"),
                did_you_mean(other, &["root", "sudoer", "non-root"]),
            );
            CharmUser::Default
        }
        None => CharmUser::Default,
    }
}

/// Options stand in `config.yaml`, or in `charmcraft.yaml` under `config`.
fn read_options(files: &Files, report: &mut Report) -> Vec<super::ConfigOption> {
    if let Some(node) = &files.config {
        return config::read(&At::root(node), report);
    }
    files
        .charmcraft
        .as_ref()
        .and_then(|node| At::root(node).get("config"))
        .map(|at| config::read(&at, report))
        .unwrap_or_default()
}

/// Bases are shown and nothing else, so whatever form they have, no mistake is made of it.
fn read_bases(files: &Files, metadata: &At<'_>) -> Vec<Base> {
    let mut ignored = Report::new();
    let mut bases = Vec::new();
    let build = files.charmcraft.as_ref().map(At::root);
    let manifest = files.manifest.as_ref().map(At::root);
    for root in [manifest.as_ref(), build.as_ref(), Some(metadata)]
        .into_iter()
        .flatten()
    {
        if !bases.is_empty() {
            break;
        }
        if let Some(base) = root
            .get("base")
            .and_then(|at| at.text(&mut ignored).and_then(parse_base))
        {
            bases.push(base);
        }
        for at in root
            .get("bases")
            .map(|at| at.items(&mut ignored))
            .unwrap_or_default()
        {
            match at.get("run-on") {
                Some(run_on) => {
                    let items = run_on.items(&mut ignored);
                    bases.extend(
                        items
                            .iter()
                            .filter_map(|item| read_base(item, &mut ignored)),
                    );
                }
                None => bases.extend(read_base(&at, &mut ignored)),
            }
        }
        if bases.is_empty() {
            let platforms = root.get("platforms");
            let platforms = platforms
                .map(|at| at.entries(&mut ignored))
                .unwrap_or_default();
            bases.extend(
                platforms
                    .iter()
                    .filter_map(|(platform, _)| parse_base(platform)),
            );
        }
    }
    let mut seen = alloc::collections::BTreeSet::new();
    bases.retain(|base| seen.insert(base.clone()));
    bases
}

/// A base as `{name: ubuntu, channel: 22.04/stable}`.
fn read_base(at: &At<'_>, ignored: &mut Report) -> Option<Base> {
    let name = at.get("name")?;
    let channel = at.get("channel")?;
    Some(Base {
        name: name.text(ignored)?.to_string(),
        channel: with_risk(channel.text(ignored)?),
    })
}

/// A base as `ubuntu@22.04`, perhaps followed by `:architecture`.
fn parse_base(text: &str) -> Option<Base> {
    let (name, rest) = text.split_once('@')?;
    let channel = rest.split_once(':').map_or(rest, |(channel, _)| channel);
    (!name.is_empty() && !channel.is_empty()).then(|| Base {
        name: name.to_string(),
        channel: with_risk(channel),
    })
}

/// A channel without a risk is the stable one.
fn with_risk(channel: &str) -> String {
    if channel.contains('/') {
        channel.to_string()
    } else {
        format!("{channel}/stable")
    }
}

#[cfg(test)]
mod tests {
    use super::super::document::{Entry, Scalar, Value};
    use super::*;
    use proptest::prelude::*;

    /// Documents of the words that charms are made of, put together in any way.
    fn node() -> impl Strategy<Value = Node> {
        let key = prop_oneof![
            4 => proptest::sample::select(alloc::vec![
                "name", "containers", "storage", "resources", "devices", "assumes", "charm-user", "series", "options",
                "deployment", "type", "default", "resource", "mounts", "location", "multiple", "range", "minimum-size",
                "uid", "bases", "run-on", "base", "platforms", "any-of", "web", "data", "config", "upstream-source",
            ])
            .prop_map(String::from),
            1 => ".{0,6}",
        ];
        let text = prop_oneof![
            4 => proptest::sample::select(alloc::vec![
                "web", "data", "oci-image", "filesystem", "file", "block", "/data", "5", "-1", "1G", "0-1", "string", "int",
                "kubernetes", "k8s-api", "juju >= 3", "non-root", "yes", "", "nginx:1", "a@b",
            ])
            .prop_map(String::from),
            1 => ".{0,6}",
        ];
        let leaf =
            (any::<bool>(), text).prop_map(|(plain, text)| Value::Scalar(Scalar { text, plain }));
        let value = leaf.prop_recursive(5, 60, 6, move |inner| {
            let node = inner.prop_map(|value| Node {
                place: Place::default(),
                value,
            });
            let entry = (key.clone(), node.clone()).prop_map(|(key, node)| Entry {
                key,
                place: Place::default(),
                node,
            });
            prop_oneof![
                1 => proptest::collection::vec(node, 0..4).prop_map(Value::List),
                3 => proptest::collection::vec(entry, 0..6).prop_map(Value::Map),
            ]
        });
        value.prop_map(|value| Node {
            place: Place::default(),
            value,
        })
    }

    proptest! {
        #[test]
        fn reading_is_total_and_gives_a_charm_exactly_when_nothing_is_refused(
            metadata in proptest::option::of(node()),
            charmcraft in proptest::option::of(node()),
            config in proptest::option::of(node()),
            manifest in proptest::option::of(node()),
        ) {
            let reading = read(&Files { metadata, charmcraft, config, manifest });
            let refused = reading.mistakes.iter().any(|mistake| mistake.severity == super::super::Severity::Error);
            prop_assert_eq!(reading.value.is_none(), refused);
        }

        #[test]
        fn reading_a_bundle_is_total(documents in proptest::collection::vec(node(), 0..3)) {
            let _ = super::super::bundle::read(&documents);
        }

        #[test]
        fn reading_image_details_is_total(node in node()) {
            let _ = resource::read_image_details(&node);
        }
    }
}
