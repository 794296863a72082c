//! helm, where it is built.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;
use serde_json::Value;

use crate::charms::own;

/// helm, with files of its own beside a kubeconfig.
#[derive(Debug)]
pub struct Helm {
    program: PathBuf,
    home: PathBuf,
}

impl Helm {
    /// helm, whose calls mean the kubeconfig in a folder. Where it is not there, says so past the test runner's capture.
    ///
    /// # Panics
    /// If the script that finds it does not run.
    pub fn find(test: &str, home: &Path) -> Option<Helm> {
        let script = own("tests/helm/build");
        let found = Command::new(&script).arg("--find").output();
        let found = found.unwrap_or_else(|error| panic!("{}: {error}", script.display()));
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        if !found.status.success() {
            let why = text(&found.stderr);
            let said = writeln!(
                std::io::stderr(),
                "NOT RUN: {test}: {why}; then cargo test -p pilotage-tests {test}"
            );
            // Where not even this can be written, nobody reads it.
            drop(said);
            return None;
        }
        Some(Helm {
            program: text(&found.stdout).into(),
            home: home.to_owned(),
        })
    }

    /// Calls it with the chart's folder for `CHART`; it must succeed, and gives what it printed.
    ///
    /// # Panics
    /// If it fails; with what it said.
    pub fn ok(&self, words: &str) -> String {
        let (out, err, well) = self.call(words);
        assert!(well, "helm {words}: {out}{err}");
        out
    }

    /// Calls it, and gives what it printed on stdout and stderr, and whether it succeeded.
    ///
    /// # Panics
    /// If it cannot be started.
    pub fn call(&self, words: &str) -> (String, String, bool) {
        let chart = own("interpreter/install/chart").display().to_string();
        let words = words.split_whitespace();
        let output = Command::new(&self.program)
            .args(words.map(|word| if word == "CHART" { &*chart } else { word }))
            .current_dir(&self.home)
            .env("HOME", &self.home)
            .env("KUBECONFIG", self.home.join("kubeconfig"))
            .env("HELM_CACHE_HOME", self.home.join("helm"))
            .env("HELM_CONFIG_HOME", self.home.join("helm"))
            .env("HELM_DATA_HOME", self.home.join("helm"))
            .stdin(Stdio::null())
            .output()
            .unwrap_or_else(|error| panic!("helm: {error}"));
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (
            text(&output.stdout),
            text(&output.stderr),
            output.status.success(),
        )
    }
}

/// The objects in a text of YAML.
///
/// # Panics
/// If it is none.
pub fn objects(text: &str) -> Vec<Value> {
    let documents = serde_yaml_ng::Deserializer::from_str(text);
    let objects = documents.map(|document| Value::deserialize(document).expect("YAML"));
    objects.filter(|object| !object.is_null()).collect()
}
