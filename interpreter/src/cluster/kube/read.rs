//! What the API server says, read from its text straight into what the core looks at.

use std::fmt;

use pilotage_core::digest::DigestKey;
use pilotage_core::event::Event;
use pilotage_core::kubernetes::Kind;
use pilotage_core::kubernetes::read::Object;
use pilotage_core::name::Version;
use pilotage_core::secret;
use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use std::sync::Arc;

/// Reads objects of one kind. The data of a Secret is replaced by its fingerprint on the way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader {
    pub(super) kind: Kind,
    pub(super) key: DigestKey,
}

impl<'de> DeserializeSeed<'de> for Reader {
    type Value = Object;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Object, D::Error> {
        if self.kind != Kind::Secret {
            return Object::read(self.kind, from);
        }
        let mut value = Value::deserialize(from)?;
        secret::redact(self.key, &mut value);
        Object::read(self.kind, value).map_err(D::Error::custom)
    }
}

impl Reader {
    /// Reads the text of one object.
    pub(super) fn object(self, text: &[u8]) -> Result<Object, serde_json::Error> {
        let mut from = serde_json::Deserializer::from_slice(text);
        let object = self.deserialize(&mut from)?;
        from.end()?;
        Ok(object)
    }

    /// Reads the text of a list.
    pub(super) fn page(self, text: &[u8]) -> Result<Page, serde_json::Error> {
        serde_json::Deserializer::from_slice(text).deserialize_map(PageVisitor(self))
    }

    /// Reads one line of a watch.
    pub(super) fn line(self, text: &[u8]) -> Result<Line, serde_json::Error> {
        serde_json::Deserializer::from_slice(text).deserialize_map(LineVisitor(self))
    }
}

/// A list, or a page of one.
pub(super) struct Page {
    pub(super) version: Version,
    /// Where the next page begins; empty on the last.
    pub(super) more: String,
    pub(super) items: Vec<Object>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ListMetadata {
    #[serde(rename = "resourceVersion")]
    version: Version,
    #[serde(rename = "continue")]
    more: String,
}

struct PageVisitor(Reader);

impl<'de> Visitor<'de> for PageVisitor {
    type Value = Page;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Page, M::Error> {
        let mut metadata: Option<ListMetadata> = None;
        let mut items = Vec::new();
        while let Some(key) = map.next_key::<Text<'_>>()? {
            match &*key.0 {
                "metadata" => metadata = Some(map.next_value()?),
                "items" => items = map.next_value_seed(Items(self.0))?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        let metadata = metadata.ok_or_else(|| M::Error::missing_field("metadata"))?;
        Ok(Page {
            version: metadata.version,
            more: metadata.more,
            items,
        })
    }
}

struct Items(Reader);

impl<'de> DeserializeSeed<'de> for Items {
    type Value = Vec<Object>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Vec<Object>, D::Error> {
        // An empty list of Go is null.
        from.deserialize_option(self)
    }
}

impl<'de> Visitor<'de> for Items {
    type Value = Vec<Object>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("items")
    }

    fn visit_none<E>(self) -> Result<Vec<Object>, E> {
        Ok(Vec::new())
    }

    fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<Vec<Object>, D::Error> {
        from.deserialize_seq(self)
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut items: S) -> Result<Vec<Object>, S::Error> {
        let mut objects = Vec::with_capacity(items.size_hint().unwrap_or(0));
        while let Some(object) = items.next_element_seed(self.0)? {
            objects.push(object);
        }
        Ok(objects)
    }
}

/// One line of a watch.
pub(super) enum Line {
    /// An object is there, or has changed, or is gone.
    Changed(Event, Version),
    /// Nothing of ours changed up to this version.
    Bookmark {
        version: Version,
        /// Everything that was there at the start has been told.
        everything: bool,
    },
    /// The watch cannot go on.
    Failed(Status),
}

struct LineVisitor(Reader);

impl<'de> Visitor<'de> for LineVisitor {
    type Value = Line;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a line of a watch")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Line, M::Error> {
        let mut change = None;
        let mut line = None;
        while let Some(key) = map.next_key::<Text<'_>>()? {
            match (&*key.0, &change) {
                ("type", _) => change = Some(map.next_value::<Change>()?),
                ("object", Some(Change::Bookmark)) => {
                    let mark: Mark = map.next_value()?;
                    let ends = mark.metadata.annotations.end.as_deref();
                    line = Some(Line::Bookmark {
                        version: mark.metadata.version,
                        everything: ends == Some("true"),
                    });
                }
                ("object", Some(Change::Error)) => line = Some(Line::Failed(map.next_value()?)),
                ("object", Some(change)) => {
                    let object = map.next_value_seed(self.0)?;
                    line = Some(told(object, matches!(change, Change::Deleted)));
                }
                // The server writes the type first: it says what the object is.
                ("object", None) => return Err(M::Error::missing_field("type")),
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        line.ok_or_else(|| M::Error::missing_field("object"))
    }
}

/// The event that tells of an object.
pub(super) fn seen(object: Object) -> Event {
    match object {
        Object::Pod(pod) => Event::PodUpdated(Arc::new(pod)),
        object => Event::ObjectUpdated(Arc::new(object)),
    }
}

fn told(object: Object, gone: bool) -> Line {
    let (uid, version) = (object.metadata().uid, object.metadata().version);
    let event = match (gone, object.kind()) {
        (false, _) => seen(object),
        (true, Kind::Pod) => Event::PodDeleted {
            key: object.key(),
            uid,
            version,
        },
        (true, _) => Event::ObjectDeleted {
            key: object.key(),
            uid,
            version,
        },
    };
    Line::Changed(event, version)
}

#[derive(Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum Change {
    Added,
    Modified,
    Deleted,
    Bookmark,
    Error,
}

#[derive(Deserialize)]
struct Mark {
    metadata: MarkMetadata,
}

#[derive(Deserialize)]
struct MarkMetadata {
    #[serde(rename = "resourceVersion")]
    version: Version,
    #[serde(default)]
    annotations: MarkAnnotations,
}

#[derive(Default, Deserialize)]
struct MarkAnnotations {
    #[serde(default, rename = "k8s.io/initial-events-end")]
    end: Option<Box<str>>,
}

/// A `Status`: what the server says when it has no object to show.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Status {
    pub(super) status: String,
    pub(super) code: u16,
    pub(super) reason: String,
    pub(super) message: String,
    pub(super) details: Option<Details>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Details {
    pub(super) causes: Vec<Cause>,
    pub(super) retry_after_seconds: u64,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Cause {
    pub(super) reason: String,
}

impl Status {
    /// Reads the body of a refusal; one that comes from something else on the way is its own message.
    pub(super) fn read(code: u16, body: &[u8]) -> Status {
        match serde_json::from_slice::<Status>(body) {
            Ok(status) if status.status == "Failure" => Status { code, ..status },
            _ => Status {
                code,
                message: String::from_utf8_lossy(body)
                    .trim()
                    .chars()
                    .take(500)
                    .collect(),
                ..Status::default()
            },
        }
    }

    /// The reasons of its causes.
    pub(super) fn causes(&self) -> impl Iterator<Item = &str> {
        let causes = self.details.iter().flat_map(|details| &details.causes);
        causes.map(|cause| &*cause.reason)
    }
}

/// A key of a map, borrowed where it can be.
struct Text<'a>(std::borrow::Cow<'a, str>);

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Borrowed;
        impl<'de> Visitor<'de> for Borrowed {
            type Value = Text<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Text<'de>, E> {
                Ok(Text(text.into()))
            }
            fn visit_str<E>(self, text: &str) -> Result<Text<'de>, E> {
                Ok(Text(text.to_owned().into()))
            }
        }
        from.deserialize_str(Borrowed)
    }
}
