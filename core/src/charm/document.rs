//! A file as a tree: what core sees of YAML.
//!
//! Scalars keep the text that was written and whether it stood in quotes, since what it means depends on the place:
//! `20.04` is a channel here and a number there, `"584792"` is a number where one is asked for, and `yes` is a boolean by
//! YAML 1.1, which charms are written in. Maps keep every entry, also those whose key comes twice. Each node knows its
//! [`Place`]: a number of the reader's, which finds file, line and column again when a mistake is shown.

use alloc::string::String;
use alloc::vec::Vec;

use super::mistake::Report;

/// Where something stands: a number that only the reader of the file understands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place(pub u32);

/// One node of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Where it begins.
    pub place: Place,
    /// What it is.
    pub value: Value,
}

/// What a node is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Text, number, boolean or null: [`Scalar`] tells.
    Scalar(Scalar),
    /// A list.
    List(Vec<Node>),
    /// A map, every entry as written.
    Map(Vec<Entry>),
}

/// An entry of a map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The key, as text.
    pub key: String,
    /// Where the key stands.
    pub place: Place,
    /// The value.
    pub node: Node,
}

/// A scalar as written.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
pub struct Scalar {
    /// The text, quotes and escapes undone.
    pub text: String,
    /// Whether it stood without quotes, so that it may be a number, a boolean or null.
    pub plain: bool,
}

/// What a scalar is by the rules of YAML 1.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScalarKind {
    /// Nothing, `~` or `null`.
    Null,
    /// `true`, `yes`, `on` and their opposites.
    Boolean(bool),
    /// A whole number.
    Int,
    /// A number with a fraction or an exponent.
    Float,
    /// Anything else.
    Text,
}

impl Scalar {
    /// A scalar in quotes: text, whatever it looks like.
    pub fn quoted(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            plain: false,
        }
    }

    /// A scalar without quotes.
    pub fn plain(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            plain: true,
        }
    }

    /// What the scalar is.
    pub fn kind(&self) -> ScalarKind {
        if !self.plain {
            return ScalarKind::Text;
        }
        match self.text.as_str() {
            "" | "~" | "null" | "Null" | "NULL" => ScalarKind::Null,
            "true" | "True" | "TRUE" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => {
                ScalarKind::Boolean(true)
            }
            "false" | "False" | "FALSE" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => {
                ScalarKind::Boolean(false)
            }
            text if is_integer(text) => ScalarKind::Int,
            text if is_decimal(text) => ScalarKind::Float,
            _ => ScalarKind::Text,
        }
    }

    /// Whether it is null.
    pub fn is_null(&self) -> bool {
        self.kind() == ScalarKind::Null
    }
}

impl Node {
    /// Whether it is null.
    pub fn is_null(&self) -> bool {
        matches!(&self.value, Value::Scalar(scalar) if scalar.is_null())
    }

    /// The entry of that key; the last, where the key comes twice.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        match &self.value {
            Value::Map(entries) => entries.iter().rev().find(|entry| entry.key == key),
            _ => None,
        }
    }

    /// What the node is, in words for whoever wrote it.
    pub fn described(&self) -> &'static str {
        match &self.value {
            Value::List(_) => "a list",
            Value::Map(_) => "a map",
            Value::Scalar(scalar) => match scalar.kind() {
                ScalarKind::Null => "nothing",
                ScalarKind::Boolean(_) => "a boolean",
                ScalarKind::Int | ScalarKind::Float => "a number",
                ScalarKind::Text => "text",
            },
        }
    }
}

/// A whole decimal number, with a sign or without.
fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// A decimal number with a fraction or an exponent.
fn is_decimal(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    digits.starts_with(|first: char| first.is_ascii_digit() || first == '.')
        && digits.bytes().any(|byte| byte.is_ascii_digit())
        && text.parse::<f64>().is_ok()
}

/// A node together with the way that led to it.
#[derive(Clone, Debug)]
pub(crate) struct At<'a> {
    pub(crate) node: &'a Node,
    /// The keys that lead to the node, as `containers.web.mounts[0]`; empty at the root.
    pub(crate) path: String,
    /// Where the node's key stands, or the node itself where it has none.
    pub(crate) key: Place,
}

impl<'a> At<'a> {
    pub(crate) fn root(node: &'a Node) -> Self {
        Self {
            node,
            path: String::new(),
            key: node.place,
        }
    }

    fn below(&self, entry: &'a Entry) -> At<'a> {
        let path = if self.path.is_empty() {
            entry.key.clone()
        } else {
            alloc::format!("{}.{}", self.path, entry.key)
        };
        At {
            node: &entry.node,
            path,
            key: entry.place,
        }
    }

    /// What stands under a key, unless it is nothing.
    pub(crate) fn get(&self, key: &str) -> Option<At<'a>> {
        self.get_or_null(key).filter(|at| !at.node.is_null())
    }

