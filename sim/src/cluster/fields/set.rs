//! A set of fields of one object, as a tree of path steps.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde_json::{Map, Value};

use super::element::{Element, Name};

/// A set of fields. A node of the tree can be in the set itself, or only lead to fields that are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSet {
    /// Whether the place itself is in the set.
    pub(super) member: bool,
    /// What lies below, sorted; no child is empty.
    pub(super) children: Vec<(Element, FieldSet)>,
}

impl FieldSet {
    /// The set of the place alone.
    pub(super) fn leaf() -> Self {
        FieldSet {
            member: true,
            children: Vec::new(),
        }
    }

    /// The set of the field at a path of names.
    pub(crate) fn of(path: &[&'static str]) -> Self {
        path.iter().rev().fold(FieldSet::leaf(), |below, name| {
            let mut set = FieldSet::default();
            set.attach(Element::Field(Name::Static(name)), below);
            set
        })
    }

    /// Whether nothing is in the set.
    pub fn is_empty(&self) -> bool {
        !self.member && self.children.is_empty()
    }

    /// What the set holds below a step.
    pub fn get(&self, element: &Element) -> Option<&FieldSet> {
        self.children
            .binary_search_by(|(own, _)| own.cmp(element))
            .ok()
            .and_then(|index| self.children.get(index))
            .map(|(_, child)| child)
    }

    /// What the set holds below a field.
    pub fn field(&self, name: &str) -> Option<&FieldSet> {
        self.children
            .binary_search_by(|(own, _)| match own {
                Element::Field(own) => own.as_str().cmp(name),
                // Fields sort before all other steps.
                _ => core::cmp::Ordering::Greater,
            })
            .ok()
            .and_then(|index| self.children.get(index))
            .map(|(_, child)| child)
    }

    /// Whether the field at that path of names is in the set itself.
    pub fn contains(&self, path: &[&str]) -> bool {
        path.iter()
            .try_fold(self, |set, name| set.field(name))
            .is_some_and(|set| set.member)
    }

    /// Puts a subtree below a step; steps must come in their order unless they are new at the end.
    pub(super) fn attach(&mut self, element: Element, child: FieldSet) {
        if child.is_empty() {
            return;
        }
        match self.children.binary_search_by(|(own, _)| own.cmp(&element)) {
            Ok(index) => {
                if let Some((_, own)) = self.children.get_mut(index) {
                    own.add(&child);
                }
            }
            Err(index) => self.children.insert(index, (element, child)),
        }
    }

    /// Adds what another set holds.
    pub fn add(&mut self, other: &FieldSet) {
        self.member |= other.member;
        for (element, child) in &other.children {
            match self.children.binary_search_by(|(own, _)| own.cmp(element)) {
                Ok(index) => {
                    if let Some((_, own)) = self.children.get_mut(index) {
                        own.add(child);
                    }
                }
                Err(index) => self
                    .children
                    .insert(index, (element.clone(), child.clone())),
            }
        }
    }

    /// Takes away exactly the fields that another set holds; what lies below them stays.
    pub fn subtract(&mut self, other: &FieldSet) {
        if other.member {
            self.member = false;
        }
        for (element, theirs) in &other.children {
            if let Ok(index) = self.children.binary_search_by(|(own, _)| own.cmp(element))
                && let Some((_, own)) = self.children.get_mut(index)
            {
                own.subtract(theirs);
                if own.is_empty() {
                    self.children.remove(index);
                }
            }
        }
    }

    /// Whether a field is in both sets.
    pub fn intersects(&self, other: &FieldSet) -> bool {
        (self.member && other.member)
            || other.children.iter().any(|(element, theirs)| {
                self.get(element).is_some_and(|own| own.intersects(theirs))
            })
    }

    /// Takes away everything at and below a path of field names.
    pub(crate) fn cut(&mut self, path: &[&str]) {
        let Some((first, rest)) = path.split_first() else {
            *self = FieldSet::default();
            return;
        };
        let place = self
            .children
            .iter()
            .position(|(own, _)| matches!(own, Element::Field(name) if name.as_str() == *first));
        if let Some(index) = place
            && let Some((_, own)) = self.children.get_mut(index)
        {
            own.cut(rest);
            if own.is_empty() {
                self.children.remove(index);
            }
        }
    }

    /// Adds the name of the object.
    pub(crate) fn keep_metadata(&mut self) {
        let mut metadata = FieldSet::default();
        metadata.attach(Element::Field(Name::Static("name")), FieldSet::leaf());
        self.attach(Element::Field(Name::Static("metadata")), metadata);
    }

    /// The paths of all fields that are in both sets, in order.
    pub(super) fn common(&self, other: &FieldSet, path: &str, out: &mut Vec<String>) {
        if self.member && other.member {
            out.push(path.to_string());
        }
        for (element, own) in &self.children {
            if let Some(theirs) = other.get(element) {
                own.common(theirs, &format!("{path}{element}"), out);
            }
        }
    }

    /// The paths of all fields in the set, in order.
    pub fn paths(&self) -> Vec<String> {
        let mut out = Vec::new();
        self.common(self, "", &mut out);
        out
    }

    /// The set as `fieldsV1` shows it.
    pub fn to_value(&self) -> Value {
        let mut map = Map::new();
        for (element, child) in &self.children {
            let mut value = child.to_value();
            if child.member
                && !child.children.is_empty()
                && let Value::Object(below) = &mut value
            {
                below.insert(String::from("."), Value::Object(Map::new()));
            }
            map.insert(element.to_text(), value);
        }
        Value::Object(map)
    }

    /// Reads `fieldsV1`; `None` if it is not one.
    pub fn parse(value: &Value) -> Option<FieldSet> {
        let mut set = FieldSet::default();
        for (key, below) in value.as_object()? {
            if key == "." {
                set.member = true;
                continue;
            }
            let mut child = FieldSet::parse(below)?;
            if child.children.is_empty() {
                child.member = true;
            }
            set.attach(Element::parse(key)?, child);
        }
        Some(set)
    }
}

impl From<&str> for Name {
    fn from(text: &str) -> Self {
        Name::Shared(text.into())
    }
}
