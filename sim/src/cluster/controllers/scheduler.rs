//! Gives a pod its node, or says why none fits.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde_json::{Value, json};

use super::client::{Address, SCHEDULER};
use super::conditions::{condition, since};
use super::values::{entries, meets};
use super::{Next, Turn, resources, volumes};
use crate::cluster::moment;
use crate::cluster::object::{Stored, at, items_at, set_at, text_at};
use crate::cluster::request::{Subresource, Verb};
use crate::cluster::resource::Resource;

pub(super) fn reconcile(turn: &mut Turn<'_>, namespace: &str, name: &str) -> Next {
    let client = turn.client(SCHEDULER);
    let Some(pod) = client.peek_in(Resource::Pod, namespace, name) else {
        return Next::Settled;
    };
    let wants = pod.value.get("spec").is_some_and(|spec| {
        text_at(spec, &["nodeName"]).is_empty()
            && matches!(text_at(spec, &["schedulerName"]), "" | "default-scheduler")
    });
    if !wants || pod.deleting() {
        return Next::Settled;
    }
    let nodes = client.list(Resource::Node, None);
    let mut refused: BTreeMap<String, usize> = BTreeMap::new();
    let mut chosen = None;
    match volumes::readiness(&client, &pod) {
        volumes::Readiness::Missing(problem) => {
            let text = describe(nodes.len(), [problem]);
            return report(turn, &pod, &text);
        }
        volumes::Readiness::Ready | volumes::Readiness::Consumer(_) => {}
    }
    for node in &nodes {
        match refusal(turn, &pod, node) {
            None => {
                chosen = Some(node.clone());
                break;
            }
            Some(problem) => *refused.entry(problem).or_default() += 1,
        }
    }
    let Some(node) = chosen else {
        let problems = refused
            .into_iter()
            .map(|(problem, count)| format!("{count} {problem}"));
        let text = describe(nodes.len(), problems);
        return report(turn, &pod, &text);
    };
    if let volumes::Readiness::Consumer(claims) = volumes::readiness(&turn.client(SCHEDULER), &pod)
    {
        // The volumes are made where the pod will run; their binding brings the pod back here.
        let mut next = Next::Settled;
        for claim in claims {
            let mut after = claim.value.clone();
            set_at(
                &mut after,
                &["metadata", "annotations", volumes::SELECTED_NODE],
                json!(node.name()),
            );
            next = next.or(Next::after(turn.client(SCHEDULER).change(&claim, &after)));
        }
        return next;
    }
    let body = json!({
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": { "name": name, "namespace": namespace, "uid": pod.uid() },
        "target": { "apiVersion": "v1", "kind": "Node", "name": node.name() },
    });
    Next::after(turn.client(SCHEDULER).send(
        Address::of(&pod),
        Some(Subresource::Binding),
        Verb::Create { body },
    ))
}

/// Why a node does not take a pod.
fn refusal(turn: &Turn<'_>, pod: &Stored, node: &Stored) -> Option<String> {
    let spec = pod.value.get("spec")?;
    let labels = node.at(&["metadata", "labels"]);
    if at(&node.value, &["spec", "unschedulable"]) == Some(&Value::Bool(true)) {
        return Some("node(s) were unschedulable".into());
    }
    let untolerated = items_at(&node.value, &["spec", "taints"])
        .iter()
        .find(|taint| {
            matches!(text_at(taint, &["effect"]), "NoSchedule" | "NoExecute")
                && !items_at(spec, &["tolerations"])
                    .iter()
                    .any(|toleration| tolerates(toleration, taint))
        });
    if let Some(taint) = untolerated {
        return Some(format!(
            "node(s) had untolerated taint(s) {{{}: {}}}",
            text_at(taint, &["key"]),
            text_at(taint, &["value"])
        ));
    }
    let label = |key: &str| labels.and_then(|labels| labels.get(key));
    let selected = entries(spec, &["nodeSelector"]).all(|(key, value)| label(key) == Some(value));
    let required = at(
        spec,
        &[
            "affinity",
            "nodeAffinity",
            "requiredDuringSchedulingIgnoredDuringExecution",
        ],
    );
    let attracted = required.is_none_or(|required| {
        items_at(required, &["nodeSelectorTerms"])
            .iter()
            .any(|term| {
                let expressions = items_at(term, &["matchExpressions"]);
                let fields = items_at(term, &["matchFields"]);
                // A term that says nothing selects no node.
                !(expressions.is_empty() && fields.is_empty())
                    && expressions
                        .iter()
                        .all(|expression| meets(expression, label(text_at(expression, &["key"]))))
                    && fields
                        .iter()
                        .all(|field| meets(field, Some(&json!(node.name()))))
            })
    });
    if !selected || !attracted {
        return Some("node(s) didn't match Pod's node affinity/selector".into());
    }
    let used = turn.memory.index.used(node.name());
    let allocatable =
        |resource: &str| resources::nanos(&node.value, &["status", "allocatable", resource]);
    if used.pods + 1_000_000_000 > allocatable("pods") {
        return Some("Too many pods".into());
    }
    let mut short = Vec::new();
    let cpu = resources::requested(&pod.value, "cpu");
    if cpu > 0 && used.cpu + cpu > allocatable("cpu") {
        short.push("Insufficient cpu");
    }
    let memory = resources::requested(&pod.value, "memory");
    if memory > 0 && used.memory + memory > allocatable("memory") {
        short.push("Insufficient memory");
    }
    (!short.is_empty()).then(|| short.join(", 1 "))
}

fn tolerates(toleration: &Value, taint: &Value) -> bool {
    let (key, effect) = (
        text_at(toleration, &["key"]),
        text_at(toleration, &["effect"]),
    );
    let exists = text_at(toleration, &["operator"]) == "Exists";
    (effect.is_empty() || effect == text_at(taint, &["effect"]))
        && (key == text_at(taint, &["key"]) || (key.is_empty() && exists))
        && (exists || text_at(toleration, &["value"]) == text_at(taint, &["value"]))
}

fn describe(nodes: usize, problems: impl IntoIterator<Item = String>) -> String {
    let problems = problems.into_iter().collect::<Vec<_>>().join(", ");
    if nodes == 0 {
        return "no nodes available to schedule pods".into();
    }
    format!(
        "0/{nodes} nodes are available: {problems}. no new claims to deallocate, preemption: 0/{nodes} nodes are available: \
         {nodes} Preemption is not helpful for scheduling."
    )
}

/// Says in the pod's status that no node takes it.
fn report(turn: &mut Turn<'_>, pod: &Stored, message: &str) -> Next {
    let mut status = pod
        .value
        .get("status")
        .cloned()
        .unwrap_or_else(|| json!({}));
    let same =
        condition(&status, "PodScheduled").is_some_and(|old| text_at(old, &["message"]) == message);
    if same {
        return Next::Settled;
    }
    let changed = since(&status, "PodScheduled", "False").unwrap_or_else(|| moment::text(turn.at));
    let scheduled = json!({
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": message,
        "lastProbeTime": null,
        "lastTransitionTime": changed,
    });
    let conditions = items_at(&status, &["conditions"])
        .iter()
        .filter(|old| text_at(old, &["type"]) != "PodScheduled")
        .cloned()
        .chain([scheduled])
        .collect();
    set_at(&mut status, &["conditions"], conditions);
    let mut client = turn.client(SCHEDULER);
    let next = Next::after(client.set_status(pod, &status));
    client.warn(pod, "FailedScheduling", message);
    next
}
