//! Every refusal of the contract's tables, word for word.

use super::Desk;

const NOBODY: &str = "no provisioner is running on this state; start one with: pilotage run\n";

/// Calls one after the other, each with what it said.
fn stories(desk: &Desk, calls: &[&str]) -> String {
    calls
        .iter()
        .map(|words| {
            let said = desk.call(words).story().replace(NOBODY, "");
            format!("$ pilotage {words}\n{said}\n")
        })
        .collect()
}

#[test]
fn of_deploy() {
    let desk = Desk::new().with_ledger();
    desk.write_other();
    desk.write(
        "block/metadata.yaml",
        "name: block\nsummary: s\ndescription: d\nassumes: [k8s-api]\ncontainers: {}\n\
         storage:\n  disk:\n    type: block\n",
    );
    desk.write("values.yaml", "ledger-k8s: {port: 1}\n");
    desk.write(
        "bundle.yaml",
        "applications:\n  a:\n    charm: ./ledger\n    trust: true\n",
    );
    insta::assert_snapshot!(stories(
        &desk,
        &[
            "deploy",
            "deploy ./x",
            "deploy postgresql",
            "deploy ./ledger Upper",
            "deploy ./ledger a-1",
            "deploy ./ledger a_b",
            "deploy ./other",
            "deploy ./block",
            "deploy ./ledger --config x=1",
            "deploy ./ledger --config port=abc",
            "deploy ./ledger --config values.yaml --config values.yaml",
            "deploy ./ledger -n 0",
            "deploy ./ledger --to 0",
            "deploy ./ledger --series jammy --base ubuntu@22.04",
            "deploy ./ledger --attach-storage data/0 -n 2",
            "deploy ./ledger --resource a=b --resource a=c",
            "deploy ./ledger --resource a=b",
            "deploy ./ledger --resource a=b --resource b=c",
            "deploy ./ledger --resource ledger-image=UPPER:case:x",
            "deploy ./ledger --resource ledger-image=7",
            "deploy ./ledger --constraints mem=1E",
            "deploy ./ledger --constraints mem",
            "deploy ./ledger --constraints what=1",
            "deploy ./ledger --storage data",
            "deploy ./ledger --storage data=0",
            "deploy ./ledger --storage data=x=y",
            "deploy ./ledger --storage nothing=1G",
            "deploy ./ledger --overlay x.yaml",
            "deploy ./ledger a b",
            "deploy ./bundle.yaml -n 2 --config a=b",
            "deploy ./bundle.yaml",
            "deploy local:ledger-k8s-7",
        ],
    ));
    assert!(!desk.path("state.db").exists(), "nothing was written");
}

#[test]
fn of_scaling() {
    let desk = Desk::new().with_ledger();
    desk.call("deploy ./ledger ledger");
    insta::assert_snapshot!(stories(
        &desk,
        &[
            "add-unit",
            "add-unit ledger --to 0",
            "add-unit ledger -n 0",
            "add-unit nothing",
            "remove-unit",
            "remove-unit ledger/0",
            "remove-unit ledger other --num-units 1",
            "remove-unit ledger",
            "remove-unit ledger --num-units 0",
            "remove-unit ledger --num-units 1 --destroy-storage",
            "remove-unit ledger --num-units 1 --dry-run",
            "remove-unit ledger --num-units 1 --no-wait",
            "remove-unit ledger --num-units 2",
            "scale-application",
            "scale-application ledger",
            "scale-application ledger x",
            "scale-application ledger -- -1",
            "scale-application nothing 1",
        ],
    ));
}

#[test]
fn of_trust_and_options() {
    let desk = Desk::new().with_ledger();
    desk.call("deploy ./ledger ledger");
    insta::assert_snapshot!(stories(
        &desk,
        &[
            "trust",
            "trust ledger",
            "trust ledger --scope=model",
            "trust nothing --scope=cluster",
            "config",
            "config ledger nothing",
            "config ledger a b",
            "config ledger a b=c",
            "config ledger a=1 --reset a",
            "config ledger a=1 a=2",
            "config ledger =v",
            "config ledger nothing=1",
            "config ledger --reset nothing",
            "config ledger port=abc",
            "config nothing --format json",
        ],
    ));
}

#[test]
fn of_refresh_and_removal() {
    let desk = Desk::new().with_ledger();
    desk.write_other();
    desk.call("deploy ./ledger ledger");
    insta::assert_snapshot!(stories(
        &desk,
        &[
            "refresh",
            "refresh ledger",
            "refresh ledger --path ./nothing",
            "refresh ledger --path ./other",
            "refresh ledger --switch ./other",
            "refresh ledger --path ./ledger --revision 3",
            "refresh ledger --path ./ledger --storage x",
            "refresh nothing --path ./ledger",
            "remove-application",
            "remove-application Upper",
            "remove-application ledger --no-wait",
            "remove-application nothing --no-prompt",
            "show-application nothing",
            "show-application Upper",
            "show-unit ledger/9",
            "show-unit x",
            "resources nothing",
            "attach-resource ledger",
            "attach-resource ledger x=y",
            "storage --filesystem --volume",
            "upgrade nothing",
        ],
    ));
}

#[test]
fn of_models_and_waiting() {
    let desk = Desk::new().with_ledger();
    desk.call("deploy ./ledger ledger");
    insta::assert_snapshot!(stories(
        &desk,
        &[
            "add-model",
            "destroy-model",
            "destroy-model nothing",
            "destroy-model default --destroy-storage --release-storage",
            "destroy-model default --timeout 5s",
            "show-model nothing",
            "model-config a b",
            "set-constraints ledger mem=x",
            "set-model-constraints mem=1G mem=2G",
            "status --color --no-color",
            "wait-for",
            "wait-for machine 0",
            "wait-for application",
            "wait-for unit ledger",
            "wait-for application ledger --query x=1",
            "wait-for application ledger --timeout 0",
            "wait-for application nothing --timeout 0",
            "run ledger/0 backup --wait=5m",
            "completions cmd",
            "--state kubernetes: status",
            "run --state kubernetes --cluster embedded",
        ],
    ));
}
