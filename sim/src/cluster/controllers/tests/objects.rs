//! Claims, volumes, Services, owners and namespaces.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use pilotage_core::time::Span;
use serde_json::{Value, json};

use super::super::instruction::Behaviour;
use super::super::settings::{Settings, StorageSettings};
use super::house::{House, SPACE, storage};
use crate::cluster::Cluster;
use crate::cluster::object::{items_at, text_at};
use crate::cluster::request::Propagation;
use crate::cluster::resource::Resource;

fn claim(house: &mut House, name: &str, change: impl FnOnce(&mut Value)) {
    let mut claim = storage(name)[0].clone();
    change(&mut claim);
    house.create(Resource::PersistentVolumeClaim, claim);
}

fn phase(house: &House, resource: Resource, name: &str) -> String {
    text_at(&house.value(resource, name), &["status", "phase"]).to_string()
}

const CLAIM: Resource = Resource::PersistentVolumeClaim;
const VOLUME: Resource = Resource::PersistentVolume;

#[test]
fn a_claim_waits_for_its_first_consumer_unless_its_class_binds_at_once() {
    let mut house = House::new();
    claim(&mut house, "late", |_| {});
    house.rest();
    assert_eq!(phase(&house, CLAIM, "late"), "Pending");
    let mut house = House::with(Settings {
        storage: Some(StorageSettings {
            immediate: true,
            ..StorageSettings::default()
        }),
        ..Settings::default()
    });
    claim(&mut house, "soon", |_| {});
    house.rest();
    assert_eq!(phase(&house, CLAIM, "soon"), "Bound");
}

#[test]
fn a_claim_of_a_class_that_is_not_there_stays_pending_and_says_so_and_so_does_its_pod() {
    let mut house = House::new();
    house.stateful_set("a", |set| {
        set["spec"]["replicas"] = json!(1);
        set["spec"]["volumeClaimTemplates"] = storage("data");
        set["spec"]["volumeClaimTemplates"][0]["spec"]["storageClassName"] = json!("fast");
    });
    house.rest();
    assert_eq!(phase(&house, CLAIM, "data-a-0"), "Pending");
    assert_eq!(
        house.warnings("data-a-0"),
        ["ProvisioningFailed: storageclass.storage.k8s.io \"fast\" not found"]
    );
    let conditions = house.pod("a-0")["status"]["conditions"].clone();
    assert!(
        text_at(&conditions[0], &["message"])
            .contains("pod has unbound immediate PersistentVolumeClaims")
    );
    house.create(
        Resource::StorageClass,
        json!({ "metadata": { "name": "fast" }, "provisioner": "simulated" }),
    );
    house.rest();
    assert_eq!(house.pods(), ["a-0 1/1 Running"]);
}

fn volume(house: &mut House, name: &str, size: &str, policy: &str) {
    let volume = json!({
        "metadata": { "name": name },
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "capacity": { "storage": size },
            "persistentVolumeReclaimPolicy": policy,
            "hostPath": { "path": "/data" },
        },
    });
    house.create(VOLUME, volume);
}

#[test]
fn a_claim_without_a_class_takes_the_smallest_volume_that_is_large_enough() {
    let mut house = House::new();
    volume(&mut house, "tiny", "100Mi", "Retain");
    volume(&mut house, "large", "10Gi", "Retain");
    volume(&mut house, "medium", "2Gi", "Retain");
    house.rest();
    assert_eq!(phase(&house, VOLUME, "large"), "Available");
    claim(&mut house, "c", |claim| {
        claim["spec"]["storageClassName"] = json!("");
    });
    house.rest();
    let bound = house.value(CLAIM, "c");
    assert_eq!(text_at(&bound, &["spec", "volumeName"]), "medium");
    assert_eq!(text_at(&bound, &["status", "capacity", "storage"]), "2Gi");
    house.delete(CLAIM, "c", Propagation::Background);
    house.rest();
    // A volume that is kept never binds again by itself.
    assert_eq!(phase(&house, VOLUME, "medium"), "Released");
    claim(&mut house, "c", |claim| {
        claim["spec"]["storageClassName"] = json!("");
        claim["spec"]["volumeName"] = json!("medium");
    });
    house.rest();
    assert_eq!(phase(&house, CLAIM, "c"), "Pending");
    // Until somebody takes the old reference off.
    let free = json!({ "spec": { "claimRef": null } });
    house.patch(VOLUME, "medium", free);
    house.rest();
    assert_eq!(phase(&house, CLAIM, "c"), "Bound");
}

