//! Bundles: read, with every charm that they name.
//!
//! A bundle is checked as a whole before anything of it is deployed: all charms that are missing, all options that a charm
//! does not have and all images that nobody gave are named at once, each where the bundle says it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pilotage_core::charm::bundle::{self, Bundle, BundleApplication};
use pilotage_core::charm::document::{Node, Place};
use pilotage_core::charm::resource::{ChosenImage, choose_images};
use pilotage_core::charm::{ConfigValue, Mistake, Severity, config};

use super::files::{self, Container};
use super::folder::{CharmsFolder, NotInFolder, Source};
use super::places::{Located, Places};
use super::resource::{GivenResource, read_resource};
use super::{FileKind, Mistakes, ReadCharm, ReadError, kind_of_file, read_charm, yaml};

/// A bundle as read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadBundle {
    /// Its applications with their charms, by name.
    pub applications: Vec<BundleCharm>,
    /// What is in it and has no effect, in words: `relation a:x - b:y`.
    pub ignored: Vec<String>,
    /// What works, though perhaps not as meant.
    pub warnings: Vec<Located>,
}

/// An application of a bundle with its charm, everything about it checked that does not depend on the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BundleCharm {
    /// What the bundle says of it.
    pub application: BundleApplication,
    /// Its charm.
    pub read: ReadCharm,
    /// Values of its charm's options.
    pub config: BTreeMap<String, ConfigValue>,
    /// Values of its own settings, as text.
    pub settings: BTreeMap<String, String>,
    /// Resources that the bundle gives.
    pub resources: BTreeMap<String, GivenResource>,
    /// The image of every image resource.
    pub images: Vec<ChosenImage>,
}

/// Reads the bundle at a path (a YAML file, a directory or an archive with `bundle.yaml`), lays the overlays over it in
/// order, and reads every charm that is named.
///
/// # Errors
///
/// A file cannot be read, or there are mistakes: all of them, with file, line and column.
pub fn read_bundle(
    path: &Path,
    overlays: &[PathBuf],
    charms: &CharmsFolder,
) -> Result<ReadBundle, ReadError> {
    let mut reader = Reader::default();
    reader.read_base(path)?;
    for overlay in overlays {
        let text = files::read_text(overlay)?;
        reader.read_text(&text, &overlay.display().to_string(), parent(overlay));
    }
    if reader.is_refused() {
        return Err(ReadError::Mistakes(Mistakes(reader.mistakes)));
    }
    let (
        Bundle {
            applications,
            ignored,
        },
        mistakes,
    ) = bundle::read(&reader.documents);
    for mistake in mistakes {
        reader.add(mistake);
    }
    let mut known = BTreeMap::new();
    let applications: Vec<BundleCharm> = applications
        .into_iter()
        .filter_map(|application| reader.read_application(application, charms, &mut known))
        .collect();
    reader.mistakes.sort();
    if reader.is_refused() {
        return Err(ReadError::Mistakes(Mistakes(reader.mistakes)));
    }
    Ok(ReadBundle {
        applications,
        ignored,
        warnings: reader.mistakes,
    })
}

fn parent(file: &Path) -> PathBuf {
    file.parent().map(Path::to_path_buf).unwrap_or_default()
}

#[derive(Default)]
struct Reader {
    places: Places,
    documents: Vec<Node>,
    mistakes: Vec<Located>,
    /// For each file, the directory that paths in it are relative to.
    directories: BTreeMap<String, PathBuf>,
}

impl Reader {
    fn read_base(&mut self, path: &Path) -> Result<(), ReadError> {
        match kind_of_file(path) {
            Some(FileKind::Yaml) => {
                let text = files::read_text(path)?;
                self.read_text(&text, &path.display().to_string(), parent(path));
                return Ok(());
            }
            Some(FileKind::Template) => return Err(ReadError::Template(path.into())),
            None => {}
        }
        let mut container = Container::open(path)?;
        let Some(text) = container.read("bundle.yaml")? else {
            return Err(if container.read("bundle.yaml.j2")?.is_some() {
                ReadError::Template(path.join("bundle.yaml.j2"))
            } else {
                ReadError::NotABundle(path.into())
            });
        };
        let directory = match &container {
            Container::Directory(path) => path.clone(),
            Container::Archive(path, _) => parent(path),
        };
        self.read_text(&text, &container.shown("bundle.yaml"), directory);
        Ok(())
    }

    fn read_text(&mut self, text: &str, file: &str, directory: PathBuf) {
        self.directories.insert(file.into(), directory);
        match yaml::read(text, file, &mut self.places) {
            Ok(documents) => self.documents.extend(documents),
            Err(problem) => self.mistakes.push(problem),
        }
    }

    fn is_refused(&self) -> bool {
        self.mistakes
            .iter()
            .any(|mistake| mistake.severity == Severity::Error)
    }

