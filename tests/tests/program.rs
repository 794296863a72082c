//! The real program: an application's whole life by its commands, each in a process of its own.
#![allow(missing_docs)]

use pilotage_tests::patience::until;
use pilotage_tests::program::{Desk, texts};
use serde_json::{Value, json};

const EMBEDDED: &str = "embedded cluster: pods are simulated, nothing runs";

fn with_ledger() -> Desk {
    let desk = Desk::new();
    desk.write(
        "ledger/metadata.yaml",
        "name: ledger-k8s\nsummary: Keeps books\ndescription: Keeps the books of a shop.\n\
         assumes: [k8s-api]\n\
         containers:\n  ledger:\n    resource: ledger-image\n    mounts:\n    - storage: data\n      location: /var/lib/ledger\n\
         resources:\n  ledger-image:\n    type: oci-image\n    upstream-source: registry.example/shop/ledger:2.4\n\
         storage:\n  data:\n    type: filesystem\n    minimum-size: 1G\n",
    );
    desk
}

/// Whether an application has so many units, all active, and is active itself.
fn active(status: &Value, name: &str, units: usize) -> bool {
    let application = &status["applications"][name];
    let all = application["units"].as_object();
    application["application-status"]["current"] == "active"
        && all.is_some_and(|all| {
            all.len() == units
                && all
                    .values()
                    .all(|unit| unit["workload-status"]["current"] == "active")
        })
}

#[test]
fn an_application_lives_from_deploy_to_nothing() {
    let desk = with_ledger();
    let service = desk.start("run");
    desk.ok("add-model shop");
    desk.ok("deploy ./ledger ledger -n 2");
    let status = desk.wait("two active units", |status| active(status, "ledger", 2));
    assert_eq!(
        status["storage"]["storage"]["data/0"]["status"]["current"],
        "attached"
    );
    assert_eq!(
        status["applications"]["ledger"]["units"]["ledger/0"]["leader"],
        true
    );

    desk.ok("scale-application ledger 3");
    desk.wait("three active units", |status| active(status, "ledger", 3));
    desk.ok("trust ledger --scope cluster");
    desk.ok("scale-application ledger 1");
    let status = desk.wait("one active unit", |status| active(status, "ledger", 1));
    let detached = &status["storage"]["storage"]["data/2"];
    assert_eq!(detached["status"]["current"], "detached", "{detached}");

    desk.ok("refresh ledger --path ./ledger");
    desk.wait("the new revision is active", |status| {
        status["applications"]["ledger"]["charm-rev"] == 1 && active(status, "ledger", 1)
    });
    desk.ok("remove-application ledger --no-prompt --destroy-storage");
    let status = desk.wait("nothing is left", |status| {
        status["applications"] == json!({}) && status["storage"] == json!({})
    });
    assert_eq!(status["model"]["name"], "shop");
    desk.ok("destroy-model shop --no-prompt");
    let output = desk.call("status -m shop");
    assert_eq!(output.status.code(), Some(1), "{output:?}");

    let (_, words, well) = service.stop();
    assert!(well, "{words}");
    assert!(words.contains(EMBEDDED), "{words}");
    assert!(desk.ok("replay").contains("no difference"));
}

#[test]
fn up_deploys_and_runs_and_says_each_change_in_a_line() {
    let desk = with_ledger();
    let up = desk.start("up ./ledger");
    desk.wait("one active unit", |status| active(status, "ledger-k8s", 1));
    desk.ok("scale ledger-k8s 2");
    desk.wait("two active units", |status| active(status, "ledger-k8s", 2));
    let (out, err, well) = up.stop();
    assert!(well, "{out}{err}");
    assert!(err.contains(EMBEDDED), "{err}");
    assert!(
        out.lines().any(|line| line == "ledger-k8s/0  active"),
        "{out}"
    );
    let again = desk.start("up ./ledger");
    let status = desk.wait("two active units", |status| active(status, "ledger-k8s", 2));
    assert_eq!(status["applications"]["ledger-k8s"]["charm-rev"], 0);
    again.stop();
}

#[test]
fn destroying_a_model_needs_no_provisioner_of_its_own() {
    let desk = with_ledger();
    desk.ok("add-model shop");
    desk.ok("deploy ./ledger ledger");
    let output = desk.call("destroy-model shop --no-prompt --destroy-storage --force");
    let (_, words) = texts(&output);
    assert!(output.status.success(), "{words}");
    assert!(
        words.starts_with("Destroying model\nWaiting for model to be removed, "),
        "{words}"
    );
    assert!(words.ends_with("Model destroyed.\n"), "{words}");
}