#[test]
fn a_claim_of_another_volume_that_is_taken_waits() {
    let mut house = House::new();
    volume(&mut house, "v", "1Gi", "Retain");
    let bound = |claim: &mut Value| {
        claim["spec"]["storageClassName"] = json!("");
        claim["spec"]["volumeName"] = json!("v");
    };
    claim(&mut house, "first", bound);
    house.rest();
    claim(&mut house, "second", bound);
    house.rest();
    assert_eq!(phase(&house, CLAIM, "first"), "Bound");
    assert_eq!(phase(&house, CLAIM, "second"), "Pending");
}

#[test]
fn a_volume_in_use_outlives_its_deletion_until_its_claim_is_gone() {
    let mut house = House::new();
    house.stateful_set("a", |set| {
        set["spec"]["replicas"] = json!(1);
        set["spec"]["volumeClaimTemplates"] = storage("data");
    });
    house.rest();
    let name = house.names(VOLUME)[0].clone();
    house.delete(VOLUME, &name, Propagation::Background);
    house.delete(CLAIM, "data-a-0", Propagation::Background);
    house.rest();
    assert_eq!(phase(&house, VOLUME, &name), "Bound");
    assert_eq!(phase(&house, CLAIM, "data-a-0"), "Bound");
    house.scale("a", 0);
    house.rest();
    assert!(house.names(VOLUME).is_empty());
    assert!(house.names(CLAIM).is_empty());
}

#[test]
fn a_load_balancer_gets_its_address_after_a_while() {
    let mut house = House::new();
    house.create(
        Resource::Service,
        json!({
            "metadata": { "name": "s" },
            "spec": { "type": "LoadBalancer", "ports": [{ "port": 80 }], "selector": { "app": "a" } },
        }),
    );
    house.wait(Span::seconds(1));
    let ingress = |house: &House| {
        let service = house.value(Resource::Service, "s");
        items_at(&service, &["status", "loadBalancer", "ingress"]).len()
    };
    assert_eq!(ingress(&house), 0);
    house.wait(Span::seconds(2));
    assert_eq!(ingress(&house), 1);
    house.delete(Resource::Service, "s", Propagation::Background);
    house.rest();
    assert!(house.get(Resource::Service, "s").is_none());
}

fn map(house: &mut House, name: &str, owners: &[&str]) {
    let owners: Vec<Value> = owners
        .iter()
        .map(|owner| {
            let uid = house.get(Resource::ConfigMap, owner).unwrap().uid().to_string();
            json!({ "apiVersion": "v1", "kind": "ConfigMap", "name": owner, "uid": uid, "blockOwnerDeletion": true })
        })
        .collect();
    house.create(
        Resource::ConfigMap,
        json!({ "metadata": { "name": name, "ownerReferences": owners } }),
    );
}

fn maps(house: &House) -> Vec<String> {
    let mut names = house.names(Resource::ConfigMap);
    names.retain(|name| name != "kube-root-ca.crt");
    names
}

#[test]
fn dependents_go_when_their_last_owner_is_gone() {
    let mut house = House::new();
    map(&mut house, "one", &[]);
    map(&mut house, "two", &[]);
    map(&mut house, "child", &["one"]);
    map(&mut house, "grandchild", &["child"]);
    map(&mut house, "of-both", &["one", "two"]);
    house.delete(Resource::ConfigMap, "one", Propagation::Background);
    house.rest();
    assert_eq!(maps(&house), ["of-both", "two"]);
    let both = house.value(Resource::ConfigMap, "of-both");
    assert_eq!(items_at(&both, &["metadata", "ownerReferences"]).len(), 1);
    house.delete(Resource::ConfigMap, "two", Propagation::Background);
    house.rest();
    assert!(maps(&house).is_empty());
}

