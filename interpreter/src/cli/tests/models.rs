//! Models: made, chosen, shown, set (command line, 1.7 and 2.7).

use pilotage_core::name::Uid;

use super::Desk;
use crate::store::{Sqlite, Store};

const NOBODY: &str = "no provisioner is running on this state; start one with: pilotage run\n";

fn story(desk: &Desk, words: &str) -> String {
    desk.call(words).story().replace(NOBODY, "")
}

#[test]
fn a_model_is_added_chosen_and_switched() {
    let desk = Desk::new();
    assert_eq!(story(&desk, "switch"), "pilotage:admin/default\n[0]\n");
    assert_eq!(
        story(&desk, "add-model shop"),
        "Added 'shop' model on embedded for user 'admin'\n[0]\n"
    );
    assert_eq!(story(&desk, "switch"), "pilotage:admin/shop\n[0]\n");
    assert_eq!(
        story(&desk, "add-model --no-switch other"),
        "Added 'other' model on embedded for user 'admin'\n[0]\n"
    );
    assert_eq!(story(&desk, "switch"), "pilotage:admin/shop\n[0]\n");
    assert_eq!(
        story(&desk, "switch other"),
        "pilotage:admin/shop -> pilotage:admin/other\n[0]\n"
    );
    assert_eq!(
        story(&desk, "switch pilotage:other"),
        "pilotage:admin/other (no change)\n[0]\n"
    );
    assert_eq!(
        story(&desk, "switch nothing"),
        "ERROR \"nothing\" is not the name of a model or controller\n[1]\n"
    );
}

#[test]
fn a_variable_names_the_model_and_forbids_to_switch() {
    let mut desk = Desk::new();
    story(&desk, "add-model shop");
    desk.environment
        .variables
        .insert("JUJU_MODEL".into(), "shop".into());
    assert_eq!(story(&desk, "switch"), "pilotage:admin/shop\n[0]\n");
    assert_eq!(
        story(&desk, "switch default"),
        "ERROR cannot switch when JUJU_MODEL is overriding the model (set to \"shop\")\n[1]\n"
    );
}

#[test]
fn a_model_is_named_with_controller_user_or_the_beginning_of_its_uid() {
    let desk = Desk::new();
    story(&desk, "add-model --no-switch shop");
    let json: serde_json::Value =
        serde_json::from_str(&desk.call("show-model shop --format json").out).unwrap();
    let uid = json["shop"]["model-uuid"].as_str().unwrap().to_owned();
    for name in [
        "shop",
        "admin/shop",
        "pilotage:shop",
        "pilotage:admin/shop",
        &uid,
        &uid[..6],
    ] {
        let said = desk.call_with(&["status", "-m", name], "");
        assert_eq!(said.code, 0, "{name}: {}", said.story());
    }
    assert_eq!(
        story(&desk, "status -m else:shop"),
        "ERROR controller else not found\n[2]\n"
    );
    assert_eq!(
        story(&desk, "status -m bob/shop --format json"),
        "{}\nERROR model pilotage:bob/shop not found\n[1]\n"
    );
}

#[test]
fn names_of_models_are_checked() {
    let desk = Desk::new();
    assert_eq!(
        story(&desk, "add-model Shop"),
        "ERROR \"Shop\" is not a valid name: model names may only contain lowercase letters, digits and hyphens\n[2]\n"
    );
    story(&desk, "add-model shop");
    assert_eq!(
        story(&desk, "add-model shop"),
        "ERROR model \"shop\" already exists\n[1]\n"
    );
    assert_eq!(
        story(&desk, "add-model x aws/eu"),
        "ERROR cloud \"aws/eu\" is not known; the cloud here is \"embedded\"\n[1]\n"
    );
}

