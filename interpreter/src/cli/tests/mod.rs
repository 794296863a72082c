//! The program's words, in one process.

mod charms;
mod grammar;
mod life;
mod models;
mod refusals;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::tz::TimeZone;

use super::environment::Environment;
use super::session::Streams;

/// What a call said, and its exit code.
#[derive(Debug, PartialEq, Eq)]
pub struct Said {
    /// Exit code.
    pub code: u8,
    /// Data.
    pub out: String,
    /// Words.
    pub err: String,
}

impl Said {
    /// The call as a reader of a terminal would see it, its code last.
    pub fn story(&self) -> String {
        format!("{}{}[{}]\n", self.out, self.err, self.code)
    }
}

/// A folder with a state, and a program to call on it.
pub struct Desk {
    folder: tempfile::TempDir,
    /// What surrounds each call.
    pub environment: Environment,
}

impl Desk {
    /// An empty folder, a state that does not exist yet, UTC.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let state = folder.path().join("state.db").display().to_string();
        let environment = Environment {
            program: "pilotage".into(),
            variables: BTreeMap::from([("PILOTAGE_STATE".to_owned(), state)]),
            folder: folder.path().to_owned(),
            zone: TimeZone::UTC,
            clock: crate::clock::now,
        };
        Desk {
            folder,
            environment,
        }
    }

    /// A path in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file, and the folders above it.
    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap_or(Path::new("/"))).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }

    /// Calls the program; the words are separated by blanks.
    pub fn call(&self, words: &str) -> Said {
        let words: Vec<&str> = words.split_whitespace().collect();
        self.call_with(&words, "")
    }

    /// Calls the program with these words, and answers to its prompts.
    pub fn call_with(&self, words: &[&str], input: &str) -> Said {
        let words: Vec<String> = words.iter().map(ToString::to_string).collect();
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let mut input = input.as_bytes();
        let streams = Streams {
            out: &mut out,
            err: &mut err,
            input: &mut input,
            out_is_terminal: false,
            err_is_terminal: false,
        };
        let code = super::run(&self.environment, &words, streams);
        let clean = |bytes: Vec<u8>| {
            String::from_utf8_lossy(&bytes)
                .replace(&self.folder.path().display().to_string(), "FOLDER")
        };
        Said {
            code,
            out: clean(out),
            err: clean(err),
        }
    }
}
