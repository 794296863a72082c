//! One leader: of the processes that could act on a state, one does, and another goes on where it ends.

use pilotage_tests::control_plane::{Call, ControlPlane, Players, kind, shared};
use pilotage_tests::listener::{address, metric, page};
use pilotage_tests::patience::until;
use pilotage_tests::program::Desk;
use serde_json::{Value, json};

use pilotage_tests::life::{active, hello, left, model};

const OWN: &str = "pilotage-system";

pub fn ask(cluster: &ControlPlane, method: &str, path: &str, body: Option<&Value>) -> (u16, Value) {
    let call = Call {
        who: "alice",
        method,
        path,
        query: &[],
        content_type: if body.is_some() {
            "application/json"
        } else {
            ""
        },
        body,
    };
    let answer = cluster.client().call(&call).expect("the server answers");
    (answer.status, answer.body)
}

/// The lease of that name.
fn lease(cluster: &ControlPlane, name: &str) -> Value {
    let (status, lease) = ask(cluster, "GET", &kind("Lease").object(OWN, name), None);
    assert_eq!(status, 200, "{lease}");
    lease
}

/// The name of the lease of a process, by what it said.
fn name_of_lease(said: &str) -> String {
    let lease = said
        .lines()
        .find_map(|line| line.strip_prefix("lease: pilotage-system/"));
    lease.expect(said).to_owned()
}

fn holder(lease: &Value) -> &str {
    lease["spec"]["holderIdentity"].as_str().unwrap_or_default()
}

/// So many pods of a model are about to end.
fn ending(cluster: &ControlPlane, namespace: &str) -> usize {
    let (_, pods) = ask(cluster, "GET", &kind("Pod").collection(namespace), None);
    let pods = pods["items"].as_array().cloned().unwrap_or_default();
    let ending = |pod: &&Value| !pod["metadata"]["deletionTimestamp"].is_null();
    pods.iter().filter(ending).count()
}

#[test]
fn a_stand_by_finishes_what_a_killed_leader_began_to_scale_and_to_remove() {
    let Some(cluster) = shared("a_stand_by_finishes") else {
        return;
    };
    let players = Players::start(&cluster, "relay");
    let desk = Desk::on(&cluster, "pilotage");
    let run = "run --stand-by --lease-duration 2s";
    let mut first = desk.start_as("first", run, &[]);
    first.until_it_says("provisioner runs on");
    let mut second = desk.start_as("second", run, &[]);
    second.until_it_says("stand-by: a provisioner runs on");

    desk.ok("add-model relay");
    let uid = model(&desk);
    desk.ok(&format!("deploy {} hello", hello()));
    desk.ok("scale-application hello 3");
    desk.wait("three active units", |status| active(status, 3));
    players.hold_ending_pods(true);
    desk.ok("scale-application hello 1");
    until("pods are ending", || {
        (ending(&cluster, "relay") > 0).then_some(())
    });
    first.kill();
    second.until_it_says("provisioner runs on");
    players.hold_ending_pods(false);
    desk.wait("one active unit", |status| active(status, 1));

    let mut third = desk.start_as("third", run, &[]);
    third.until_it_says("stand-by: a provisioner runs on");
    players.hold_ending_pods(true);
    desk.ok("remove-application hello --no-prompt --destroy-storage");
    until("its pod is ending", || {
        (ending(&cluster, "relay") > 0).then_some(())
    });
    second.kill();
    third.until_it_says("provisioner runs on");
    players.hold_ending_pods(false);
    desk.wait("nothing is left", |status| {
        status["applications"] == json!({}) && status["storage"] == json!({})
    });
    desk.ok("destroy-model relay --no-prompt");
    assert_eq!(left(&cluster, uid), Vec::<String>::new());
    let (_, words, well) = third.stop();
    assert!(well, "{words}");
}

