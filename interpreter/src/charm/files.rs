//! Where the files of a charm or a bundle are: a directory, or an archive.
//!
//! Nothing is ever unpacked: single files are read by name, each up to [`LARGEST`] bytes, whatever an archive says of
//! their sizes.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use zip::ZipArchive;
use zip::result::ZipError;

/// The largest file that is read: a charm's metadata is a few thousand bytes.
const LARGEST: u64 = 4 << 20;

/// Why files cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum FilesError {
    /// There is nothing at that path.
    #[error("no charm was found at {0:?}")]
    NotFound(String),
    /// The system refuses.
    #[error("cannot read {path}: {cause}", path = .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        cause: io::Error,
    },
    /// A file that is no archive, or a broken one.
    #[error("{path} is not a charm archive: {cause}; pack the charm again, or name its directory", path = .path.display())]
    NotAnArchive {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        cause: ZipError,
    },
    /// A pipe, a device, a socket.
    #[error("{path} is no file; name a file, or the charm's directory", path = .path.display())]
    NoFile {
        /// What it is called.
        path: PathBuf,
    },
    /// A file of an archive that cannot be read.
    #[error("cannot read {name} in {path}: {cause}; pack the charm again", path = .path.display())]
    BadEntry {
        /// The archive.
        path: PathBuf,
        /// The file in it.
        name: String,
        /// Why.
        #[source]
        cause: io::Error,
    },
    /// A file that is far too large to be what its name says.
    #[error("{file} is larger than {} MiB, which no such file is; check what it is", LARGEST >> 20)]
    TooLarge {
        /// The file.
        file: String,
    },
    /// A file that is not text.
    #[error("{file} is not text in UTF-8 (byte {at}); save it as UTF-8")]
    NotText {
        /// The file.
        file: String,
        /// Number of the first byte that is none.
        at: usize,
    },
}

/// An open directory or archive.
#[derive(Debug)]
pub enum Container {
    /// A directory.
    Directory(PathBuf),
    /// A zip archive.
    Archive(PathBuf, Box<ZipArchive<File>>),
}

impl Container {
    /// Opens what is at a path.
    ///
    /// # Errors
    ///
    /// Nothing there, or neither a directory nor an archive.
    pub fn open(path: &Path) -> Result<Self, FilesError> {
        if path.is_dir() {
            return Ok(Self::Directory(path.into()));
        }
        let file = open(path)?;
        let archive = ZipArchive::new(file).map_err(|cause| FilesError::NotAnArchive {
            path: path.into(),
            cause,
        })?;
        Ok(Self::Archive(path.into(), Box::new(archive)))
    }

    /// A file's name as a mistake shows it.
    pub fn shown(&self, name: &str) -> String {
        match self {
            Self::Directory(path) | Self::Archive(path, _) => path.join(name).display().to_string(),
        }
    }

    /// Reads a file at the top; `None` where there is none.
    ///
    /// # Errors
    ///
    /// It is there and cannot be read.
    pub fn read(&mut self, name: &str) -> Result<Option<String>, FilesError> {
        let shown = self.shown(name);
        match self {
            Self::Directory(path) => {
                let path = path.join(name);
                match open(&path) {
                    Ok(file) => {
                        text(shown, file, |cause| FilesError::Unreadable { path, cause }).map(Some)
                    }
                    Err(FilesError::NotFound(_)) => Ok(None),
                    Err(error) => Err(error),
                }
            }
            Self::Archive(path, archive) => {
                let bad = |cause| FilesError::BadEntry {
                    path: path.clone(),
                    name: name.into(),
                    cause,
                };
                match archive.by_name(name) {
                    Ok(file) => text(shown, file, bad).map(Some),
                    Err(ZipError::FileNotFound) => Ok(None),
                    Err(cause) => Err(bad(io::Error::other(cause))),
                }
            }
        }
    }
}

/// Reads a text file by its path, with the same bounds.
///
/// # Errors
///
/// It is not there, or cannot be read.
pub fn read_text(path: &Path) -> Result<String, FilesError> {
    let file = open(path)?;
    text(path.display().to_string(), file, |cause| {
        unreadable(path, cause)
    })
}

/// Opens a file that has an end: a pipe would be waited for without one.
fn open(path: &Path) -> Result<File, FilesError> {
    let failed = |cause| unreadable(path, cause);
    if !std::fs::metadata(path).map_err(failed)?.is_file() {
        return Err(FilesError::NoFile { path: path.into() });
    }
    File::open(path).map_err(failed)
}

fn unreadable(path: &Path, cause: io::Error) -> FilesError {
    match cause.kind() {
        io::ErrorKind::NotFound => FilesError::NotFound(path.display().to_string()),
        _ => FilesError::Unreadable {
            path: path.into(),
            cause,
        },
    }
}

fn text(
    shown: String,
    file: impl Read,
    failed: impl FnOnce(io::Error) -> FilesError,
) -> Result<String, FilesError> {
    let mut bytes = Vec::new();
    if let Err(cause) = file.take(LARGEST.saturating_add(1)).read_to_end(&mut bytes) {
        return Err(failed(cause));
    }
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > LARGEST {
        return Err(FilesError::TooLarge { file: shown });
    }
    String::from_utf8(bytes).map_err(|error| FilesError::NotText {
        file: shown,
        at: error.utf8_error().valid_up_to(),
    })
}
