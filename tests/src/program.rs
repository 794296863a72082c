//! The real program `pilotage`, as people and scripts call it.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::OnceLock;
use std::time::SystemTime;

use serde_json::Value;

use crate::control_plane::ControlPlane;
use crate::patience::until;

/// The program, built like this test; it is built anew if a source is newer than it is.
///
/// # Panics
/// If it cannot be built; the line that builds it is in the message.
pub fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        // This test is target/<profile>/deps/<name>.
        let test = std::env::current_exe().expect("the path of this test");
        let profile = test
            .parent()
            .and_then(Path::parent)
            .expect("the folder of the profile");
        let program = profile.join("pilotage");
        let root = Path::new(env!("CARGO_MANIFEST_DIR"))
            .parent()
            .expect("the root of the workspace");
        let built = modified(&program);
        let newest = ["core/src", "sim/src", "interpreter/src"]
            .into_iter()
            .filter_map(|folder| newest(&root.join(folder)))
            .max();
        if built.is_none() || built < newest {
            build(root, profile);
        }
        program
    })
}

fn build(root: &Path, profile: &Path) {
    let mut arguments = vec!["build", "-p", "pilotage-interpreter", "--bin", "pilotage"];
    arguments.extend(["--features", "failpoints"]);
    if profile.file_name().is_some_and(|name| name == "release") {
        arguments.push("--release");
    }
    let target = profile.parent().expect("the target folder");
    let built = Command::new(env!("CARGO"))
        .args(&arguments)
        .current_dir(root)
        .env("CARGO_TARGET_DIR", target)
        .status();
    let line = format!("cargo {}", arguments.join(" "));
    assert!(
        built.is_ok_and(|status| status.success()),
        "the program could not be built: {line}"
    );
}

fn modified(path: &Path) -> Option<SystemTime> {
    path.metadata().ok()?.modified().ok()
}

fn newest(folder: &Path) -> Option<SystemTime> {
    let entries = std::fs::read_dir(folder).ok()?;
    entries
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            if path.is_dir() {
                newest(&path)
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                modified(&path)
            } else {
                None
            }
        })
        .max()
}

/// A folder with a state of its own, and the program to call on it.
pub struct Desk {
    folder: tempfile::TempDir,
    environment: Vec<(String, String)>,
}

impl Default for Desk {
    fn default() -> Self {
        Desk::new()
    }
}

impl Desk {
    /// An empty folder.
    ///
    /// # Panics
    /// If it cannot be made.
    pub fn new() -> Self {
        Desk {
            folder: tempfile::tempdir().expect("a temporary folder"),
            environment: Vec::new(),
        }
    }

    /// An empty folder, whose calls mean a real cluster, as one of its users.
    ///
    /// # Panics
    /// If it cannot be made.
    pub fn on(control_plane: &ControlPlane, user: &str) -> Self {
        let mut desk = Desk::new();
        desk.write("kubeconfig", &control_plane.kubeconfig_of(user, None));
        let kubeconfig = desk.folder().join("kubeconfig");
        desk.set("KUBECONFIG", &kubeconfig.display().to_string());
        desk.set("PILOTAGE_CLUSTER", "kubeconfig");
        desk
    }

