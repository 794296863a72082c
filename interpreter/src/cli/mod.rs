//! The command line: what people and scripts say to Pilotage, in Juju's words.
//!
//! * [`grammar`]: from words to options and arguments, by the tables of the commands;
//! * [`catalogue`]: all commands; a file per group in `commands`;
//! * [`session`]: where the words of one call go;
//! * [`state`]: records, read and changed; [`target`]: which model is meant;
//! * [`wish`]: what a user wants of an application; [`query`]: the language of `wait-for`;
//! * [`provisioning`]: being the provisioner of a state, on a [`cluster`];
//! * [`status`], [`output`]: from records to values, from values to text.
//!
//! A command that only reads is a pure function from records, a clock and names to a value that [`output`] prints.

pub mod bounded;
pub mod catalogue;
pub mod cluster;
pub mod commands;
pub mod completions;
pub mod environment;
pub mod failure;
pub mod grammar;
pub mod help;
pub mod output;
pub mod provisioning;
pub mod query;
pub mod session;
pub mod state;
pub mod status;
pub mod target;
pub mod text;
pub mod unavailable;
pub mod version;
pub mod wish;

#[cfg(test)]
mod tests;

use environment::Environment;
use failure::Failure;
use grammar::{Command, Lookup};
use session::{Session, Streams};

/// Runs one call of the program, and gives its exit code.
pub fn run<'a>(environment: &'a Environment, words: &[String], mut streams: Streams<'a>) -> u8 {
    let (name, rest) = match grammar::find_command(words) {
        Lookup::Command { name, rest } => (name, rest),
        Lookup::Options(options) => {
            if options.iter().any(|option| option == "--version") {
                ("version".to_owned(), Vec::new())
            } else if let Some(unknown) = options
                .iter()
                .find(|option| !matches!(option.as_str(), "-h" | "--help"))
            {
                let failure = Failure::usage(format!(
                    "option provided but not defined: {}",
                    unknown.split('=').next().unwrap_or(unknown)
                ));
                session::say_failure(&mut streams, &failure);
                return failure.exit_code();
            } else {
                let _ = write!(streams.out, "{}", help::overview(&environment.program));
                return 0;
            }
        }
    };
    if name == "help" {
        return help_of(environment, &rest, streams);
    }
    match catalogue::find(&name) {
        Some(command) => call(environment, command, &rest, streams),
        None => no_command(environment, &name, &rest, streams),
    }
}

fn call<'a>(
    environment: &'a Environment,
    command: &'static Command,
    words: &[String],
    mut streams: Streams<'a>,
) -> u8 {
    let parsed = grammar::parse(command, words);
    let arguments_of_juju = match &parsed {
        Ok(parsed) => !parsed.arguments.is_empty(),
        Err(_) => words.iter().any(|word| !word.starts_with('-')),
    };
    if command.name == "run" && arguments_of_juju {
        return unavailable::answer("run", words, &mut streams);
    }
    let asks_for_help = words
        .iter()
        .take_while(|word| *word != "--")
        .any(|word| word == "--help" || word == "-h");
    if asks_for_help {
        let text = help::of(command, &environment.program);
        let _ = write!(streams.out, "{text}");
        return 0;
    }
    let parsed = match parsed {
        Ok(parsed) => parsed,
        Err(failure) => {
            session::say_failure(&mut streams, &failure);
            return failure.exit_code();
        }
    };
    match Session::start(environment, streams, command, &parsed) {
        Ok(mut session) => {
            let done = (command.run)(&mut session, &parsed);
            session.end(done)
        }
        Err((failure, mut streams)) => {
            session::say_failure(&mut streams, &failure);
            failure.exit_code()
        }
    }
}

fn help_of(environment: &Environment, words: &[String], streams: Streams<'_>) -> u8 {
    let Some(name) = words.iter().find(|word| !word.starts_with('-')) else {
        let _ = write!(streams.out, "{}", help::overview(&environment.program));
        return 0;
    };
    match catalogue::find(name) {
        Some(command) => {
            let _ = write!(streams.out, "{}", help::of(command, &environment.program));
            0
        }
        None => no_command(environment, name, &["--help".to_owned()], streams),
    }
}

/// Answers a name that is no command of ours: one of Juju's, or a slip.
fn no_command(
    environment: &Environment,
    name: &str,
    words: &[String],
    mut streams: Streams<'_>,
) -> u8 {
    if unavailable::reason(name).is_some() {
        return unavailable::answer(name, words, &mut streams);
    }
    let program = &environment.program;
    let mut message =
        format!("{program}: \"{name}\" is not a {program} command. See \"{program} --help\".");
    if let Some(near) = catalogue::nearest(name) {
        message.push_str(&format!("\n\nDid you mean:\n\t{near}"));
    }
    session::say_failure(&mut streams, &Failure::failed(message));
    1
}
