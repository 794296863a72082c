//! kubectl, as one user of a control plane.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use super::shared::not_run;
use super::{Absent, ControlPlane};

/// kubectl with a home, a kubeconfig and a cache of its own; its calls run in that home.
#[derive(Debug)]
pub struct Kubectl {
    program: PathBuf,
    home: TempDir,
}

impl Kubectl {
    /// kubectl of the control plane's version, as one of its [users](super::USERS). Where it is not there, says so past the
    /// test runner's capture.
    ///
    /// # Panics
    ///
    /// If its home cannot be made.
    pub fn find(test: &str, control_plane: &ControlPlane, user: &str) -> Option<Kubectl> {
        match Kubectl::new(control_plane, user) {
            Ok(kubectl) => Some(kubectl),
            Err(absent) => {
                not_run(test, &absent);
                None
            }
        }
    }

    fn new(control_plane: &ControlPlane, user: &str) -> Result<Kubectl, Absent> {
        let program = control_plane.programs().kubectl()?;
        let home = TempDir::new().expect("a temporary folder");
        let kubectl = Kubectl { program, home };
        kubectl.write("kubeconfig", &control_plane.kubeconfig_of(user, None));
        Ok(kubectl)
    }

    /// Its home.
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// Writes a file into its home.
    ///
    /// # Panics
    ///
    /// If it cannot be written.
    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.home().join(name), text).expect("a file");
    }

    /// A call, not yet made: the words are split at white space.
    pub fn command(&self, words: &str) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(words.split_whitespace())
            .current_dir(self.home())
            .env("HOME", self.home())
            .env("KUBECONFIG", self.home().join("kubeconfig"))
            .env("KUBECACHEDIR", self.home().join("cache"))
            .env("KUBERC", "off")
            .env("TZ", "UTC")
            .stdin(Stdio::null());
        command
    }

    /// Calls it and waits for it.
    ///
    /// # Panics
    ///
    /// If it cannot be started.
    pub fn call(&self, words: &str) -> Output {
        let output = self.command(words).output();
        output.unwrap_or_else(|error| panic!("kubectl {words}: {error}"))
    }

    /// Calls it, which must succeed, and gives what it printed.
    ///
    /// # Panics
    ///
    /// If it fails; with what it said.
    pub fn ok(&self, words: &str) -> String {
        let (out, err, well) = said(&self.call(words));
        assert!(well, "kubectl {words}: {out}{err}");
        out
    }

    /// Calls it, which must fail, and gives what it said.
    ///
    /// # Panics
    ///
    /// If it succeeds; with what it printed.
    pub fn fails(&self, words: &str) -> String {
        let (out, err, well) = said(&self.call(words));
        assert!(!well, "kubectl {words} succeeds: {out}{err}");
        err
    }

    /// Calls it with `--output json`, and gives the value.
    ///
    /// # Panics
    ///
    /// If it fails, or prints something else.
    pub fn json(&self, words: &str) -> Value {
        let out = self.ok(&format!("{words} --output json"));
        serde_json::from_str(&out).unwrap_or_else(|error| panic!("kubectl {words}: {error}: {out}"))
    }

    /// Calls `kubectl VERB -f` with one object.
    ///
    /// # Panics
    ///
    /// If it cannot be started.
    pub fn with(&self, verb: &str, object: &Value) -> Output {
        self.write("object.json", &object.to_string());
        self.call(&format!("{verb} -f object.json"))
    }
}

/// What a call printed on stdout and stderr, and whether it succeeded.
fn said(output: &Output) -> (String, String, bool) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        text(&output.stdout),
        text(&output.stderr),
        output.status.success(),
    )
}
