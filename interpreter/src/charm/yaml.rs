//! YAML as a tree with places.
//!
//! Charms are written in YAML 1.1 by people: keys come twice, numbers stand in quotes, maps are merged with `<<`. All of
//! it is kept for core to judge, with the place of every node. What would cost more than a charm can be worth is refused:
//! files of more than [`MOST_NODES`] nodes once anchors are resolved, and nesting deeper than [`DEEPEST`].

use std::collections::HashMap;

use pilotage_core::charm::Severity;
use pilotage_core::charm::document::{Entry, Node, Place, Scalar, Value};
use saphyr_parser::{Event, Marker, Parser, ScalarStyle};

use super::places::{Located, Places};

/// The most nodes of a file.
const MOST_NODES: usize = 200_000;

/// The deepest nesting of lists and maps.
const DEEPEST: usize = 100;

/// Reads every document of a text.
///
/// # Errors
///
/// The first thing that is not YAML: behind it, a parser can only guess.
pub fn read(text: &str, file: &str, places: &mut Places) -> Result<Vec<Node>, Located> {
    places.begin(file);
    let mut builder = Builder {
        places,
        open: Vec::new(),
        anchors: HashMap::new(),
        documents: Vec::new(),
        nodes: 0,
    };
    // A byte order mark is no part of the text.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| located(file, *error.marker(), error.info()))?;
        builder
            .take(event, span.start)
            .map_err(|problem| located(file, span.start, problem))?;
    }
    Ok(builder.documents)
}

fn located(file: &str, marker: Marker, problem: &str) -> Located {
    Located {
        file: file.into(),
        line: number(marker.line()),
        column: number(marker.col()).saturating_add(1),
        path: String::new(),
        problem: format!("this is not YAML: {problem}"),
        advice: String::from(
            "look at the line and at the one before it: text with \": \" or \" #\" in it needs quotes, and what belongs \
             together is indented alike, with blanks",
        ),
        severity: Severity::Error,
    }
}

fn number(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// A list or a map whose end has not come yet.
enum Open {
    List(Vec<Node>),
    Map {
        entries: Vec<Entry>,
        key: Option<(String, Place, bool)>,
    },
}

struct Builder<'a> {
    places: &'a mut Places,
    open: Vec<(Open, Place, usize)>,
    anchors: HashMap<usize, Node>,
    documents: Vec<Node>,
    nodes: usize,
}

impl Builder<'_> {
    fn take(&mut self, event: Event<'_>, marker: Marker) -> Result<(), &'static str> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let place = self.place(marker);
                // A tag such as `!!str` says that it is text, whatever it looks like.
                let is_text = tag.is_some_and(|tag| tag.suffix == "str");
                let scalar = Scalar {
                    plain: style == ScalarStyle::Plain && !is_text,
                    text: text.into_owned(),
                };
                let node = Node {
                    place,
                    value: Value::Scalar(scalar),
                };
                self.close(node, anchor)
            }
            Event::SequenceStart(anchor, _) => self.open(Open::List(Vec::new()), marker, anchor),
            Event::MappingStart(anchor, _) => {
                let map = Open::Map {
                    entries: Vec::new(),
                    key: None,
                };
                self.open(map, marker, anchor)
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let Some((open, place, anchor)) = self.open.pop() else {
                    return Ok(());
                };
                let value = match open {
                    Open::List(items) => Value::List(items),
                    Open::Map { entries, .. } => Value::Map(merged(entries)),
                };
                self.close(Node { place, value }, anchor)
            }
            Event::Alias(anchor) => {
                let Some(node) = self.anchors.get(&anchor).cloned() else {
                    return Err("an alias names an anchor that is not complete");
                };
                self.nodes = self.nodes.saturating_add(size(&node));
                self.close(node, 0)
            }
            Event::DocumentStart(_) => {
                self.anchors.clear();
                Ok(())
            }
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => Ok(()),
        }
    }

    fn place(&mut self, marker: Marker) -> Place {
        self.places.add(
            number(marker.line()),
            number(marker.col()).saturating_add(1),
        )
    }

    fn open(&mut self, open: Open, marker: Marker, anchor: usize) -> Result<(), &'static str> {
        if self.open.len() >= DEEPEST {
            return Err("it is nested too deep");
        }
        let place = self.place(marker);
        self.open.push((open, place, anchor));
        Ok(())
    }

    /// Puts a complete node where it belongs.
    fn close(&mut self, node: Node, anchor: usize) -> Result<(), &'static str> {
        self.nodes = self.nodes.saturating_add(1);
        if self.nodes > MOST_NODES {
            return Err("the file is too large once its anchors are resolved");
        }
        if anchor > 0 {
            self.anchors.insert(anchor, node.clone());
        }
        match self.open.last_mut() {
            None => self.documents.push(node),
            Some((Open::List(items), ..)) => items.push(node),
            Some((Open::Map { entries, key }, ..)) => match key.take() {
                None => {
                    let Value::Scalar(scalar) = node.value else {
                        return Err("a key must be text");
                    };
                    *key = Some((scalar.text, node.place, scalar.plain));
                }
                Some((name, place, plain)) => {
                    let merges = plain && name == "<<" && !matches!(node.value, Value::Scalar(_));
                    let key = if merges { MERGE.into() } else { name };
                    entries.push(Entry { key, place, node });
                }
            },
        }
        Ok(())
    }
}