    /// What stands under a key, also when it is nothing.
    pub(crate) fn get_or_null(&self, key: &str) -> Option<At<'a>> {
        self.node.entry(key).map(|entry| self.below(entry))
    }

    /// The entries of a map by key, the last of each; nothing counts as an empty map, anything else is a mistake.
    pub(crate) fn entries(&self, report: &mut Report) -> Vec<(&'a str, At<'a>)> {
        match &self.node.value {
            Value::Map(entries) => {
                let mut found: alloc::collections::BTreeMap<&str, At<'a>> =
                    alloc::collections::BTreeMap::new();
                for entry in entries {
                    found.insert(&entry.key, self.below(entry));
                }
                found.into_iter().collect()
            }
            _ if self.node.is_null() => Vec::new(),
            _ => {
                self.expected("a map", report);
                Vec::new()
            }
        }
    }

    /// The declarations that a map holds by their names, each as a reader makes it of the name and what stands there.
    pub(crate) fn declared<T>(
        &self,
        report: &mut Report,
        mut read: impl FnMut(&str, &At<'a>, &mut Report) -> Option<T>,
    ) -> Vec<T> {
        self.entries(report)
            .iter()
            .filter_map(|(name, at)| read(name, at, report))
            .collect()
    }

    /// Warns of the keys here that `known` does not hold, which are ignored; `advice` says what to do about one, or `None`
    /// where it is nothing to speak of.
    pub(crate) fn warn_unknown(
        &self,
        what: &str,
        known: &[&str],
        report: &mut Report,
        advice: impl Fn(&str) -> Option<String>,
    ) {
        for (key, unknown) in self.entries(report) {
            if known.contains(&key) {
                continue;
            }
            if let Some(advice) = advice(key) {
                let problem =
                    alloc::format!("the key {key:?} means nothing in {what} and is ignored");
                report.warning(unknown.key, &self.path, problem, advice);
            }
        }
    }

    /// The text under `description`, without the space around it; empty where there is none.
    pub(crate) fn description(&self, report: &mut Report) -> String {
        self.get("description")
            .and_then(|at| at.text(report))
            .map(|text| text.trim().into())
            .unwrap_or_default()
    }

    /// Whether entries can be here: where they cannot, [`At::entries`] has told so already.
    pub(crate) fn is_map_or_nothing(&self) -> bool {
        matches!(self.node.value, Value::Map(_)) || self.node.is_null()
    }

    /// The items of a list; nothing counts as an empty list, anything else is a mistake.
    pub(crate) fn items(&self, report: &mut Report) -> Vec<At<'a>> {
        match &self.node.value {
            Value::List(items) => items
                .iter()
                .enumerate()
                .map(|(index, node)| At {
                    node,
                    path: alloc::format!("{}[{index}]", self.path),
                    key: node.place,
                })
                .collect(),
            _ if self.node.is_null() => Vec::new(),
            _ => {
                self.expected("a list", report);
                Vec::new()
            }
        }
    }

    /// The scalar here; a list or a map is a mistake.
    pub(crate) fn scalar(&self, what: &str, report: &mut Report) -> Option<&'a Scalar> {
        match &self.node.value {
            Value::Scalar(scalar) => Some(scalar),
            _ => {
                self.expected(what, report);
                None
            }
        }
    }

    /// The text here, whatever kind of scalar it is.
    pub(crate) fn text(&self, report: &mut Report) -> Option<&'a str> {
        self.scalar("text", report)
            .map(|scalar| scalar.text.as_str())
    }

    /// The boolean here, also when it stands in quotes.
    pub(crate) fn boolean(&self, report: &mut Report) -> Option<bool> {
        let scalar = self.scalar("true or false", report)?;
        match Scalar::plain(scalar.text.as_str()).kind() {
            ScalarKind::Boolean(value) => Some(value),
            _ => {
                self.expected("true or false", report);
                None
            }
        }
    }

    /// The whole number here, 0 or more, also when it stands in quotes.
    pub(crate) fn whole(&self, report: &mut Report) -> Option<u64> {
        let scalar = self.scalar("a whole number", report)?;
        let number = scalar.text.trim().parse().ok();
        if number.is_none() {
            self.expected("a whole number from 0", report);
        }
        number
    }

    fn expected(&self, what: &str, report: &mut Report) {
        let found = match &self.node.value {
            Value::Scalar(scalar) if !scalar.is_null() => {
                alloc::format!("{} ({})", self.node.described(), excerpt(&scalar.text))
            }
            _ => self.node.described().into(),
        };
        report.error(
            self.node.place,
            &self.path,
            alloc::format!("expected {what}, found {found}"),
            alloc::format!("write {what} here"),
        );
    }
}

/// A text short enough for a line, in quotes.
pub(crate) fn excerpt(text: &str) -> String {
    const LONGEST: usize = 60;
    if text.chars().count() <= LONGEST {
        return alloc::format!("{text:?}");
    }
    let start: String = text.chars().take(LONGEST).collect();
    alloc::format!("{start:?}…")
}
