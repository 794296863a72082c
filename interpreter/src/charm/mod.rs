//! Charms and bundles as files: found, opened and read, with the place of every mistake.
//!
//! What the files mean is decided in [`pilotage_core::charm`]. Here are the directories, the archives, YAML and the
//! charms folder.

mod bundle;
mod files;
mod folder;
mod places;
mod resource;
mod values;
mod yaml;

use std::fmt;
use std::path::{Path, PathBuf};

use pilotage_core::charm::document::{Node, Scalar, Value};
use pilotage_core::charm::{self, Charm, Files, Severity};

pub use bundle::{BundleCharm, ReadBundle, read_bundle};
pub use files::FilesError;
pub use folder::{CharmsFolder, NotInFolder, Source};
pub use places::Located;
pub use resource::{GivenResource, ResourceError, read_resource};
pub use values::read_values;

use files::Container;
use places::Places;

/// A charm as read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadCharm {
    /// The charm.
    pub charm: Charm,
    /// The revision that its files claim, in `revision`.
    pub revision: Option<u64>,
    /// Where it was read.
    pub path: PathBuf,
    /// What works, though perhaps not as meant.
    pub warnings: Vec<Located>,
}

/// Why a charm or a bundle cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// Its files cannot be read.
    #[error(transparent)]
    Files(#[from] FilesError),
    /// The files of a charm are not there.
    #[error(
        "{path} is not a charm: there is neither metadata.yaml nor charmcraft.yaml in it; name the directory that holds \
         one of them, or a .charm file", path = .0.display()
    )]
    NotACharm(PathBuf),
    /// The files of a bundle are not there.
    #[error("{path} is not a bundle: there is no bundle.yaml in it", path = .0.display())]
    NotABundle(PathBuf),
    /// A template, which becomes a bundle by rendering.
    #[error("{path} is a template, not YAML: render it first, and name what comes out", path = .0.display())]
    Template(PathBuf),
    /// Mistakes in the files; warnings stand among them.
    #[error("{0}")]
    Mistakes(Mistakes),
}

/// Mistakes, at least one of which is an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistakes(pub Vec<Located>);

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, mistake) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            write!(f, "{separator}{mistake}")?;
        }
        Ok(())
    }
}

/// What is at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A charm.
    Charm,
    /// A bundle.
    Bundle,
}

/// Tells what is at a path: a YAML file is a bundle; a directory or an archive is what its files say.
///
/// # Errors
///
/// Nothing is there, or it is neither.
pub fn kind(path: &Path) -> Result<Kind, ReadError> {
    match kind_of_file(path) {
        Some(FileKind::Yaml) => return Ok(Kind::Bundle),
        Some(FileKind::Template) => return Err(ReadError::Template(path.into())),
        None => {}
    }
    let mut container = Container::open(path)?;
    for name in ["metadata.yaml", "charmcraft.yaml"] {
        if container.read(name)?.is_some() {
            return Ok(Kind::Charm);
        }
    }
    if container.read("bundle.yaml")?.is_some() {
        return Ok(Kind::Bundle);
    }
    if container.read("bundle.yaml.j2")?.is_some() {
        return Err(ReadError::Template(path.join("bundle.yaml.j2")));
    }
    Err(ReadError::NotACharm(path.into()))
}

/// What a single file is by its name; `None` for a directory, and for what may be an archive.
fn kind_of_file(path: &Path) -> Option<FileKind> {
    let extension = path.extension()?.to_str()?;
    match extension {
        _ if path.is_dir() => None,
        "yaml" | "yml" => Some(FileKind::Yaml),
        "j2" | "jinja" | "jinja2" => Some(FileKind::Template),
        _ => None,
    }
}

#[derive(Clone, Copy)]
enum FileKind {
    Yaml,
    Template,
}

/// Reads the charm at a path: a directory, or a `.charm` archive.
///
/// # Errors
///
/// Its files cannot be read, or have mistakes: all of them, with file, line and column.
pub fn read_charm(path: &Path) -> Result<ReadCharm, ReadError> {
    let mut container = Container::open(path)?;
    let mut reader = Reader::default();
    let files = Files {
        metadata: reader.read(&mut container, "metadata.yaml")?,
        charmcraft: reader.read(&mut container, "charmcraft.yaml")?,
        config: reader.read(&mut container, "config.yaml")?,
        manifest: reader.read(&mut container, "manifest.yaml")?,
    };
    if !reader.found {
        return Err(ReadError::NotACharm(path.into()));
    }
    let revision = container.read("revision")?;
    let mut found = reader.problems;
    let mut charm = None;
    // Without its main file, a charm's other files would only be called incomplete.
    if files.metadata.is_some() || (files.charmcraft.is_some() && !reader.broken_metadata) {
        let reading = charm::read(&files);
        found.extend(
            reading
                .mistakes
                .into_iter()
                .map(|mistake| reader.places.locate(mistake)),
        );
        charm = reading.value;
    }
    let refused = found
        .iter()
        .any(|mistake| mistake.severity == Severity::Error);
    match charm {
        Some(charm) if !refused => Ok(ReadCharm {
            charm,
            revision: revision.and_then(|text| text.trim().parse().ok()),
            path: path.into(),
            warnings: found,
        }),
        _ => Err(ReadError::Mistakes(Mistakes(found))),
    }
}

/// Reads the files of one charm, and gathers what is not YAML in them.
#[derive(Default)]
struct Reader {
    places: Places,
    problems: Vec<Located>,
    found: bool,
    broken_metadata: bool,
}

impl Reader {
    fn read(&mut self, container: &mut Container, name: &str) -> Result<Option<Node>, FilesError> {
        let Some(text) = container.read(name)? else {
            return Ok(None);
        };
        let shown = container.shown(name);
        self.found |= matches!(name, "metadata.yaml" | "charmcraft.yaml");
        match yaml::read(&text, &shown, &mut self.places) {
            Ok(documents) => {
                if documents.len() > 1 {
                    self.problems.push(Located {
                        file: shown,
                        line: 0,
                        column: 0,
                        path: String::new(),
                        problem: "there is more than one document; only the first one counts"
                            .into(),
                        advice: "remove the others, or a line with --- too many".into(),
                        severity: Severity::Warning,
                    });
                }
                Ok(documents
                    .into_iter()
                    .next()
                    .or_else(|| Some(self.nothing())))
            }
            Err(problem) => {
                self.broken_metadata |= name == "metadata.yaml";
                self.problems.push(problem);
                Ok(None)
            }
        }
    }

    /// An empty file.
    fn nothing(&mut self) -> Node {
        Node {
            place: self.places.add(1, 1),
            value: Value::Scalar(Scalar::plain("")),
        }
    }
}