    /// Sets a variable for the calls to come.
    pub fn set(&mut self, name: &str, value: &str) {
        self.environment.push((name.into(), value.into()));
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file, and the folders above it.
    ///
    /// # Panics
    /// If it cannot be written.
    pub fn write(&self, name: &str, text: &str) {
        let path = self.folder().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }

    /// A call of the program on this folder's state, by the embedded cluster without latencies.
    pub fn command(&self, words: &str) -> Command {
        let mut command = Command::new(program());
        command
            .args(words.split_whitespace())
            .current_dir(self.folder())
            .env("PILOTAGE_STATE", self.folder().join("state.db"))
            .env("PILOTAGE_EMBEDDED_LATENCIES", "instant")
            .env("TZ", "UTC")
            .env_remove("JUJU_MODEL")
            .env_remove("PILOTAGE_MODEL")
            .env_remove("PILOTAGE_CLUSTER")
            .env_remove("KUBECONFIG")
            .envs(self.environment.iter().cloned())
            .stdin(Stdio::null());
        command
    }

    /// Calls the program and waits for it.
    ///
    /// # Panics
    /// If it cannot be started.
    pub fn call(&self, words: &str) -> Output {
        let output = self.command(words).output();
        output.unwrap_or_else(|error| panic!("pilotage {words}: {error}"))
    }

    /// Calls the program, which must succeed, and gives what it printed.
    ///
    /// # Panics
    /// If it fails; with what it said.
    pub fn ok(&self, words: &str) -> String {
        let output = self.call(words);
        let (out, err) = texts(&output);
        assert!(
            output.status.success(),
            "pilotage {words}: {}\n{out}{err}",
            output.status
        );
        out
    }

    /// The status of the current model.
    ///
    /// # Panics
    /// If it is no JSON.
    pub fn status(&self) -> Value {
        serde_json::from_str(&self.ok("status --format json")).expect("JSON")
    }

    /// Starts a process of the program that goes on: `run` or `up`.
    ///
    /// # Panics
    /// If it cannot be started.
    pub fn start(&self, words: &str) -> Running {
        self.start_with(words, &[])
    }

    /// The same, with variables of its own.
    ///
    /// # Panics
    /// If it cannot be started.
    pub fn start_with(&self, words: &str, environment: &[(&str, &str)]) -> Running {
        let word = words.split_whitespace().next().unwrap_or_default();
        self.start_as(word, words, environment)
    }

    /// The same, with a name for the files of its words: where several are the same command.
    ///
    /// # Panics
    /// If it cannot be started.
    pub fn start_as(&self, name: &str, words: &str, environment: &[(&str, &str)]) -> Running {
        let file = |stream: &str| {
            let path = self.folder().join(format!("{name}.{stream}"));
            std::fs::File::create(path).expect("a file for its words")
        };
        let process = self
            .command(words)
            .envs(environment.iter().copied())
            .stdout(file("out"))
            .stderr(file("err"))
            .spawn();
        Running {
            process: process.unwrap_or_else(|error| panic!("pilotage {words}: {error}")),
            words: self.folder().join(name),
        }
    }

    /// Waits until the status is as it must be.
    ///
    /// # Panics
    /// If it does not become so within a minute; with the last one.
    pub fn wait(&self, what: &str, holds: impl Fn(&Value) -> bool) -> Value {
        let last = std::cell::RefCell::new(Value::Null);
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            until(what, || {
                let status = self.status();
                let done = holds(&status);
                last.replace(status.clone());
                done.then_some(status)
            })
        }));
        outcome.unwrap_or_else(|_| panic!("{what}: {:#}", last.borrow()))
    }
}

/// What a call printed on stdout and stderr.
pub fn texts(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

/// A process that goes on. It does not outlive the test.
pub struct Running {
    process: Child,
    /// The files that it writes to, without their endings.
    words: PathBuf,
}

impl Running {
    /// Asks it to end, waits, and gives what it printed and whether it ended well.
    ///
    /// # Panics
    /// If it cannot be asked.
    pub fn stop(mut self) -> (String, String, bool) {
        let pid = self.process.id().to_string();
        let asked = Command::new("kill").args(["-TERM", &pid]).status();
        assert!(asked.is_ok_and(|status| status.success()));
        let status = self.process.wait().expect("it can be waited for");
        let read = |stream: &str| {
            std::fs::read_to_string(self.words.with_extension(stream)).unwrap_or_default()
        };
        (read("out"), read("err"), status.success())
    }
}

impl Running {
    /// What it has said on stderr until now.
    pub fn said(&self) -> String {
        std::fs::read_to_string(self.words.with_extension("err")).unwrap_or_default()
    }

    /// Waits until it says something on stderr.
    ///
    /// # Panics
    /// If it does not within a minute, or ends before; with what it said.
    pub fn until_it_says(&mut self, words: &str) {
        let waited = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            until(words, || {
                let (ended, said) = (self.ended().is_some(), self.said());
                (said.contains(words) || ended).then_some(())
            });
        }));
        let said = self.said();
        assert!(
            waited.is_ok() && said.contains(words),
            "{words:?} is not in: {said}"
        );
    }

    /// The process.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// Ends it as a power cut would.
    ///
    /// # Panics
    /// If it had ended by itself.
    pub fn kill(mut self) {
        assert!(self.ended().is_none(), "it ended by itself");
        self.process.kill().expect("it is still there");
        self.process.wait().expect("it can be waited for");
    }

    /// How it ended; none while it goes on.
    ///
    /// # Panics
    /// If that cannot be asked.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.process.try_wait().expect("it can be asked")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
