//! What a world looks like when nothing can happen any more, without what may differ between two worlds that are equally
//! well: uids, versions, times, addresses, numbers that a crash skipped.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use pilotage_core::kubernetes::labels::{APPLICATION_UID, MANAGED_BY};
use pilotage_core::state::{Application, StorageInstance};
use serde_json::{Value, json};

use crate::cluster::object::{Stored, at, remove_at};
use crate::cluster::resource::Resource;
use crate::world::World;

/// A world at rest: objects and records, by what names them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rest(BTreeMap<String, Value>);

impl Rest {
    /// The world as it is.
    pub fn of(world: &World) -> Self {
        let mut rest = BTreeMap::new();
        let ours = world
            .cluster
            .all_objects()
            .filter(|one| one.label("pilotage.dev/model").is_some() || ours_by_name(one));
        // How many revisions a workload remembers depends on its past; that they go with it does not.
        let orphaned = |one: &Stored| {
            let mut owners = one.owners();
            one.resource != Resource::ControllerRevision
                || !owners.any(|owner| {
                    let owned =
                        world
                            .cluster
                            .peek(Resource::StatefulSet, one.namespace(), owner.name);
                    owned.is_some_and(|set| set.uid() == owner.uid)
                })
        };
        for object in ours.filter(|one| orphaned(one)) {
            let name = format!("{:?} {}", object.resource, object.name());
            rest.insert(name, shown(object));
        }
        for application in world.store.applications() {
            rest.insert(format!("record {}", application.name), record(application));
            let all = application.status.storage.iter();
            for storage in all.filter(|one| application.unit(one.unit).is_none()) {
                let claim = storage.claim.as_deref().unwrap_or("");
                rest.insert(format!("storage of {claim}"), shown_storage(storage));
            }
        }
        for storage in world.store.storages() {
            let claim = storage.instance.claim.as_deref().unwrap_or("");
            rest.insert(
                format!("storage of {claim}"),
                json!({"destroy": storage.destroy}),
            );
        }
        for model in world.store.models() {
            let status = &model.status;
            let shown = json!({
                "life": status.life,
                "status": status.status.report,
                "removed": status.removed.len(),
            });
            rest.insert(format!("model {}", model.name), shown);
        }
        Rest(rest)
    }

    /// Whether a record of the application is there.
    pub(super) fn has_record(&self) -> bool {
        self.0.keys().any(|name| name.starts_with("record "))
    }

    /// What differs, for people; nothing if nothing does.
    pub fn differences(&self, wanted: &Rest) -> Vec<String> {
        let mut found = Vec::new();
        for (name, value) in &wanted.0 {
            match self.0.get(name) {
                None => found.push(format!("{name} is missing")),
                Some(is) if is != value => {
                    found.push(format!("{name} {}", difference(is, value)));
                }
                Some(_) => {}
            }
        }
        let more = self.0.keys().filter(|name| !wanted.0.contains_key(*name));
        found.extend(more.map(|name| format!("{name} should not be there")));
        found
    }
}

/// The first place where two values differ.
fn difference(is: &Value, wanted: &Value) -> String {
    if let (Value::Object(a), Value::Object(b)) = (is, wanted) {
        for (key, value) in b {
            match a.get(key) {
                Some(is) if is == value => {}
                Some(is) => return format!(".{key}{}", difference(is, value)),
                None => return format!(".{key} is missing"),
            }
        }
        if let Some(key) = a.keys().find(|key| !b.contains_key(*key)) {
            return format!(".{key} should not be there");
        }
    }
    format!(" is {is}, not {wanted}")
}

/// Objects that were made for the application and have lost the label that says that we manage them.
pub(super) fn disowned(world: &World) -> Vec<Arc<Stored>> {
    let lost =
        |one: &Stored| one.label(APPLICATION_UID).is_some() && one.label(MANAGED_BY).is_none();
    let all = world.cluster.all_objects();
    all.filter(|one| lost(one)).cloned().collect()
}

/// Something of the application, whether or not it has lost its labels.
fn ours_by_name(object: &Stored) -> bool {
    let name = object.name();
    let events = matches!(
        object.resource,
        Resource::Event | Resource::ControllerRevision | Resource::PersistentVolume
    );
    !events && (name.starts_with("ledger") || name.starts_with("pilotage:"))
}

fn shown(object: &Stored) -> Value {
    if object.resource == Resource::Pod {
        let image = at(&object.value, &["spec", "containers"]).map(|all| &all[0]["image"]);
        return json!({"image": image, "phase": at(&object.value, &["status", "phase"])});
    }
    let mut value = object.value.clone();
    let drop: [&[&str]; 10] = [
        &["metadata", "uid"],
        &["metadata", "resourceVersion"],
        &["metadata", "creationTimestamp"],
        &["metadata", "generation"],
        &[
            "metadata",
            "annotations",
            "volume.kubernetes.io/selected-node",
        ],
        &["status"],
        &["spec", "clusterIP"],
        &["spec", "clusterIPs"],
        &["spec", "volumeName"],
        &["metadata", "ownerReferences"],
    ];
    for path in drop {
        remove_at(&mut value, path);
    }
    value
}

fn shown_storage(storage: &StorageInstance) -> Value {
    json!({"word": storage.word, "claim": storage.claim, "size": storage.given.is_some()})
}

fn record(application: &Application) -> Value {
    let (spec, status) = (&application.spec, &application.status);
    let units: Vec<Value> = (status.units.iter())
        .map(|unit| {
            json!({
                "number": unit.number,
                "life": unit.life,
                "started": unit.started,
                "pod": unit.pod.as_ref().map(|pod| pod.name.to_string()),
                "workload": unit.workload.report,
                "agent": unit.agent.report,
            })
        })
        .collect();
    let mut storage: Vec<(u32, String, Value)> = (status.storage.iter())
        .filter(|one| application.unit(one.unit).is_some())
        .map(|one| (one.unit, one.storage.clone(), shown_storage(one)))
        .collect();
    storage.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
    json!({
        "scale": spec.scale,
        "trust": spec.trust,
        "revision": spec.origin.revision,
        "life": status.life,
        "scaling": status.scaling,
        "units": units,
        "storage": storage,
        "service": status.service.is_some(),
        "provisioner": status.provisioner.report,
        "settled": status.settled.report,
    })
}
