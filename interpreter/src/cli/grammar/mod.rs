//! The grammar of options and arguments (command line, 1.1), driven by tables: the same tables give parsing, help and
//! completions.

mod duration;
mod option;
mod parse;
mod parsed;

pub use duration::parse_duration;
pub use option::{Kind, Opt};
pub use parse::{Lookup, find_command, parse};
pub use parsed::Parsed;

use super::failure::Done;
use super::session::Session;

/// What a command works on, which decides whether it takes `--model` or `--controller`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// One model.
    Model,
    /// All models.
    Controller,
    /// Neither.
    Program,
}

/// One command, as the tables of the program describe it.
#[derive(Clone, Copy)]
pub struct Command {
    /// Its name.
    pub name: &'static str,
    /// Other names of the same.
    pub aliases: &'static [&'static str],
    /// The arguments after the name, for the usage line.
    pub arguments: &'static str,
    /// One line on what it does.
    pub summary: &'static str,
    /// Further text for its help; may be empty.
    pub details: &'static str,
    /// What it works on.
    pub scope: Scope,
    /// The formats that `--format` takes, the default first; empty if it takes none.
    pub formats: &'static [&'static str],
    /// Its own options.
    pub options: &'static [Opt],
    /// What runs it.
    pub run: fn(&mut Session<'_>, &Parsed) -> Done,
}

impl Command {
    /// All options that the command takes: its own, then those of its scope, then everybody's.
    pub fn all_options(&self) -> impl Iterator<Item = &'static Opt> {
        let scope: &'static [Opt] = match self.scope {
            Scope::Model => &option::MODEL,
            Scope::Controller => &option::CONTROLLER,
            Scope::Program => &[],
        };
        let format: &'static [Opt] = if self.formats.is_empty() {
            &[]
        } else {
            &option::FORMAT
        };
        self.options
            .iter()
            .chain(format)
            .chain(scope)
            .chain(&option::COMMON)
    }

    /// Whether it answers to a name.
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }
}
