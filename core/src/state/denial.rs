//! Why a command is not carried out.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::charm::filesystem::StorageRefused;
use crate::charm::names::{NameProblem, NameRefused};
use crate::charm::resource::MissingImages;
use crate::charm::{ConfigValue, OptionKind};
use crate::life::Life;
use crate::name::{Uid, Version};
use crate::outcome::{Outcome, Refusal};

/// Why a command is not carried out. Its text is what users read: the original's words where it has some.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Denial {
    /// No such application's record.
    #[error("application {0} not found")]
    ApplicationNotFound(Uid),
    /// No such model's record.
    #[error("model {0} not found")]
    ModelNotFound(Uid),
    /// No record of its own for this storage.
    #[error("storage {0} not found")]
    StorageNotFound(u32),
    /// The name, or the uid, is taken.
    #[error("cannot add application \"{0}\": application already exists")]
    ApplicationExists(Box<str>),
    /// The name, or the uid, is taken.
    #[error("model \"{0}\" already exists")]
    ModelExists(Box<str>),
    /// Another storage has the number.
    #[error("storage {0} already exists")]
    StorageExists(u32),
    /// The command rests on another version.
    #[error("the record is at version {now}, not {expected}: read it and decide again")]
    MovedOn {
        /// What the command rests on.
        expected: Version,
        /// The record's version.
        now: Version,
    },
    /// The command rests on what was seen, and does not say on which version.
    #[error("{command} must name the version that it rests on")]
    VersionMissing {
        /// The command.
        command: &'static str,
    },
    /// Not this caller's command.
    #[error("{command} is not for this caller")]
    NotPermitted {
        /// The command.
        command: &'static str,
    },
    /// The record is not, or no longer, as the command needs it.
    #[error("{command} of \"{name}\": {because}")]
    Untimely {
        /// The command.
        command: &'static str,
        /// The record's name.
        name: Box<str>,
        /// What stands in the way.
        because: &'static str,
    },
    /// It is on its way out.
    #[error("application \"{name}\" is {}", word(*.life))]
    ApplicationLeaving {
        /// Its name.
        name: Box<str>,
        /// How far.
        life: Life,
    },
    /// It is on its way out.
    #[error("model \"{0}\" is being removed")]
    ModelLeaving(Box<str>),
    /// Fewer than no units.
    #[error("cannot remove more units than currently exist not valid")]
    TooFewUnits,
    /// More units than a record has room for.
    #[error(
        "{asked} units are too many: the record of an application with as many storages has room for {most} units"
    )]
    TooManyUnits {
        /// How many were asked for.
        asked: i128,
        /// How many there can be.
        most: u32,
    },
    /// A name that an application cannot have.
    #[error(transparent)]
    ApplicationName(#[from] NameRefused),
    /// Names of its objects that are too long or taken.
    #[error("{}", all(.0))]
    Names(Vec<NameProblem>),
    /// A name that a model cannot have.
    #[error("\"{name}\" is not a valid name: {because}")]
    ModelName {
        /// The name.
        name: Box<str>,
        /// What is wrong.
        because: &'static str,
    },
    /// Images that neither user nor charm give.
    #[error(transparent)]
    ImagesMissing(MissingImages),
    /// Resources that came with a new revision and that neither user nor charm give.
    #[error("{}", new_resources(.0))]
    NewResourcesMissing(Vec<String>),
    /// Resources that the charm does not have.
    #[error("{}", unrecognized(.0))]
    ResourcesUnrecognized(Vec<String>),
    /// An image for a file, or a file for an image.
    #[error("resource \"{name}\" is not {given}")]
    ResourceKind {
        /// The resource.
        name: String,
        /// What was given.
        given: &'static str,
    },
    /// No such option.
    #[error("unknown option \"{0}\"")]
    OptionUnknown(String),
    /// A value of another kind.
    #[error("option \"{name}\" expected {}, got \"{}\"", kind(*.expected), value(.got))]
    OptionKind {
        /// The option.
        name: String,
        /// What it takes.
        expected: OptionKind,
        /// What was given.
        got: ConfigValue,
    },
    /// A setting with a value that means nothing.
    #[error("setting \"{key}\": \"{value}\" is not {expected}")]
    Setting {
        /// The setting.
        key: String,
        /// The value.
        value: String,
        /// What it must be.
        expected: &'static str,
    },
    /// A setting that nobody sets.
    #[error("setting \"{0}\" cannot be changed")]
    SettingFixed(String),
    /// Storage that the charm does not have, or cannot have so.
    #[error("{}", storage_refused(.0))]
    Storage(Vec<StorageRefused>),
    /// The claims of a running application cannot change under it.
    #[error(
        "cannot refresh \"{application}\": its storage \"{storage}\" would change, and the claims of an application \
         cannot: refresh with a charm and --storage that keep it, or deploy the new one under another name"
    )]
    ClaimsChange {
        /// The application.
        application: Box<str>,
        /// The first storage that differs.
        storage: String,
    },
    /// A command that contradicts itself or its record.
    #[error("{0}")]
    Contradiction(&'static str),
    /// A number has come to its end.
    #[error("there are no more {0}")]
    Exhausted(&'static str),
}

impl Denial {
    /// The kind, as the core treats it.
    pub fn refusal(&self) -> Refusal {
        match self {
            Denial::ApplicationNotFound(_)
            | Denial::ModelNotFound(_)
            | Denial::StorageNotFound(_) => Refusal::NotFound,
            Denial::ApplicationExists(_) | Denial::ModelExists(_) | Denial::StorageExists(_) => {
                Refusal::AlreadyExists
            }
            Denial::MovedOn { .. } | Denial::Untimely { .. } => Refusal::TryAgain,
            Denial::NotPermitted { .. } => Refusal::Forbidden,
            Denial::VersionMissing { .. }
            | Denial::ApplicationLeaving { .. }
            | Denial::ModelLeaving(_)
            | Denial::TooFewUnits
            | Denial::TooManyUnits { .. }
            | Denial::ApplicationName(_)
            | Denial::Names(_)
            | Denial::ModelName { .. }
            | Denial::ImagesMissing(_)
            | Denial::NewResourcesMissing(_)
            | Denial::ResourcesUnrecognized(_)
            | Denial::ResourceKind { .. }
            | Denial::OptionUnknown(_)
            | Denial::OptionKind { .. }
            | Denial::Setting { .. }
            | Denial::SettingFixed(_)
            | Denial::ClaimsChange { .. }
            | Denial::Storage(_)
            | Denial::Contradiction(_)
            | Denial::Exhausted(_) => Refusal::Invalid,
        }
    }
}

impl From<Denial> for Outcome {
    fn from(denial: Denial) -> Outcome {
        Outcome::Refused {
            reason: denial.refusal(),
            message: alloc::format!("{denial}").into(),
        }
    }
}

fn word(life: Life) -> &'static str {
    match life {
        Life::Alive => "alive",
        Life::Dying => "dying",
        Life::Dead => "dead",
        Life::Gone => "gone",
    }
}

