//! Writing a trace.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use pilotage_core::provisioner::{Config, Provisioner};
use pilotage_core::time::Timestamp;
use pilotage_core::trace::{FORMAT, Header, Line, Recorded, digest, seal};

use super::segments;

/// How long a segment may get, and how many are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a segment, unless four times its checkpoint are more.
    pub segment: u64,
    /// How many segments are kept, the one at hand included.
    pub kept: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            segment: 64 << 20,
            kept: 8,
        }
    }
}

/// Every so many steps, the digest of the worker that stepped is written.
const DIGEST_EVERY: u64 = 16;

/// Writes the steps of one process, one line each, before their effects go out.
#[derive(Debug)]
pub struct Writer {
    folder: PathBuf,
    limits: Limits,
    config: Config,
    file: File,
    /// Bytes of the segment so far, and how many it may get.
    written: u64,
    limit: u64,
    /// Of the next step.
    sequence: u64,
}

/// Makes the folder of a trace, for its owner alone; one that is there stays as it is.
pub(super) fn make_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

impl Writer {
    /// Begins the trace of a process, whose core was just made, with a segment of its own.
    ///
    /// # Errors
    /// The folder or the file cannot be written.
    pub fn begin(
        folder: PathBuf,
        limits: Limits,
        config: Config,
        core: &Provisioner,
        at: Timestamp,
    ) -> io::Result<Self> {
        make_folder(&folder)?;
        let mut writer = Writer {
            file: next_file(&folder, limits)?,
            folder,
            limits,
            config,
            written: 0,
            limit: 0,
            sequence: 0,
        };
        writer.head(core, at)?;
        Ok(writer)
    }

    /// Writes one step; its sequence and digest are set here. The core is as the step left it.
    ///
    /// # Errors
    /// The file cannot be written. The line may be half there: the writer is not to be used again.
    pub fn step(&mut self, mut step: Recorded, core: &Provisioner) -> io::Result<()> {
        step.sequence = self.sequence;
        self.sequence += 1;
        if step.sequence.is_multiple_of(DIGEST_EVERY) {
            step.digest = digest(core, &step.event);
        }
        let at = step.at;
        self.line(&Line::Step(Box::new(step)))?;
        // Right after a recorded step the core is what a replay makes of the trace, so the checkpoint can be checked.
        if self.written >= self.limit {
            self.file = next_file(&self.folder, self.limits)?;
            self.written = 0;
            self.head(core, at)?;
        }
        Ok(())
    }

    fn head(&mut self, core: &Provisioner, begun: Timestamp) -> io::Result<()> {
        let header = Header {
            format: FORMAT,
            program: concat!("pilotage ", env!("CARGO_PKG_VERSION")).into(),
            begun,
            config: self.config.clone(),
            first: self.sequence,
        };
        self.line(&Line::Header(header))?;
        let before = self.written;
        self.line(&Line::Checkpoint(Box::new(core.clone())))?;
        let checkpoint = self.written - before;
        self.limit = self.limits.segment.max(checkpoint.saturating_mul(4));
        Ok(())
    }

    fn line(&mut self, line: &Line) -> io::Result<()> {
        let mut text = seal(line)?;
        text.push('\n');
        // One write: whoever ends this process leaves the line whole, or at most its beginning.
        self.file.write_all(text.as_bytes())?;
        self.written += text.len() as u64;
        Ok(())
    }
}

/// The next segment's file; the oldest ones go.
fn next_file(folder: &Path, limits: Limits) -> io::Result<File> {
    let segments = segments(folder)?;
    let number = segments.last().map_or(1, |(number, _)| number + 1);
    let too_many = (segments.len() + 1).saturating_sub(limits.kept.max(1));
    for (_, oldest) in segments.iter().take(too_many) {
        std::fs::remove_file(oldest)?;
    }
    OpenOptions::new()
        .append(true)
        .create_new(true)
        .mode(0o600)
        .open(folder.join(format!("trace-{number:08}.jsonl")))
}
