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
        let mut held = None;
        while let Some(key) = map.next_key::<Text<'_>>()? {
            match (&*key.0, change) {
                ("type", _) => change = Some(map.next_value::<Change>()?),
                ("object", Some(change)) => {
                    line = Some(map.next_value_seed(Told(self.0, change))?);
                }
                // The server writes the type first, which says what the object is; something on the way may not.
                ("object", None) => held = Some(map.next_value::<Value>()?),
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        match (line, change, held) {
            (Some(line), ..) => Ok(line),
            (None, Some(change), Some(held)) => {
                let told = Told(self.0, change).deserialize(held);
                told.map_err(M::Error::custom)
            }
            (None, None, _) => Err(M::Error::missing_field("type")),
            (None, Some(_), None) => Err(M::Error::missing_field("object")),
        }
    }
}

/// Reads the object of a line.
struct Told(Reader, Change);

impl<'de> DeserializeSeed<'de> for Told {
    type Value = Line;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Line, D::Error> {
        Ok(match self.1 {
            Change::Added | Change::Modified => {
                let object = self.0.deserialize(from)?;
                let version = object.metadata().version;
                Line::Changed(seen(object), version)
            }
            Change::Deleted => gone(&self.0.deserialize(from)?),
            Change::Bookmark => {
                let metadata = Mark::deserialize(from)?.metadata;
                Line::Bookmark {
                    version: metadata.version,
                    everything: metadata.annotations.end.as_deref() == Some("true"),
                }
            }
            Change::Error => Line::Failed(Status::deserialize(from)?),
        })
    }
}

/// The event that tells of an object.
pub(super) fn seen(object: Object) -> Event {
    match object {
        Object::Pod(pod) => Event::PodUpdated(Arc::new(pod)),
        object => Event::ObjectUpdated(Arc::new(object)),
    }
}

fn gone(object: &Object) -> Line {
    let (uid, version) = (object.metadata().uid, object.metadata().version);
    let key = object.key();
    let event = match object.kind() {
        Kind::Pod => Event::PodDeleted { key, uid, version },
        _ => Event::ObjectDeleted { key, uid, version },
    };
    Line::Changed(event, version)
}

#[derive(Clone, Copy, Deserialize)]
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
pub(crate) struct Status {
    pub(crate) status: String,
    pub(crate) code: u16,
    pub(crate) reason: String,
    pub(crate) message: String,
    pub(crate) details: Option<Details>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Details {
    pub(crate) causes: Vec<Cause>,
    pub(crate) retry_after_seconds: u64,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Cause {
    pub(crate) reason: String,
}

impl Status {
    /// Reads the body of a refusal; one that comes from something else on the way is its own message.
    pub(crate) fn read(code: u16, body: &[u8]) -> Status {
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
    pub(crate) fn causes(&self) -> impl Iterator<Item = &str> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use pilotage_core::name::Uid;

    fn reader(kind: Kind) -> Reader {
        Reader {
            kind,
            key: DigestKey::default(),
        }
    }

    const POD: &str = r#"{"kind":"Pod","metadata":{"name":"web-0","namespace":"shop","uid":"00000000-0000-0000-0000-000000000001","resourceVersion":"9","managedFields":[{"manager":"x"}]}}"#;

    #[test]
    fn a_line_is_read_in_whatever_order_it_comes() {
        let read = |text: &str| match reader(Kind::Pod).line(text.as_bytes()).unwrap() {
            Line::Changed(event, version) => (event, version),
            _ => panic!("{text}"),
        };
        let first = read(&format!(r#"{{"type":"MODIFIED","object":{POD}}}"#));
        assert_eq!(first.1, Version(9));
        assert!(matches!(first.0, Event::PodUpdated(_)));
        assert_eq!(
            first,
            read(&format!(r#"{{"object":{POD},"type":"MODIFIED"}}"#))
        );
        let (event, _) = read(&format!(r#"{{"type":"DELETED","object":{POD}}}"#));
        let key = pilotage_core::kubernetes::Key::new(Kind::Pod, "shop", "web-0");
        let (uid, version) = (Uid(1), Version(9));
        assert_eq!(event, Event::PodDeleted { key, uid, version });
    }

    #[test]
    fn the_end_of_a_list_and_a_failure_are_told_apart_from_objects() {
        let line = |text: &str| reader(Kind::Pod).line(text.as_bytes()).unwrap();
        let mark = r#"{"type":"BOOKMARK","object":{"kind":"Pod","metadata":{"resourceVersion":"12","creationTimestamp":null,"annotations":{"k8s.io/initial-events-end":"true"}}}}"#;
        let (version, everything) = match line(mark) {
            Line::Bookmark {
                version,
                everything,
            } => (version, everything),
            _ => panic!("no bookmark"),
        };
        assert_eq!((version, everything), (Version(12), true));
        let error = r#"{"type":"ERROR","object":{"kind":"Status","status":"Failure","message":"too old","reason":"Expired","code":410}}"#;
        assert!(matches!(line(error), Line::Failed(status) if status.code == 410));
        assert!(reader(Kind::Pod).line(b"{}").is_err());
    }

    #[test]
    fn the_data_of_a_secret_is_not_in_what_is_read() {
        let secret = r#"{"metadata":{"name":"s","namespace":"shop","uid":"00000000-0000-0000-0000-000000000001","resourceVersion":"9"},"data":{"a":"Y2FuYXJ5"}}"#;
        let list = format!(r#"{{"metadata":{{"resourceVersion":"10"}},"items":[{secret}]}}"#);
        let page = reader(Kind::Secret).page(list.as_bytes()).unwrap();
        let read = format!("{:?}", page.items);
        assert!(
            read.contains("fingerprint") && !read.contains("Y2FuYXJ5"),
            "{read}"
        );
        let empty = r#"{"metadata":{"resourceVersion":"10","continue":"x"},"items":null}"#;
        let page = reader(Kind::Secret).page(empty.as_bytes()).unwrap();
        assert_eq!((page.items.len(), &*page.more), (0, "x"));
    }
}
