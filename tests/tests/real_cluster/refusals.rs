//! What the owner of a cluster forbids: the status says it, and taking it away clears it.

use pilotage_core::state::Word;
use pilotage_interpreter::cluster::Timing;
use pilotage_tests::control_plane::{Answer, Call, ControlPlane, Players, shared};
use pilotage_tests::house::House;
use pilotage_tests::patience::until;
use serde_json::{Value, json};

const POLICIES: &str = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";
const BINDINGS: &str = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings";

fn ask(
    cluster: &ControlPlane,
    method: &str,
    path: &str,
    query: &[(&str, &str)],
    body: Option<Value>,
) -> Answer {
    let own = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
    let call = Call {
        who: "alice",
        method,
        path,
        query: &query.iter().map(own).collect::<Vec<_>>(),
        content_type: match method {
            "PATCH" => "application/merge-patch+json",
            "POST" => "application/json",
            _ => "",
        },
        body: body.as_ref(),
    };
    cluster.client().call(&call).expect("the server answers")
}

/// What the server says to a StatefulSet that is not meant.
fn probe(cluster: &ControlPlane, namespace: &str) -> Answer {
    let labels = json!({ "probe": "yes" });
    let set = json!({
        "apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": { "name": "probe" },
        "spec": {
            "serviceName": "probe", "selector": { "matchLabels": labels },
            "template": {
                "metadata": { "labels": labels },
                "spec": { "containers": [{ "name": "probe", "image": "probe" }] },
            },
        },
    });
    let path = format!("/apis/apps/v1/namespaces/{namespace}/statefulsets");
    ask(cluster, "POST", &path, &[("dryRun", "All")], Some(set))
}

fn says(house: &House, application: pilotage_core::name::Uid, words: &str) -> bool {
    house.record(application).is_some_and(|record| {
        let report = &record.status.provisioner.report;
        report.message.contains(words) && !matches!(report.word, Word::Active)
    })
}

#[test]
fn a_policy_that_denies_is_in_the_status_and_its_end_clears_it() {
    let Some(cluster) = shared("a_policy_that_denies") else {
        return;
    };
    let _players = Players::start(&cluster, "policed");
    let mut house = House::new(&cluster, "policed", None, Timing::default());
    house.wait("there is the namespace", || !house.names().is_empty());
    let policy = json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy",
        "metadata": { "name": "no-sets" },
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": { "resourceRules": [{
                "apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["statefulsets"],
            }] },
            "validations": [{ "expression": "false", "message": "nothing is kept here" }],
        },
    });
    ask(&cluster, "POST", POLICIES, &[], Some(policy)).expect(201);
    let binding = json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": { "name": "no-sets" },
        "spec": {
            "policyName": "no-sets", "validationActions": ["Deny"],
            "matchResources": { "namespaceSelector": {
                "matchLabels": { "kubernetes.io/metadata.name": house.namespace() },
            } },
        },
    });
    ask(&cluster, "POST", BINDINGS, &[], Some(binding)).expect(201);
    until("the policy is in force", || {
        (probe(&cluster, "policed").status != 201).then_some(())
    });

    let ledger = house.deploy("ledger", 1);
    house.wait("the status names the policy's words", || {
        says(&house, ledger, "nothing is kept here")
    });
    for path in [BINDINGS, POLICIES] {
        ask(&cluster, "DELETE", &format!("{path}/no-sets"), &[], None).expect(200);
    }
    house.until_active(ledger, 1);
    house.remove(ledger);
    house.destroy();
    house.end();
}

/// Nothing of a kind may be made in a namespace; it returns the path of what says so.
fn forbid(cluster: &ControlPlane, namespace: &str, what: &str) -> String {
    let path = format!("/api/v1/namespaces/{namespace}/resourcequotas");
    let hard = json!({ what: "0" });
    let quota = json!({
        "apiVersion": "v1", "kind": "ResourceQuota",
        "metadata": { "name": "nothing" }, "spec": { "hard": hard },
    });
    ask(cluster, "POST", &path, &[], Some(quota)).expect(201);
    // What its controller would say, if it ran here.
    let status = json!({ "status": { "hard": hard, "used": hard } });
    let one = format!("{path}/nothing");
    ask(
        cluster,
        "PATCH",
        &format!("{one}/status"),
        &[],
        Some(status),
    )
    .expect(200);
    one
}

#[test]
fn a_quota_that_is_used_up_is_in_the_status_and_its_end_clears_it() {
    let Some(cluster) = shared("a_quota_that_is_used_up") else {
        return;
    };
    let _players = Players::start(&cluster, "poor");
    let mut house = House::new(&cluster, "poor", None, Timing::default());
    house.wait("there is the namespace", || !house.names().is_empty());
    let quota = forbid(&cluster, "poor", "count/statefulsets.apps");
    until("the quota is in force", || {
        (probe(&cluster, "poor").status != 201).then_some(())
    });

    let ledger = house.deploy("ledger", 1);
    house.wait("the status names the quota", || {
        says(&house, ledger, "exceeded quota: nothing")
    });
    ask(&cluster, "DELETE", &quota, &[], None).expect(200);
    house.until_active(ledger, 1);
    house.remove(ledger);
    house.destroy();
    house.end();
}

#[test]
fn b98_a_quota_for_pods_is_in_the_status_though_the_workload_is_allowed() {
    let Some(cluster) = shared("b98_a_quota_for_pods") else {
        return;
    };
    let _players = Players::start(&cluster, "podless");
    let mut house = House::new(&cluster, "podless", None, Timing::default());
    house.wait("there is the namespace", || !house.names().is_empty());
    let quota = forbid(&cluster, "podless", "pods");
    let ledger = house.deploy("ledger", 1);
    house.wait("the status names the quota", || {
        says(&house, ledger, "exceeded quota: nothing, requested: pods=1")
    });
    let names = house.names();
    assert!(
        names.iter().any(|name| name.starts_with("StatefulSet")),
        "{names:?}"
    );
    ask(&cluster, "DELETE", &quota, &[], None).expect(200);
    house.until_active(ledger, 1);
    house.remove(ledger);
    house.destroy();
    house.end();
}
