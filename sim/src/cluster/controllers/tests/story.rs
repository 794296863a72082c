//! One life of a StatefulSet, told by the writes that watchers see.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use pilotage_core::time::{Span, Timestamp};
use serde_json::Value;

use super::super::values::difference;
use super::house::{House, describe, storage};
use crate::cluster::object::Stored;
use crate::cluster::request::Propagation;
use crate::cluster::resource::Resource;

/// Every write after a version, one a line: when, what, which object, and what about it changed.
pub(super) fn story(house: &House, from: u64, moments: &[(u64, Timestamp)]) -> String {
    let start = moments.first().map_or(house.at, |(_, at)| *at);
    let mut text = String::new();
    for change in house.cluster.changes_since(from) {
        let place = moments.partition_point(|(version, _)| *version < change.version);
        let at = moments.get(place).map_or(house.at, |(_, at)| *at);
        let object = &change.after;
        let what = match (&change.before, change.gone) {
            (_, true) => "deleted",
            (None, _) => "added",
            (Some(_), _) => "changed",
        };
        let details = match (&change.before, change.gone) {
            (Some(before), false) => {
                let mut paths = Vec::new();
                let patch = difference(&before.value, &object.value).unwrap_or(Value::Null);
                walk(&patch, &mut String::new(), &mut paths);
                paths.join(", ")
            }
            _ => String::new(),
        };
        let state = match object.resource {
            Resource::Pod if !change.gone => format!(" [{}]", describe(&object.value)),
            _ => String::new(),
        };
        let line = format!(
            "{:>6}ms {what:<7} {:?} {}{state} {details}",
            at.since(start).0,
            object.resource,
            object
                .name()
                .replace(uid_of(object, house).as_str(), "<uid>"),
        );
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// The uid of the claim in a volume's name.
fn uid_of(object: &Stored, _house: &House) -> String {
    match object.resource {
        Resource::PersistentVolume => object.name().trim_start_matches("pvc-").to_string(),
        _ => "-".repeat(64),
    }
}

/// The leaves of a patch, with short values.
fn walk(patch: &Value, path: &mut String, found: &mut Vec<String>) {
    if let Value::Object(map) = patch {
        for (key, value) in map {
            if key == "resourceVersion" {
                continue;
            }
            let length = path.len();
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(key);
            walk(value, path, found);
            path.truncate(length);
        }
        return;
    }
    let value = patch.to_string();
    found.push(if value.len() <= 24 && !value.contains("Z\"") {
        format!("{path}={value}")
    } else {
        path.clone()
    });
}

#[test]
fn a_life_from_creation_through_scale_and_rollout_to_deletion() {
    let mut house = House::new();
    let from = house.cluster.version();
    house.stateful_set("a", |set| {
        set["spec"]["volumeClaimTemplates"] = storage("data");
    });
    let mut moments = Vec::from([(house.cluster.version(), house.at)]);
    let rest = |house: &mut House, moments: &mut Vec<(u64, Timestamp)>| {
        let end = house.at.after(Span::seconds(20));
        house.cluster.advance(house.at);
        moments.push((house.cluster.version(), house.at));
        while let Some(wake) = house.cluster.wake_at().filter(|wake| *wake <= end) {
            house.at = house.at.max(wake);
            house.cluster.advance(house.at);
            moments.push((house.cluster.version(), house.at));
        }
        house.at = end;
    };
    rest(&mut house, &mut moments);
    house.scale("a", 1);
    rest(&mut house, &mut moments);
    house.image("a", "work:2");
    rest(&mut house, &mut moments);
    house.delete(Resource::StatefulSet, "a", Propagation::Foreground);
    rest(&mut house, &mut moments);
    assert_eq!(house.names(Resource::StatefulSet), Vec::<String>::new());
    insta::assert_snapshot!(story(&house, from, &moments));
}
