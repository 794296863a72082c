//! The grammar that `config` and `model-config` share: get one, show all, set, reset, from a file.

use std::collections::BTreeSet;

use super::super::failure::Failure;
use super::super::grammar::Parsed;
use super::super::wish::options::pair;

/// What is asked of options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// All of them.
    Show,
    /// One of them.
    Get(String),
    /// Changes, the file first, then what is reset, then what is set.
    Change {
        /// A YAML file, or `-`.
        file: Option<String>,
        /// Keys.
        reset: Vec<String>,
        /// Keys with values as they were written.
        set: Vec<(String, String)>,
    },
}

/// Reads the words behind the name, `--reset` and `--file`.
///
/// # Errors
/// A usage mistake, in Juju's words.
pub fn read_edit(words: &[String], parsed: &Parsed) -> Result<Edit, Failure> {
    let mut set: Vec<(String, String)> = Vec::new();
    let mut get: Vec<String> = Vec::new();
    for word in words {
        match pair(word) {
            Some(("", _)) => {
                return Err(Failure::usage(format!(
                    "expected \"key=value\", got \"{word}\""
                )));
            }
            Some((key, value)) => {
                if set.iter().any(|(known, _)| known == key) {
                    return Err(Failure::usage(format!(
                        "key \"{key}\" specified more than once"
                    )));
                }
                set.push((key.to_owned(), value.to_owned()));
            }
            None => get.push(word.clone()),
        }
    }
    let reset: Vec<String> = parsed
        .many("reset")
        .iter()
        .flat_map(|keys| keys.split(','))
        .map(|key| key.trim().to_owned())
        .filter(|key| !key.is_empty())
        .collect();
    let both: BTreeSet<&String> = reset
        .iter()
        .filter(|key| set.iter().any(|(known, _)| known == *key))
        .collect();
    if let Some(key) = both.first() {
        return Err(Failure::usage(format!(
            "cannot set and reset key \"{key}\" simultaneously"
        )));
    }
    let file = parsed.value("file").map(str::to_owned);
    let changes = !set.is_empty() || !reset.is_empty() || file.is_some();
    match get.as_slice() {
        [] if changes => Ok(Edit::Change { file, reset, set }),
        [] => Ok(Edit::Show),
        [_, ..] if changes => Err(Failure::usage(
            "cannot get value and set key=value pairs simultaneously",
        )),
        [key] => Ok(Edit::Get(key.clone())),
        _ => Err(Failure::usage("cannot specify multiple keys to get")),
    }
}
