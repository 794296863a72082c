//! What users say of an application: names, options, settings, resources at deploy.

use std::sync::Arc;

use pilotage_core::charm::{Charm, ConfigValue, Constraints};
use pilotage_core::event::Event;
use pilotage_core::state::{
    ApplicationCommand, Denial, NewApplication, Provisioning, ResourceValue, provisioning,
};
use pilotage_sim::workload::{image, ledger, ledger_application};

use crate::MODEL;
use crate::record::Record;

fn new() -> NewApplication {
    ledger_application(MODEL, "ledger", 1)
}

fn of(charm: Charm) -> NewApplication {
    NewApplication {
        charm: Arc::new(charm),
        ..new()
    }
}

fn refusal(new: &NewApplication) -> String {
    Record::add(new)
        .map(|_| ())
        .expect_err("refused")
        .to_string()
}

fn picture(path: &str) -> ResourceValue {
    ResourceValue::Image {
        path: path.into(),
        login: None,
    }
}

fn config(key: &str, value: Option<ConfigValue>) -> ApplicationCommand {
    ApplicationCommand::Configure {
        config: [(key.into(), value)].into(),
        settings: [].into(),
    }
}

fn setting(key: &str, value: Option<&str>) -> ApplicationCommand {
    ApplicationCommand::Configure {
        config: [].into(),
        settings: [(key.into(), value.map(Into::into))].into(),
    }
}

#[test]
fn b02_scale_and_trust_of_the_first_moment_are_in_the_record_from_the_first_moment() {
    let record = Record::add(&NewApplication {
        scale: 3,
        trust: true,
        ..new()
    })
    .expect("a good one");
    assert_eq!(record.numbers(), [0, 1, 2]);
    assert!(record.application.spec.trust);
}

#[test]
fn b121_images_that_nobody_gives_are_named_before_anything_is_stored() {
    let mut charm = ledger();
    charm.resources = vec![
        image("a", None),
        image("b", None),
        image("ledger-image", Some("x")),
    ];
    assert_eq!(
        refusal(&of(charm)),
        "local charm missing OCI images for: a, b\n\
         give each with --resource NAME=IMAGE, or under \"resources\" in a bundle"
    );
}

#[test]
fn b121_an_image_that_goes_missing_later_is_a_wait_that_says_how_to_give_it() {
    let mut record = Record::of_scale(1);
    record.application.spec.resources.clear();
    let wait = provisioning(&record.application).expect_err("not provisioned");
    assert_eq!(
        &*wait,
        "container \"ledger\" has no image: give one with --resource ledger-image=IMAGE"
    );
}

#[test]
fn a_charm_without_containers_waits_for_an_agent_image() {
    let mut charm = ledger();
    charm.containers.clear();
    let record = Record::add(&of(charm)).expect("it is recorded");
    let wait = provisioning(&record.application).expect_err("not provisioned");
    assert_eq!(
        &*wait,
        "charm \"ledger-k8s\" has no containers: it needs the model's agent image"
    );
}

#[test]
fn what_is_given_goes_before_what_the_charm_names() {
    let mut new = new();
    let image_of = |new: &NewApplication| {
        let record = Record::add(new).expect("a good one");
        let made = provisioning(&record.application).expect("images are known");
        made.containers[0].image.clone()
    };
    assert_eq!(image_of(&new), "registry.example/ledger:1");
    new.resources = [("ledger-image".into(), picture("own/ledger:2"))].into();
    assert_eq!(image_of(&new), "own/ledger:2");
}

#[test]
fn resources_that_the_charm_does_not_have_are_refused() {
    let mut new = new();
    new.resources = [("x".into(), picture("i"))].into();
    assert_eq!(refusal(&new), "unrecognized resource \"x\"");
    new.resources.insert("y".into(), picture("i"));
    assert_eq!(refusal(&new), "unrecognized resources: x, y");
}

