//! What a bundle means: several applications in one file, and what overlays change of it.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::document::{At, Node, Place, Scalar, Value};
use super::mistake::{self, Mistake, Report};
use super::{Constraints, DeviceDirective, StorageDirective, names};

mod overlay;

/// A bundle, its overlays applied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bundle {
    /// Applications, by name.
    pub applications: Vec<BundleApplication>,
    /// What is in the bundle and has no effect, in words: `relation a:x - b:y`.
    pub ignored: Vec<String>,
}

/// One application of a bundle. What the bundle does not say is `None` or not in the map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BundleApplication {
    /// Name of the application.
    pub name: String,
    /// The charm: a path, or a name to look up.
    pub charm: String,
    /// Where the charm is named; a path is relative to that file.
    pub charm_place: Place,
    /// Units wanted.
    pub scale: Option<u32>,
    /// Options and settings, as written; the charm says what they mean.
    pub options: Vec<BundleOption>,
    /// Constraints.
    pub constraints: Option<Constraints>,
    /// Storage directives, by storage.
    pub storage: BTreeMap<String, StorageDirective>,
    /// Device directives, by device.
    pub devices: BTreeMap<String, DeviceDirective>,
    /// Resources, by name.
    pub resources: Vec<BundleResource>,
    /// Whether its pods may do everything in the cluster.
    pub trust: Option<bool>,
    /// The base that its charm is to run on.
    pub base: Option<String>,
    /// Notes that the user keeps with it.
    pub annotations: BTreeMap<String, String>,
}

/// The value of an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BundleOption {
    /// Name of the option.
    pub name: String,
    /// The value.
    pub value: Scalar,
    /// Where the value stands.
    pub place: Place,
    /// The keys that lead there.
    pub path: String,
}

/// The value of a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BundleResource {
    /// Name of the resource.
    pub name: String,
    /// A path, relative to the file that names it, or an image.
    pub value: String,
    /// Where the value stands.
    pub place: Place,
    /// The keys that lead there.
    pub path: String,
}

impl BundleApplication {
    /// The keys that lead to the application.
    pub fn path(&self) -> String {
        format!("applications.{}", self.name)
    }
}

/// Gives a bundle its meaning: the first document is the bundle, the others are laid over it in order.
///
/// An overlay adds applications and changes single values; `null` in place of an application takes it away, and `null`
/// in place of a value takes that away.
///
/// What could be read is given back whatever the mistakes, so that the charms it names can be looked at too; with an
/// error among the mistakes, nothing of it may be deployed.
pub fn read(documents: &[Node]) -> (Bundle, Vec<Mistake>) {
    let mut report = Report::new();
    for document in documents {
        report.duplicates(document, "");
    }
    if documents.is_empty() {
        report.error(
            Place::default(),
            "",
            "the file is empty",
            "name a bundle, or write \"applications:\" into it",
        );
    }
    let mut documents = documents.iter();
    let bundle = documents.next().and_then(|base| {
        let mut whole = base.clone();
        for overlay in documents {
            overlay::lay(&mut whole, overlay, &mut report);
        }
        read_whole(&whole, &mut report)
    });
    (bundle.unwrap_or_default(), report.into_mistakes())
}

fn read_whole(whole: &Node, report: &mut Report) -> Option<Bundle> {
    let root = At::root(whole);
    root.entries(report);
    if let Some(kind) = root.get("bundle") {
        let text = kind.text(report);
        if text.is_some_and(|text| text != "kubernetes") {
            report.error(
                kind.node.place,
                &kind.path,
                format!(
                    "a bundle of type {:?} is not for Kubernetes",
                    text.unwrap_or_default()
                ),
                "use a bundle of type kubernetes",
            );
        }
    }
    let Some(at) = root.get("applications") else {
        if !report.refused() {
            report.error(
                root.key,
                "",
                "the bundle has no applications",
                "add \"applications:\" with at least one application",
            );
        }
        return None;
    };
    let mut ignored = Vec::new();
    let mut applications = Vec::new();
    for (name, at) in at.entries(report) {
        applications.extend(read_application(name, &at, &mut ignored, report));
    }
    ignored.extend(read_relations(&root, report));
    for (key, word) in [("saas", "saas"), ("offers", "offer")] {
        let at = root.get(key);
        let entries = at.map(|at| at.entries(report)).unwrap_or_default();
        ignored.extend(entries.iter().map(|(name, _)| format!("{word} {name}")));
    }
    if root.get("machines").is_some() {
        ignored.push("machines".to_string());
    }
    Some(Bundle {
        applications,
        ignored,
    })
}

fn read_relations(root: &At<'_>, report: &mut Report) -> Vec<String> {
    let Some(relations) = root.get("relations") else {
        return Vec::new();
    };
    relations
        .items(report)
        .iter()
        .filter_map(|relation| {
            // One end may name several others.
            let ends: Vec<String> = relation
                .items(report)
                .iter()
                .map(|end| match &end.node.value {
                    Value::List(_) => {
                        let others = end.items(report);
                        let others: Vec<&str> = others
                            .iter()
                            .filter_map(|other| other.text(report))
                            .collect();
                        others.join(", ")
                    }
                    _ => end.text(report).unwrap_or_default().to_string(),
                })
                .collect();
            (!ends.is_empty()).then(|| format!("relation {}", ends.join(" - ")))
        })
        .collect()
}