    fn add(&mut self, mistake: Mistake) {
        self.mistakes.push(self.places.locate(mistake));
    }

    fn error(&mut self, place: Place, path: &str, problem: String, advice: &str) {
        self.add(Mistake {
            place,
            path: path.into(),
            problem,
            advice: advice.into(),
            severity: Severity::Error,
        });
    }

    /// The directory that paths at a place are relative to.
    fn directory(&self, place: Place) -> PathBuf {
        self.places
            .file(place)
            .and_then(|file| self.directories.get(file))
            .cloned()
            .unwrap_or_default()
    }

    fn read_application(
        &mut self,
        application: BundleApplication,
        charms: &CharmsFolder,
        known: &mut BTreeMap<PathBuf, Option<ReadCharm>>,
    ) -> Option<BundleCharm> {
        let read = self.read_charm(&application, charms, known)?;
        let (config, settings) = self.read_options(&application, &read);
        let resources = self.read_resources(&application, &read);
        let given = resources
            .iter()
            .filter_map(|(name, given)| match given {
                GivenResource::Image(details) => {
                    Some((name.clone(), details.registry_path.clone()))
                }
                GivenResource::File(_) => None,
            })
            .collect();
        let images = match choose_images(&read.charm, &given) {
            Ok(images) => images,
            Err(missing) => {
                self.error(
                    application.charm_place,
                    &application.path(),
                    missing.to_string(),
                    "give the images under \"resources\"",
                );
                Vec::new()
            }
        };
        Some(BundleCharm {
            application,
            read,
            config,
            settings,
            resources,
            images,
        })
    }

    fn read_charm(
        &mut self,
        application: &BundleApplication,
        charms: &CharmsFolder,
        known: &mut BTreeMap<PathBuf, Option<ReadCharm>>,
    ) -> Option<ReadCharm> {
        let place = application.charm_place;
        let keys = format!("{}.charm", application.path());
        let path = match charms.find(&application.charm, &self.directory(place)) {
            Ok(Source::Path(path)) => path,
            Ok(Source::Known { .. }) => {
                let missing = NotInFolder(application.charm.clone());
                self.error(
                    place,
                    &keys,
                    missing.to_string(),
                    "name a path, or a charm of the charms folder",
                );
                return None;
            }
            Err(missing) => {
                self.error(
                    place,
                    &keys,
                    missing.to_string(),
                    "put the charm into the charms folder (--charms), or give its path with an --overlay",
                );
                return None;
            }
        };
        // A charm that several applications share is read, and its mistakes are told, once.
        if let Some(read) = known.get(&path) {
            return read.clone();
        }
        let read = match read_charm(&path) {
            Ok(read) => {
                self.mistakes.extend(read.warnings.iter().cloned());
                Some(read)
            }
            Err(ReadError::Mistakes(Mistakes(mistakes))) => {
                self.mistakes.extend(mistakes);
                None
            }
            Err(problem) => {
                self.error(
                    place,
                    &keys,
                    problem.to_string(),
                    "paths are relative to the file that names them",
                );
                None
            }
        };
        known.insert(path, read.clone());
        read
    }

    fn read_options(
        &mut self,
        application: &BundleApplication,
        read: &ReadCharm,
    ) -> (BTreeMap<String, ConfigValue>, BTreeMap<String, String>) {
        let mut values = BTreeMap::new();
        let mut settings = BTreeMap::new();
        for option in &application.options {
            if read.charm.option(&option.name).is_none() && config::is_setting(&option.name) {
                if !option.value.is_null() {
                    settings.insert(option.name.clone(), option.value.text.clone());
                }
                continue;
            }
            match read.charm.read_value(&option.name, &option.value) {
                Ok(Some(value)) => {
                    values.insert(option.name.clone(), value);
                }
                Ok(None) => {}
                Err(problem) => {
                    self.error(
                        option.place,
                        &option.path,
                        problem.to_string(),
                        "see the options in the charm's config.yaml",
                    );
                }
            }
        }
        (values, settings)
    }

    fn read_resources(
        &mut self,
        application: &BundleApplication,
        read: &ReadCharm,
    ) -> BTreeMap<String, GivenResource> {
        let mut resources = BTreeMap::new();
        for resource in &application.resources {
            let Some(declared) = read.charm.resource(&resource.name) else {
                self.error(
                    resource.place,
                    &resource.path,
                    format!("unrecognized resource {:?}", resource.name),
                    "see \"resources\" in the charm's metadata",
                );
                continue;
            };
            match read_resource(declared, &resource.value, &self.directory(resource.place)) {
                Ok(given) => {
                    resources.insert(resource.name.clone(), given);
                }
                Err(problem) => {
                    self.error(
                        resource.place,
                        &resource.path,
                        problem.to_string(),
                        "give an image, or a file relative to the bundle",
                    );
                }
            }
        }
        resources
    }
}
