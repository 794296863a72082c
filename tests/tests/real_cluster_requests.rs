//! What Pilotage asks of an API server, counted by the server's audit log: the formula of the README.
#![allow(missing_docs)]

use std::collections::BTreeMap;

use pilotage_core::effect::Action;
use pilotage_core::kubernetes::Kind;
use pilotage_core::name::Uid;
use pilotage_core::trace::{Line, unseal};
use pilotage_interpreter::cluster::Timing;
use pilotage_sim::workload;
use pilotage_tests::control_plane::{Asked, Call, ControlPlane, Players, count, shared};
use pilotage_tests::house::House;
use pilotage_tests::patience::until;
use serde_json::{Value, json};

/// The objects that an application is made of, and the Event that announces it, all of them posts: nothing else is
/// asked. A model is one namespace.
const POSTS: [&str; 9] = [
    "serviceaccounts",
    "roles",
    "clusterroles",
    "rolebindings",
    "clusterrolebindings",
    "services",
    "services",
    "statefulsets",
    "events",
];

/// What is asked to converge applications of one model, that of which included, and to start: by verb and resource.
fn formula(models: usize, applications: usize) -> BTreeMap<String, usize> {
    let mut counts = start();
    if models > 0 {
        counts.insert("create namespaces".into(), models);
    }
    for plural in POSTS {
        *counts.entry(format!("create {plural}")).or_default() += applications;
    }
    counts
}

/// One list with a watch for each kind; and one read, by which the cluster is known.
fn start() -> BTreeMap<String, usize> {
    let watches = Kind::ALL.map(|kind| {
        let plural = pilotage_sim::cluster::effects::resource(kind).plural();
        (format!("watch {plural}"), 1)
    });
    let mut counts = BTreeMap::from(watches);
    counts.insert("get namespaces".into(), 1);
    counts
}

fn is_a_list(asked: &Asked) -> bool {
    asked.verb == "watch" && asked.uri.contains("sendInitialEvents=true")
}

#[test]
fn applications_converge_with_the_requests_of_the_formula_and_ask_for_nothing_when_idle() {
    let Some(cluster) = shared("applications_converge_with_the_requests") else {
        return;
    };
    let _players = Players::start(&cluster, "counted");
    let kubeconfig = cluster.kubeconfig_of("counted", None);
    let mut house = House::new(&cluster, "counted", Some(kubeconfig), Timing::default());
    let sizes = [(0, 0), (1, 0), (3, 1), (2, 2)];
    for (index, (units, claims)) in sizes.into_iter().enumerate() {
        let mut new = workload::ledger_application(house.model, &format!("ledger{index}"), units);
        new.filesystems = (0..claims)
            .map(|number| workload::claim(&format!("data{number}"), 64))
            .collect();
        let application = house.add(new);
        house.until_active(application, units as usize);
        let asked = cluster.asked("counted");
        assert_eq!(count(&asked), formula(1, index + 1), "{asked:#?}");
        let states = commands(&house, application);
        // Fewer where several changes came while a report was on its way.
        let most = 2 + 5 * units + units * claims + if units * claims > 0 { 2 } else { 0 };
        assert!(
            (1..=most as usize).contains(&states),
            "{states} commands to the state, of {most} at most"
        );
    }
    let before = cluster.asked("counted");
    let refused = before.iter().filter(|asked| asked.code >= 300);
    assert_eq!(refused.count(), 0, "{before:#?}");
    assert!(
        before
            .iter()
            .all(|asked| asked.verb != "watch" || is_a_list(asked)),
        "the first watches are lists too: {before:#?}"
    );

    // Idle is what is told a hundred changes that do not matter: the span has no other measure.
    let mut last = String::new();
    for number in 0..100 {
        let pod = json!({ "metadata": { "annotations": { "note": number.to_string() } } });
        let path = "/api/v1/namespaces/counted/pods/ledger1-0";
        let answer = alter(&cluster, path, &pod);
        last = answer["metadata"]["resourceVersion"].to_string();
    }
    until("it was told the last change", || {
        let trace = std::fs::read_to_string(house.trace()).expect("the trace");
        let version = format!(r#""resourceVersion":{last}"#);
        trace.contains(&version).then_some(())
    });
    assert_eq!(cluster.asked("counted"), before);
    for record in house.snapshot().applications {
        house.remove(record.uid);
    }
    house.destroy();
    house.end();
}

#[test]
fn on_a_restart_with_five_hundred_applications_nothing_is_written_and_each_kind_is_listed_once() {
    let Some(cluster) = shared("on_a_restart_with_five_hundred") else {
        return;
    };
    let _players = Players::start(&cluster, "restarted");
    let kubeconfig = cluster.kubeconfig_of("restarted", None);
    let mut house = House::new(&cluster, "restarted", Some(kubeconfig), Timing::default());
    // Those without units show how many there may be; those with, that pods and claims change nothing.
    let mut ledgers: Vec<(Uid, u32)> = Vec::new();
    for number in 0..500 {
        let units = if number % 50 == 0 { 2 } else { 0 };
        ledgers.push((house.deploy(&format!("ledger{number}"), units), units));
    }
    house.until_all_active();
    let asked = cluster.asked("restarted");
    assert_eq!(count(&asked), formula(1, ledgers.len()));

    house.end();
    let before = house.snapshot();
    house.start();
    // Whatever it has to do, it does before it has made one application more: workers act when everything is listed.
    let last = house.deploy("last", 1);
    house.until_active(last, 1);
    let asked = &cluster.asked("restarted")[asked.len()..];
    assert_eq!(count(asked), formula(0, 1), "{asked:#?}");
    let written = asked.iter().filter(|asked| asked.writes());
    let others: Vec<&Asked> = written
        .filter(|asked| !asked.name.is_empty() && !asked.name.contains("last"))
        .collect();
    assert!(others.is_empty(), "{others:#?}");
    let mut after = house.snapshot().applications;
    after.retain(|record| record.uid != last);
    assert!(
        after == before.applications,
        "a record was written though nothing had changed"
    );
    house.end();
}

/// How many commands to the state were made for an application.
fn commands(house: &House, application: Uid) -> usize {
    let trace = std::fs::read_to_string(house.trace()).expect("the trace");
    let steps = trace.lines().filter_map(|line| match unseal(line) {
        Ok(Line::Step(step)) => Some(step),
        _ => None,
    });
    steps
        .flat_map(|step| step.effects)
        .filter(|effect| effect.id.owner == application)
        .filter(|effect| matches!(effect.action, Action::Store(_)))
        .count()
}

fn alter(cluster: &ControlPlane, path: &str, patch: &Value) -> Value {
    let call = Call {
        who: "kubelet",
        method: "PATCH",
        path,
        query: &[],
        content_type: "application/merge-patch+json",
        body: Some(patch),
    };
    let answer = cluster.client().call(&call);
    answer.expect("the server answers").expect(200)
}
