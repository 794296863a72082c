//! Who owns which fields of one object.

use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use pilotage_core::time::Timestamp;
use serde_json::{Value, json};

use super::compare::Comparison;
use super::set::FieldSet;
use crate::cluster::moment;
use crate::cluster::object::text_at;

/// How a manager came to own fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operation {
    /// By server-side apply: what it stops naming goes away.
    Apply,
    /// By any other write.
    Update,
}

/// An entry of `metadata.managedFields`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manager {
    /// The name that the writer gave itself.
    pub name: Arc<str>,
    /// How it wrote.
    pub operation: Operation,
    /// The subresource that it wrote to.
    pub subresource: Option<Arc<str>>,
    /// The group and version that it wrote in.
    pub api_version: Arc<str>,
    /// When it last took fields.
    pub time: Option<Timestamp>,
    /// What it owns.
    pub fields: Arc<FieldSet>,
}

/// Who writes, and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Writer<'a> {
    /// The field manager.
    pub(crate) name: &'a str,
    /// The subresource of the path.
    pub(crate) subresource: Option<&'static str>,
    /// Group and version of the kind.
    pub(crate) api_version: &'static str,
    /// The time of the request.
    pub(crate) at: Timestamp,
}

/// `metadata.managedFields`, in the order in which it is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Managers(Vec<Manager>);

impl Manager {
    /// The manager as conflicts name it.
    fn describe(&self) -> String {
        let mut text = format!("{:?}", self.name);
        if let Some(subresource) = &self.subresource {
            text = format!("{text} with subresource {subresource:?}");
        }
        if self.operation == Operation::Update {
            text = format!("{text} using {}", self.api_version);
        }
        text
    }

    fn written_by(&self, writer: &Writer<'_>, operation: Operation) -> bool {
        *self.name == *writer.name
            && self.operation == operation
            && self.subresource.as_deref() == writer.subresource
            // An applier keeps its entry across versions of the API.
            && (operation == Operation::Apply || *self.api_version == *writer.api_version)
    }

    fn to_value(&self) -> Value {
        let mut value = json!({
            "apiVersion": &*self.api_version,
            "fieldsType": "FieldsV1",
            "fieldsV1": self.fields.to_value(),
            "manager": &*self.name,
            "operation": match self.operation {
                Operation::Apply => "Apply",
                Operation::Update => "Update",
            },
        });
        if let Value::Object(map) = &mut value {
            if let Some(subresource) = &self.subresource {
                map.insert("subresource".into(), Value::from(&**subresource));
            }
            if let Some(time) = self.time {
                map.insert("time".into(), Value::from(moment::text(time)));
            }
        }
        value
    }

    fn parse(value: &Value) -> Option<Manager> {
        let operation = match text_at(value, &["operation"]) {
            "Apply" => Operation::Apply,
            "Update" => Operation::Update,
            _ => return None,
        };
        let fields = match value.get("fieldsV1") {
            Some(fields) => FieldSet::parse(fields)?,
            None => FieldSet::default(),
        };
        let subresource = text_at(value, &["subresource"]);
        Some(Manager {
            name: text_at(value, &["manager"]).into(),
            operation,
            subresource: (!subresource.is_empty()).then(|| subresource.into()),
            api_version: text_at(value, &["apiVersion"]).into(),
            time: moment::parse(text_at(value, &["time"])),
            fields: Arc::new(fields),
        })
    }
}

impl Managers {
    /// Whether nobody is known to own anything.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The entries.
    pub fn iter(&self) -> impl Iterator<Item = &Manager> {
        self.0.iter()
    }

    /// `metadata.managedFields`.
    pub fn to_value(&self) -> Value {
        Value::Array(self.0.iter().map(Manager::to_value).collect())
    }

    /// Reads `metadata.managedFields`; `None` if an entry is none.
    pub(crate) fn parse(value: &Value) -> Option<Managers> {
        let entries: Option<Vec<Manager>> = value.as_array()?.iter().map(Manager::parse).collect();
        let mut managers = Managers(entries?);
        managers.0.retain(|manager| !manager.fields.is_empty());
        managers.sort();
        Some(managers)
    }

    /// Every field that somebody owns.
    pub fn owned(&self) -> FieldSet {
        let mut owned = FieldSet::default();
        for manager in &self.0 {
            owned.add(&manager.fields);
        }
        owned
    }

    /// What the writer's entry for applies holds.
    pub(crate) fn applied(&self, writer: &Writer<'_>) -> Option<Arc<FieldSet>> {
        self.0
            .iter()
            .find(|manager| manager.written_by(writer, Operation::Apply))
            .map(|manager| manager.fields.clone())
    }

    fn sort(&mut self) {
        self.0.sort_by(|left, right| {
            let key =
                |manager: &Manager| (manager.operation, manager.time.map(|time| time.0 / 1_000));
            key(left)
                .cmp(&key(right))
                .then_with(|| left.name.cmp(&right.name))
                .then_with(|| left.api_version.cmp(&right.api_version))
                .then_with(|| left.subresource.cmp(&right.subresource))
        });
    }

    fn take(&mut self, fields: &FieldSet, except: Option<usize>) {
        if fields.is_empty() {
            return;
        }
        for (index, manager) in self.0.iter_mut().enumerate() {
            if Some(index) != except && manager.fields.intersects(fields) {
                Arc::make_mut(&mut manager.fields).subtract(fields);
            }
        }
    }