#[test]
fn in_the_foreground_an_owner_waits_for_dependents_that_finalizers_hold() {
    let mut house = House::new();
    map(&mut house, "one", &[]);
    map(&mut house, "child", &["one"]);
    let hold = json!({ "metadata": { "finalizers": ["pilotage.dev/held"] } });
    house.patch(Resource::ConfigMap, "child", hold);
    house.delete(Resource::ConfigMap, "one", Propagation::Foreground);
    house.rest();
    assert_eq!(maps(&house), ["child", "one"]);
    let free = json!({ "metadata": { "finalizers": null } });
    house.patch(Resource::ConfigMap, "child", free);
    house.rest();
    assert!(maps(&house).is_empty());
}

#[test]
fn what_names_an_owner_that_never_was_goes_and_what_an_unknown_kind_owns_stays() {
    let mut house = House::new();
    let owned = |name: &str, kind: &str| {
        let owner = json!({ "apiVersion": "v1", "kind": kind, "name": "x", "uid": "nobody" });
        json!({ "metadata": { "name": name, "ownerReferences": [owner] } })
    };
    house.create(Resource::ConfigMap, owned("lost", "ConfigMap"));
    house.create(Resource::ConfigMap, owned("foreign", "Gadget"));
    house.rest();
    assert_eq!(maps(&house), ["foreign"]);
}

#[test]
fn a_namespace_ends_with_its_pods_first_and_everything_else_after_them() {
    let mut house = House::new();
    house.pod_rule("a-*", Behaviour::TerminationTakes(Span::seconds(10)));
    house.stateful_set("a", |set| {
        set["spec"]["volumeClaimTemplates"] = storage("data")
    });
    house.create(Resource::Secret, json!({ "metadata": { "name": "s" } }));
    house.rest();
    house.delete(Resource::Namespace, SPACE, Propagation::Background);
    house.wait(Span::seconds(5));
    assert_eq!(house.pods(), ["a-0 1/1 Terminating", "a-1 1/1 Terminating"]);
    assert!(house.get(Resource::Secret, "s").is_some());
    assert!(house.get(Resource::StatefulSet, "a").is_some());
    let space = house.value(Resource::Namespace, SPACE);
    let conditions = items_at(&space, &["status", "conditions"]);
    let failure = conditions
        .iter()
        .find(|condition| condition["type"] == "NamespaceDeletionContentFailure")
        .unwrap();
    assert_eq!(failure["reason"], "ContentDeletionFailed");
    house.rest();
    assert!(house.get(Resource::Namespace, SPACE).is_none());
    let left = house.cluster.all_objects();
    assert_eq!(left.filter(|stored| stored.namespace() == SPACE).count(), 0);
    assert!(house.names(VOLUME).is_empty());
}

#[test]
fn a_cluster_that_was_written_down_goes_on_where_it_was() {
    let mut house = House::new();
    house.stateful_set("a", |set| {
        set["spec"]["volumeClaimTemplates"] = storage("data")
    });
    house.wait(Span(1_000));
    assert_eq!(
        house.pods(),
        ["a-0 0/1 ContainerCreating", "a-1 0/1 ContainerCreating"]
    );
    let written: Vec<Value> = house
        .cluster
        .all_objects()
        .map(|stored| stored.whole())
        .collect();
    let cluster = Cluster::restore(
        house.cluster.settings().clone(),
        house.cluster.counters(),
        written,
    );
    house.cluster = cluster.expect("what was written can be read");
    house
        .cluster
        .start_controllers(house.at, Settings::default());
    house.rest();
    assert_eq!(house.pods(), ["a-0 1/1 Running", "a-1 1/1 Running"]);
    house.scale("a", 3);
    house.rest();
    assert_eq!(house.pods().len(), 3);
    let mut addresses: Vec<String> = ["a-0", "a-1", "a-2"]
        .map(|name| text_at(&house.pod(name), &["status", "podIP"]).into())
        .into();
    addresses.sort();
    addresses.dedup();
    assert_eq!(addresses.len(), 3);
}
