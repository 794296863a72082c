//! The definitions of the custom resources: what a cluster must know before it can keep a state.

use pilotage_core::state::{APPLICATION_SETTINGS, LARGEST_SCALE};
use serde_json::{Value, json};

use super::kind::{Kind, group_and_version};

/// Annotation of each definition: rises with every change of the definitions, so that a later release knows what it
/// finds, and an earlier one does not put its own over it.
pub(super) const REVISION_KEY: &str = "pilotage.dev/definitions";
/// The revision of the definitions here.
pub(super) const REVISION: u64 = 1;

/// The definitions, in the order in which they are applied: `models`, `applications`, `storages`.
pub fn definitions() -> Vec<Value> {
    vec![
        definition(
            Kind::Model,
            &["md"],
            model_schema(),
            model_columns(),
            json!({ "status": {} }),
        ),
        definition(
            Kind::Application,
            &["app"],
            application_schema(),
            application_columns(),
            json!({
                "status": {},
                "scale": {
                    "specReplicasPath": ".spec.scale",
                    "statusReplicasPath": ".status.replicas",
                    "labelSelectorPath": ".status.selector",
                },
            }),
        ),
        definition(
            Kind::Storage,
            &["sto"],
            storage_schema(),
            storage_columns(),
            json!({ "status": {} }),
        ),
    ]
}

fn definition(
    kind: Kind,
    short: &[&str],
    schema: Value,
    columns: Value,
    subresources: Value,
) -> Value {
    let (group, version) = group_and_version();
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": format!("{}.{group}", kind.plural()),
            "annotations": { REVISION_KEY: REVISION.to_string() },
        },
        "spec": {
            "group": group,
            "scope": if kind.is_namespaced() { "Namespaced" } else { "Cluster" },
            "names": {
                "kind": kind.name(),
                "listKind": format!("{}List", kind.name()),
                "plural": kind.plural(),
                "singular": kind.singular(),
                "shortNames": short,
                "categories": ["pilotage"],
            },
            "versions": [{
                "name": version,
                "served": true,
                "storage": true,
                "schema": { "openAPIV3Schema": schema },
                "subresources": subresources,
                "additionalPrinterColumns": columns,
            }],
        },
    })
}

