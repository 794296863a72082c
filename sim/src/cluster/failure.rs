//! The refusals of the API server, with the codes, reasons and messages that clients branch on.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt::Write as _;

use serde_json::Value;

use super::request::{Failure, Response};
use super::resource::Resource;

impl From<Failure> for Response {
    fn from(failure: Failure) -> Self {
        Response::Failure(failure)
    }
}

/// What is wrong with one field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    /// The machine-readable kind: `FieldValueRequired` and so on.
    pub(crate) reason: &'static str,
    /// The path of the field.
    pub(crate) field: String,
    /// What is wrong.
    pub(crate) message: String,
}

impl Problem {
    /// A field that must be there.
    pub(crate) fn required(field: impl Into<String>, detail: &str) -> Self {
        let message = if detail.is_empty() {
            String::from("Required value")
        } else {
            format!("Required value: {detail}")
        };
        Problem {
            reason: "FieldValueRequired",
            field: field.into(),
            message,
        }
    }

    /// A value that is not allowed.
    pub(crate) fn invalid(field: impl Into<String>, value: impl Into<Value>, detail: &str) -> Self {
        Problem {
            reason: "FieldValueInvalid",
            field: field.into(),
            message: format!("Invalid value: {}: {detail}", value.into()),
        }
    }

    /// A value that stands there twice.
    pub(crate) fn duplicate(field: impl Into<String>, value: impl Into<Value>) -> Self {
        Problem {
            reason: "FieldValueDuplicate",
            field: field.into(),
            message: format!("Duplicate value: {}", value.into()),
        }
    }

    /// A value that names nothing.
    pub(crate) fn missing(field: impl Into<String>, value: impl Into<Value>) -> Self {
        Problem {
            reason: "FieldValueNotFound",
            field: field.into(),
            message: format!("Not found: {}", value.into()),
        }
    }

    /// A change that is not allowed.
    pub(crate) fn forbidden(field: impl Into<String>, detail: &str) -> Self {
        Problem {
            reason: "FieldValueForbidden",
            field: field.into(),
            message: format!("Forbidden: {detail}"),
        }
    }

    /// A value outside the allowed words.
    pub(crate) fn unsupported(
        field: impl Into<String>,
        value: impl Into<Value>,
        allowed: &[&str],
    ) -> Self {
        let allowed: Vec<String> = allowed.iter().map(|word| format!("{word:?}")).collect();
        Problem {
            reason: "FieldValueNotSupported",
            field: field.into(),
            message: format!(
                "Unsupported value: {}: supported values: {}",
                value.into(),
                allowed.join(", ")
            ),
        }
    }
}

impl Failure {
    fn plain(code: u16, reason: &str, message: impl Into<Box<str>>) -> Self {
        Failure {
            code,
            reason: reason.into(),
            message: message.into(),
            causes: Vec::new(),
        }
    }

    /// 404: there is no such object.
    pub(crate) fn not_found(resource: Resource, name: &str) -> Self {
        let message = format!("{} {name:?} not found", resource.qualified());
        Self::plain(404, "NotFound", message)
    }

    /// 404 or 405: the path leads nowhere.
    pub(crate) fn not_served(detail: &str) -> Self {
        Self::plain(
            404,
            "NotFound",
            format!("the server could not find the requested resource: {detail}"),
        )
    }

    /// 409: a POST to a name that is taken.
    pub(crate) fn already_exists(resource: Resource, name: &str) -> Self {
        let message = format!("{} {name:?} already exists", resource.qualified());
        Self::plain(409, "AlreadyExists", message)
    }

    /// 409: the write rests on something that is no longer so.
    pub(crate) fn conflict(resource: Resource, name: &str, detail: &str) -> Self {
        let message = format!(
            "Operation cannot be fulfilled on {} {name:?}: {detail}",
            resource.qualified()
        );
        Self::plain(409, "Conflict", message)
    }

