//! What users write: the specs of the custom resources, and the desires that they are.

use std::collections::BTreeMap;
use std::sync::Arc;

use pilotage_core::charm::{
    Charm, ConfigValue, Constraints, DeviceDirective, Filesystem, OptionKind, StorageDirective,
    image,
};
use pilotage_core::digest::Digest;
use pilotage_core::name::Uid;
use pilotage_core::state::{CharmOrigin, Desire, Login, ModelSpec, RemovalWish, ResourceValue};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The identity that a spec names, if it names one.
pub(super) fn uid(spec: &Value) -> Option<Uid> {
    spec.get("uid")?.as_str()?.parse().ok()
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct WireRemoval {
    destroy_storage: bool,
    force: bool,
}

impl From<WireRemoval> for RemovalWish {
    fn from(wire: WireRemoval) -> Self {
        RemovalWish {
            destroy_storage: wire.destroy_storage,
            force: wire.force,
        }
    }
}

impl From<RemovalWish> for WireRemoval {
    fn from(wish: RemovalWish) -> Self {
        WireRemoval {
            destroy_storage: wish.destroy_storage,
            force: wish.force,
        }
    }
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct WireOrigin {
    revision: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct WireResource {
    #[serde(skip_serializing_if = "Option::is_none")]
    image: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    login: Option<Login>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<Digest>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct WireDirective {
    #[serde(skip_serializing_if = "Option::is_none")]
    pool: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u64>,
    #[serde(rename = "sizeMiB", skip_serializing_if = "Option::is_none")]
    size_mib: Option<u64>,
}

#[derive(Debug, Serialize, Deserialize)]
struct WireApplication {
    charm: Value,
    #[serde(default)]
    origin: WireOrigin,
    #[serde(default = "one")]
    scale: u32,
    #[serde(default)]
    trust: bool,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    config: BTreeMap<String, Value>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    settings: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "names_nothing")]
    constraints: Constraints,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    resources: BTreeMap<String, WireResource>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    storage: BTreeMap<String, WireDirective>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    filesystems: Option<Vec<Filesystem>>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    devices: BTreeMap<String, DeviceDirective>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    base: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    template: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    removal: Option<WireRemoval>,
}

fn one() -> u32 {
    1
}

fn names_nothing(constraints: &Constraints) -> bool {
    *constraints == Constraints::default()
}

/// As `pilotage deploy` checks what it is given: a pod of an image that cannot be named waits without end.
fn check_image(place: &str, text: &str) -> Result<(), Box<str>> {
    image::check(text).map_err(|problem| format!("{place}: {problem}").into())
}

/// The desire of an application's spec; or why it cannot be read.
pub(super) fn read_application(spec: &Value) -> Result<Box<Desire>, Box<str>> {
    let failed = |error: serde_json::Error| format!("spec: {error}").into_boxed_str();
    let wire = WireApplication::deserialize(spec).map_err(failed)?;
    let mut charm = wire.charm;
    complete_charm(&mut charm);
    let charm: Charm = serde_json::from_value(charm)
        .map_err(|error| format!("spec.charm: {error}").into_boxed_str())?;
    for resource in &charm.resources {
        if let Some(source) = &resource.upstream_source {
            let place = format!("spec.charm.resources, {}", resource.name);
            check_image(&place, source)?;
        }
    }
    let config = wire.config.into_iter();
    let config = config
        .map(|(name, value)| {
            let kind = charm.option(&name).map(|option| option.kind);
            let value = read_config(kind, &value);
            let value = value.ok_or_else(|| -> Box<str> {
                format!("spec.config.{name}: a text, a number, or true or false").into()
            })?;
            Ok((name, value))
        })
        .collect::<Result<_, Box<str>>>()?;
    let resources = wire.resources.into_iter();
    let resources = resources
        .map(|(name, resource)| {
            let value = read_resource(resource).ok_or_else(|| -> Box<str> {
                format!("spec.resources.{name}: an image, or a file with size and digest").into()
            })?;
            if let ResourceValue::Image { path, .. } = &value {
                check_image(&format!("spec.resources.{name}"), path)?;
            }
            Ok((name, value))
        })
        .collect::<Result<_, Box<str>>>()?;
    let storage = wire.storage.into_iter().map(|(name, directive)| {
        let directive = StorageDirective {
            pool: directive.pool,
            count: directive.count,
            size_mib: directive.size_mib,
        };
        (name, directive)
    });
    Ok(Box::new(Desire {
        origin: CharmOrigin {
            revision: wire.origin.revision,
            version: wire.origin.version,
        },
        resources,
        scale: wire.scale,
        trust: wire.trust,
        config,
        settings: wire.settings,
        constraints: wire.constraints,
        storage: storage.collect(),
        filesystems: wire.filesystems,
        devices: wire.devices,
        base: wire.base,
        template: wire.template,
        removal: wire.removal.map(RemovalWish::from),
        charm: Arc::new(charm),
    }))
}

/// The spec that is this desire, of an application with that identity.
pub(super) fn write_application(uid: Uid, desire: &Desire) -> Map<String, Value> {
    let charm = serde_json::to_value(&*desire.charm).unwrap_or_default();
    let config = desire.config.iter();
    let resources = desire.resources.iter();
    let storage = desire.storage.iter().map(|(name, directive)| {
        let directive = WireDirective {
            pool: directive.pool.clone(),
            count: directive.count,
            size_mib: directive.size_mib,
        };
        (name.clone(), directive)
    });
    let wire = WireApplication {
        charm: without_nulls(charm),
        origin: WireOrigin {
            revision: desire.origin.revision,
            version: desire.origin.version.clone(),
        },
        scale: desire.scale,
        trust: desire.trust,
        config: config
            .map(|(name, value)| (name.clone(), write_config(value)))
            .collect(),
        settings: desire.settings.clone(),
        constraints: desire.constraints.clone(),
        resources: resources
            .map(|(name, value)| (name.clone(), write_resource(value)))
            .collect(),
        storage: storage.collect(),
        filesystems: desire.filesystems.clone(),
        devices: desire.devices.clone(),
        base: desire.base.clone(),
        template: desire.template,
        removal: desire.removal.map(WireRemoval::from),
    };
    with_uid(uid, &wire)
}

fn with_uid(uid: Uid, wire: &impl Serialize) -> Map<String, Value> {
    let mut spec = match serde_json::to_value(wire) {
        Ok(Value::Object(spec)) => spec,
        // The specs are all representable as JSON.
        _ => Map::new(),
    };
    spec.insert("uid".into(), json!(uid));
    spec
}

/// Nothing and null mean the same in what the core writes; the API server drops null where it knows no better.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(map) => map
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(key, value)| (key, without_nulls(value)))
            .collect(),
        Value::Array(items) => items.into_iter().map(without_nulls).collect(),
        other => other,
    }
}

