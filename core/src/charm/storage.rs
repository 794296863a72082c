//! Storages that a charm declares: `storage`.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::document::{At, Value};
use super::mistake::{self, Report};
use super::names;
use super::size::{self, Grammar};

/// A storage that a charm declares.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct StorageDeclaration {
    /// Name of the storage.
    pub name: String,
    /// What it is.
    pub kind: StorageKind,
    /// What it is for.
    pub description: String,
    /// Whether all units share one; recorded, without an effect.
    pub shared: bool,
    /// Whether it is only read.
    pub read_only: bool,
    /// How many each unit gets.
    pub count: Count,
    /// Least size in MiB that the charm works with.
    pub minimum_size_mib: Option<u64>,
    /// Absolute path at which the charm sees it, without a slash at its end; `None`: a path of ours.
    pub location: Option<String>,
    /// Further wishes, such as `transient`; recorded, without an effect.
    pub properties: Vec<String>,
}

/// What a storage is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StorageKind {
    /// A mounted filesystem.
    Filesystem,
    /// A block device: refused at deploy, as containers get none.
    Block,
}

/// How many filesystems of a storage each unit gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Count {
    /// The charm declares no `multiple`: exactly one.
    One,
    /// The charm's `multiple.range`.
    Multiple {
        /// The least number; 0 makes the storage optional.
        minimum: u32,
        /// The most; `None` is no bound.
        maximum: Option<u32>,
    },
}

impl Count {
    /// The least number that a unit needs.
    pub fn minimum(self) -> u32 {
        match self {
            Self::One => 1,
            Self::Multiple { minimum, .. } => minimum,
        }
    }

    /// The most that a unit can have; `None` is no bound.
    pub fn maximum(self) -> Option<u32> {
        match self {
            Self::One => Some(1),
            Self::Multiple { maximum, .. } => maximum,
        }
    }
}

/// Reads `storage`.
pub(super) fn read(root: &At<'_>, report: &mut Report) -> Vec<StorageDeclaration> {
    let Some(at) = root.get("storage") else {
        return Vec::new();
    };
    at.declared(report, |name, at, report| Some(read_one(name, at, report)))
}

fn read_one(name: &str, at: &At<'_>, report: &mut Report) -> StorageDeclaration {
    const KEYS: [&str; 8] = [
        "type",
        "description",
        "shared",
        "read-only",
        "multiple",
        "minimum-size",
        "location",
        "properties",
    ];
    if names::check_application(name).is_err() {
        report.error(
            at.key,
            &at.path,
            format!("{name:?} cannot be the name of a storage"),
            "use lower-case letters, digits and hyphens, beginning with a letter, and no group of digits alone",
        );
    }
    at.warn_unknown("a storage", &KEYS, report, |key| {
        Some(mistake::did_you_mean(key, &KEYS))
    });
    let kind = read_kind(at, report);
    let flag = |key: &str, report: &mut Report| {
        at.get(key)
            .and_then(|at| at.boolean(report))
            .unwrap_or_default()
    };
    let description = at.description(report);
    let location = at.get("location").and_then(|location| {
        if kind == Some(StorageKind::Block) {
            report.error(
                location.key,
                &location.path,
                "a block device has no location",
                "remove the location, or make the storage a filesystem",
            );
        }
        read_location(&location, report)
    });
    let properties = at
        .get("properties")
        .map(|at| at.items(report))
        .unwrap_or_default();
    StorageDeclaration {
        name: name.into(),
        // A storage with a mistake is read on, so that its other mistakes are told as well.
        kind: kind.unwrap_or(StorageKind::Filesystem),
        description,
        shared: flag("shared", report),
        read_only: flag("read-only", report),
        count: read_count(at, report),
        minimum_size_mib: at.get("minimum-size").and_then(|at| read_size(&at, report)),
        location,
        properties: properties
            .iter()
            .filter_map(|at| at.text(report).map(String::from))
            .collect(),
    }
}

fn read_kind(at: &At<'_>, report: &mut Report) -> Option<StorageKind> {
    let Some(kind) = at.get("type") else {
        if !at.is_map_or_nothing() {
            return None;
        }
        report.error(
            at.key,
            &at.path,
            "the storage has no type",
            "add \"type: filesystem\"",
        );
        return None;
    };
    match kind.text(report)? {
        "filesystem" => Some(StorageKind::Filesystem),
        "block" => Some(StorageKind::Block),
        other => {
            report.error(
                kind.node.place,
                &kind.path,
                format!("{other:?} is not a type of storage"),
                mistake::did_you_mean(other, &["filesystem", "block"]),
            );
            None
        }
    }
}