    /// 409: the version is not the newest.
    pub(crate) fn modified(resource: Resource, name: &str) -> Self {
        Self::conflict(
            resource,
            name,
            "the object has been modified; please apply your changes to the latest version and try again",
        )
    }

    /// 409: an apply names fields of other managers, given as (manager, path).
    pub(crate) fn apply_conflict(conflicts: &[(String, String)]) -> Self {
        let mut message = match conflicts.len() {
            1 => String::from("Apply failed with 1 conflict: "),
            count => format!("Apply failed with {count} conflicts: "),
        };
        if let [(manager, path)] = conflicts {
            let _ = write!(message, "conflict with {manager}: {path}");
        } else {
            let mut last = "";
            for (manager, path) in conflicts {
                if manager != last {
                    let gap = if last.is_empty() { "" } else { "\n" };
                    let _ = write!(message, "{gap}conflicts with {manager}:");
                    last = manager;
                }
                let _ = write!(message, "\n- {path}");
            }
        }
        let mut failure = Self::plain(409, "Conflict", message);
        failure.causes = conflicts
            .iter()
            .map(|(manager, path)| {
                (
                    "FieldManagerConflict".into(),
                    path.as_str().into(),
                    format!("conflict with {manager}").into(),
                )
            })
            .collect();
        failure
    }

    /// 422: the object is not valid.
    pub(crate) fn invalid(resource: Resource, name: &str, problems: &[Problem]) -> Self {
        let texts: Vec<String> = problems
            .iter()
            .map(|problem| format!("{}: {}", problem.field, problem.message))
            .collect();
        let detail = match texts.as_slice() {
            [single] => single.clone(),
            several => format!("[{}]", several.join(", ")),
        };
        let group = resource.group();
        let kind = if group.is_empty() {
            String::from(resource.kind())
        } else {
            format!("{}.{group}", resource.kind())
        };
        let mut failure = Self::plain(
            422,
            "Invalid",
            format!("{kind} {name:?} is invalid: {detail}"),
        );
        failure.causes = problems
            .iter()
            .map(|problem| {
                (
                    problem.reason.into(),
                    problem.field.as_str().into(),
                    problem.message.as_str().into(),
                )
            })
            .collect();
        failure
    }

    /// 403: not allowed.
    pub(crate) fn forbidden(resource: Resource, name: &str, detail: &str) -> Self {
        let message = format!("{} {name:?} is forbidden: {detail}", resource.qualified());
        Self::plain(403, "Forbidden", message)
    }

    /// 403: the namespace takes no more objects.
    pub(crate) fn terminating(resource: Resource, name: &str, namespace: &str) -> Self {
        let detail = format!(
            "unable to create new content in namespace {namespace} because it is being terminated"
        );
        let mut failure = Self::forbidden(resource, name, &detail);
        failure.causes = vec![(
            "NamespaceTerminating".into(),
            "metadata.namespace".into(),
            format!("namespace {namespace} is being terminated").into(),
        )];
        failure
    }

    /// 400: the request makes no sense.
    pub(crate) fn bad_request(message: impl Into<Box<str>>) -> Self {
        Self::plain(400, "BadRequest", message)
    }

    /// 405: the verb is not allowed there.
    pub(crate) fn not_allowed() -> Self {
        Self::plain(
            405,
            "MethodNotAllowed",
            "the server does not allow this method on the requested resource",
        )
    }

    /// 410: the version is too old to watch from.
    pub(crate) fn expired(version: u64, oldest: u64) -> Self {
        Self::plain(
            410,
            "Expired",
            format!("too old resource version: {version} ({oldest})"),
        )
    }

    /// 500: the server met something that it has no name for.
    pub(crate) fn internal(message: impl Into<Box<str>>) -> Self {
        Self::plain(500, "", message)
    }

    /// 422 for a patch that cannot be carried out.
    pub(crate) fn unprocessable(message: impl Into<Box<str>>) -> Self {
        Self::plain(422, "Invalid", message)
    }
}
