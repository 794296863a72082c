//! All that is wanted, at once.

use proptest::prelude::*;

use pilotage_core::charm::{ConfigValue, StorageDirective};
use pilotage_core::life::Life;
use pilotage_core::name::Version;
use pilotage_core::state::{
    ApplicationCommand, Caller, Denial, Desire, Model, ModelCommand, ModelSpec, RemovalWish,
    ResourceValue,
};
use pilotage_core::time::Timestamp;

use crate::MODEL;
use crate::properties::{attempt, start, tries};
use crate::record::Record;

fn desired(record: &mut Record, change: impl FnOnce(&mut Desire)) -> Result<(), Denial> {
    let mut desire = record.application.spec.desire();
    change(&mut desire);
    record
        .try_user(ApplicationCommand::Desire(desire))
        .map(drop)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Whatever a user's command makes of a record, the desire for it makes the same.
    #[test]
    fn for_every_command_of_a_user_there_is_a_desire_that_does_the_same(
        scale in 0_u32..4,
        tries in tries(),
    ) {
        let mut application = start(scale);
        for (at, one) in (1..).zip(&tries) {
            let Some((Some(after), _)) = attempt(&application, one, at) else { continue };
            if one.caller == Caller::User {
                let desire = ApplicationCommand::Desire(after.spec.desire());
                let desired = application.apply(Timestamp(at), Caller::User, None, &desire);
                let desired = desired.map(|(record, _)| record);
                prop_assert_eq!(desired, Ok(Some(after.clone())), "{:?}", one);
            }
            application = after;
        }
    }
}

#[test]
fn a_desire_changes_scale_trust_and_options_in_one_version() {
    let mut record = Record::of_scale(1);
    let wanted = desired(&mut record, |desire| {
        desire.scale = 3;
        desire.trust = true;
        desire.config = [("port".into(), ConfigValue::Int(2))].into();
    });
    assert_eq!(wanted, Ok(()));
    assert_eq!(record.numbers(), [0, 1, 2]);
    assert!(record.application.spec.trust);
    assert_eq!(record.application.version, Version(2));
}

#[test]
fn a_desire_is_refused_by_the_rules_of_the_single_commands() {
    let mut record = Record::of_scale(1);
    let before = record.application.clone();
    let unknown = desired(&mut record, |desire| {
        desire.config = [("colour".into(), ConfigValue::Int(2))].into();
    });
    assert_eq!(unknown, Err(Denial::OptionUnknown("colour".into())));
    let many = desired(&mut record, |desire| desire.scale = 1_000_000);
    assert!(
        matches!(
            many,
            Err(Denial::TooManyUnits {
                asked: 1_000_000,
                ..
            })
        ),
        "{many:?}"
    );
    let unrecognized = desired(&mut record, |desire| {
        let value = ResourceValue::Image {
            path: "i".into(),
            login: None,
        };
        desire.resources = [("x".into(), value)].into();
    });
    assert!(
        matches!(unrecognized, Err(Denial::ResourcesUnrecognized(_))),
        "{unrecognized:?}"
    );
    let claims = desired(&mut record, |desire| desire.filesystems = Some(Vec::new()));
    assert!(
        matches!(claims, Err(Denial::ClaimsChange { .. })),
        "{claims:?}"
    );
    let storage = desired(&mut record, |desire| {
        desire.filesystems = None;
        desire.storage = [("attic".into(), StorageDirective::default())].into();
    });
    let words = storage.expect_err("refused").to_string();
    assert_eq!(words, "charm \"ledger-k8s\" has no store called \"attic\"");
    assert_eq!(record.application, before);
}

#[test]
fn an_image_that_is_no_longer_given_is_again_the_one_that_the_charm_names() {
    let mut record = Record::of_scale(1);
    let given = desired(&mut record, |desire| {
        let value = ResourceValue::Image {
            path: "own/ledger:2".into(),
            login: None,
        };
        desire.resources = [("ledger-image".into(), value)].into();
    });
    assert_eq!(given, Ok(()));
    assert_eq!(record.application.spec.modified, 1);
    let taken_back = desired(&mut record, |desire| desire.resources.clear());
    assert_eq!(taken_back, Ok(()));
    let spec = &record.application.spec;
    assert!(!spec.resources["ledger-image"].given);
    assert_eq!(spec.modified, 2);
}

#[test]
fn a_wish_to_remove_stands_alone_and_what_leaves_changes_no_more() {
    let mut record = Record::of_scale(1);
    let wish = RemovalWish {
        destroy_storage: true,
        force: false,
    };
    let removed = desired(&mut record, |desire| {
        desire.removal = Some(wish);
        desire.scale = 7;
    });
    assert_eq!(removed, Ok(()));
    assert_eq!(record.application.status.life, Life::Dying);
    assert_eq!(record.application.spec.scale, 1);
    let late = desired(&mut record, |desire| {
        desire.removal = None;
        desire.scale = 2;
    });
    assert!(
        matches!(late, Err(Denial::ApplicationLeaving { .. })),
        "{late:?}"
    );
}

#[test]
fn a_model_takes_a_desire_too() {
    let (model, _) = Model::add(MODEL, Timestamp(0), "shop", &[].into()).expect("a good one");
    let desire = |spec: ModelSpec| {
        let command = ModelCommand::Desire(Box::new(spec));
        let applied = model.apply(Timestamp(1), Caller::User, None, &command);
        applied.map(|(after, _)| after.expect("it stays"))
    };
    let mode: ModelSpec = ModelSpec {
        settings: [("mode".into(), "quiet".into())].into(),
        ..ModelSpec::default()
    };
    assert_eq!(desire(mode.clone()).expect("taken").spec, mode);
    let fixed = ModelSpec {
        settings: [("uuid".into(), "1".into())].into(),
        ..ModelSpec::default()
    };
    assert_eq!(desire(fixed), Err(Denial::SettingFixed("uuid".into())));
    let removal = ModelSpec {
        removal: Some(RemovalWish::default()),
        ..mode
    };
    let leaving = desire(removal).expect("taken");
    assert_eq!(leaving.status.life, Life::Dying);
    assert!(leaving.spec.settings.is_empty());
}
