//! Options, arguments, unknown words, help (command line, 1.1 and 2.9).

use proptest::prelude::*;

use super::super::catalogue::COMMANDS;
use super::super::grammar::{Parsed, parse};
use super::super::{catalogue, completions, unavailable};
use super::Desk;

fn parsed(words: &[&str]) -> Result<Parsed, String> {
    let command = catalogue::find(words[0]).expect("a command");
    let words: Vec<String> = words[1..].iter().map(ToString::to_string).collect();
    parse(command, &words).map_err(|failure| failure.to_string())
}

#[test]
fn options_and_arguments_may_be_mixed() {
    let parsed = parsed(&[
        "status", "a", "--format", "json", "b", "-m", "shop", "--utc",
    ])
    .unwrap();
    assert_eq!(parsed.arguments, ["a", "b"]);
    assert_eq!(parsed.value("format"), Some("json"));
    assert_eq!(parsed.value("model"), Some("shop"));
    assert!(parsed.flag("utc"));
}

#[test]
fn a_value_stands_behind_an_equals_sign_or_in_the_next_word_and_the_last_wins() {
    let parsed = parsed(&["status", "--model=a=b", "--model", "c", "-mshop"]).unwrap();
    assert_eq!(parsed.many("model"), ["a=b", "c", "shop"]);
    assert_eq!(parsed.value("model"), Some("shop"));
}

#[test]
fn letters_of_flags_bundle_and_flags_take_truth_values() {
    let bundled = parsed(&["status", "-vBm", "shop"]).unwrap();
    assert!(bundled.flag("verbose") && bundled.flag("no-browser-login"));
    assert_eq!(bundled.value("model"), Some("shop"));
    assert!(!parsed(&["status", "--utc=F"]).unwrap().flag("utc"));
    assert!(parsed(&["status", "--utc=1"]).unwrap().flag("utc"));
}

#[test]
fn nothing_is_an_option_behind_two_hyphens() {
    let parsed = parsed(&["status", "--", "--utc", "-m"]).unwrap();
    assert_eq!(parsed.arguments, ["--utc", "-m"]);
}

#[test]
fn mistakes_are_told_in_the_words_of_juju() {
    let mistake = |words: &[&str]| parsed(words).unwrap_err();
    assert_eq!(
        mistake(&["status", "--x=1"]),
        "option provided but not defined: --x"
    );
    assert_eq!(
        mistake(&["status", "-x"]),
        "option provided but not defined: -x"
    );
    assert_eq!(
        mistake(&["status", "--format"]),
        "option needs an argument: --format"
    );
    assert_eq!(
        mistake(&["status", "--format", "x"]),
        "invalid value \"x\" for option --format: unknown format \"x\""
    );
    assert_eq!(
        mistake(&["status", "--utc=maybe"]),
        "invalid value \"maybe\" for option --utc: strconv.ParseBool: parsing \"maybe\": invalid syntax"
    );
    assert_eq!(
        mistake(&["status", "-qv"]),
        "\"verbose\" and \"quiet\" flags clash, please use one or the other, not both"
    );
}

#[test]
fn too_many_arguments_are_named() {
    let said = Desk::new().call("version x y");
    assert_eq!(
        said.story(),
        "ERROR unrecognized args: [\"x\" \"y\"]\n[2]\n"
    );
}

#[test]
fn a_model_may_be_named_before_the_command() {
    let said = Desk::new().call("-m other status");
    assert_eq!(
        said.story(),
        "ERROR model pilotage:admin/other not found\n[1]\n"
    );
}

#[test]
fn an_unknown_command_names_the_nearest() {
    let mut desk = Desk::new();
    insta::assert_snapshot!(desk.call("stauts").story());
    desk.environment.program = "juju".into();
    insta::assert_snapshot!("called_as_juju", desk.call("intergate").story());
}

#[test]
fn commands_of_juju_that_we_do_not_have_are_answered_whatever_their_options() {
    let desk = Desk::new();
    assert_eq!(
        desk.call("integrate a b --whatever").story(),
        "ERROR \"integrate\" is not available: Pilotage provisions applications; it makes no relations\n[1]\n"
    );
    assert_eq!(
        desk.call("exec --format json --unit a/0 -- ls").story(),
        "{}\nERROR \"exec\" is not available: Pilotage provisions applications; it runs nothing inside units\n[1]\n"
    );
    for name in unavailable::names() {
        if name == "run" {
            continue;
        }
        let help = desk.call(&format!("{name} --help"));
        assert_eq!((help.code, help.err.as_str()), (0, ""), "{name}");
        assert!(help.out.contains("is not available"), "{}", help.out);
        assert_eq!(desk.call(name).code, 1);
    }
}

#[test]
fn help_is_asked_in_three_ways() {
    let desk = Desk::new();
    let help = desk.call("help status");
    assert_eq!(help, desk.call("status --help"));
    assert_eq!(help, desk.call("status -h"));
    assert_eq!(help.code, 0);
    insta::assert_snapshot!("help_of_status", help.out);
    insta::assert_snapshot!("overview", desk.call("help").out);
}

#[test]
fn every_command_has_its_help() {
    let desk = Desk::new();
    let all: String = COMMANDS
        .iter()
        .map(|command| {
            let help = desk.call(&format!("help {}", command.name)).out;
            // What every command takes is shown once, for `status`.
            let own: Vec<&str> = help
                .lines()
                .take_while(|line| !line.starts_with("  -o, --output"))
                .collect();
            format!("{}\n\n", own.join("\n"))
        })
        .collect();
    insta::assert_snapshot!("help_of_every_command", all);
}

#[test]
fn no_two_options_of_a_command_share_a_name() {
    for command in COMMANDS {
        let mut names: Vec<String> = command
            .all_options()
            .flat_map(|option| {
                [
                    Some(option.long.to_owned()),
                    option.alias.map(str::to_owned),
                    option.short.map(String::from),
                ]
            })
            .flatten()
            .collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count, "{}: {names:?}", command.name);
    }
}

#[test]
fn no_two_commands_share_a_name() {
    let mut names: Vec<&str> = COMMANDS
        .iter()
        .flat_map(|command| std::iter::once(command.name).chain(command.aliases.iter().copied()))
        .collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
}

#[test]
fn completions_know_every_command_and_option() {
    for shell in completions::SHELLS {
        let script = completions::script(shell, "pilotage").expect("a script");
        for command in COMMANDS {
            assert!(script.contains(command.name), "{shell}: {}", command.name);
            for option in command.all_options() {
                assert!(script.contains(option.long), "{shell}: {}", option.long);
            }
        }
    }
    assert_eq!(completions::script("cmd", "pilotage"), None);
}

proptest! {
    #[test]
    fn no_words_break_the_grammar(
        command in 0..COMMANDS.len(),
        words in proptest::collection::vec("(--?)?[a-z=,./0-9-]{0,12}", 0..6),
    ) {
        let _ = parse(COMMANDS[command], &words);
    }
}
