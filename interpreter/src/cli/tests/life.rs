//! An application's life on a state that nothing acts on: what each command says, and what the next one shows.

use super::Desk;

/// What a call says that must succeed.
fn told(desk: &Desk, words: &str) -> String {
    let said = desk.call(words);
    assert_eq!(said.code, 0, "{words}: {}", said.story());
    said.err.replace(
        "no provisioner is running on this state; start one with: pilotage run\n",
        "",
    )
}

fn shown(desk: &Desk, words: &str) -> String {
    let said = desk.call(words);
    assert_eq!(said.code, 0, "{words}: {}", said.story());
    said.out
}

#[test]
fn a_deploy_says_what_it_does_and_that_nothing_acts_on_it() {
    let desk = Desk::new().with_ledger();
    insta::assert_snapshot!(desk.call("deploy ./ledger shop-ledger -n 2").story());
}

#[test]
fn a_read_does_not_make_the_state() {
    let desk = Desk::new();
    assert_eq!(desk.call("status --format json").code, 0);
    assert_eq!(desk.call("models").code, 0);
    assert!(!desk.path("state.db").exists());
}

#[test]
fn the_status_of_an_empty_model_says_so() {
    let desk = Desk::new();
    assert_eq!(
        desk.call("status --format json").err,
        "\nModel \"admin/default\" is empty.\n\
         There is no state at FOLDER/state.db yet; the first deploy makes it.\n"
    );
    let json: serde_json::Value =
        serde_json::from_str(&shown(&desk, "status --format json")).unwrap();
    assert_eq!(json["applications"], serde_json::json!({}));
    assert_eq!(json["machines"], serde_json::json!({}));
    assert_eq!(json["storage"], serde_json::json!({}));
}

#[test]
fn units_wait_and_say_why() {
    let desk = Desk::new().with_ledger();
    told(&desk, "deploy ./ledger ledger");
    let status = shown(&desk, "status --no-color ledger");
    assert!(
        status.contains("no provisioner is running on this state"),
        "{status}"
    );
}

#[test]
fn the_scale_is_set_raised_and_lowered() {
    let desk = Desk::new().with_ledger();
    told(&desk, "deploy ./ledger ledger");
    let scale = || {
        let json: serde_json::Value =
            serde_json::from_str(&shown(&desk, "status --format json")).unwrap();
        json["applications"]["ledger"]["scale"].clone()
    };
    assert_eq!(told(&desk, "add-unit ledger"), "");
    assert_eq!(scale(), 2);
    assert_eq!(told(&desk, "add-unit ledger -n3"), "");
    assert_eq!(scale(), 5);
    assert_eq!(
        told(&desk, "remove-unit ledger --num-units 4 --no-prompt"),
        "scaling down to 1 units\n"
    );
    assert_eq!(scale(), 1);
    assert_eq!(
        told(&desk, "scale-application ledger 3"),
        "ledger scaled to 3 units\n"
    );
    assert_eq!(told(&desk, "scale ledger 3"), "ledger scaled to 3 units\n");
    assert_eq!(scale(), 3);
    told(&desk, "scale ledger 0");
    assert_eq!(scale(), serde_json::Value::Null);
}

#[test]
fn options_are_set_read_and_reset() {
    let desk = Desk::new().with_ledger();
    told(
        &desk,
        "deploy ./ledger ledger --config port=1 --config port=2 --config name=a=b",
    );
    assert_eq!(shown(&desk, "config ledger port"), "2\n");
    assert_eq!(shown(&desk, "config ledger name"), "a=b\n");
    told(
        &desk,
        "config ledger port=5433 ratio=0.25 debug=T trust=true",
    );
    insta::assert_snapshot!("config_yaml", shown(&desk, "config ledger"));
    let json: serde_json::Value =
        serde_json::from_str(&shown(&desk, "config ledger --format json")).unwrap();
    assert_eq!(json["settings"]["port"]["value"], 5433);
    assert_eq!(json["settings"]["port"]["source"], "user");
    assert_eq!(json["settings"]["debug"]["value"], true);
    assert_eq!(json["application-config"]["trust"]["value"], true);
    told(
        &desk,
        "config ledger --reset port,name --reset trust debug=false",
    );
    assert_eq!(shown(&desk, "config ledger port"), "5432\n");
    assert_eq!(shown(&desk, "config ledger name"), "\n");
    assert_eq!(shown(&desk, "config ledger trust"), "false\n");
    desk.write("values.yaml", "ledger:\n  port: 7\n  name: \"7\"\n");
    told(&desk, "config ledger --file values.yaml port=8");
    assert_eq!(shown(&desk, "config ledger port"), "8\n");
    assert_eq!(shown(&desk, "config ledger name"), "7\n");
}

