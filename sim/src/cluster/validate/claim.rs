//! Claims and volumes.

use alloc::vec::Vec;

use serde_json::{Value, json};

use crate::cluster::failure::Problem;
use crate::cluster::object::{at, items_at, set_at, text_at};
use crate::cluster::quantity;

const MODES: &[&str] = &[
    "ReadOnlyMany",
    "ReadWriteMany",
    "ReadWriteOnce",
    "ReadWriteOncePod",
];
const REQUEST: &[&str] = &["spec", "resources", "requests", "storage"];

/// What is wrong with a claim.
pub(super) fn create(value: &Value, problems: &mut Vec<Problem>) {
    modes(value, problems);
    let Some(request) = at(value, REQUEST) else {
        problems.push(Problem::required("spec.resources[storage]", ""));
        return;
    };
    let text = request.as_str().unwrap_or("");
    if quantity::nanos(text).is_none_or(|nanos| nanos <= 0) {
        problems.push(Problem::invalid(
            "spec.resources[storage]",
            text,
            "must be greater than zero",
        ));
    }
}

fn modes(value: &Value, problems: &mut Vec<Problem>) {
    let modes = items_at(value, &["spec", "accessModes"]);
    if modes.is_empty() {
        problems.push(Problem::required(
            "spec.accessModes",
            "at least 1 access mode is required",
        ));
    }
    for mode in modes.iter().filter_map(Value::as_str) {
        if !MODES.contains(&mode) {
            problems.push(Problem::unsupported("spec.accessModes", mode, MODES));
        }
    }
}

/// What is wrong with a new state of a claim (fact K34).
pub(super) fn update(old: &Value, new: &Value, problems: &mut Vec<Problem>) {
    if old.get("spec") == new.get("spec") {
        return;
    }
    create(new, problems);
    let mut same = new.clone();
    if text_at(old, &["spec", "volumeName"]).is_empty()
        && let Some(volume) = at(new, &["spec", "volumeName"])
    {
        let mut bound = old.clone();
        set_at(&mut bound, &["spec", "volumeName"], volume.clone());
        compare(&bound, &mut same, problems);
    } else {
        compare(old, &mut same, problems);
    }
    let (before, after) = (text_at(old, REQUEST), text_at(new, REQUEST));
    let capacity = text_at(old, &["status", "capacity", "storage"]);
    let amount = |text: &str| quantity::nanos(text).unwrap_or(0);
    if amount(after) < amount(before) && amount(after) <= amount(capacity) {
        problems.push(Problem::forbidden(
            "spec.resources.requests.storage",
            "field can not be less than status.capacity",
        ));
    }
}

fn compare(old: &Value, new: &mut Value, problems: &mut Vec<Problem>) {
    let bound = text_at(new, &["status", "phase"]) == "Bound";
    if bound && at(new, &["spec", "resources", "requests"]).is_some() {
        set_at(
            new,
            REQUEST,
            at(old, REQUEST).cloned().unwrap_or(json!("0")),
        );
    }
    if at(old, &["spec", "storageClassName"]).is_none()
        && let Some(class) = at(new, &["spec", "storageClassName"]).cloned()
    {
        // A claim without a class may get one once.
        let mut chosen = old.clone();
        set_at(&mut chosen, &["spec", "storageClassName"], class);
        return compare(&chosen, new, problems);
    }
    if old.get("spec") != new.get("spec") {
        problems.push(Problem::forbidden(
            "spec",
            "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims",
        ));
    }
}

/// What is wrong with a volume.
pub(super) fn create_volume(value: &Value, problems: &mut Vec<Problem>) {
    modes(value, problems);
    if at(value, &["spec", "capacity", "storage"]).is_none() {
        problems.push(Problem::required("spec.capacity", ""));
    }
    if source(value).is_none() {
        problems.push(Problem::required("spec", "must specify a volume type"));
    }
}

/// Where a volume's data lies: the fields that are no others.
fn source(value: &Value) -> Option<&str> {
    const OTHERS: &[&str] = &[
        "accessModes",
        "capacity",
        "claimRef",
        "mountOptions",
        "nodeAffinity",
        "persistentVolumeReclaimPolicy",
        "storageClassName",
        "volumeAttributesClassName",
        "volumeMode",
    ];
    value
        .get("spec")?
        .as_object()?
        .keys()
        .map(|key| key.as_str())
        .find(|key| !OTHERS.contains(key))
}

/// What is wrong with a new state of a volume.
pub(super) fn update_volume(old: &Value, new: &Value, problems: &mut Vec<Problem>) {
    create_volume(new, problems);
    let (Some(before), Some(after)) = (source(old), source(new)) else {
        return;
    };
    if before != after || at(old, &["spec", before]) != at(new, &["spec", after]) {
        problems.push(Problem::forbidden(
            "spec.persistentvolumesource",
            "spec.persistentvolumesource is immutable after creation",
        ));
    }
    if at(old, &["spec", "volumeMode"]) != at(new, &["spec", "volumeMode"]) {
        problems.push(Problem::invalid(
            "volumeMode",
            at(new, &["spec", "volumeMode"])
                .cloned()
                .unwrap_or_default(),
            "field is immutable",
        ));
    }
}
