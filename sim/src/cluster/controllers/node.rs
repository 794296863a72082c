//! Nodes: they register, fall silent, come back; and what becomes of the pods on one that is lost or gone.

use alloc::sync::Arc;
use alloc::vec::Vec;

use pilotage_core::time::{Span, Timestamp};
use serde_json::{Value, json};

use super::client::{Address, CONTROLLER_MANAGER, Client, KUBELET};
use super::conditions::{condition, since};
use super::settings::NodeSettings;
use super::{Next, Turn};
use crate::cluster::moment;
use crate::cluster::object::{Stored, items_at, set_at, text_at};
use crate::cluster::request::Propagation;
use crate::cluster::resource::Resource;

const UNREACHABLE: &str = "node.kubernetes.io/unreachable";

fn address(name: &str) -> Address<'_> {
    Address {
        resource: Resource::Node,
        namespace: "",
        name,
    }
}

/// The kubelet of a node says that it is there.
pub(super) fn register(turn: &mut Turn<'_>, name: &str) -> Next {
    if turn.memory.lost.contains_key(name) {
        return Next::Settled;
    }
    let settings = turn.settings;
    let Some(node) = settings.nodes.iter().find(|node| &*node.name == name) else {
        return Next::Settled;
    };
    let mut client = turn.client(KUBELET);
    let stored = match client.peek(address(name)) {
        Some(stored) => stored,
        None => {
            let mut labels = json!({
                "kubernetes.io/arch": node.architecture,
                "kubernetes.io/hostname": node.name,
                "kubernetes.io/os": "linux",
            });
            for (key, value) in &node.labels {
                set_at(&mut labels, &[key], json!(value));
            }
            let body = json!({
                "apiVersion": "v1",
                "kind": "Node",
                "metadata": { "name": name, "labels": labels },
                "spec": {},
            });
            if client.create(Resource::Node, "", body).is_err() {
                return Next::Retry;
            }
            match client.peek(address(name)) {
                Some(stored) => stored,
                None => return Next::Retry,
            }
        }
    };
    let status = running(node, &stored, client.at);
    Next::after(client.set_status(&stored, &status))
}

/// The status of a node that is well.
fn running(node: &NodeSettings, stored: &Stored, at: Timestamp) -> Value {
    let mut status = stored
        .value
        .get("status")
        .cloned()
        .unwrap_or_else(|| json!({}));
    let resources = json!({
        "cpu": node.cpu,
        "memory": node.memory,
        "pods": alloc::format!("{}", node.pods),
    });
    set_at(&mut status, &["capacity"], resources.clone());
    set_at(&mut status, &["allocatable"], resources);
    set_at(
        &mut status,
        &["addresses"],
        json!([
            { "type": "InternalIP", "address": node.address },
            { "type": "Hostname", "address": node.name },
        ]),
    );
    let conditions = [
        (
            "MemoryPressure",
            "False",
            "KubeletHasSufficientMemory",
            "kubelet has sufficient memory available",
        ),
        (
            "DiskPressure",
            "False",
            "KubeletHasNoDiskPressure",
            "kubelet has no disk pressure",
        ),
        (
            "PIDPressure",
            "False",
            "KubeletHasSufficientPID",
            "kubelet has sufficient PID available",
        ),
        (
            "Ready",
            "True",
            "KubeletReady",
            "kubelet is posting ready status",
        ),
    ];
    set_conditions(&mut status, at, conditions);
    status
}

fn set_conditions(status: &mut Value, at: Timestamp, conditions: [(&str, &str, &str, &str); 4]) {
    let conditions = conditions
        .into_iter()
        .map(|(kind, state, reason, message)| {
            let changed = since(status, kind, state);
            let beat = changed
                .as_ref()
                .and_then(|_| condition(status, kind))
                .map(|old| text_at(old, &["lastHeartbeatTime"]))
                .filter(|beat| !beat.is_empty())
                .map_or_else(|| moment::text(at), Into::into);
            json!({
                "type": kind,
                "status": state,
                "reason": reason,
                "message": message,
                "lastHeartbeatTime": beat,
                "lastTransitionTime": changed.unwrap_or_else(|| moment::text(at)),
            })
        })
        .collect();
    set_at(status, &["conditions"], conditions);
}

