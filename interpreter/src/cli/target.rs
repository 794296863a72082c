//! Which model a call means (command line, 1.7).

use std::path::{Path, PathBuf};

use pilotage_core::event::RecordName;
use pilotage_core::name::Uid;
use pilotage_core::outcome::Reply;
use pilotage_core::state::{Model, ModelCommand};
use serde::{Deserialize, Serialize};

use super::environment::Environment;
use super::failure::Failure;
use super::grammar::Parsed;
use super::session::Session;
use super::state::{Contents, State};
use crate::identity::draw_uid;
use crate::store::{Damaged, Snapshot};

/// The only user.
pub const USER: &str = "admin";
/// The model of whoever names none; it comes into being at its first write.
pub const DEFAULT: &str = "default";
/// Variables that name a model, the first that is set counts.
pub const VARIABLES: [&str; 2] = ["PILOTAGE_MODEL", "JUJU_MODEL"];

/// The model that a call means, with everything that the state had of it at one moment.
#[derive(Debug)]
pub struct Target {
    /// The model's short name.
    pub name: String,
    /// As the user named it with `--model`, if so.
    pub given: Option<String>,
    /// The record; none while the model `default` has not been written to.
    pub model: Option<Model>,
    /// Why the record cannot be read, if it is there and cannot.
    pub damaged: Option<Damaged>,
    /// Everything in the state.
    pub snapshot: Snapshot,
}

impl Target {
    /// Finds the model of a call.
    ///
    /// # Errors
    /// Another controller is named (a usage mistake), or there is no such model.
    pub fn find(session: &Session<'_>, parsed: &Parsed, state: &State) -> Result<Self, Failure> {
        let snapshot = state.snapshot()?;
        let environment = session.environment;
        let given = parsed.value("model").map(str::to_owned);
        let named = given
            .clone()
            .or_else(|| {
                environment
                    .first_of(&VARIABLES)
                    .map(|(_, name)| name.to_owned())
            })
            .or_else(|| Client::read(&state.file).current)
            .unwrap_or_else(|| DEFAULT.to_owned());
        let wanted = Wanted::parse(&named, environment)?;
        let damaged = wanted.find_damaged(&snapshot).cloned();
        let model = match damaged {
            Some(_) => None,
            None => wanted.find(&snapshot, environment)?.cloned(),
        };
        let name = match (&model, &damaged) {
            (Some(model), _) => model.name.to_string(),
            (_, Some(damaged)) => match &damaged.record {
                RecordName::Model { name, .. } => name.to_string(),
                _ => wanted.name,
            },
            _ => wanted.name,
        };
        Ok(Target {
            name,
            given,
            model,
            damaged,
            snapshot,
        })
    }

    /// The model's name as users know it: as they gave it, else `admin/shop`.
    pub fn shown_name(&self) -> String {
        self.given
            .clone()
            .unwrap_or_else(|| format!("{USER}/{}", self.name))
    }

    /// Everything in the state, as it was last read.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// What there is of the model.
    pub fn contents(&self) -> Contents<'_> {
        let damaged = self.damaged.as_ref().map(|damaged| damaged.record.model());
        let model = self.model.as_ref().map(|model| model.uid);
        self.snapshot.of_model(model.or(damaged))
    }

    /// The model's uid; the model `default` comes into being if it is not there yet.
    ///
    /// # Errors
    /// The state's refusal.
    pub fn ensure(&mut self, session: &Session<'_>, state: &State) -> Result<Uid, Failure> {
        if let Some(model) = &self.model {
            return Ok(model.uid);
        }
        if let Some(damaged) = &self.damaged {
            return Err(Failure::failed(damaged.to_string()));
        }
        let uid = draw_uid().map_err(|error| Failure::failed(error.to_string()))?;
        let add = ModelCommand::Add {
            name: self.name.as_str().into(),
            settings: Default::default(),
        };
        let added: Result<Reply, Failure> = state.change_model(session, uid, add);
        self.snapshot = state.snapshot()?;
        self.model = self
            .snapshot
            .models
            .iter()
            .find(|model| *model.name == *self.name)
            .cloned();
        match (&self.model, added) {
            // Whoever made it, it is there now.
            (Some(model), _) => Ok(model.uid),
            (None, Err(failure)) => Err(failure),
            (None, Ok(_)) => Err(Failure::failed(format!(
                "model \"{}\" went away again",
                self.name
            ))),
        }
    }

    /// Reads everything again.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn refresh(&mut self, state: &State) -> Result<(), Failure> {
        self.snapshot = state.snapshot()?;
        let uid = self.model.as_ref().map(|model| model.uid);
        let own = |name: &str, model| uid.map_or(*name == *self.name, |uid| uid == model);
        self.damaged = self.snapshot.damaged_model(own).cloned();
        self.model = self
            .snapshot
            .models
            .iter()
            .find(|model| match uid {
                Some(uid) => model.uid == uid,
                None => *model.name == *self.name,
            })
            .cloned();
        Ok(())
    }
}

