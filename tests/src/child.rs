//! Processes that tests start to end them: see `src/bin/child.rs` for what they do.

use std::io::{BufRead, BufReader, Lines};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};

/// A process of ours that does one thing until it is ended. It does not outlive the test.
pub struct Worker {
    process: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Worker {
    /// Starts the process: `program` is `env!("CARGO_BIN_EXE_child")`, `task` what it is to do with `path`.
    ///
    /// # Panics
    /// If it cannot be started.
    pub fn start(program: &str, task: &str, path: &Path, environment: &[(&str, &str)]) -> Self {
        let mut process = Command::new(program)
            .arg(task)
            .arg(path)
            .env_remove("PILOTAGE_FAIL_AT")
            .env_remove("PILOTAGE_FAIL_LOG")
            .envs(environment.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{program} {task}: {error}"));
        let stdout = process.stdout.take().expect("its output is a pipe");
        Worker {
            process,
            lines: BufReader::new(stdout).lines(),
        }
    }

    /// The next line that it prints; none once it has ended.
    ///
    /// # Panics
    /// If it prints something that is no text.
    pub fn line(&mut self) -> Option<String> {
        self.lines.next().map(|line| line.expect("it prints text"))
    }

    /// The process's number.
    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Asks it to end by a signal such as `TERM`.
    ///
    /// # Panics
    /// If there is no program `kill`.
    pub fn signal(&self, name: &str) {
        let pid = self.process.id().to_string();
        let status = Command::new("kill")
            .args([&format!("-{name}"), &pid])
            .status();
        assert!(status.expect("there is a program kill").success());
    }

    /// Ends it as a power cut would, and gives the lines that it had printed and nobody had read.
    ///
    /// # Panics
    /// If it had ended by itself.
    pub fn kill(mut self) -> Vec<String> {
        self.process.kill().expect("it is still there");
        let (lines, status) = self.rest();
        assert_eq!(status.signal(), Some(9), "it ended by itself: {status}");
        lines
    }

    /// How it ended; none while it goes on.
    ///
    /// # Panics
    /// If that cannot be asked.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.process.try_wait().expect("it can be asked")
    }

    /// Waits until it has ended: what it printed, and how it ended.
    ///
    /// # Panics
    /// If it cannot be waited for.
    pub fn rest(&mut self) -> (Vec<String>, ExitStatus) {
        let mut lines = Vec::new();
        while let Some(line) = self.line() {
            lines.push(line);
        }
        let status = self.process.wait().expect("it can be waited for");
        (lines, status)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
