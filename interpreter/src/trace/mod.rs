//! What the runtime writes down of its steps, and asking it again.
//!
//! A trace is a folder of segments, beside the state unless told otherwise: `trace-00000001.jsonl` and so on. The form
//! of the lines is [`pilotage_core::trace`]'s. A segment begins with the whole core, so each can be replayed by itself;
//! the last ones are kept. Files are readable and writable by their owner alone.

mod read;
mod write;

use std::path::{Path, PathBuf};

pub use read::{ReplayError, Replayed, replay};
pub use write::{Limits, Writer};

/// Whether, where and what is traced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tracing {
    /// Nothing.
    Off,
    /// Into a folder.
    On {
        /// The folder; it is made if it is not there.
        folder: PathBuf,
        /// Also the steps that changed nothing and gave no effects.
        every_step: bool,
    },
}

impl Tracing {
    /// What `--trace` says: `off`, `all` (into the folder beside the state), or a folder; beside the state if absent.
    pub fn read(option: Option<&str>, state: &Path) -> Self {
        let beside = |every_step| {
            let mut name = state.as_os_str().to_owned();
            name.push(".trace");
            Tracing::On {
                folder: name.into(),
                every_step,
            }
        };
        match option {
            Some("off") => Tracing::Off,
            Some("all") => beside(true),
            None => beside(false),
            Some(folder) => Tracing::On {
                folder: folder.into(),
                every_step: false,
            },
        }
    }
}

/// Makes a folder for traces where there is none, and finds out whether one can be written there.
///
/// # Errors
/// It cannot.
pub fn prepare(folder: &Path) -> std::io::Result<()> {
    write::make_folder(folder)?;
    let probe = folder.join(format!(".writable-{}", std::process::id()));
    std::fs::write(&probe, "")?;
    std::fs::remove_file(&probe)
}

/// The segments of a folder, oldest first, with their numbers.
fn segments(folder: &Path) -> std::io::Result<Vec<(u64, PathBuf)>> {
    let mut segments = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let number = path
            .file_name()
            .and_then(|name| name.to_str())
            .and_then(|name| name.strip_prefix("trace-")?.strip_suffix(".jsonl"))
            .and_then(|number| number.parse().ok());
        if let Some(number) = number {
            segments.push((number, path));
        }
    }
    segments.sort();
    Ok(segments)
}

#[cfg(test)]
mod tests;