/// A charm that people write by hand leaves out what says nothing.
fn complete_charm(charm: &mut Value) {
    let list = || json!([]);
    fill(
        charm,
        [
            ("summary", json!("")),
            ("description", json!("")),
            ("format", json!("sidecar")),
            ("user", json!("default")),
            ("bases", list()),
            ("assumes", list()),
            ("containers", list()),
            ("storages", list()),
            ("resources", list()),
            ("devices", list()),
            ("options", list()),
        ],
    );
    fill_each(charm, "containers", &[("mounts", list())]);
    let described = ("description", json!(""));
    fill_each(
        charm,
        "resources",
        &[("kind", json!("oci-image")), described.clone()],
    );
    fill_each(
        charm,
        "options",
        &[("kind", json!("string")), described.clone()],
    );
    fill_each(
        charm,
        "storages",
        &[
            ("kind", json!("filesystem")),
            described,
            ("shared", json!(false)),
            ("read_only", json!(false)),
            ("count", json!("one")),
            ("properties", list()),
        ],
    );
}

fn fill(value: &mut Value, defaults: impl IntoIterator<Item = (&'static str, Value)>) {
    if let Value::Object(map) = value {
        for (key, default) in defaults {
            map.entry(key).or_insert(default);
        }
    }
}

fn fill_each(charm: &mut Value, list: &str, defaults: &[(&'static str, Value)]) {
    if let Some(Value::Array(items)) = charm.get_mut(list) {
        for item in items {
            fill(item, defaults.iter().cloned());
        }
    }
}

/// The value of an option, read as its kind says; where that does not fit, as it is written, for the rules to refuse.
fn read_config(kind: Option<OptionKind>, value: &Value) -> Option<ConfigValue> {
    Some(match (kind, value) {
        (Some(OptionKind::Float), Value::String(text)) => ConfigValue::Float(text.clone()),
        (Some(OptionKind::Float), Value::Number(number)) => ConfigValue::Float(number.to_string()),
        (Some(OptionKind::Secret), Value::String(text)) => ConfigValue::Secret(text.clone()),
        (_, Value::String(text)) => ConfigValue::String(text.clone()),
        (_, Value::Bool(truth)) => ConfigValue::Boolean(*truth),
        (_, Value::Number(number)) => match number.as_i64() {
            Some(number) => ConfigValue::Int(number),
            None => ConfigValue::Float(number.to_string()),
        },
        _ => return None,
    })
}

fn write_config(value: &ConfigValue) -> Value {
    match value {
        // A decimal number stays as it is only as text: the API server writes 1.0 as 1.
        ConfigValue::String(text) | ConfigValue::Float(text) | ConfigValue::Secret(text) => {
            json!(text)
        }
        ConfigValue::Int(number) => json!(number),
        ConfigValue::Boolean(truth) => json!(truth),
    }
}

fn read_resource(wire: WireResource) -> Option<ResourceValue> {
    match wire {
        WireResource {
            image: Some(path),
            login,
            file: None,
            ..
        } => Some(ResourceValue::Image { path, login }),
        WireResource {
            image: None,
            file: Some(path),
            size: Some(size),
            digest: Some(digest),
            ..
        } => Some(ResourceValue::File { path, size, digest }),
        _ => None,
    }
}

fn write_resource(value: &ResourceValue) -> WireResource {
    match value {
        ResourceValue::Image { path, login } => WireResource {
            image: Some(path.clone()),
            login: login.clone(),
            ..WireResource::default()
        },
        ResourceValue::File { path, size, digest } => WireResource {
            file: Some(path.clone()),
            size: Some(*size),
            digest: Some(*digest),
            ..WireResource::default()
        },
    }
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct WireModel {
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    settings: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "names_nothing")]
    constraints: Constraints,
    #[serde(skip_serializing_if = "Option::is_none")]
    removal: Option<WireRemoval>,
}

/// The desire of a model's spec; or why it cannot be read.
pub(super) fn read_model(spec: &Value) -> Result<Box<ModelSpec>, Box<str>> {
    let wire =
        WireModel::deserialize(spec).map_err(|error| format!("spec: {error}").into_boxed_str())?;
    Ok(Box::new(ModelSpec {
        settings: wire.settings,
        constraints: wire.constraints,
        removal: wire.removal.map(RemovalWish::from),
    }))
}

/// The spec that is this desire, of a model with that identity.
pub(super) fn write_model(uid: Uid, desire: &ModelSpec) -> Map<String, Value> {
    let wire = WireModel {
        settings: desire.settings.clone(),
        constraints: desire.constraints.clone(),
        removal: desire.removal.map(WireRemoval::from),
    };
    with_uid(uid, &wire)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pilotage_sim::workload::ledger_application;

    #[test]
    fn a_desire_is_read_as_it_was_written() {
        let new = ledger_application(Uid(1), "ledger", 3);
        let mut desire = Desire {
            charm: new.charm,
            origin: new.origin,
            resources: BTreeMap::new(),
            scale: 3,
            trust: true,
            config: [
                ("port".to_owned(), ConfigValue::Int(i64::MAX)),
                ("name".to_owned(), ConfigValue::String("7".into())),
            ]
            .into(),
            settings: [("juju-application-path".to_owned(), "/".to_owned())].into(),
            constraints: "mem=4G cpu-power=500".parse().expect("constraints"),
            storage: [("data".to_owned(), "2G".parse().expect("a directive"))].into(),
            filesystems: Some(new.filesystems),
            devices: [(
                "gpu".to_owned(),
                "2,nvidia.com/gpu".parse().expect("devices"),
            )]
            .into(),
            base: Some("ubuntu@22.04".into()),
            template: Some(1),
            removal: Some(RemovalWish {
                destroy_storage: true,
                force: false,
            }),
        };
        let login = Login {
            username: "u".into(),
            secret: pilotage_core::secret::SecretRef {
                application: Uid(2),
                name: "ledger-image".into(),
                generation: 1,
            },
            fingerprint: Digest::of_bytes(b"x"),
        };
        let image = ResourceValue::Image {
            path: "i".into(),
            login: Some(login),
        };
        desire.resources.insert("ledger-image".into(), image);
        let written = Value::Object(write_application(Uid(2), &desire));
        assert_eq!(uid(&written), Some(Uid(2)));
        assert_eq!(read_application(&written), Ok(Box::new(desire)));
    }

    #[test]
    fn a_charm_written_by_hand_says_only_what_it_has_to_say() {
        let spec = json!({ "charm": {
            "name": "hello",
            "containers": [{ "name": "web", "resource": "web-image" }],
            "resources": [{ "name": "web-image", "upstream_source": "nginx:1" }],
            "options": [{ "name": "ratio", "kind": "float" }],
        }, "config": { "ratio": 0.5 } });
        let desire = read_application(&spec).expect("a desire");
        assert_eq!(desire.scale, 1);
        assert_eq!(desire.charm.containers[0].name, "web");
        assert_eq!(desire.config["ratio"], ConfigValue::Float("0.5".into()));
    }

    #[test]
    fn what_cannot_be_read_is_named_by_its_place() {
        let words = |spec: Value| read_application(&spec).expect_err("unreadable");
        let no_name = words(json!({ "charm": {} }));
        assert!(
            no_name.starts_with("spec.charm: missing field `name`"),
            "{no_name}"
        );
        let list = words(json!({ "charm": { "name": "x" }, "config": { "a": [] } }));
        assert_eq!(&*list, "spec.config.a: a text, a number, or true or false");
        let image = words(json!({
            "charm": { "name": "x" }, "resources": { "web": { "image": "NOT an image" } },
        }));
        assert!(
            image.starts_with("spec.resources.web: \"NOT an image\" is not an image reference"),
            "{image}"
        );
        let source = words(json!({
            "charm": { "name": "x", "resources": [{ "name": "web", "upstream_source": "a b" }] },
        }));
        assert!(
            source.starts_with("spec.charm.resources, web: \"a b\""),
            "{source}"
        );
    }
}