/// Stands for the key `<<` until its map is complete; no key that can be written.
const MERGE: &str = "\0<<";

/// Resolves `<<`: what the named maps have and this one does not. Of several maps the first counts.
fn merged(entries: Vec<Entry>) -> Vec<Entry> {
    if entries.iter().all(|entry| entry.key != MERGE) {
        return entries;
    }
    let (merges, mut own): (Vec<Entry>, Vec<Entry>) =
        entries.into_iter().partition(|entry| entry.key == MERGE);
    for merge in merges {
        let maps = match merge.node.value {
            Value::List(items) => items,
            value => vec![Node {
                place: merge.node.place,
                value,
            }],
        };
        for map in maps {
            let Value::Map(entries) = map.value else {
                continue;
            };
            for entry in entries {
                if own.iter().all(|own| own.key != entry.key) {
                    own.push(entry);
                }
            }
        }
    }
    own
}

fn size(node: &Node) -> usize {
    match &node.value {
        Value::Scalar(_) => 1,
        Value::List(items) => items.iter().map(size).fold(1, usize::saturating_add),
        Value::Map(entries) => entries
            .iter()
            .map(|entry| size(&entry.node))
            .fold(1, usize::saturating_add),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root(text: &str) -> Node {
        let mut places = Places::default();
        read(text, "test.yaml", &mut places).unwrap().remove(0)
    }

    fn text_at<'a>(node: &'a Node, keys: &[&str]) -> &'a str {
        let node = keys
            .iter()
            .fold(node, |node, key| &node.entry(key).unwrap().node);
        match &node.value {
            Value::Scalar(scalar) => &scalar.text,
            other => panic!("not a scalar: {other:?}"),
        }
    }

    #[test]
    fn both_entries_of_a_double_key_are_kept_and_the_last_one_counts() {
        let node = root("a: 1\nb: 2\na: 3\n");
        let Value::Map(entries) = &node.value else {
            panic!()
        };
        assert_eq!(entries.len(), 3);
        assert_eq!(text_at(&node, &["a"]), "3");
    }

    #[test]
    fn maps_are_merged_below_what_is_written() {
        let node = root("base: &base {a: 1, b: 2}\nown:\n  <<: *base\n  b: 3\n");
        assert_eq!(text_at(&node, &["own", "a"]), "1");
        assert_eq!(text_at(&node, &["own", "b"]), "3");
    }

    #[test]
    fn what_is_not_yaml_is_told_with_its_line() {
        let error = read("a: 1\nb: [1, 2\nc: 3\n", "x.yaml", &mut Places::default()).unwrap_err();
        assert!(error.line >= 2, "{error}");
        assert!(error.to_string().starts_with("x.yaml:"), "{error}");
    }

    #[test]
    fn anchors_that_grow_without_end_are_refused() {
        let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
        for level in 1..12 {
            let below = format!("*a{}", level - 1);
            let items = vec![below; 10].join(", ");
            text.push_str(&format!("a{level}: &a{level} [{items}]\n"));
        }
        let error = read(&text, "bomb.yaml", &mut Places::default()).unwrap_err();
        assert!(error.problem.contains("too large"), "{error}");
    }

    #[test]
    fn deep_nesting_is_refused() {
        let error = read(&"[".repeat(100_000), "deep.yaml", &mut Places::default()).unwrap_err();
        assert_eq!(error.line, 1, "{error}");
    }

    #[test]
    fn an_alias_inside_its_own_anchor_is_refused() {
        assert!(read("a: &a [*a]\n", "self.yaml", &mut Places::default()).is_err());
    }
}