#[test]
fn models_are_listed() {
    let desk = Desk::new();
    story(&desk, "add-model shop");
    story(&desk, "add-model --no-switch a10");
    story(&desk, "add-model --no-switch a2");
    insta::assert_snapshot!(story(&desk, "models"));
    let json: serde_json::Value =
        serde_json::from_str(&desk.call("models --format json").out).unwrap();
    assert_eq!(json["current-model"], "shop");
    let names: Vec<&str> = json["models"]
        .as_array()
        .unwrap()
        .iter()
        .map(|model| model["short-name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["a2", "a10", "shop"]);
}

#[test]
fn a_model_is_shown_with_everything_that_jubilant_needs() {
    let desk = Desk::new();
    story(&desk, "add-model shop");
    let json: serde_json::Value =
        serde_json::from_str(&desk.call("show-model --format json").out).unwrap();
    let shop = &json["shop"];
    for key in [
        "name",
        "short-name",
        "model-uuid",
        "model-type",
        "controller-uuid",
        "controller-name",
        "is-controller",
        "owner",
        "cloud",
        "type",
        "life",
        "status",
        "users",
        "agent-version",
    ] {
        assert!(!shop[key].is_null(), "{key}");
    }
    assert_eq!(shop["name"], "admin/shop");
    assert_eq!(shop["status"]["since"], "just now");
}

#[test]
fn settings_of_a_model_are_set_read_and_reset() {
    let desk = Desk::new();
    story(&desk, "add-model shop");
    insta::assert_snapshot!(story(&desk, "model-config"));
    assert_eq!(
        story(&desk, "model-config workload-storage=fast development=true"),
        "[0]\n"
    );
    assert_eq!(story(&desk, "model-config workload-storage"), "fast\n[0]\n");
    assert_eq!(
        story(&desk, "model-config workload-storage --format json"),
        "{\"workload-storage\":{\"Value\":\"fast\",\"Source\":\"model\"}}\n[0]\n"
    );
    assert_eq!(
        story(&desk, "model-config development --format yaml"),
        "development:\n  value: true\n  source: model\n[0]\n"
    );
    assert_eq!(
        story(&desk, "model-config --reset workload-storage"),
        "[0]\n"
    );
    assert_eq!(story(&desk, "model-config workload-storage"), "\n[0]\n");
    assert_eq!(
        story(&desk, "model-config nothing"),
        "ERROR \"nothing\" is not a key of the currently targeted model: \"admin/shop\"\n[1]\n"
    );
    assert_eq!(
        story(&desk, "model-config nothing=1"),
        "WARNING key \"nothing\" is not defined in the current model configuration: possible misspelling\n[0]\n"
    );
    assert_eq!(story(&desk, "model-config nothing"), "1\n[0]\n");
    assert_eq!(
        story(&desk, "model-config agent-version=1"),
        "ERROR setting \"agent-version\" cannot be changed\n[1]\n"
    );
}

#[test]
fn the_cloud_is_the_one_that_the_state_belongs_to_unless_a_variable_says_another() {
    let mut desk = Desk::new();
    let cloud = |desk: &Desk| {
        let said = desk.call("status --format json").out;
        let status: serde_json::Value = serde_json::from_str(&said).unwrap();
        status["model"]["cloud"].as_str().unwrap().to_owned()
    };
    assert_eq!(cloud(&desk), "embedded");
    let store = Sqlite::new(desk.path("state.db"));
    store.bind_cluster(Uid(7)).unwrap();
    assert_eq!(cloud(&desk), "kubernetes", "nothing lies beside it");
    store.name_cluster("staging").unwrap();
    assert_eq!(cloud(&desk), "staging");
    assert_eq!(
        story(&desk, "add-model shop other"),
        "ERROR cloud \"other\" is not known; the cloud here is \"staging\"\n[1]\n"
    );
    assert_eq!(
        story(&desk, "add-model shop staging"),
        "Added 'shop' model on staging for user 'admin'\n[0]\n"
    );
    assert!(desk.call("models").out.contains("staging"));
    let named = [
        ("PILOTAGE_CLUSTER", "kubeconfig:prod"),
        ("PILOTAGE_CLOUD", "sky"),
    ];
    for (variable, value) in named {
        let variables = &mut desk.environment.variables;
        variables.insert(variable.into(), value.into());
        let expected = value.trim_start_matches("kubeconfig:");
        assert_eq!(cloud(&desk), expected);
    }
}

#[test]
fn a_name_that_the_state_keeps_already_is_not_written_again() {
    let desk = Desk::new();
    let store = Sqlite::new(desk.path("state.db"));
    store.bind_cluster(Uid(7)).unwrap();
    store.name_cluster("staging").unwrap();
    let write_ahead = || std::fs::metadata(desk.path("state.db-wal")).unwrap().len();
    let before = write_ahead();
    store.name_cluster("staging").unwrap();
    assert_eq!(write_ahead(), before);
    store.name_cluster("prod").unwrap();
    assert!(write_ahead() > before, "a new one is");
    let bound = store.cluster().unwrap().unwrap();
    assert_eq!((bound.uid, bound.name.as_deref()), (Uid(7), Some("prod")));
}

/// Whatever model is asked for, and also where the one that is lost is asked for and is not found.
#[test]
fn an_application_whose_models_record_was_taken_away_is_named_by_every_status() {
    let desk = Desk::new().with_ledger();
    for call in [
        "add-model shop",
        "deploy ./ledger till -m shop",
        "add-model harbour",
    ] {
        let said = desk.call(call);
        assert_eq!(said.code, 0, "{}", said.story());
    }
    let clean = desk.call("status -m shop").err;
    assert!(!clean.contains("no record"), "{clean}");
    rusqlite::Connection::open(desk.path("state.db"))
        .and_then(|state| state.execute("DELETE FROM models WHERE name = 'shop'", []))
        .expect("a hand takes the record away");
    for (call, code) in [
        ("status -m harbour", 0),
        ("status -m harbour --format json", 0),
        ("status -m shop", 1),
    ] {
        let said = desk.call(call);
        assert_eq!(said.code, code, "{call}: {}", said.story());
        let warning = "application \"till\" is of a model that has no record in this state";
        assert!(said.err.contains(warning), "{call}: {}", said.story());
    }
}
