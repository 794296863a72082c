//! Resources given at deploy: `--resource NAME=VALUE`.

use std::path::{Path, PathBuf};

use pilotage_core::charm::resource::{ImageDetails, read_image_details};
use pilotage_core::charm::{ResourceDeclaration, ResourceKind, image};

use super::files::{self, FilesError};
use super::places::Places;
use super::{Mistakes, yaml};

/// What a user gives for a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GivenResource {
    /// An image, perhaps with the name and password that pull it.
    Image(ImageDetails),
    /// A file.
    File(PathBuf),
}

/// Why a value is no resource.
#[derive(Debug, thiserror::Error)]
pub enum ResourceError {
    /// A revision of a store's resource, which a local charm has not; in Juju's words.
    #[error(
        "resource {0:?}: a revision number can only be used with a charm of a store; give a file or an image"
    )]
    Revision(String),
    /// Neither a file nor an image; in Juju's words.
    #[error("resource {name:?}: filepath or registry path: {value} not valid")]
    NotValid {
        /// Name of the resource.
        name: String,
        /// The value.
        value: String,
    },
    /// A file that cannot be read.
    #[error("resource {name:?}: {cause}")]
    File {
        /// Name of the resource.
        name: String,
        /// What happened.
        #[source]
        cause: FilesError,
    },
    /// A file for an image with mistakes.
    #[error("resource {name:?}:\n{mistakes}")]
    Mistakes {
        /// Name of the resource.
        name: String,
        /// All of them.
        mistakes: Mistakes,
    },
}

/// Reads what a user gives for a resource: a path, relative to `base`, or an image.
///
/// A file for an image is JSON or YAML with `registrypath`, and `username` and `password` for a private one.
///
/// # Errors
///
/// It is neither, or the file cannot be read.
pub fn read_resource(
    declared: &ResourceDeclaration,
    value: &str,
    base: &Path,
) -> Result<GivenResource, ResourceError> {
    let name = &declared.name;
    let path = base.join(value);
    let not_valid = || ResourceError::NotValid {
        name: name.clone(),
        value: value.into(),
    };
    let is_number = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    if is_number && !path.is_file() {
        return Err(ResourceError::Revision(name.clone()));
    }
    if declared.kind == ResourceKind::File {
        return if path.is_file() {
            Ok(GivenResource::File(path))
        } else {
            Err(not_valid())
        };
    }
    if path.is_file() {
        return read_image_file(name, &path).map(GivenResource::Image);
    }
    if image::check(value).is_err() {
        return Err(not_valid());
    }
    Ok(GivenResource::Image(ImageDetails {
        registry_path: value.into(),
        username: None,
        password: None,
    }))
}

fn read_image_file(name: &str, path: &Path) -> Result<ImageDetails, ResourceError> {
    let text = files::read_text(path).map_err(|cause| ResourceError::File {
        name: name.into(),
        cause,
    })?;
    let refused = |mistakes| ResourceError::Mistakes {
        name: name.into(),
        mistakes: Mistakes(mistakes),
    };
    let mut places = Places::default();
    let documents = yaml::read(&text, &path.display().to_string(), &mut places)
        .map_err(|problem| refused(vec![problem]))?;
    let Some(node) = documents.first() else {
        return Err(ResourceError::NotValid {
            name: name.into(),
            value: path.display().to_string(),
        });
    };
    let reading = read_image_details(node);
    let mistakes = reading
        .mistakes
        .into_iter()
        .map(|mistake| places.locate(mistake));
    reading.value.ok_or_else(|| refused(mistakes.collect()))
}
