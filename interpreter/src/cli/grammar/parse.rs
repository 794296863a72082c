//! From words to options and arguments.

use pilotage_core::charm::{ConfigValue, OptionKind};

use super::super::failure::Failure;
use super::super::text::{quoted, quoted_list};
use super::{Command, Kind, Opt, Parsed, parse_duration};

/// What the first words of a call ask for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// A command by this name, with the words that are left.
    Command {
        /// The name.
        name: String,
        /// Every other word.
        rest: Vec<String>,
    },
    /// Only options of the program itself.
    Options(Vec<String>),
}

/// Finds the command's name: the first word that is neither an option nor the value of `--model`, `--state` or another
/// option that is taken before the name too.
pub fn find_command(words: &[String]) -> Lookup {
    const WITH_VALUE: [&str; 7] = [
        "-m",
        "--model",
        "--state",
        "--logging-config",
        "-c",
        "--controller",
        "-o",
    ];
    let mut at = 0;
    while let Some(word) = words.get(at) {
        if !word.starts_with('-') {
            let mut rest = words.to_vec();
            let name = rest.remove(at);
            return Lookup::Command { name, rest };
        }
        at += if WITH_VALUE.contains(&word.as_str()) {
            2
        } else {
            1
        };
    }
    Lookup::Options(words.to_vec())
}

/// Reads the words of a call by a command's table.
///
/// # Errors
/// A usage mistake, in Juju's words.
pub fn parse(command: &Command, words: &[String]) -> Result<Parsed, Failure> {
    let mut parsed = Parsed::default();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word == "--" {
            parsed.arguments.extend(words.by_ref().cloned());
        } else if let Some(long) = word.strip_prefix("--") {
            let (name, value) = match long.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (long, None),
            };
            let option = command
                .all_options()
                .find(|option| option.long == name || option.alias == Some(name))
                .ok_or_else(|| undefined(&format!("--{name}")))?;
            take(
                &mut parsed,
                option,
                &format!("--{name}"),
                value,
                command,
                &mut words,
            )?;
        } else if word.len() > 1 && word.starts_with('-') {
            let mut letters = word.chars();
            letters.next();
            while let Some(letter) = letters.next() {
                let known_as = format!("-{letter}");
                let option = command
                    .all_options()
                    .find(|option| option.short == Some(letter))
                    .ok_or_else(|| undefined(&known_as))?;
                let attached = match option.kind {
                    Kind::Flag => None,
                    _ => Some(letters.as_str().to_owned()).filter(|value| !value.is_empty()),
                };
                let ends = option.kind != Kind::Flag;
                take(
                    &mut parsed,
                    option,
                    &known_as,
                    attached,
                    command,
                    &mut words,
                )?;
                if ends {
                    break;
                }
            }
        } else {
            parsed.arguments.push(word.clone());
        }
    }
    if parsed.flag("verbose") && parsed.flag("quiet") {
        return Err(Failure::failed(
            "\"verbose\" and \"quiet\" flags clash, please use one or the other, not both",
        ));
    }
    Ok(parsed)
}

fn undefined(known_as: &str) -> Failure {
    Failure::usage(format!("option provided but not defined: {known_as}"))
}

fn take<'a>(
    parsed: &mut Parsed,
    option: &'static Opt,
    known_as: &str,
    value: Option<String>,
    command: &Command,
    words: &mut impl Iterator<Item = &'a String>,
) -> Result<(), Failure> {
    let invalid = |value: &str, why: String| {
        Failure::usage(format!(
            "invalid value {} for option {known_as}: {why}",
            quoted(value)
        ))
    };
    if option.kind == Kind::Flag {
        let set = match value {
            None => true,
            Some(text) => match OptionKind::Boolean.parse(&text) {
                Some(ConfigValue::Boolean(set)) => set,
                _ => {
                    let why = format!(
                        "strconv.ParseBool: parsing {}: invalid syntax",
                        quoted(&text)
                    );
                    return Err(invalid(&text, why));
                }
            },
        };
        parsed.set_flag(option.long, set);
        return Ok(());
    }
    let value = match value {
        Some(value) => value,
        None => words
            .next()
            .cloned()
            .or_else(|| option.alone.map(str::to_owned))
            .ok_or_else(|| Failure::usage(format!("option needs an argument: {known_as}")))?,
    };
    match option.kind {
        Kind::Flag => {}
        Kind::Integer(_) => {
            let number = value.parse().map_err(|_| {
                invalid(
                    &value,
                    format!(
                        "strconv.ParseInt: parsing {}: invalid syntax",
                        quoted(&value)
                    ),
                )
            })?;
            parsed.set_integer(option.long, number);
        }
        Kind::Duration(_) => {
            let span = parse_duration(&value).map_err(|why| invalid(&value, why))?;
            parsed.set_duration(option.long, span);
        }
        Kind::Value(_) | Kind::Many(_) => {
            if option.long == "format" && !command.formats.contains(&value.as_str()) {
                return Err(invalid(
                    &value,
                    format!("unknown format {}", quoted(&value)),
                ));
            }
            parsed.push(option.long, value);
        }
    }
    Ok(())
}

impl Parsed {
    /// Refuses arguments beyond the first `at_most`.
    ///
    /// # Errors
    /// `unrecognized args: ["x"]`.
    pub fn no_more_than(&self, at_most: usize) -> Result<(), Failure> {
        match self.arguments.get(at_most..) {
            Some(extra) if !extra.is_empty() => Err(Failure::usage(format!(
                "unrecognized args: {}",
                quoted_list(extra)
            ))),
            _ => Ok(()),
        }
    }
}
