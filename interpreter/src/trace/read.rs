//! Replaying a trace from its files.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use pilotage_core::trace::{Damage, Replay, Stop, unseal};

use super::segments;

/// What was replayed without a difference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Replayed {
    /// Segments.
    pub segments: u64,
    /// Lines.
    pub lines: u64,
    /// Steps.
    pub steps: u64,
    /// Segments whose last line is only a beginning: their process was ended while it wrote.
    pub cut: u64,
}

/// Why a replay stopped.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// There is nothing to replay.
    #[error("{} holds no trace: there is no file trace-*.jsonl in it", path.display())]
    Empty {
        /// The folder.
        path: PathBuf,
    },
    /// The trace differs from what the code at hand says, or is not as it was written.
    #[error("{}: {stop}", path.display())]
    Stopped {
        /// The segment.
        path: PathBuf,
        /// Where, and why.
        #[source]
        stop: Stop,
    },
}

/// Replays a segment, or all segments of a folder in their order.
///
/// # Errors
/// The first difference, or what else stands in the way.
pub fn replay(path: &Path) -> Result<Replayed, ReplayError> {
    let failed = |source| ReplayError::Io {
        path: path.to_owned(),
        source,
    };
    let files: Vec<PathBuf> = if std::fs::metadata(path).map_err(failed)?.is_dir() {
        let segments = segments(path).map_err(failed)?;
        segments.into_iter().map(|(_, path)| path).collect()
    } else {
        vec![path.to_owned()]
    };
    if files.is_empty() {
        return Err(ReplayError::Empty {
            path: path.to_owned(),
        });
    }
    for file in &files {
        let about = std::fs::metadata(file).map_err(failed)?;
        // A pipe would be waited for, and a device has no end.
        if !about.is_file() {
            return Err(failed(io::Error::other(
                "it is no file: name a trace, or a folder of traces",
            )));
        }
        if about.len() == 0 && file == path {
            return Err(failed(io::Error::other(
                "it is empty: there is no step in it",
            )));
        }
    }
    let mut replayed = Replayed::default();
    let mut replay = Replay::new();
    for file in files {
        replay.next_file();
        let cut = segment(&mut replay, &file)?;
        replayed.segments += 1;
        replayed.lines += replay.lines();
        replayed.cut += u64::from(cut);
    }
    replayed.steps = replay.steps();
    Ok(replayed)
}

/// Replays one segment; says whether its last line is cut.
fn segment(replay: &mut Replay, path: &Path) -> Result<bool, ReplayError> {
    let failed = |source| ReplayError::Io {
        path: path.to_owned(),
        source,
    };
    let stopped = |stop| ReplayError::Stopped {
        path: path.to_owned(),
        stop,
    };
    let damaged = |replay: &Replay| {
        stopped(Stop::Damaged {
            line: replay.lines() + 1,
            damage: Damage::Unsealed,
        })
    };
    let mut reader = BufReader::with_capacity(1 << 16, File::open(path).map_err(failed)?);
    let mut line = Vec::new();
    loop {
        line.clear();
        if reader.read_until(b'\n', &mut line).map_err(failed)? == 0 {
            return Ok(false);
        }
        let last = line.pop();
        let text = std::str::from_utf8(&line);
        if last == Some(b'\n') {
            let text = text.map_err(|_| damaged(replay))?;
            replay.line(text).map_err(stopped)?;
        } else if text.is_ok_and(|text| unseal(text).is_ok()) {
            // The line is whole, and something else stands where its line feed was.
            return Err(damaged(replay));
        } else {
            return Ok(true);
        }
    }
}