    /// Records a write that is no apply: what it changed is the writer's, what it removed nobody's.
    pub(crate) fn record_update(&mut self, writer: &Writer<'_>, comparison: Comparison) {
        if comparison.is_empty() {
            return;
        }
        let own = self
            .0
            .iter()
            .position(|manager| manager.written_by(writer, Operation::Update));
        self.take(&comparison.removed, None);
        self.take(&comparison.changed, own);
        if !comparison.changed.is_empty() {
            match own.and_then(|index| self.0.get_mut(index)) {
                Some(manager) => {
                    Arc::make_mut(&mut manager.fields).add(&comparison.changed);
                    manager.time = Some(writer.at);
                }
                None => self.0.push(Manager {
                    name: writer.name.into(),
                    operation: Operation::Update,
                    subresource: writer.subresource.map(Into::into),
                    api_version: writer.api_version.into(),
                    time: Some(writer.at),
                    fields: Arc::new(comparison.changed),
                }),
            }
        }
        self.0.retain(|manager| !manager.fields.is_empty());
        self.sort();
    }

    /// Takes the time of the writer's entry for updates away.
    pub(crate) fn forget_time(&mut self, writer: &Writer<'_>) {
        for manager in &mut self.0 {
            if manager.written_by(writer, Operation::Update) {
                manager.time = None;
            }
        }
        self.sort();
    }

    /// Gives fields that entries for updates own to entries of their own, without a time, of the same managers.
    ///
    /// So a server does with the replicas when a Scale says nothing new: it does not find those entries again, because a
    /// Scale is of another version. With the next write it reads both as one, of which it takes the older: see
    /// [`Managers::read`].
    pub(crate) fn split(&mut self, fields: &FieldSet) {
        let mut apart = Vec::new();
        for manager in &mut self.0 {
            if manager.operation == Operation::Update && manager.fields.intersects(fields) {
                Arc::make_mut(&mut manager.fields).subtract(fields);
                apart.push(Manager {
                    time: None,
                    fields: Arc::new(fields.clone()),
                    ..manager.clone()
                });
            }
        }
        self.0.append(&mut apart);
        self.0.retain(|manager| !manager.fields.is_empty());
        self.sort();
    }

    /// The entries as the next write finds them: of two of one manager the later in their order.
    pub(crate) fn read(&self) -> Managers {
        let same = |left: &Manager, right: &Manager| {
            left.name == right.name
                && left.operation == right.operation
                && left.subresource == right.subresource
                && left.api_version == right.api_version
        };
        let mut entries = Vec::with_capacity(self.0.len());
        for (index, manager) in self.0.iter().enumerate() {
            let after = self.0.iter().skip(index + 1);
            if !after.into_iter().any(|later| same(manager, later)) {
                entries.push(manager.clone());
            }
        }
        Managers(entries)
    }

    /// The fields of other managers that an apply would change, as (manager, path).
    pub(crate) fn conflicts(
        &self,
        writer: &Writer<'_>,
        comparison: &Comparison,
    ) -> Vec<(String, String)> {
        let mut conflicts = Vec::new();
        for manager in &self.0 {
            if manager.written_by(writer, Operation::Apply) {
                continue;
            }
            let mut paths = Vec::new();
            manager.fields.common(&comparison.changed, "", &mut paths);
            let name = manager.describe();
            conflicts.extend(paths.into_iter().map(|path| (name.clone(), path)));
        }
        conflicts.sort();
        conflicts
    }

    /// Sets what the writer's entry for applies holds.
    pub(crate) fn set_applied(&mut self, writer: &Writer<'_>, named: FieldSet) {
        let own = self
            .0
            .iter()
            .position(|manager| manager.written_by(writer, Operation::Apply));
        match own.and_then(|index| self.0.get_mut(index)) {
            Some(manager) => {
                if *manager.fields != named {
                    manager.fields = Arc::new(named);
                }
                manager.api_version = writer.api_version.into();
            }
            None => self.0.push(Manager {
                name: writer.name.into(),
                operation: Operation::Apply,
                subresource: writer.subresource.map(Into::into),
                api_version: writer.api_version.into(),
                time: None,
                fields: Arc::new(named),
            }),
        }
    }

    /// Records what an apply changed; its entry must be set. `touch` moves the time of the entry.
    pub(crate) fn record_apply(
        &mut self,
        writer: &Writer<'_>,
        comparison: &Comparison,
        touch: bool,
    ) {
        let own = self
            .0
            .iter()
            .position(|manager| manager.written_by(writer, Operation::Apply));
        self.take(&comparison.removed, own);
        self.take(&comparison.changed, own);
        if touch && let Some(manager) = own.and_then(|index| self.0.get_mut(index)) {
            manager.time = Some(writer.at);
        }
        self.0.retain(|manager| !manager.fields.is_empty());
        self.sort();
    }

    /// Whether both say the same but for the times.
    pub(crate) fn same_but_times(&self, other: &Managers) -> bool {
        self.0.len() == other.0.len()
            && self.0.iter().zip(&other.0).all(|(left, right)| {
                left.name == right.name
                    && left.operation == right.operation
                    && left.subresource == right.subresource
                    && left.api_version == right.api_version
                    && left.fields == right.fields
            })
    }
}
