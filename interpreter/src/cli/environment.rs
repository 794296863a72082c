//! What surrounds a call: variables, folder, clock, time zone (command line, 1.5).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::tz::TimeZone;
use pilotage_core::time::Timestamp;

use super::cluster;

/// What surrounds a call. Tests make their own.
#[derive(Clone, Debug)]
pub struct Environment {
    /// The name that the program was called by: `pilotage`, or `juju` through a link of that name.
    pub program: String,
    /// Variables.
    pub variables: BTreeMap<String, String>,
    /// The folder that relative paths start from.
    pub folder: PathBuf,
    /// The zone that times are shown in.
    pub zone: TimeZone,
    /// The clock.
    pub clock: fn() -> Timestamp,
}

impl Environment {
    /// The process's own.
    pub fn of_process(program: &str) -> Self {
        let program = Path::new(program)
            .file_stem()
            .and_then(|name| name.to_str())
            .filter(|name| *name == "juju")
            .unwrap_or("pilotage");
        Environment {
            program: program.to_owned(),
            variables: std::env::vars_os()
                .filter_map(|(key, value)| {
                    Some((key.into_string().ok()?, value.into_string().ok()?))
                })
                .collect(),
            folder: std::env::current_dir().unwrap_or_else(|_| PathBuf::from(".")),
            zone: TimeZone::system(),
            clock: system_clock,
        }
    }

    /// A variable that is set and not empty.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.variables
            .get(name)
            .map(String::as_str)
            .filter(|value| !value.is_empty())
    }

    /// The first of some variables that is set.
    pub fn first_of<'a>(&'a self, names: &[&'static str]) -> Option<(&'static str, &'a str)> {
        names
            .iter()
            .find_map(|name| Some((*name, self.variable(name)?)))
    }

    /// The controller's name that we answer to.
    pub fn controller(&self) -> &str {
        self.first_of(&["PILOTAGE_CONTROLLER", "JUJU_CONTROLLER"])
            .map_or("pilotage", |(_, name)| name)
    }

    /// The cloud's name that we answer to, if a variable says it.
    pub fn cloud(&self) -> Option<String> {
        let cluster = || self.variable(cluster::VARIABLE).map(cluster::Choice::cloud);
        let named = self.variable("PILOTAGE_CLOUD").map(str::to_owned);
        named.or_else(cluster)
    }

    /// A path as the user gave it, from the folder of the call.
    pub fn path(&self, text: &str) -> PathBuf {
        self.folder.join(text)
    }

    /// The user's data folder of the program.
    pub fn data_folder(&self) -> PathBuf {
        match self.variable("XDG_DATA_HOME") {
            Some(folder) => Path::new(folder).join("pilotage"),
            None => Path::new(self.variable("HOME").unwrap_or("/")).join(".local/share/pilotage"),
        }
    }

    /// The moment.
    pub fn now(&self) -> Timestamp {
        (self.clock)()
    }
}

fn system_clock() -> Timestamp {
    let elapsed = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap_or_default();
    Timestamp(u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX))
}