/// Keys that an application of a bundle can have.
const KEYS: [&str; 24] = [
    "charm",
    "channel",
    "revision",
    "series",
    "base",
    "num_units",
    "scale",
    "options",
    "constraints",
    "storage",
    "devices",
    "resources",
    "trust",
    "annotations",
    "to",
    "placement",
    "bindings",
    "expose",
    "exposed-endpoints",
    "offers",
    "plan",
    "requires_trust",
    "architecture",
    "source",
];

fn read_application(
    name: &str,
    at: &At<'_>,
    ignored: &mut Vec<String>,
    report: &mut Report,
) -> Option<BundleApplication> {
    if let Err(problem) = names::check_application(name) {
        report.error(
            at.key,
            &at.path,
            format!("{problem}"),
            "use lower-case letters, digits and hyphens, beginning with a letter",
        );
    }
    at.warn_unknown("an application", &KEYS, report, |key| {
        // Tools that make bundles keep notes of their own behind an underscore.
        (!key.starts_with('_')).then(|| mistake::did_you_mean(key, &KEYS))
    });
    for key in ["to", "placement"] {
        if at.get(key).is_some() {
            ignored.push(format!("{key} of application {name}"));
        }
    }
    let charm = at.get("charm");
    if charm.is_none() && matches!(at.node.value, Value::Map(_) | Value::Scalar(_)) {
        report.error(
            at.key,
            &at.path,
            "the application has no charm",
            "add \"charm:\" with a path, or a name in the charms folder",
        );
    }
    let text = |key: &str, report: &mut Report| {
        at.get(key).and_then(|at| at.text(report).map(String::from))
    };
    let base = text("base", report).or_else(|| text("series", report));
    let application = BundleApplication {
        name: name.into(),
        charm: charm
            .as_ref()
            .and_then(|at| at.text(report))
            .unwrap_or_default()
            .into(),
        charm_place: charm.as_ref().map_or(at.key, |at| at.node.place),
        scale: read_scale(name, at, report),
        options: read_options(at, report),
        constraints: read_parsed(at.get("constraints"), "as \"mem=1G arch=amd64\"", report),
        storage: read_directives(
            at.get("storage"),
            "pool, count and size, as \"rootfs,1G\"",
            report,
        ),
        devices: read_directives(
            at.get("devices"),
            "count and type, as \"1,nvidia.com/gpu\"",
            report,
        ),
        resources: read_resources(at, report),
        trust: at.get("trust").and_then(|at| at.boolean(report)),
        base,
        annotations: read_texts(at, "annotations", report)
            .into_iter()
            .map(|(name, _, text)| (name.into(), text.into()))
            .collect(),
    };
    charm.map(|_| application)
}

/// `scale`, or `num_units` as other kinds of bundle call it.
fn read_scale(name: &str, at: &At<'_>, report: &mut Report) -> Option<u32> {
    let (scale, units) = (at.get("scale"), at.get("num_units"));
    if let (Some(scale), Some(_)) = (&scale, &units) {
        report.error(
            scale.key,
            &at.path,
            format!("cannot specify both scale and num_units for application {name:?}"),
            "remove num_units",
        );
    }
    let at = scale.or(units)?;
    let number = at.whole(report)?;
    let scale = u32::try_from(number).ok();
    if scale.is_none() {
        report.error(
            at.node.place,
            &at.path,
            format!("{number} units are too many"),
            "ask for fewer",
        );
    }
    scale
}

fn read_options(at: &At<'_>, report: &mut Report) -> Vec<BundleOption> {
    let Some(options) = at.get("options") else {
        return Vec::new();
    };
    options
        .entries(report)
        .iter()
        .filter_map(|(name, at)| {
            Some(BundleOption {
                name: (*name).into(),
                value: at.scalar("a single value", report)?.clone(),
                place: at.node.place,
                path: at.path.clone(),
            })
        })
        .collect()
}

fn read_resources(at: &At<'_>, report: &mut Report) -> Vec<BundleResource> {
    read_texts(at, "resources", report)
        .into_iter()
        .map(|(name, at, value)| BundleResource {
            name: name.into(),
            value: value.into(),
            place: at.node.place,
            path: at.path,
        })
        .collect()
}

/// A map of texts.
fn read_texts<'a>(at: &At<'a>, key: &str, report: &mut Report) -> Vec<(&'a str, At<'a>, &'a str)> {
    let Some(texts) = at.get(key) else {
        return Vec::new();
    };
    texts
        .entries(report)
        .into_iter()
        .filter_map(|(name, at)| {
            let text = at.text(report)?;
            Some((name, at, text))
        })
        .collect()
}

/// A map of directives.
fn read_directives<T>(at: Option<At<'_>>, form: &str, report: &mut Report) -> BTreeMap<String, T>
where
    T: core::str::FromStr<Err: core::fmt::Display>,
{
    let Some(at) = at else {
        return BTreeMap::new();
    };
    at.entries(report)
        .into_iter()
        .filter_map(|(name, at)| Some((name.into(), read_parsed(Some(at), form, report)?)))
        .collect()
}

/// A text with a grammar of its own.
fn read_parsed<T>(at: Option<At<'_>>, form: &str, report: &mut Report) -> Option<T>
where
    T: core::str::FromStr<Err: core::fmt::Display>,
{
    let at = at?;
    match at.text(report)?.parse() {
        Ok(value) => Some(value),
        Err(problem) => {
            report.error(
                at.node.place,
                &at.path,
                format!("{problem}"),
                format!("write {form}"),
            );
            None
        }
    }
}

#[cfg(test)]
mod tests;