#[test]
fn a_mistake_among_several_options_changes_none() {
    let desk = Desk::new().with_ledger();
    told(&desk, "deploy ./ledger ledger");
    let said = desk.call("config ledger port=1 nothing=2");
    assert_eq!(said.story(), "ERROR unknown option \"nothing\"\n[1]\n");
    assert_eq!(shown(&desk, "config ledger port"), "5432\n");
}

#[test]
fn trust_needs_its_scope_and_goes_without() {
    let desk = Desk::new().with_ledger();
    told(&desk, "deploy ./ledger ledger");
    assert_eq!(told(&desk, "trust ledger --scope=cluster"), "");
    assert_eq!(shown(&desk, "config ledger trust"), "true\n");
    assert_eq!(told(&desk, "trust ledger --remove"), "");
    assert_eq!(shown(&desk, "config ledger trust"), "false\n");
}

#[test]
fn a_refresh_makes_a_new_revision_each_time() {
    let desk = Desk::new().with_ledger();
    told(&desk, "deploy ./ledger ledger");
    let added = |revision: u32| {
        format!("Added local charm \"ledger-k8s\", revision {revision}, to the model\n")
    };
    assert_eq!(told(&desk, "refresh ledger --path ./ledger"), added(1));
    desk.write_ledger("ledger2", "registry.example/shop/ledger:3");
    assert_eq!(
        told(
            &desk,
            "refresh ledger --path ./ledger2 --force --force-base --force-units"
        ),
        added(2)
    );
    insta::assert_snapshot!(shown(&desk, "show-application ledger"));
    let status = shown(&desk, "status ledger --format json");
    assert!(status.contains("\"charm-rev\":2"), "{status}");
    assert!(
        status.contains("registry.example/shop/ledger:3"),
        "{status}"
    );
    told(
        &desk,
        "refresh ledger --resource ledger-image=other.example/ledger:1",
    );
    assert!(shown(&desk, "status --format json").contains("other.example/ledger:1"));
}

#[test]
fn resources_are_listed_and_attached() {
    let desk = Desk::new().with_ledger();
    told(&desk, "deploy ./ledger ledger");
    insta::assert_snapshot!(shown(&desk, "resources ledger"));
    told(
        &desk,
        "attach-resource ledger ledger-image=other.example/ledger:1",
    );
    let json: serde_json::Value =
        serde_json::from_str(&shown(&desk, "resources ledger --format json")).unwrap();
    assert_eq!(json["resources"][0]["path"], "other.example/ledger:1");
    assert_eq!(json["resources"][0]["revision"], "1");
}

#[test]
fn a_password_of_a_registry_is_nowhere_but_in_the_vault() {
    let desk = Desk::new().with_ledger();
    desk.write(
        "image.json",
        r#"{"registrypath": "private.example/ledger:1", "username": "me", "password": "canary-7f3"}"#,
    );
    let said = desk.call("deploy ./ledger ledger --resource ledger-image=./image.json");
    assert_eq!(said.code, 0, "{}", said.story());
    let mut told = said.story();
    for words in [
        "status --format json",
        "resources ledger --format json",
        "config ledger",
        "show-application ledger",
    ] {
        told.push_str(&desk.call(words).story());
    }
    assert!(told.contains("private.example/ledger:1"));
    assert!(!told.contains("canary-7f3"), "{told}");
}

#[test]
fn constraints_are_replaced_as_a_whole() {
    let desk = Desk::new().with_ledger();
    told(
        &desk,
        "deploy ./ledger ledger --constraints mem=1G --constraints cpu-power=500",
    );
    assert_eq!(
        shown(&desk, "constraints ledger"),
        "cpu-power=500 mem=1024M\n"
    );
    assert_eq!(
        told(&desk, "set-constraints ledger mem=2G cores=2"),
        "WARNING unsupported constraints: cores\n"
    );
    assert_eq!(
        shown(&desk, "constraints ledger --format json"),
        "{\"cores\":2,\"mem\":2048}\n"
    );
    told(&desk, "set-constraints ledger");
    assert_eq!(shown(&desk, "constraints ledger"), "\n");
    told(&desk, "set-model-constraints mem=1G");
    assert_eq!(
        shown(&desk, "model-constraints --format json"),
        "{\"mem\":1024}\n"
    );
}

#[test]
fn removal_is_told_asked_and_shown() {
    let desk = Desk::new().with_ledger();
    told(&desk, "deploy ./ledger ledger");
    insta::assert_snapshot!(
        "removal_dry",
        desk.call("remove-application ledger --dry-run").story()
    );
    insta::assert_snapshot!(
        "removal_aborted",
        desk.call_with(&["remove-application", "ledger"], "n\n")
            .story()
    );
    insta::assert_snapshot!(
        "removal",
        desk.call("remove-application ledger nothing --no-prompt --destroy-storage")
            .story()
    );
    let status = shown(&desk, "status --format json");
    assert!(status.contains("\"life\":\"dying\""), "{status}");
    assert_eq!(desk.call("remove-application ledger --no-prompt").code, 0);
    let again = desk.call("deploy ./ledger ledger");
    insta::assert_snapshot!("name_in_use", again.story());
}

