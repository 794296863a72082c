//! One step of a path into an object.

use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::fmt;

use serde_json::{Map, Value};

/// The name of a field: most are known beforehand and cost nothing to keep.
#[derive(Clone, Debug)]
pub enum Name {
    /// A field of a known kind.
    Static(&'static str),
    /// A key of a map, or a field of an unknown kind.
    Shared(Arc<str>),
}

impl Name {
    /// The text.
    pub fn as_str(&self) -> &str {
        match self {
            Name::Static(text) => text,
            Name::Shared(text) => text,
        }
    }
}

impl PartialEq for Name {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}
impl Eq for Name {}
impl PartialOrd for Name {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Name {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_str().cmp(other.as_str())
    }
}

/// A value that tells items of a list apart.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scalar {
    /// `null`.
    Nothing,
    /// `true` or `false`.
    Flag(bool),
    /// An integer.
    Number(i64),
    /// A string.
    Text(Arc<str>),
}

impl Scalar {
    /// Reads a value; `None` for lists, records and fractions.
    pub fn of(value: &Value) -> Option<Scalar> {
        Some(match value {
            Value::Null => Scalar::Nothing,
            Value::Bool(flag) => Scalar::Flag(*flag),
            Value::Number(number) => Scalar::Number(number.as_i64()?),
            Value::String(text) => Scalar::Text(text.as_str().into()),
            Value::Array(_) | Value::Object(_) => return None,
        })
    }

    /// The value again.
    pub fn to_value(&self) -> Value {
        match self {
            Scalar::Nothing => Value::Null,
            Scalar::Flag(flag) => Value::Bool(*flag),
            Scalar::Number(number) => Value::from(*number),
            Scalar::Text(text) => Value::String(text.to_string()),
        }
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scalar::Nothing => write!(f, "null"),
            Scalar::Flag(flag) => write!(f, "{flag}"),
            Scalar::Number(number) => write!(f, "{number}"),
            Scalar::Text(text) => write!(f, "{text:?}"),
        }
    }
}

/// One step of a path into an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Element {
    /// A field or an entry of a map: `f:spec`.
    Field(Name),
    /// The item of a list with these keys, sorted by name: `k:{"name":"web"}`.
    Key(Arc<[(Name, Scalar)]>),
    /// The item of a set: `v:"kubernetes.io/pvc-protection"`.
    Value(Scalar),
    /// The item at a place: `i:0`.
    Index(i64),
}

impl Element {
    /// The key under which `fieldsV1` shows the step.
    pub fn to_text(&self) -> String {
        use alloc::format;
        match self {
            Element::Field(name) => format!("f:{}", name.as_str()),
            Element::Key(keys) => {
                let keys: Map<String, Value> = keys
                    .iter()
                    .map(|(name, value)| (name.as_str().to_string(), value.to_value()))
                    .collect();
                format!("k:{}", Value::Object(keys))
            }
            Element::Value(value) => format!("v:{}", value.to_value()),
            Element::Index(index) => format!("i:{index}"),
        }
    }

    /// Reads a key of `fieldsV1`.
    pub fn parse(text: &str) -> Option<Element> {
        let (kind, rest) = text.split_at_checked(2)?;
        Some(match kind {
            "f:" => Element::Field(Name::Shared(rest.into())),
            "k:" => {
                let keys: Map<String, Value> = serde_json::from_str(rest).ok()?;
                let keys: Option<Vec<(Name, Scalar)>> = keys
                    .into_iter()
                    .map(|(name, value)| Some((Name::Shared(name.into()), Scalar::of(&value)?)))
                    .collect();
                Element::Key(keys?.into())
            }
            "v:" => Element::Value(Scalar::of(&serde_json::from_str(rest).ok()?)?),
            "i:" => Element::Index(rest.parse().ok()?),
            _ => return None,
        })
    }

    /// The keys of an item of a list; fails with the name of the key that the item lacks.
    pub(crate) fn key(
        keys: &'static [&'static str],
        item: &Value,
    ) -> Result<Element, &'static str> {
        let mut found: Vec<(Name, Scalar)> = Vec::with_capacity(keys.len());
        for key in keys {
            let value = match item.get(*key) {
                Some(value) => Scalar::of(value).ok_or(*key)?,
                // The one key with a default in the published schema.
                None if *key == "protocol" => Scalar::Text("TCP".into()),
                None => return Err(key),
            };
            found.push((Name::Static(key), value));
        }
        found.sort_by(|left, right| left.0.cmp(&right.0));
        Ok(Element::Key(found.into()))
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Element::Field(name) => write!(f, ".{}", name.as_str()),
            Element::Key(keys) => {
                write!(f, "[")?;
                for (index, (name, value)) in keys.iter().enumerate() {
                    let gap = if index == 0 { "" } else { "," };
                    write!(f, "{gap}{}={value}", name.as_str())?;
                }
                write!(f, "]")
            }
            Element::Value(value) => write!(f, "[={value}]"),
            Element::Index(index) => write!(f, "[{index}]"),
        }
    }
}
