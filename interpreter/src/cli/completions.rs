//! Completions for shells, from the tables of the commands.

use super::catalogue::COMMANDS;
use super::grammar::{Command, Kind, Opt};

/// The shells that are known.
pub const SHELLS: &[&str] = &["bash", "zsh", "fish"];

/// The completion script of a shell; nothing for a shell that is not known.
pub fn script(shell: &str, program: &str) -> Option<String> {
    match shell {
        "bash" => Some(bash(program)),
        "zsh" => Some(zsh(program)),
        "fish" => Some(fish(program)),
        _ => None,
    }
}

fn words(option: &Opt) -> Vec<String> {
    let mut words = vec![format!("--{}", option.long)];
    words.extend(option.alias.map(|alias| format!("--{alias}")));
    words.extend(option.short.map(|letter| format!("-{letter}")));
    words
}

fn command_names() -> Vec<&'static str> {
    let mut names: Vec<&str> = COMMANDS
        .iter()
        .flat_map(|command| std::iter::once(command.name).chain(command.aliases.iter().copied()))
        .chain(["help"])
        .collect();
    names.sort_unstable();
    names
}

fn pattern(command: &Command) -> String {
    std::iter::once(command.name)
        .chain(command.aliases.iter().copied())
        .collect::<Vec<_>>()
        .join("|")
}

fn option_words(command: &Command) -> String {
    command
        .all_options()
        .flat_map(words)
        .collect::<Vec<_>>()
        .join(" ")
}

fn bash(program: &str) -> String {
    let mut cases = String::new();
    for command in COMMANDS {
        cases.push_str(&format!(
            "        {}) options=\"{}\"; formats=\"{}\" ;;\n",
            pattern(command),
            option_words(command),
            command.formats.join(" ")
        ));
    }
    format!(
        "_{program}() {{\n    \
             local word=\"${{COMP_WORDS[COMP_CWORD]}}\" before=\"${{COMP_WORDS[COMP_CWORD-1]}}\" options=\"\" formats=\"\"\n    \
             if [ \"$COMP_CWORD\" -eq 1 ]; then\n        \
                 COMPREPLY=($(compgen -W \"{}\" -- \"$word\"))\n        \
                 return\n    \
             fi\n    \
             case \"${{COMP_WORDS[1]}}\" in\n{cases}    esac\n    \
             if [ \"$before\" = --format ]; then\n        \
                 COMPREPLY=($(compgen -W \"$formats\" -- \"$word\"))\n    \
             elif [ \"${{word#-}}\" != \"$word\" ]; then\n        \
                 COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n    \
             else\n        \
                 COMPREPLY=($(compgen -f -- \"$word\"))\n    \
             fi\n}}\ncomplete -F _{program} {program}\n",
        command_names().join(" ")
    )
}

fn zsh(program: &str) -> String {
    let mut cases = String::new();
    for command in COMMANDS {
        cases.push_str(&format!(
            "        {}) compadd -- {} ;;\n",
            pattern(command),
            option_words(command)
        ));
    }
    format!(
        "#compdef {program}\n_{program}() {{\n    \
             if (( CURRENT == 2 )); then\n        \
                 compadd -- {}\n        \
                 return\n    \
             fi\n    \
             if [[ \"${{words[CURRENT]}}\" != -* ]]; then\n        \
                 _files\n        \
                 return\n    \
             fi\n    \
             case \"${{words[2]}}\" in\n{cases}    esac\n}}\ncompdef _{program} {program}\n",
        command_names().join(" ")
    )
}

fn fish(program: &str) -> String {
    let quote = |text: &str| format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"));
    let mut lines = Vec::new();
    for command in COMMANDS {
        lines.push(format!(
            "complete -c {program} -n __fish_use_subcommand -f -a {} -d {}",
            command.name,
            quote(command.summary)
        ));
        for option in command.all_options() {
            let mut line = format!(
                "complete -c {program} -n '__fish_seen_subcommand_from {}' -l {}",
                command.name, option.long
            );
            if let Some(letter) = option.short {
                line.push_str(&format!(" -s {letter}"));
            }
            if option.kind != Kind::Flag {
                line.push_str(" -r");
            }
            if option.long == "format" {
                line.push_str(&format!(" -f -a {}", quote(&command.formats.join(" "))));
            }
            line.push_str(&format!(" -d {}", quote(option.help)));
            lines.push(line);
        }
    }
    lines.join("\n") + "\n"
}