#[test]
fn units_and_applications_are_shown() {
    let desk = Desk::new().with_ledger();
    told(&desk, "deploy ./ledger ledger -n 2");
    insta::assert_snapshot!(shown(&desk, "show-unit ledger/1 ledger/0"));
    let json: serde_json::Value =
        serde_json::from_str(&shown(&desk, "show-unit ledger/0 --format json")).unwrap();
    assert_eq!(json["ledger/0"]["opened-ports"], serde_json::json!([]));
    assert_eq!(json["ledger/0"]["leader"], true);
}

#[test]
fn output_goes_to_a_file_if_one_is_named() {
    let desk = Desk::new();
    let said = desk.call("version -o out.txt --format json");
    assert_eq!((said.code, said.out.as_str()), (0, ""));
    let written = std::fs::read_to_string(desk.path("out.txt")).unwrap();
    assert!(written.starts_with("\"3.6.11-"), "{written}");
}

#[test]
fn a_dry_run_writes_nothing() {
    let desk = Desk::new().with_ledger();
    let said = desk.call("deploy ./ledger ledger --dry-run -n 2");
    insta::assert_snapshot!("dry_run", said.story());
    assert!(!desk.path("state.db").exists());
}

#[test]
fn a_dry_refresh_says_what_would_change_and_be_done_and_does_nothing() {
    let desk = Desk::new().with_ledger();
    desk.write(
        "private.json",
        r#"{"registrypath": "registry.example/ledger:9", "username": "clerk", "password": "canary"}"#,
    );
    told(&desk, "deploy ./ledger ledger -n 2");
    let before = shown(&desk, "status --format yaml --utc");
    let record = |text: &str| text.split("controller:").next().unwrap_or("").to_owned();
    let lines = [
        "refresh ledger --dry-run --path ./ledger --config port=7",
        "refresh ledger --dry-run --trust",
        "refresh ledger --dry-run --config port=5432",
        "refresh ledger --dry-run --resource ledger-image=./private.json",
        "refresh ledger --dry-run --storage data=2G",
        "refresh ledger --dry-run",
    ];
    let story: String = lines
        .iter()
        .map(|line| format!("$ {line}\n{}\n", desk.call(line).story()))
        .collect();
    assert!(!story.contains("canary"), "{story}");
    insta::assert_snapshot!(story);
    let after = shown(&desk, "status --format yaml --utc");
    assert_eq!(record(&after), record(&before));
    // The revision that was foretold is the one that is drawn.
    let refreshed = desk.call("refresh ledger --path ./ledger");
    assert!(refreshed.err.contains("revision 1,"), "{refreshed:?}");
}

#[test]
fn a_bundle_is_deployed_and_brought_to_its_values_again() {
    let desk = Desk::new().with_ledger();
    desk.write(
        "bundle.yaml",
        "applications:\n  books:\n    charm: ./ledger\n    scale: 2\n    options: {port: 1}\n  \
         archive:\n    charm: ./ledger\nrelations:\n- [books:a, archive:b]\n",
    );
    insta::assert_snapshot!(
        "bundle_dry",
        desk.call("deploy ./bundle.yaml --dry-run").story()
    );
    assert!(!desk.path("state.db").exists());
    insta::assert_snapshot!("bundle", desk.call("deploy ./bundle.yaml").story());
    insta::assert_snapshot!("bundle_again", desk.call("deploy ./bundle.yaml").story());
    told(&desk, "scale books 5");
    told(&desk, "config books port=9");
    insta::assert_snapshot!(
        "bundle_dry_change",
        desk.call("deploy ./bundle.yaml --dry-run").story()
    );
    insta::assert_snapshot!("up_dry", desk.call("up ./bundle.yaml --dry-run").story());
    assert_eq!(shown(&desk, "config books port"), "9\n");
    insta::assert_snapshot!("bundle_changed", desk.call("deploy ./bundle.yaml").story());
    assert_eq!(shown(&desk, "config books port"), "1\n");
}

#[test]
fn a_bundle_is_refused_as_a_whole_with_all_that_is_missing() {
    let desk = Desk::new().with_ledger();
    desk.write(
        "bundle.yaml",
        "applications:\n  books:\n    charm: ./ledger\n  db:\n    charm: postgresql-k8s\n  web:\n    charm: ch:web-k8s\n",
    );
    insta::assert_snapshot!(desk.call("deploy ./bundle.yaml").story());
    assert!(!desk.path("state.db").exists());
}