/// A model as it was named: `[controller:][user/]model`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The user named.
    pub user: Option<String>,
    /// The model's name, uid, or the beginning of a uid.
    pub name: String,
}

impl Wanted {
    /// Reads a name.
    ///
    /// # Errors
    /// It names another controller.
    pub fn parse(text: &str, environment: &Environment) -> Result<Self, Failure> {
        let (controller, rest) = match text.split_once(':') {
            Some((controller, rest)) => (controller, rest),
            None => ("", text),
        };
        if !controller.is_empty() && controller != environment.controller() {
            return Err(Failure::usage(format!("controller {controller} not found")));
        }
        let (user, name) = match rest.split_once('/') {
            Some((user, name)) => (Some(user.to_owned()), name),
            None => (None, rest),
        };
        Ok(Wanted {
            user,
            name: name.to_owned(),
        })
    }

    /// The damage of its record, if that is there and cannot be read.
    pub fn find_damaged<'a>(&self, snapshot: &'a Snapshot) -> Option<&'a Damaged> {
        let ours = self.user.as_deref().is_none_or(|user| user == USER);
        snapshot.damaged_model(|name, uid| {
            ours && (*name == *self.name
                || self.name.len() >= 6 && uid.to_string().starts_with(&self.name))
        })
    }

    /// Finds its record; nothing for the model `default` before its first write.
    ///
    /// # Errors
    /// There is no such model, or its record cannot be read.
    pub fn find<'a>(
        &self,
        snapshot: &'a Snapshot,
        environment: &Environment,
    ) -> Result<Option<&'a Model>, Failure> {
        let ours = self.user.as_deref().is_none_or(|user| user == USER);
        let by_name = snapshot
            .models
            .iter()
            .find(|model| *model.name == *self.name);
        let by_uid = || {
            let long_enough = self.name.len() >= 6;
            let mut fitting = snapshot
                .models
                .iter()
                .filter(|model| long_enough && model.uid.to_string().starts_with(&self.name));
            fitting.next().filter(|_| fitting.next().is_none())
        };
        if let Some(damaged) = self.find_damaged(snapshot) {
            return Err(Failure::failed(damaged.to_string()));
        }
        match by_name.or_else(by_uid).filter(|_| ours) {
            Some(model) => Ok(Some(model)),
            None if ours && self.name == DEFAULT => Ok(None),
            None => Err(Failure::failed(format!(
                "model {}:{}/{} not found",
                environment.controller(),
                self.user.as_deref().unwrap_or(USER),
                self.name
            ))),
        }
    }
}

/// What one user's commands remember beside a state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Client {
    /// The model that `switch` and `add-model` chose.
    #[serde(default, rename = "current-model")]
    pub current: Option<String>,
}

impl Client {
    fn path(state: &Path) -> PathBuf {
        let mut name = state.as_os_str().to_owned();
        name.push(".client");
        name.into()
    }

    /// Reads it. One that is missing or unreadable remembers nothing.
    pub fn read(state: &Path) -> Self {
        std::fs::read_to_string(Self::path(state))
            .ok()
            .and_then(|text| serde_json::from_str(&text).ok())
            .unwrap_or_default()
    }

    /// Writes it, whole or not at all.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn write(&self, state: &Path) -> Result<(), Failure> {
        let path = Self::path(state);
        let fresh = path.with_extension("client.new");
        let text = serde_json::to_string(self).unwrap_or_default();
        let written = std::fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))
            .and_then(|()| std::fs::write(&fresh, text))
            .and_then(|()| std::fs::rename(&fresh, &path));
        written
            .map_err(|error| Failure::failed(format!("cannot write {}: {error}", path.display())))
    }
}
