//! Help, from the tables of the commands.

use super::catalogue::COMMANDS;
use super::grammar::{Command, Opt};

/// What the program is, and its commands.
pub fn overview(program: &str) -> String {
    let mut text = format!(
        "Pilotage provisions charm applications on Kubernetes. It does not run charm code.\n\n\
         Usage: {program} COMMAND [options and arguments]\n\nCommands:\n"
    );
    let mut rows: Vec<(&str, &str)> = COMMANDS
        .iter()
        .map(|command| (command.name, command.summary))
        .collect();
    rows.sort_unstable();
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, summary) in rows {
        text.push_str(&format!("  {name:width$}  {summary}\n"));
    }
    text.push_str(&format!(
        "\nSee \"{program} help COMMAND\" for one of them. Commands and options are those of Juju.\n"
    ));
    text
}

/// What one command does, and its options.
pub fn of(command: &Command, program: &str) -> String {
    let mut text = format!(
        "Usage: {program} {} [options] {}",
        command.name, command.arguments
    )
    .trim_end()
    .to_owned();
    text.push_str(&format!("\n\nSummary:\n{}\n", command.summary));
    if !command.details.is_empty() {
        text.push_str(&format!("\nDetails:\n{}\n", command.details));
    }
    if !command.aliases.is_empty() {
        text.push_str(&format!("\nAliases: {}\n", command.aliases.join(", ")));
    }
    text.push_str("\nOptions:\n");
    let rows: Vec<(String, String)> = command
        .all_options()
        .map(|option| (names(option), explained(option, command)))
        .collect();
    let width = rows.iter().map(|(names, _)| names.len()).max().unwrap_or(0);
    for (names, help) in rows {
        text.push_str(format!("  {names:width$}  {help}").trim_end());
        text.push('\n');
    }
    text
}

fn names(option: &Opt) -> String {
    let mut names: Vec<String> = Vec::new();
    names.extend(option.short.map(|letter| format!("-{letter}")));
    names.push(format!("--{}", option.long));
    names.extend(option.alias.map(|alias| format!("--{alias}")));
    let names = names.join(", ");
    match option.kind.placeholder() {
        Some(value) => format!("{names} {value}"),
        None => names,
    }
}

fn explained(option: &Opt, command: &Command) -> String {
    if option.long == "format" {
        format!("{}: {}", option.help, command.formats.join(", "))
    } else {
        option.help.to_owned()
    }
}
