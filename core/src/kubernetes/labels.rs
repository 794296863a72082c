//! Labels and annotations, and the four labels that say whose an object is (design, section 4).

use alloc::boxed::Box;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::fmt;

use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::name::Uid;

/// Label: the application's name. In the selector.
pub const NAME: &str = "app.kubernetes.io/name";
/// Label: the program that manages the object.
pub const MANAGED_BY: &str = "app.kubernetes.io/managed-by";
/// Label: the uid of the model.
pub const MODEL: &str = "pilotage.dev/model";
/// Label: the uid of the application. In the selector, so it reaches the claims (fact K17).
pub const APPLICATION_UID: &str = "pilotage.dev/application-uid";
/// The API group and version of our own kinds: what Events name, and what the state in a cluster is served as.
pub const API_VERSION: &str = "pilotage.dev/v1alpha1";
/// Our own kind that an application is, to other tools.
pub const APPLICATION_KIND: &str = "Application";
/// The value of [`MANAGED_BY`], and our field manager.
pub const PILOTAGE: &str = "pilotage";

/// A small map of texts, sorted by key.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Labels(Vec<(Box<str>, Box<str>)>);

impl Labels {
    /// What a key says.
    pub fn get(&self, key: &str) -> Option<&str> {
        let at = self.0.binary_search_by(|(k, _)| (**k).cmp(key)).ok()?;
        self.0.get(at).map(|(_, value)| &**value)
    }

    /// All pairs, by key.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(k, v)| (&**k, &**v))
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<K: Into<Box<str>>, V: Into<Box<str>>> FromIterator<(K, V)> for Labels {
    /// The last of equal keys wins.
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Self {
        let mut pairs: Vec<(Box<str>, Box<str>)> = pairs
            .into_iter()
            .map(|(k, v)| (k.into(), v.into()))
            .collect();
        pairs.sort_by(|a, b| a.0.cmp(&b.0));
        let mut sorted: Vec<(Box<str>, Box<str>)> = Vec::with_capacity(pairs.len());
        for pair in pairs {
            match sorted.last_mut() {
                Some(last) if last.0 == pair.0 => *last = pair,
                _ => sorted.push(pair),
            }
        }
        Labels(sorted)
    }
}

impl Serialize for Labels {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Labels {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs;
        impl<'de> Visitor<'de> for Pairs {
            type Value = Labels;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map of texts")
            }
            fn visit_unit<E>(self) -> Result<Labels, E> {
                Ok(Labels::default())
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Labels, A::Error> {
                let mut pairs: Vec<(Box<str>, Box<str>)> = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(pairs.into_iter().collect())
            }
        }
        deserializer.deserialize_any(Pairs)
    }
}

/// Whose an object says it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ownership {
    /// The model named.
    pub model: Uid,
    /// The application named; none on the objects of the model itself.
    pub application: Option<Uid>,
}

impl Labels {
    /// Whose these labels say an object is; none if it is not managed by Pilotage or says so unreadably.
    pub fn ownership(&self) -> Option<Ownership> {
        if self.get(MANAGED_BY) != Some(PILOTAGE) {
            return None;
        }
        let model = self.get(MODEL)?.parse().ok()?;
        let application = match self.get(APPLICATION_UID) {
            Some(text) => Some(text.parse().ok()?),
            None => None,
        };
        Some(Ownership { model, application })
    }

    /// The four labels of an application's object.
    pub fn of_application(name: &str, application: Uid, model: Uid) -> Self {
        [
            (NAME, name.to_string()),
            (MANAGED_BY, PILOTAGE.to_string()),
            (MODEL, model.to_string()),
            (APPLICATION_UID, application.to_string()),
        ]
        .into_iter()
        .collect()
    }
}