fn text(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

fn truth(description: &str) -> Value {
    json!({ "type": "boolean", "description": description })
}

fn number(description: &str) -> Value {
    json!({ "type": "integer", "format": "int64", "minimum": 0, "description": description })
}

fn texts(description: &str) -> Value {
    json!({ "type": "array", "items": { "type": "string" }, "description": description })
}

/// What has a form of its own, which the record's rules check.
fn anything(description: &str) -> Value {
    json!({
        "type": "object",
        "x-kubernetes-preserve-unknown-fields": true,
        "description": description,
    })
}

fn uid() -> Value {
    json!({
        "type": "string",
        "pattern": "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$",
        "description": "The identity, which labels and names of objects carry. Left out, it is this object's own uid. It never changes.",
    })
}

const UID_STAYS: &str =
    "has(self.uid) == has(oldSelf.uid) && (!has(self.uid) || self.uid == oldSelf.uid)";

fn removal(rules: &[(&str, &str)]) -> Vec<Value> {
    let rule = |(rule, message): &(&str, &str)| json!({ "rule": rule, "message": message });
    let stay = [
        (UID_STAYS, "uid cannot be changed"),
        (
            "!has(oldSelf.removal) || has(self.removal)",
            "a removal cannot be taken back",
        ),
    ];
    stay.iter().chain(rules).map(rule).collect()
}

fn removal_wish() -> Value {
    json!({
        "type": "object",
        "description": "Away with it, in order. Deleting the object says the same, with nothing wished.",
        "properties": {
            "destroyStorage": truth("Delete its claims too."),
            "force": truth("Do not wait until units have ended in order."),
        },
    })
}

fn constraints() -> Value {
    let mut properties = serde_json::Map::new();
    for (key, meaning) in [
        ("arch", "Architecture, as amd64."),
        ("container", "Recorded only."),
        ("instance-role", "Recorded only."),
        ("instance-type", "Recorded only."),
        ("root-disk-source", "Recorded only."),
        ("virt-type", "Recorded only."),
        ("image-id", "Recorded only."),
    ] {
        properties.insert(key.into(), text(meaning));
    }
    for (key, meaning) in [
        ("cores", "Recorded only."),
        ("cpu-power", "Thousandths of a CPU."),
        ("mem", "Memory in MiB."),
        ("root-disk", "Recorded only."),
    ] {
        properties.insert(key.into(), number(meaning));
    }
    for (key, meaning) in [
        ("tags", "Affinity terms."),
        ("spaces", "Recorded only."),
        ("zones", "Zones, one of which a unit must be in."),
    ] {
        properties.insert(key.into(), texts(meaning));
    }
    properties.insert("allocate-public-ip".into(), truth("Recorded only."));
    json!({
        "type": "object",
        "description": "What each unit needs.",
        "properties": properties,
    })
}

fn settings(description: &str) -> Value {
    json!({
        "type": "object",
        "maxProperties": 64,
        "additionalProperties": { "type": "string", "maxLength": 16384 },
        "description": description,
    })
}

fn application_spec() -> Value {
    let known = APPLICATION_SETTINGS.join("', '");
    let known = format!("!has(self.settings) || self.settings.all(key, key in ['{known}'])");
    let named = format!(
        "an application's settings are: {}",
        APPLICATION_SETTINGS.join(", ")
    );
    json!({
        "type": "object",
        "required": ["charm"],
        "description": "What is wanted.",
        "x-kubernetes-validations": removal(&[(&known, &named)]),
        "properties": {
            "uid": uid(),
            "charm": {
                "type": "object",
                "required": ["name"],
                "x-kubernetes-preserve-unknown-fields": true,
                "description": "The charm, as Pilotage reads it from its files; `pilotage deploy` writes it.",
                "properties": {
                    "name": { "type": "string", "minLength": 1, "maxLength": 253, "description": "Its name." },
                },
            },
            "origin": {
                "type": "object",
                "description": "Where the charm came from.",
                "properties": {
                    "revision": number("Its revision in this model."),
                    "version": text("Its own version."),
                },
            },
            "scale": {
                "type": "integer",
                "format": "int32",
                "minimum": 0,
                "maximum": LARGEST_SCALE,
                "default": 1,
                "description": "Units wanted.",
            },
            "trust": { "type": "boolean", "default": false, "description": "Whether its pods may do everything in the cluster." },
            "config": {
                "type": "object",
                "additionalProperties": { "x-kubernetes-preserve-unknown-fields": true },
                "description": "Options of the charm: a text, a number, or true or false, by name.",
            },
            "settings": settings("Settings of the application itself, as kubernetes-service-type."),
            "constraints": constraints(),
            "resources": {
                "type": "object",
                "description": "Images and files in place of those that the charm names.",
                "additionalProperties": {
                    "type": "object",
                    "properties": {
                        "image": text("The image reference."),
                        "login": anything("How to log in at its registry; `pilotage deploy` writes it, with the password in the vault."),
                        "file": text("The path of a file. Recorded only."),
                        "size": number("Its bytes."),
                        "digest": text("The digest of its content."),
                    },
                    "x-kubernetes-validations": [{
                        "rule": "has(self.image) != has(self.file)",
                        "message": "a resource is an image or a file",
                    }],
                },
                "maxProperties": 256,
            },
            "storage": {
                "type": "object",
                "description": "What each unit gets of the charm's storages, by name.",
                "additionalProperties": {
                    "type": "object",
                    "properties": {
                        "pool": text("A pool or a storage class."),
                        "count": number("How many."),
                        "sizeMiB": number("The size of each in MiB."),
                    },
                },
            },
            "filesystems": {
                "type": "array",
                "items": { "type": "object", "x-kubernetes-preserve-unknown-fields": true },
                "description": "Each unit's filesystems, where they are not what charm and storage make of the defaults.",
            },
            "devices": {
                "type": "object",
                "description": "Devices asked for. Recorded only.",
                "additionalProperties": {
                    "type": "object",
                    "required": ["count", "kind"],
                    "properties": {
                        "count": number("How many."),
                        "kind": text("Which."),
                        "attributes": {
                            "type": "object",
                            "additionalProperties": { "type": "string" },
                            "description": "What they must have.",
                        },
                    },
                },
            },
            "base": text("The base asked for, as ubuntu@22.04."),
            "template": number("Build the pods at least by this revision of Pilotage's template."),
            "removal": removal_wish(),
        },
    })
}

fn condition() -> Value {
    json!({
        "type": "object",
        "required": ["type", "status", "lastTransitionTime", "reason", "message"],
        "properties": {
            "type": text("What."),
            "status": { "type": "string", "enum": ["True", "False", "Unknown"], "description": "Whether." },
            "observedGeneration": number("Of which spec."),
            "lastTransitionTime": { "type": "string", "format": "date-time", "description": "Since when." },
            "reason": text("Why, in a word."),
            "message": text("Why."),
        },
    })
}

fn status(more: Value) -> Value {
    let mut properties = json!({
        "observedGeneration": number("The spec that the record has seen."),
        "conditions": {
            "type": "array",
            "items": condition(),
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["type"],
            "description": "Accepted, Ready, Progressing.",
        },
        "word": text("The status in a word."),
        "message": text("The status for people."),
        "record": anything("The whole record. Pilotage alone writes it."),
    });
    if let (Value::Object(properties), Value::Object(more)) = (&mut properties, more) {
        properties.extend(more);
    }
    json!({
        "type": "object",
        "description": "What Pilotage knows.",
        "properties": properties,
    })
}

fn object(spec: Value, status: Value, rules: &[(&str, &str)]) -> Value {
    let rules: Vec<Value> = rules
        .iter()
        .map(|(rule, message)| json!({ "rule": rule, "message": message }))
        .collect();
    json!({
        "type": "object",
        "required": ["spec"],
        "x-kubernetes-validations": rules,
        "properties": {
            "apiVersion": { "type": "string" },
            "kind": { "type": "string" },
            "metadata": { "type": "object" },
            "spec": spec,
            "status": status,
        },
    })
}

fn application_schema() -> Value {
    object(
        application_spec(),
        status(json!({
            "replicas": { "type": "integer", "format": "int32", "description": "Units there are." },
            "selector": text("The labels of its pods."),
            "units": text("Active units of those wanted."),
        })),
        &[(
            "self.metadata.name.matches('^[a-z][a-z0-9]*(-[a-z0-9]*[a-z][a-z0-9]*)*$')",
            "an application's name has lower-case letters, digits and hyphens, begins with a letter, and has no group of only digits after a hyphen",
        )],
    )
}

fn model_schema() -> Value {
    object(
        json!({
            "type": "object",
            "description": "What is wanted.",
            "x-kubernetes-validations": removal(&[]),
            "properties": {
                "uid": uid(),
                "settings": settings("Settings that differ from their defaults."),
                "constraints": constraints(),
                "removal": removal_wish(),
            },
        }),
        status(json!({})),
        &[(
            "self.metadata.name.matches('^[a-z0-9]([a-z0-9-]*[a-z0-9])?$') && size(self.metadata.name) <= 63",
            "a model is a namespace of the same name: at most 63 lower-case letters, digits and hyphens, with none of these at its ends",
        )],
    )
}

fn storage_schema() -> Value {
    object(
        json!({
            "type": "object",
            "required": ["storage"],
            "description": "What is wanted.",
            "x-kubernetes-validations": [
                {
                    "rule": "!(has(oldSelf.destroy) && oldSelf.destroy) || (has(self.destroy) && self.destroy)",
                    "message": "a storage that is being destroyed stays so",
                },
            ],
            "properties": {
                "destroy": truth("Delete its claim, and then this. Deleting this object says the same."),
                "storage": anything("The storage as it was when its application went. It never changes."),
            },
        }),
        status(json!({})),
        &[],
    )
}

fn column(name: &str, r#type: &str, path: &str, priority: u32) -> Value {
    json!({ "name": name, "type": r#type, "jsonPath": path, "priority": priority })
}

fn application_columns() -> Value {
    json!([
        column("Status", "string", ".status.word", 0),
        column("Units", "string", ".status.units", 0),
        column("Charm", "string", ".spec.charm.name", 0),
        column(
            "Ready",
            "string",
            ".status.conditions[?(@.type=='Ready')].status",
            0
        ),
        column("Age", "date", ".metadata.creationTimestamp", 0),
        column("Message", "string", ".status.message", 1),
    ])
}

fn model_columns() -> Value {
    json!([
        column("Status", "string", ".status.word", 0),
        column(
            "Ready",
            "string",
            ".status.conditions[?(@.type=='Ready')].status",
            0
        ),
        column("Age", "date", ".metadata.creationTimestamp", 0),
        column("Message", "string", ".status.message", 1),
    ])
}

fn storage_columns() -> Value {
    json!([
        column("Storage", "string", ".spec.storage.instance.storage", 0),
        column("Application", "string", ".spec.storage.application_name", 0),
        column("Claim", "string", ".spec.storage.instance.claim", 0),
        column("Status", "string", ".status.word", 0),
        column("Age", "date", ".metadata.creationTimestamp", 0),
    ])
}
