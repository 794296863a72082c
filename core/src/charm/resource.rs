//! Resources: what a charm needs beside its own files.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::document::{At, Node};
use super::metadata::Reading;
use super::mistake::{self, Report};
use super::{Charm, image};

/// A resource that a charm declares.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ResourceDeclaration {
    /// Name of the resource.
    pub name: String,
    /// What it is.
    pub kind: ResourceKind,
    /// What it is for.
    pub description: String,
    /// Where its image is found while the user gives none (`upstream-source`), when that is a usable reference.
    pub upstream_source: Option<String>,
    /// Name of the file, for a resource that is one.
    pub filename: Option<String>,
}

/// What a resource is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ResourceKind {
    /// An image for a container.
    #[serde(rename = "oci-image")]
    OciImage,
    /// A file for the charm's code.
    #[serde(rename = "file")]
    File,
}

/// Reads `resources`.
pub(super) fn read(root: &At<'_>, report: &mut Report) -> Vec<ResourceDeclaration> {
    let Some(at) = root.get("resources") else {
        return Vec::new();
    };
    at.declared(report, |name, at, report| Some(read_one(name, at, report)))
}

fn read_one(name: &str, at: &At<'_>, report: &mut Report) -> ResourceDeclaration {
    const KEYS: [&str; 5] = [
        "type",
        "description",
        "upstream-source",
        "filename",
        "auto-fetch",
    ];
    at.warn_unknown("a resource", &KEYS, report, |key| {
        Some(match key {
            "upstream" => String::from("did you mean \"upstream-source\"?"),
            key => mistake::did_you_mean(key, &KEYS),
        })
    });
    let description = at.description(report);
    let filename = at
        .get("filename")
        .and_then(|at| at.text(report).map(String::from));
    let upstream_source = at
        .get("upstream-source")
        .and_then(|at| read_source(&at, name, report));
    // A resource with a mistake is read on, so that its other mistakes are told as well.
    let kind = read_kind(at, report).unwrap_or(ResourceKind::OciImage);
    if kind == ResourceKind::File && filename.is_none() {
        report.error(
            at.key,
            &at.path,
            "a resource of type file needs a file name",
            "add \"filename:\"",
        );
    }
    ResourceDeclaration {
        name: name.into(),
        kind,
        description,
        upstream_source: upstream_source.filter(|_| kind == ResourceKind::OciImage),
        filename,
    }
}

fn read_kind(at: &At<'_>, report: &mut Report) -> Option<ResourceKind> {
    let Some(kind) = at.get("type") else {
        if at.is_map_or_nothing() {
            report.error(
                at.key,
                &at.path,
                "the resource has no type",
                "add \"type: oci-image\" or \"type: file\"",
            );
        }
        return None;
    };
    match kind.text(report)? {
        "oci-image" => Some(ResourceKind::OciImage),
        "file" => Some(ResourceKind::File),
        other => {
            report.error(
                kind.node.place,
                &kind.path,
                format!("{other:?} is not a type of resource"),
                mistake::did_you_mean(other, &["oci-image", "file"]),
            );
            None
        }
    }
}

/// A source that cannot be pulled counts as none: the user can give the image.
fn read_source(at: &At<'_>, resource: &str, report: &mut Report) -> Option<String> {
    let text = at.text(report)?.trim();
    match image::check(text) {
        Ok(()) => Some(text.into()),
        Err(problem) => {
            report.warning(
                at.node.place,
                &at.path,
                format!("{problem}"),
                format!("give the image at deploy, with --resource {resource}=IMAGE"),
            );
            None
        }
    }
}

/// What a file given for an image says, as Juju's tools write it.
#[derive(Clone, PartialEq, Eq)]
pub struct ImageDetails {
    /// The image.
    pub registry_path: String,
    /// Who may pull it; `None` for anybody.
    pub username: Option<String>,
    /// The secret that goes with the name: for the vault only, never shown.
    pub password: Option<String>,
}