/// Looks after one node: marks it when it is lost, clears it when it is back, evicts its pods in time.
pub(super) fn reconcile(turn: &mut Turn<'_>, name: &str) -> Next {
    let Some(node) = turn.client(CONTROLLER_MANAGER).peek(address(name)) else {
        return Next::Settled;
    };
    match turn.memory.lost.get(name).copied() {
        None => clear(turn, &node),
        Some(lost) => {
            let until = lost.after(turn.settings.node_grace);
            if turn.at < until {
                return Next::At(until);
            }
            abandon(turn, &node).or(evict(turn, name, until))
        }
    }
}

fn taints(node: &Stored) -> Vec<Value> {
    items_at(&node.value, &["spec", "taints"]).to_vec()
}

fn set_taints(client: &mut Client<'_>, node: &Stored, taints: Vec<Value>) -> Next {
    let mut after = node.value.clone();
    if taints.is_empty() {
        crate::cluster::object::remove_at(&mut after, &["spec", "taints"]);
    } else {
        set_at(&mut after, &["spec", "taints"], Value::Array(taints));
    }
    Next::after(client.change(node, &after))
}

fn clear(turn: &mut Turn<'_>, node: &Arc<Stored>) -> Next {
    let mut left = taints(node);
    left.retain(|taint| text_at(taint, &["key"]) != UNREACHABLE);
    set_taints(&mut turn.client(CONTROLLER_MANAGER), node, left)
}

/// Marks a node as unreachable, and its pods as not ready.
fn abandon(turn: &mut Turn<'_>, node: &Arc<Stored>) -> Next {
    let at = turn.at;
    let mut client = turn.client(CONTROLLER_MANAGER);
    let mut status = node
        .value
        .get("status")
        .cloned()
        .unwrap_or_else(|| json!({}));
    let silent = "Kubelet stopped posting node status.";
    set_conditions(
        &mut status,
        at,
        ["MemoryPressure", "DiskPressure", "PIDPressure", "Ready"]
            .map(|kind| (kind, "Unknown", "NodeStatusUnknown", silent)),
    );
    let mut next = Next::after(client.set_status(node, &status));
    if let Some(node) = client.peek(Address::of(node)) {
        let mut all = taints(&node);
        for effect in ["NoSchedule", "NoExecute"] {
            let there = all.iter().any(|taint| {
                text_at(taint, &["key"]) == UNREACHABLE && text_at(taint, &["effect"]) == effect
            });
            if !there {
                all.push(
                    json!({ "key": UNREACHABLE, "effect": effect, "timeAdded": moment::text(at) }),
                );
            }
        }
        next = next.or(set_taints(&mut client, &node, all));
    }
    for (namespace, name) in turn.memory.index.pods_on(node.name()) {
        let mut client = turn.client(CONTROLLER_MANAGER);
        let Some(pod) = client.peek_in(Resource::Pod, &namespace, &name) else {
            continue;
        };
        let mut status = pod
            .value
            .get("status")
            .cloned()
            .unwrap_or_else(|| json!({}));
        if !condition(&status, "Ready").is_some_and(|old| old["status"] == "True") {
            continue;
        }
        let conditions = items_at(&status, &["conditions"])
            .iter()
            .cloned()
            .map(|mut old| {
                if text_at(&old, &["type"]) == "Ready" {
                    set_at(&mut old, &["status"], json!("False"));
                    set_at(&mut old, &["lastTransitionTime"], json!(moment::text(at)));
                }
                old
            })
            .collect();
        set_at(&mut status, &["conditions"], conditions);
        next = next.or(Next::after(client.set_status(&pod, &status)));
    }
    next
}

