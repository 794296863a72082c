//! A child process that does not outlive its owner.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A running program that writes to a log file, killed when it is dropped.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    log: PathBuf,
}

impl Process {
    /// Starts `program` with `arguments`, one per string; both outputs go to `log`.
    pub(super) fn start(program: &Path, arguments: &[String], log: PathBuf) -> io::Result<Process> {
        let output = File::create(&log)?;
        let child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output)
            .spawn()?;
        Ok(Process { child, log })
    }

    /// Its id.
    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Whether the program still runs.
    pub(super) fn runs(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Ends the program and waits until it is gone.
    pub(super) fn kill(&mut self) {
        // Both fail only when the program has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// The last lines that the program wrote.
    pub(super) fn last_words(&self) -> String {
        let text = std::fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(15)..].join("\n")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}