#[test]
fn options_are_the_charms_and_values_of_their_kind() {
    let mut record = Record::of_scale(1);
    let denial = record.try_user(config("x", None)).expect_err("unknown");
    assert_eq!(denial.to_string(), "unknown option \"x\"");
    let text = ConfigValue::String("abc".into());
    let denial = record
        .try_user(config("port", Some(text)))
        .expect_err("a text");
    assert_eq!(
        denial.to_string(),
        "option \"port\" expected int, got \"abc\""
    );
    record.user(config("port", Some(ConfigValue::Int(1))));
    assert_eq!(record.application.spec.config["port"], ConfigValue::Int(1));
    record.user(config("port", None));
    assert!(record.application.spec.config.is_empty());
}

#[test]
fn a_change_that_nothing_else_tells_is_told_as_a_new_version() {
    let mut record = Record::of_scale(1);
    let changes = record.user(config("port", Some(ConfigValue::Int(1))));
    assert!(
        matches!(changes[..], [Event::LifeChanged { .. }]),
        "{changes:?}"
    );
}

#[test]
fn trust_is_a_setting_too() {
    let mut record = Record::of_scale(1);
    let changes = record.user(setting("trust", Some("true")));
    assert!(
        matches!(changes[..], [Event::TrustChanged { trust: true, .. }]),
        "{changes:?}"
    );
    record.user(setting("trust", None));
    assert!(!record.application.spec.trust);
    let denial = record
        .try_user(setting("trust", Some("perhaps")))
        .expect_err("no truth");
    assert_eq!(
        denial.to_string(),
        "setting \"trust\": \"perhaps\" is not true or false"
    );
}

#[test]
fn settings_of_the_service_reach_what_the_objects_are_made_from() {
    let mut record = Record::of_scale(1);
    record.user(setting("kubernetes-service-type", Some("LoadBalancer")));
    record.user(setting("kubernetes-service-annotations", Some("a=1 b/c=2")));
    record.user(setting(
        "kubernetes-service-external-ips",
        Some("10.0.0.1,10.0.0.2"),
    ));
    let Provisioning { service, .. } = provisioning(&record.application).expect("provisioned");
    assert_eq!(service.r#type.as_deref(), Some("LoadBalancer"));
    assert_eq!(service.annotations.get("b/c"), Some("2"));
    assert_eq!(service.external_ips, ["10.0.0.1", "10.0.0.2"]);
    let denial = record.try_user(setting("kubernetes-service-type", Some("Magic")));
    assert!(matches!(denial, Err(Denial::Setting { .. })), "{denial:?}");
    let denial = record.try_user(setting("x", Some("1")));
    assert_eq!(denial, Err(Denial::OptionUnknown("x".into())));
}

#[test]
fn constraints_are_replaced_as_a_whole() {
    let mut record = Record::of_scale(1);
    let set = |mem, cores| ApplicationCommand::SetConstraints {
        constraints: Box::new(Constraints {
            mem,
            cores,
            ..Constraints::default()
        }),
    };
    record.user(set(Some(2048), None));
    let changes = record.user(set(None, Some(2)));
    assert!(
        matches!(changes[..], [Event::ProvisioningChanged { .. }]),
        "{changes:?}"
    );
    assert_eq!(record.application.spec.constraints.mem, None);
}

#[test]
fn b111_the_template_revision_is_kept_until_a_user_changes_something_of_it() {
    let mut record = Record::of_scale(1);
    let now = record.application.spec.template;
    record.application.spec.template = now - 1;
    record.set_scale(2);
    record.user(ApplicationCommand::SetTrust { trust: true });
    record.user(config("port", Some(ConfigValue::Int(1))));
    assert_eq!(record.application.spec.template, now - 1);
    record.user(ApplicationCommand::Upgrade);
    assert_eq!(record.application.spec.template, now);
    assert_eq!(record.user(ApplicationCommand::Upgrade), []);
}