#[test]
fn a_second_provisioner_is_refused_and_the_first_is_named() {
    let desk = Desk::new();
    let service = desk.start("run");
    let holder = desk.folder().join("state.db.lock");
    until("the first holds the state", || {
        std::fs::read(&holder).ok().filter(|text| !text.is_empty())
    });
    let refused = desk.call("run");
    let (_, words) = texts(&refused);
    assert_eq!(refused.status.code(), Some(1), "{words}");
    assert!(
        words.contains("a provisioner is already running on"),
        "{words}"
    );
    service.stop();
}

#[test]
fn a_trace_that_cannot_be_written_is_refused_before_anything_is_said_or_made() {
    let desk = Desk::new();
    desk.write("file", "no folder");
    let refused = desk.call("run --trace ./file/traces");
    let (out, words) = texts(&refused);
    assert_eq!(refused.status.code(), Some(1), "{words}");
    assert!(
        words.starts_with("ERROR cannot write the trace in"),
        "{words}"
    );
    assert!(words.contains("--trace off"), "{words}");
    assert_eq!(out, "");
    let files = std::fs::read_dir(desk.folder()).expect("the folder");
    let names: Vec<_> = files
        .filter_map(|file| file.ok()?.file_name().into_string().ok())
        .collect();
    assert_eq!(names, ["file"]);
}

#[test]
fn waiting_ends_when_the_application_is_there() {
    let desk = with_ledger();
    let service = desk.start("run");
    desk.ok("deploy ./ledger ledger");
    let output = desk.call("wait-for application ledger --timeout 1m");
    let (out, err) = texts(&output);
    assert!(output.status.success(), "{err}");
    assert!(err.contains("Application \"ledger\" is running\n"), "{err}");
    assert_eq!(out, "properties:\n  life: alive\n  status: active\n");
    service.stop();
}

#[test]
fn a_service_asked_for_json_writes_an_object_per_outcome_with_application_and_effect() {
    let desk = with_ledger();
    let service = desk.start("run --log-format json");
    desk.ok("add-model shop");
    desk.ok("deploy ./ledger ledger -n 1");
    desk.wait("an active unit", |status| active(status, "ledger", 1));
    let (_, stderr, _) = service.stop();
    let lines: Vec<Value> = stderr
        .lines()
        .filter(|line| line.starts_with('{'))
        .map(|line| serde_json::from_str(line).expect(line))
        .collect();
    let created = lines.iter().any(|line| {
        line["application"] == "ledger"
            && line["outcome"] == "done"
            && line["effect"]["sequence"].is_number()
            && line["action"]
                .as_str()
                .is_some_and(|action| action.starts_with("create StatefulSet"))
    });
    assert!(created, "{stderr}");
    let (_, stderr) = texts(&desk.call("run --log-format xml"));
    assert!(stderr.contains("use text or json"), "{stderr}");
}

/// Lines of the log that tell of a status: what it was, and what it is.
fn changes(stderr: &str) -> Vec<(Value, Value)> {
    let lines = stderr.lines().filter(|line| line.starts_with('{'));
    lines
        .map(|line| serde_json::from_str::<Value>(line).expect(line))
        .filter(|line| line.get("from").is_some())
        .inspect(|line| {
            assert_eq!(line["application"], "ledger");
            assert!(
                line["message"].is_string() && line["time"].is_number(),
                "{line}"
            );
        })
        .map(|line| (line["from"].clone(), line["to"].clone()))
        .collect()
}

#[test]
fn a_service_asked_for_json_writes_a_line_per_change_of_a_status_and_none_on_a_restart() {
    let desk = with_ledger();
    let mut service = desk.start("run --log-format json");
    desk.ok("add-model shop");
    // It has read the state: what comes now is a change.
    service.until_it_says("create Namespace");
    desk.ok("deploy ./ledger ledger -n 1");
    // The line comes a moment after what it tells of.
    service.until_it_says("\"to\":\"active\"");
    let (_, stderr, _) = service.stop();
    let told = changes(&stderr);
    assert_eq!(told.first().map(|(from, _)| from), Some(&Value::Null));
    assert_eq!(
        told.last().map(|(_, to)| to),
        Some(&json!("active")),
        "{stderr}"
    );
    // Each begins where the one before ended: none is left out.
    assert!(told.is_sorted_by(|one, next| one.1 == next.0), "{told:?}");

    let mut service = desk.start("run --log-format json");
    desk.wait("it has read the state", |status| {
        active(status, "ledger", 1)
    });
    service.until_it_says("provisioner runs on");
    desk.ok("remove-application ledger --no-prompt --destroy-storage");
    service.until_it_says("\"to\":null");
    let (_, stderr, _) = service.stop();
    let told = changes(&stderr);
    // What it found when it started is no change.
    assert!(told.iter().all(|(from, _)| !from.is_null()), "{told:?}");
    assert_eq!(told.last().map(|(_, to)| to), Some(&Value::Null));
    assert!(told.is_sorted_by(|one, next| one.1 == next.0), "{told:?}");
}

