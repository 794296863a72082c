//! What names, labels and words may look like (Kubernetes: "Object Names and IDs", "Labels and Selectors").

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde_json::Value;

use crate::cluster::failure::Problem;
use crate::cluster::resource::Resource;

const LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const SERVICE: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const LABEL_VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const LABEL_KEY: &str = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

fn is_label(text: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    text.bytes().all(|byte| inner(byte) || byte == b'-')
        && text.bytes().next().is_some_and(inner)
        && text.bytes().next_back().is_some_and(inner)
}

fn is_word(text: &str) -> bool {
    text.bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
        && text
            .bytes()
            .next()
            .is_some_and(|byte| byte.is_ascii_alphanumeric())
        && text
            .bytes()
            .next_back()
            .is_some_and(|byte| byte.is_ascii_alphanumeric())
}

fn too_long(length: usize) -> String {
    format!("must be no more than {length} bytes")
}

/// What is wrong with an RFC 1123 label.
pub(super) fn label(text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if text.len() > 63 {
        wrong.push(too_long(63));
    }
    if !is_label(text) {
        wrong.push(LABEL.to_string());
    }
    wrong
}

/// What is wrong with an RFC 1123 subdomain.
pub(super) fn subdomain(text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if text.len() > 253 {
        wrong.push(too_long(253));
    }
    if !text.split('.').all(is_label) {
        wrong.push(SUBDOMAIN.to_string());
    }
    wrong
}

fn service(text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if text.len() > 63 {
        wrong.push(too_long(63));
    }
    if !is_label(text) || text.starts_with(|first: char| first.is_ascii_digit()) {
        wrong.push(SERVICE.to_string());
    }
    wrong
}

/// A segment of a path: roles may be called almost anything.
fn segment(text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    for whole in [".", ".."] {
        if text == whole {
            wrong.push(format!("may not be '{whole}'"));
        }
    }
    for part in ["/", "%"] {
        if text.contains(part) {
            wrong.push(format!("may not contain '{part}'"));
        }
    }
    wrong
}

/// What is wrong with the name of an object of a kind.
pub(super) fn object(resource: Resource, name: &str) -> Vec<String> {
    match resource {
        Resource::Namespace | Resource::StatefulSet => label(name),
        Resource::Service => service(name),
        Resource::Role
        | Resource::RoleBinding
        | Resource::ClusterRole
        | Resource::ClusterRoleBinding => segment(name),
        _ => subdomain(name),
    }
}

/// What is wrong with labels.
pub(super) fn labels(labels: Option<&Value>, field: &str, problems: &mut Vec<Problem>) {
    let labels = labels.and_then(Value::as_object).into_iter().flatten();
    for (key, value) in labels {
        qualified(key, field, problems);
        let text = value.as_str().unwrap_or("");
        if text.len() > 63 {
            problems.push(Problem::invalid(field, text, &too_long(63)));
        }
        if !text.is_empty() && !is_word(text) {
            problems.push(Problem::invalid(field, text, LABEL_VALUE));
        }
    }
}

/// What is wrong with the key of a label or annotation.
pub(super) fn qualified(key: &str, field: &str, problems: &mut Vec<Problem>) {
    let (prefix, name) = match key.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, key),
    };
    if prefix.is_some_and(|prefix| prefix.is_empty()) {
        problems.push(Problem::invalid(
            field,
            key,
            "prefix part must be non-empty",
        ));
    }
    for wrong in prefix
        .filter(|prefix| !prefix.is_empty())
        .map(subdomain)
        .into_iter()
        .flatten()
    {
        problems.push(Problem::invalid(
            field,
            key,
            &format!("prefix part {wrong}"),
        ));
    }
    if name.is_empty() {
        problems.push(Problem::invalid(field, key, "name part must be non-empty"));
    } else if name.len() > 63 {
        problems.push(Problem::invalid(
            field,
            key,
            &format!("name part {}", too_long(63)),
        ));
    }
    if !is_word(name) {
        problems.push(Problem::invalid(field, key, LABEL_KEY));
    }
}

/// Adds what a check says of a field.
pub(super) fn report(
    field: impl Into<String>,
    text: &str,
    wrong: Vec<String>,
    problems: &mut Vec<Problem>,
) {
    let field = field.into();
    problems.extend(
        wrong
            .iter()
            .map(|wrong| Problem::invalid(field.clone(), text, wrong)),
    );
}