fn read_count(at: &At<'_>, report: &mut Report) -> Count {
    let Some(multiple) = at.get("multiple") else {
        return Count::One;
    };
    let Some(range) = multiple.get("range") else {
        // Whatever is not a map is told by reading it as one.
        let entries = multiple.entries(report);
        if matches!(multiple.node.value, Value::Map(_)) {
            let near = entries.first().map_or("", |(key, _)| *key);
            report.error(
                multiple.key,
                &multiple.path,
                "\"multiple\" has no range",
                mistake::closest(near, &["range"]).map_or_else(
                    || String::from("add \"range:\" with how many, as 0-1, 2 or 1+"),
                    |near| format!("did you mean {near:?}?"),
                ),
            );
        }
        return Count::One;
    };
    let Some(text) = range.text(report) else {
        return Count::One;
    };
    parse_range(text).unwrap_or_else(|| {
        report.error(
            range.node.place,
            &range.path,
            format!("{text:?} is not a range"),
            "write the least and the most number, as 0-1, 2 (exactly) or 1+ (no upper bound)",
        );
        Count::One
    })
}

/// Reads `m`, `m-n`, `m+` or `m-`.
fn parse_range(text: &str) -> Option<Count> {
    let number = |text: &str| {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        digits.then(|| text.parse::<u32>().ok()).flatten()
    };
    let text = text.trim();
    let (minimum, maximum) = if let Some(minimum) = text.strip_suffix(['+', '-']) {
        (number(minimum)?, None)
    } else if let Some((minimum, maximum)) = text.split_once('-') {
        (number(minimum)?, Some(number(maximum)?))
    } else {
        let exactly = number(text)?;
        (exactly, Some(exactly))
    };
    let possible = maximum.is_none_or(|maximum| maximum >= minimum && maximum > 0);
    possible.then_some(Count::Multiple { minimum, maximum })
}

fn read_size(at: &At<'_>, report: &mut Report) -> Option<u64> {
    let text = at.text(report)?;
    let size = size::parse(text.trim(), Grammar::MinimumSize);
    if size.is_none() {
        report.error(
            at.node.place,
            &at.path,
            format!("{text:?} is not a size"),
            "write a number of MiB, or a number with M, G, T, P, E, Z or Y, as 500M or 1.5G",
        );
    }
    size
}

/// Reads an absolute path, without doubled slashes and without one at its end.
pub(super) fn read_location(at: &At<'_>, report: &mut Report) -> Option<String> {
    let text = at.text(report)?;
    let parts: Vec<&str> = text.split('/').filter(|part| !part.is_empty()).collect();
    let problem = if !text.starts_with('/') {
        "is not an absolute path"
    } else if parts.is_empty() {
        "is the root directory, where nothing can be mounted"
    } else if parts.iter().any(|part| matches!(*part, "." | "..")) {
        "has \".\" or \"..\" in it"
    } else if text.contains([':', '\0']) {
        "has a character that Kubernetes does not take in a path"
    } else {
        return Some(format!("/{}", parts.join("/")));
    };
    report.error(
        at.node.place,
        &at.path,
        format!("{text:?} {problem}"),
        "write an absolute path, as /var/lib/data",
    );
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_range_is_exact_bounded_or_open() {
        let range = |minimum, maximum| Some(Count::Multiple { minimum, maximum });
        assert_eq!(parse_range("2"), range(2, Some(2)));
        assert_eq!(parse_range("0-1"), range(0, Some(1)));
        assert_eq!(parse_range("1+"), range(1, None));
        assert_eq!(parse_range("1-"), range(1, None));
        for refused in [
            "",
            "-",
            "+",
            "-1",
            "2-1",
            "0",
            "0-0",
            "a",
            "1-2-3",
            "99999999999",
        ] {
            assert_eq!(parse_range(refused), None, "{refused:?}");
        }
    }

    proptest! {
        #[test]
        fn reading_a_range_is_total(text in ".*") {
            let _ = parse_range(&text);
        }
    }
}
