//! Where the programs of the control plane are.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use thiserror::Error;

/// A folder that holds `etcd`, `kube-apiserver` and `kube-controller-manager`, and mostly `kubectl`.
#[derive(Clone, Debug)]
pub struct Programs {
    folder: PathBuf,
}

/// The programs are not there, and why.
#[derive(Debug, Error)]
#[error("no control plane: {why}")]
pub struct Absent {
    why: String,
}

impl Programs {
    /// The programs, built if they are not there yet (about six minutes on two cores, Go needed).
    pub fn build() -> Result<Programs, Absent> {
        Self::ask(&[])
    }

    /// The programs, if they are there already.
    pub fn find() -> Result<Programs, Absent> {
        Self::ask(&["--find"])
    }

    /// The path of one program.
    pub fn path(&self, program: &str) -> PathBuf {
        self.folder.join(program)
    }

    /// The path of kubectl, which a folder in `KUBEBUILDER_ASSETS` may be without.
    pub fn kubectl(&self) -> Result<PathBuf, Absent> {
        let program = self.path("kubectl");
        if program.is_file() {
            Ok(program)
        } else {
            let why = format!("there is no program kubectl in {}", self.folder.display());
            Err(Absent { why })
        }
    }

    fn ask(arguments: &[&str]) -> Result<Programs, Absent> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("control-plane/build");
        let output = Command::new(&script)
            .args(arguments)
            .stderr(if arguments.is_empty() {
                Stdio::inherit()
            } else {
                Stdio::piped()
            })
            .stdout(Stdio::piped())
            .output()
            .map_err(|error| Absent {
                why: format!("{} does not run: {error}", script.display()),
            })?;
        if !output.status.success() {
            let stderr = String::from_utf8_lossy(&output.stderr);
            let why = match stderr.trim() {
                "" => format!("{} failed, see above", script.display()),
                text => text.to_owned(),
            };
            return Err(Absent { why });
        }
        let folder = String::from_utf8_lossy(&output.stdout).trim().into();
        Ok(Programs { folder })
    }
}