fn all(problems: &[NameProblem]) -> String {
    let texts: Vec<String> = problems.iter().map(ToString::to_string).collect();
    texts.join("; ")
}

fn storage_refused(refused: &[StorageRefused]) -> String {
    let texts: Vec<String> = refused.iter().map(ToString::to_string).collect();
    texts.join("; ")
}

fn quoted(names: &[String]) -> String {
    let quoted: Vec<String> = names
        .iter()
        .map(|name| alloc::format!("\"{name}\""))
        .collect();
    quoted.join(", ")
}

fn new_resources(names: &[String]) -> String {
    let quoted = quoted(names);
    match names {
        [_] => {
            alloc::format!("new resource {quoted} was missing, please provide it via --resource")
        }
        _ => {
            alloc::format!(
                "new resources {quoted} were missing, please provide them via --resource"
            )
        }
    }
}

fn unrecognized(names: &[String]) -> String {
    match names {
        [name] => alloc::format!("unrecognized resource \"{name}\""),
        _ => alloc::format!("unrecognized resources: {}", names.join(", ")),
    }
}

fn kind(kind: OptionKind) -> &'static str {
    match kind {
        OptionKind::String => "string",
        OptionKind::Int => "int",
        OptionKind::Float => "float",
        OptionKind::Boolean => "boolean",
        OptionKind::Secret => "secret",
    }
}

fn value(value: &ConfigValue) -> String {
    match value {
        ConfigValue::String(text) | ConfigValue::Float(text) | ConfigValue::Secret(text) => {
            text.clone()
        }
        ConfigValue::Int(number) => alloc::format!("{number}"),
        ConfigValue::Boolean(truth) => alloc::format!("{truth}"),
    }
}
