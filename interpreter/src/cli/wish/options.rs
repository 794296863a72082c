//! What the command line says of an application: `--config`, `--storage`, `--device`, `--resource`.

use std::collections::BTreeMap;

use pilotage_core::charm::document::Scalar;
use pilotage_core::charm::{Charm, ConfigValue, DeviceDirective, StorageDirective, config};

use super::super::bounded;
use super::super::failure::Failure;
use super::super::session::Session;
use crate::charm::{GivenResource, read_resource, read_values};

/// Values by name, typed by a charm's options; and settings of the application itself.
pub type Typed = (BTreeMap<String, ConfigValue>, BTreeMap<String, String>);

/// A value as a user gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Given {
    /// In a word.
    Text(String),
    /// In a YAML file.
    Scalar(Scalar),
}

/// Splits `K=V` at its first `=`.
pub fn pair(text: &str) -> Option<(&str, &str)> {
    text.split_once('=')
}

/// Reads `--config FILE`, `K=V` and `K=@FILE`: words override the file, and the last of equal words wins.
///
/// # Errors
/// A file cannot be read, or there is more than one of YAML.
pub fn given(
    session: &Session<'_>,
    words: &[String],
    application: &str,
) -> Result<BTreeMap<String, Given>, Failure> {
    let files: Vec<&String> = words.iter().filter(|word| pair(word).is_none()).collect();
    if files.len() > 1 {
        return Err(Failure::failed(format!(
            "only a single config YAML file can be specified, got {}",
            files.len()
        )));
    }
    let mut values = BTreeMap::new();
    for file in files {
        for (key, scalar) in values_of_file(session, file, Some(application))? {
            values.insert(key, Given::Scalar(scalar));
        }
    }
    for (key, value) in words.iter().filter_map(|word| pair(word)) {
        let value = content(session, value)?;
        values.insert(key.to_owned(), Given::Text(value));
    }
    Ok(values)
}

/// The values of a YAML file.
///
/// # Errors
/// The file cannot be read, or is of another form.
pub fn values_of_file(
    session: &Session<'_>,
    file: &str,
    under: Option<&str>,
) -> Result<BTreeMap<String, Scalar>, Failure> {
    let path = session.environment.path(file);
    let text = bounded::text_of(&path)
        .map_err(|error| Failure::failed(format!("cannot read \"{}\": {error}", path.display())))?;
    read_values(&text, file, under).map_err(|problem| Failure::failed(problem.to_string()))
}

/// A value of `K=V`; of `K=@FILE`, what is in the file.
///
/// # Errors
/// The file cannot be read, is too large or is no UTF-8.
pub fn content(session: &Session<'_>, value: &str) -> Result<String, Failure> {
    let Some(file) = value.strip_prefix('@') else {
        return Ok(value.to_owned());
    };
    let path = session.environment.path(file);
    let refuse = |why: String| {
        Failure::failed(format!(
            "cannot read option from file \"{}\": {why}",
            path.display()
        ))
    };
    bounded::text_of(&path).map_err(|error| refuse(error.to_string()))
}

/// Gives values their meaning by a charm's options.
///
/// # Errors
/// The first that the charm does not have, or that is of another kind; in Juju's words.
pub fn typed(charm: &Charm, given: &BTreeMap<String, Given>) -> Result<Typed, Failure> {
    let (mut values, mut settings) = Typed::default();
    for (key, given) in given {
        if charm.option(key).is_none() && config::is_setting(key) {
            match given {
                Given::Text(text) => {
                    settings.insert(key.clone(), text.clone());
                }
                Given::Scalar(scalar) if !scalar.is_null() => {
                    settings.insert(key.clone(), scalar.text.clone());
                }
                Given::Scalar(_) => {}
            }
            continue;
        }
        let value = match given {
            Given::Text(text) => charm.parse_value(key, text).map(Some),
            Given::Scalar(scalar) => charm.read_value(key, scalar),
        };
        if let Some(value) = value.map_err(|refused| Failure::failed(refused.to_string()))? {
            values.insert(key.clone(), value);
        }
    }
    Ok((values, settings))
}

/// Reads `--storage NAME=DIRECTIVE`.
///
/// # Errors
/// A usage mistake, in Juju's words; `form` is what is expected.
pub fn storage(
    words: &[String],
    form: &str,
) -> Result<BTreeMap<String, StorageDirective>, Failure> {
    let mut directives = BTreeMap::new();
    for word in words {
        let (name, directive) = pair(word)
            .filter(|(name, _)| !name.is_empty())
            .ok_or_else(|| Failure::usage(format!("expected {form}")))?;
        let directive = directive
            .parse()
            .map_err(|error| Failure::usage(format!("{error}")))?;
        if directives.insert(name.to_owned(), directive).is_some() {
            return Err(Failure::usage(format!(
                "storage \"{name}\" specified more than once"
            )));
        }
    }
    Ok(directives)
}

/// Reads `--device LABEL=DIRECTIVE`.
///
/// # Errors
/// A usage mistake.
pub fn devices(words: &[String]) -> Result<BTreeMap<String, DeviceDirective>, Failure> {
    let mut directives = BTreeMap::new();
    for word in words {
        let (label, directive) = pair(word)
            .filter(|(label, _)| !label.is_empty())
            .ok_or_else(|| Failure::usage("expected <label>=[<count>,]<type>[,<attributes>]"))?;
        let directive = directive
            .parse()
            .map_err(|error| Failure::usage(format!("{error}")))?;
        directives.insert(label.to_owned(), directive);
    }
    Ok(directives)
}

/// Reads `--resource NAME=VALUE`, as text.
///
/// # Errors
/// A usage mistake, in Juju's words.
pub fn resource_words(words: &[String]) -> Result<BTreeMap<String, String>, Failure> {
    let mut resources = BTreeMap::new();
    for word in words {
        let (name, value) = pair(word)
            .filter(|(name, value)| !name.is_empty() && !value.is_empty())
            .ok_or_else(|| Failure::usage("expected name=<value> format"))?;
        if resources
            .insert(name.to_owned(), value.to_owned())
            .is_some()
        {
            return Err(Failure::usage(format!(
                "duplicate name specified: \"{name}\""
            )));
        }
    }
    Ok(resources)
}

/// Gives resources their meaning by a charm's declarations.
///
/// # Errors
/// One that the charm does not have, or that is neither file nor image.
pub fn resources(
    session: &Session<'_>,
    charm: &Charm,
    words: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, GivenResource>, Failure> {
    pilotage_core::charm::resource::check_names(charm, words.keys().map(String::as_str))
        .map_err(|unknown| Failure::failed(unknown.to_string()))?;
    let mut given = BTreeMap::new();
    for (name, value) in words {
        if let Some(declared) = charm.resource(name) {
            let resource = read_resource(declared, value, &session.environment.folder)
                .map_err(|error| Failure::failed(error.to_string()))?;
            given.insert(name.clone(), resource);
        }
    }
    Ok(given)
}

/// Reads `--config FILE` and `K=V` of a model: keys and texts.
///
/// # Errors
/// A file cannot be read.
pub fn given_plain(
    session: &Session<'_>,
    words: &[String],
) -> Result<BTreeMap<String, String>, Failure> {
    let mut values = BTreeMap::new();
    for file in words.iter().filter(|word| pair(word).is_none()) {
        for (key, scalar) in values_of_file(session, file, None)? {
            values.insert(key, scalar.text);
        }
    }
    for (key, value) in words.iter().filter_map(|word| pair(word)) {
        values.insert(key.to_owned(), content(session, value)?);
    }
    Ok(values)
}