#[test]
fn a_copy_of_a_state_waits_for_the_lease_until_it_is_given_back_or_not_renewed() {
    let Some(cluster) = shared("a_copy_of_a_state_waits") else {
        return;
    };
    let _players = Players::start(&cluster, "copied");
    let desk = Desk::on(&cluster, "pilotage");
    let run = "run --lease-duration 3s --listen 127.0.0.1:0";
    let mut first = desk.start(run);
    first.until_it_says("provisioner runs on");
    desk.ok("add-model copied");
    let uid = model(&desk);
    desk.ok(&format!("deploy {} hello", hello()));
    desk.wait("one active unit", |status| active(status, 1));
    // All that was written is in the file.
    let (_, words, well) = first.stop();
    assert!(well, "{words}");
    let copy = Desk::on(&cluster, "pilotage");
    for file in ["state.db", "state.db-wal", "state.db-shm"] {
        if let Ok(bytes) = std::fs::read(desk.folder().join(file)) {
            std::fs::write(copy.folder().join(file), bytes).expect("a copy");
        }
    }

    let mut first = desk.start(run);
    first.until_it_says("provisioner runs on");
    let mut second = copy.start(run);
    second.until_it_says("stand-by: the lease pilotage-system/pilotage-");
    let name = name_of_lease(&second.said());
    let held = lease(&cluster, &name);
    assert_eq!(held["spec"]["leaseDurationSeconds"], 3);
    let first_holder = holder(&held).to_owned();
    assert!(second.said().contains(&first_holder), "{}", second.said());
    let leads = format!("leader_election_master_status{{name=\"{OWN}/{name}\"}}");
    for (process, led, checks) in [
        (&mut first, 1.0, "[+]lease ok\n[+]sources ok\nok\n"),
        (&mut second, 0.0, "[+]lease ok\nok\n"),
    ] {
        let address = address(process);
        until("it is ready", || {
            let (status, text) = page(&address, "/readyz?verbose");
            (status == 200 && text == checks).then_some(())
        });
        let (status, text) = page(&address, "/livez?verbose");
        assert_eq!((status, &*text), (200, "[+]loop ok\n[+]election ok\nok\n"));
        let (_, text) = page(&address, "/metrics");
        assert!((metric(&text, &leads) - led).abs() < 0.5, "{text}");
        let host = cluster.client().base().trim_start_matches("https://");
        let asked =
            format!("rest_client_requests_total{{code=\"200\",host=\"{host}\",method=\"GET\"}}");
        assert!(metric(&text, &asked) > 0.0, "{text}");
    }

    // Given back: nobody has it, and whoever waits takes it.
    let (_, words, well) = first.stop();
    assert!(well, "{words}");
    second.until_it_says("provisioner runs on");
    assert_ne!(holder(&lease(&cluster, &name)), first_holder);
    copy.ok("switch copied");
    assert!(copy.status()["applications"]["hello"].is_object());

    // Killed: whoever waits takes it when it was not renewed for its time.
    let mut third = desk.start(run);
    third.until_it_says("stand-by: the lease");
    second.kill();
    third.until_it_says("provisioner runs on");
    assert_eq!(holder(&lease(&cluster, &name)), first_holder);

    desk.ok("remove-application hello --no-prompt --destroy-storage");
    desk.wait("nothing is left", |status| {
        status["applications"] == json!({})
    });
    desk.ok("destroy-model copied --no-prompt");
    assert_eq!(left(&cluster, uid), Vec::<String>::new());
    let (_, words, well) = third.stop();
    assert!(well, "{words}");
    assert_eq!(holder(&lease(&cluster, &name)), "", "it is given back");
}

#[test]
fn a_leader_that_loses_the_lease_does_nothing_more_until_it_has_it_again() {
    let Some(cluster) = shared("a_leader_that_loses_the_lease") else {
        return;
    };
    let _players = Players::start(&cluster, "robbed");
    let desk = Desk::on(&cluster, "pilotage");
    let mut service = desk.start("run --lease-duration 3s");
    service.until_it_says("provisioner runs on");
    desk.ok("add-model robbed");
    let uid = model(&desk);
    desk.ok(&format!("deploy {} hello", hello()));
    desk.wait("one active unit", |status| active(status, 1));

    let path = kind("Lease").object(OWN, &name_of_lease(&service.said()));
    // Each write of the thief is a sign of life.
    let steal = |holder: &str| {
        until("the lease is written", || {
            let (_, mut stolen) = ask(&cluster, "GET", &path, None);
            stolen["spec"]["holderIdentity"] = json!(holder);
            let (status, _) = ask(&cluster, "PUT", &path, Some(&stolen));
            (status == 200).then_some(())
        });
    };
    steal("thief");
    service.until_it_says("is lost: nothing more is done until it is ours again");
    desk.ok("scale-application hello 2");
    let set = kind("StatefulSet").object("robbed", "hello");
    for sign in 0..20 {
        steal(&format!("thief-{sign}"));
        let (_, set) = ask(&cluster, "GET", &set, None);
        assert_eq!(set["spec"]["replicas"], 1, "it acts without the lease");
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    service.until_it_says("held by thief");
    // The thief is heard of no more.
    desk.wait("two active units", |status| active(status, 2));
    desk.ok("remove-application hello --no-prompt --destroy-storage");
    desk.wait("nothing is left", |status| {
        status["applications"] == json!({})
    });
    desk.ok("destroy-model robbed --no-prompt");
    assert_eq!(left(&cluster, uid), Vec::<String>::new());
    let (_, words, well) = service.stop();
    assert!(well, "{words}");
    assert!(desk.ok("replay").contains("no difference"));
}