#[test]
fn a_watch_of_the_status_ends_when_nobody_can_read_it() {
    let desk = with_ledger();
    desk.ok("add-model shop");
    let ended = |command: &mut std::process::Command| {
        let mut watch = command.spawn().expect("it runs");
        // Whoever reads goes away at once.
        drop(watch.stdout.take());
        until("the watch ends", || watch.try_wait().expect("its end"))
    };
    let full = std::fs::File::create("/dev/full").expect("a device that is full");
    let mut to_a_full_disk = desk.command("status --watch 100ms");
    let status = ended(to_a_full_disk.stdout(full));
    assert_eq!(status.code(), Some(1), "what could not be written fails");
    let mut to_nobody = desk.command("status --watch 100ms");
    let status = ended(to_nobody.stdout(std::process::Stdio::piped()));
    assert_eq!(status.code(), Some(0));
}

#[test]
fn what_has_no_end_is_not_read_to_its_end() {
    let desk = with_ledger();
    desk.ok("add-model shop");
    desk.ok("deploy ./ledger ledger");
    desk.write("nothing.jsonl", "");
    for (call, said) in [
        ("config ledger --file /dev/zero", "larger than 5 MiB"),
        (
            "deploy ./ledger other --config /dev/zero",
            "larger than 5 MiB",
        ),
        ("add-model other --config /dev/zero", "larger than 5 MiB"),
        ("model-config --file /dev/zero", "larger than 5 MiB"),
        ("deploy /dev/zero", "/dev/zero"),
        ("replay /dev/zero", "it is no file"),
        ("replay nothing.jsonl", "it is empty"),
    ] {
        let output = desk.call(call);
        let (_, words) = texts(&output);
        assert_eq!(output.status.code(), Some(1), "{call}: {words}");
        assert!(words.contains(said), "{call}: {words}");
    }
}

#[test]
fn a_provisioner_whose_state_or_lock_is_taken_away_ends_and_says_what_to_do() {
    for (file, away) in [
        ("state.db", "moved.db"),
        ("state.db.lock", "moved.lock"),
        ("state.db", "state.db"),
    ] {
        let desk = with_ledger();
        let mut service = desk.start("run");
        service.until_it_says("provisioner runs on");
        desk.ok("add-model shop");
        let (file, away) = (desk.folder().join(file), desk.folder().join(away));
        if file == away {
            // Another file in its place, as a copy that is put back.
            let copy = desk.folder().join("copy.db");
            std::fs::copy(&file, &copy).expect("a copy");
            std::fs::rename(&copy, &file).expect("it is put in its place");
        } else {
            std::fs::rename(&file, &away).expect("it is there");
        }
        let status = until("it ends", || service.ended());
        assert_eq!(status.code(), Some(1));
        let said = service.said();
        assert!(
            said.contains("was moved, deleted or replaced while it was in use"),
            "{said}"
        );
        assert!(said.contains(&*file.to_string_lossy()), "{said}");
    }
}

#[test]
fn a_state_has_one_lock_and_one_cluster_by_whatever_name_it_is_called() {
    let desk = with_ledger();
    std::os::unix::fs::symlink("state.db", desk.folder().join("link.db")).expect("a link");
    let link = desk.folder().join("link.db");
    let link = link.to_string_lossy();
    // The link comes first: what it leads to is not there yet.
    let mut service = desk.start_with("run", &[("PILOTAGE_STATE", &link)]);
    service.until_it_says("provisioner runs on");
    let second = desk.call("run");
    let (_, words) = texts(&second);
    assert!(
        words.contains("a provisioner is already running on"),
        "{words}"
    );
    desk.ok("add-model shop");
    desk.ok("deploy ./ledger ledger");
    desk.wait("an active unit", |status| active(status, "ledger", 1));
    let (_, words, well) = service.stop();
    assert!(well, "{words}");
    assert!(!desk.folder().join("link.db.lock").exists());
}
