//! `completions`.

use super::super::completions::{SHELLS, script};
use super::super::failure::Failure;
use super::super::grammar::{Command, Scope};

/// `completions`
pub const COMPLETIONS: Command = Command {
    name: "completions",
    aliases: &[],
    arguments: "<bash | zsh | fish>",
    summary: "Prints the completions of a shell.",
    details: "",
    scope: Scope::Program,
    formats: &[],
    options: &[],
    run: |session, parsed| {
        let known = SHELLS.join(", ");
        let shell = parsed
            .argument(0)
            .ok_or_else(|| Failure::usage(format!("no shell specified; known: {known}")))?;
        parsed.no_more_than(1)?;
        let text = script(shell, &session.environment.program)
            .ok_or_else(|| Failure::usage(format!("unknown shell \"{shell}\"; known: {known}")))?;
        session.print(&text);
        Ok(())
    },
};