impl core::fmt::Debug for ImageDetails {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("ImageDetails")
            .field("registry_path", &self.registry_path)
            .field("username", &self.username)
            .field("password", &self.password.as_ref().map(|_| "…"))
            .finish()
    }
}

/// Gives a file for an image its meaning: `registrypath`, and `username` and `password` for a private one.
pub fn read_image_details(node: &Node) -> Reading<ImageDetails> {
    let mut report = Report::new();
    report.duplicates(node, "");
    let root = At::root(node);
    let _ = root.entries(&mut report);
    let text = |key: &str, report: &mut Report| {
        root.get(key)
            .and_then(|at| at.text(report).map(String::from))
    };
    let username = text("username", &mut report).filter(|text| !text.is_empty());
    let password = text("password", &mut report).filter(|text| !text.is_empty());
    let registry_path = root.get("registrypath").and_then(|at| {
        let path = at.text(&mut report)?.trim();
        if let Err(problem) = image::check(path) {
            report.error(
                at.node.place,
                &at.path,
                format!("{problem}"),
                "write the image as host/path:tag",
            );
            return None;
        }
        Some(String::from(path))
    });
    if registry_path.is_none() && !report.refused() {
        report.error(
            root.key,
            "",
            "the file names no image",
            "add \"registrypath:\" with the image",
        );
    }
    if password.is_some() && username.is_none() {
        report.error(
            root.key,
            "",
            "a password without a user name opens nothing",
            "add \"username:\"",
        );
    }
    let value = registry_path
        .filter(|_| !report.refused())
        .map(|registry_path| ImageDetails {
            registry_path,
            username,
            password,
        });
    Reading {
        value,
        mistakes: report.into_mistakes(),
    }
}

/// Resources that were given, yet the charm does not declare; in Juju's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", unrecognized(.0))]
pub struct UnknownResources(pub Vec<String>);

fn unrecognized(names: &[String]) -> String {
    match names {
        [name] => format!("unrecognized resource {name:?}"),
        names => format!("unrecognized resources: {}", names.join(", ")),
    }
}

/// Images that a charm needs and nobody gave: in Juju's words, and on a line of its own what to do about it (B121).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "local charm missing OCI images for: {}\ngive each with --resource NAME=IMAGE, or under \"resources\" in a bundle",
    .0.join(", ")
)]
pub struct MissingImages(pub Vec<String>);

/// The names of resources given at deploy that the charm does not declare.
///
/// # Errors
///
/// [`UnknownResources`], with all of them.
pub fn check_names<'a>(
    charm: &Charm,
    given: impl Iterator<Item = &'a str>,
) -> Result<(), UnknownResources> {
    let unknown: BTreeSet<String> = given
        .filter(|name| charm.resource(name).is_none())
        .map(String::from)
        .collect();
    if unknown.is_empty() {
        Ok(())
    } else {
        Err(UnknownResources(unknown.into_iter().collect()))
    }
}

/// One image that a charm's resource stands for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ChosenImage {
    /// Name of the resource.
    pub resource: String,
    /// The image.
    pub image: String,
    /// Whether it is the charm's own `upstream-source`, because the user gave none.
    pub from_upstream: bool,
}

/// Chooses the image of every image resource: what the user gave, else the charm's `upstream-source`.
///
/// # Errors
///
/// [`MissingImages`], with every resource that has neither.
pub fn choose_images(
    charm: &Charm,
    given: &BTreeMap<String, String>,
) -> Result<Vec<ChosenImage>, MissingImages> {
    let mut chosen = Vec::new();
    let mut missing = Vec::new();
    let images = charm
        .resources
        .iter()
        .filter(|resource| resource.kind == ResourceKind::OciImage);
    for resource in images {
        let image = given.get(&resource.name);
        match image.or(resource.upstream_source.as_ref()) {
            Some(reference) => chosen.push(ChosenImage {
                resource: resource.name.clone(),
                image: reference.clone(),
                from_upstream: image.is_none(),
            }),
            None => missing.push(resource.name.clone()),
        }
    }
    if missing.is_empty() {
        Ok(chosen)
    } else {
        Err(MissingImages(missing))
    }
}