/// Deletes the pods that tolerate the loss no longer. They stay until the kubelet has ended them.
fn evict(turn: &mut Turn<'_>, node: &str, since: Timestamp) -> Next {
    let (at, usual) = (turn.at, turn.settings.eviction);
    let mut next = Next::Settled;
    for (namespace, name) in turn.memory.index.pods_on(node) {
        let mut client = turn.client(CONTROLLER_MANAGER);
        let Some(pod) = client.peek_in(Resource::Pod, &namespace, &name) else {
            continue;
        };
        if pod.deleting() {
            continue;
        }
        let Some(wait) = toleration(&pod, usual) else {
            continue;
        };
        let due = since.after(wait);
        if at < due {
            next = next.or(Next::At(due));
            continue;
        }
        let mut status = pod
            .value
            .get("status")
            .cloned()
            .unwrap_or_else(|| json!({}));
        let disruption = json!({
            "type": "DisruptionTarget",
            "status": "True",
            "reason": "DeletionByTaintManager",
            "message": "Taint manager: deleting due to NoExecute taint",
            "lastTransitionTime": moment::text(at),
        });
        let conditions = items_at(&status, &["conditions"])
            .iter()
            .filter(|old| text_at(old, &["type"]) != "DisruptionTarget")
            .cloned()
            .chain([disruption])
            .collect();
        set_at(&mut status, &["conditions"], conditions);
        let marked = client.set_status(&pod, &status);
        let deleted = client.delete(&pod, Propagation::Background, None);
        next = next.or(Next::after(marked)).or(Next::after(deleted));
    }
    next
}

/// How long a pod stays on an unreachable node; for ever if nothing.
fn toleration(pod: &Stored, usual: Span) -> Option<Span> {
    let tolerated = items_at(&pod.value, &["spec", "tolerations"])
        .iter()
        .find(|toleration| {
            let key = text_at(toleration, &["key"]);
            (key == UNREACHABLE || key.is_empty())
                && matches!(text_at(toleration, &["effect"]), "" | "NoExecute")
        });
    match tolerated {
        // The admission of a real server gives every pod a toleration for a while.
        None => Some(usual),
        Some(toleration) => toleration
            .get("tolerationSeconds")
            .and_then(Value::as_u64)
            .map(Span::seconds),
    }
}

/// Removes a pod whose node is gone: nobody is left to end it.
pub(super) fn collect_pod(turn: &mut Turn<'_>, namespace: &str, name: &str) -> Next {
    let key = (namespace.into(), name.into());
    let (at, wait) = (turn.at, turn.settings.orphaned_pod);
    let client = turn.client(CONTROLLER_MANAGER);
    let pod = client.peek_in(Resource::Pod, namespace, name);
    let homeless = pod.filter(|pod| {
        let node = text_at(&pod.value, &["spec", "nodeName"]);
        !node.is_empty() && client.peek(address(node)).is_none()
    });
    let Some(pod) = homeless else {
        turn.memory.homeless.remove(&key);
        return Next::Settled;
    };
    let since = *turn.memory.homeless.entry(key.clone()).or_insert(at);
    if at < since.after(wait) {
        return Next::At(since.after(wait));
    }
    let mut client = turn.client(CONTROLLER_MANAGER);
    let ended = matches!(
        text_at(&pod.value, &["status", "phase"]),
        "Succeeded" | "Failed"
    );
    if !ended {
        let mut status = pod
            .value
            .get("status")
            .cloned()
            .unwrap_or_else(|| json!({}));
        set_at(&mut status, &["phase"], json!("Failed"));
        let disruption = json!({
            "type": "DisruptionTarget",
            "status": "True",
            "reason": "DeletionByPodGC",
            "message": "PodGC: node no longer exists",
            "lastTransitionTime": moment::text(at),
        });
        let conditions = items_at(&status, &["conditions"])
            .iter()
            .filter(|old| text_at(old, &["type"]) != "DisruptionTarget")
            .cloned()
            .chain([disruption])
            .collect();
        set_at(&mut status, &["conditions"], conditions);
        if client.set_status(&pod, &status).is_err() {
            return Next::Retry;
        }
    }
    Next::after(client.delete(&pod, Propagation::Background, Some(0)))
}
