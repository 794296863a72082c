//! Models.

use std::collections::BTreeMap;

use pilotage_core::event::Event;
use pilotage_core::life::Life;
use pilotage_core::name::Uid;
use pilotage_core::outcome::Reply;
use pilotage_core::state::{Caller, Denial, Model, ModelCommand, REMOVED_REMEMBERED, RemovalWish};
use pilotage_core::time::Timestamp;

use crate::MODEL;

fn model(name: &str) -> Model {
    let (model, reply) =
        Model::add(MODEL, Timestamp(0), name, &BTreeMap::new()).expect("a good name");
    assert!(matches!(reply, Reply::Recorded { ref changes, .. } if changes.len() == 1));
    model
}

fn give(model: &mut Model, body: &ModelCommand) -> Result<(Option<u32>, Vec<Event>), Denial> {
    let user = matches!(
        body,
        ModelCommand::Configure { .. }
            | ModelCommand::Destroy { .. }
            | ModelCommand::DrawRevision { .. }
    );
    let caller = if user {
        Caller::User
    } else {
        Caller::Provisioner
    };
    let (after, reply) = model.apply(Timestamp(1), caller, Some(model.version), body)?;
    let Reply::Recorded {
        drawn,
        changes,
        version,
        before,
    } = reply
    else {
        panic!("not an answer of the state: {reply:?}");
    };
    assert_eq!(before, model.version);
    assert_eq!(
        version.0 - before.0,
        changes.len() as u64,
        "each change is told once"
    );
    if let Some(after) = after {
        *model = after;
    }
    Ok((drawn, changes))
}

fn set(key: &str, value: Option<&str>) -> ModelCommand {
    ModelCommand::Configure {
        settings: [(key.into(), value.map(Into::into))].into(),
    }
}

#[test]
fn a_model_is_a_namespace_of_its_name_and_default_owns_none() {
    let shop = model("shop").view();
    assert_eq!((&*shop.namespace, shop.owns_namespace), ("shop", true));
    let default = model("default").view();
    assert_eq!(
        (&*default.namespace, default.owns_namespace),
        ("default", false)
    );
}

#[test]
fn numbers_of_storages_are_drawn_once_and_leave_gaps_never_doubles() {
    let mut model = model("shop");
    let mut draw =
        |count| give(&mut model, &ModelCommand::DrawStorage { count }).map(|done| done.0);
    assert_eq!(draw(3), Ok(Some(0)));
    assert_eq!(draw(0), Ok(Some(3)));
    assert_eq!(draw(2), Ok(Some(3)));
    assert_eq!(
        draw(u32::MAX),
        Err(Denial::Exhausted("numbers for storages"))
    );
    assert_eq!(draw(1), Ok(Some(5)));
}

#[test]
fn a_revision_is_the_charms_own_or_the_next_of_the_model_whichever_is_higher() {
    let mut model = model("shop");
    let mut draw = |charm: &str, floor| {
        let body = ModelCommand::DrawRevision {
            charm: charm.into(),
            floor,
        };
        give(&mut model, &body).expect("drawn").0
    };
    assert_eq!(draw("a", 0), Some(0));
    assert_eq!(draw("a", 0), Some(1));
    assert_eq!(draw("a", 7), Some(7));
    assert_eq!(draw("a", 3), Some(8));
    assert_eq!(draw("b", 0), Some(0));
}

#[test]
fn the_last_thousand_removed_applications_are_remembered_each_once() {
    let mut model = model("shop");
    let last = REMOVED_REMEMBERED as u128 + 5;
    for uid in 0..last {
        let body = ModelCommand::RememberRemoved {
            application: Uid(uid),
            destroyed: uid % 2 == 0,
        };
        give(&mut model, &body).expect("remembered");
        assert_eq!(give(&mut model, &body).expect("again"), (None, vec![]));
    }
    assert_eq!(model.status.removed.len(), REMOVED_REMEMBERED);
    assert_eq!(model.status.removed.first(), Some(&Uid(5)));
    let destroyed: Vec<Uid> = (6..last).step_by(2).map(Uid).collect();
    assert_eq!(model.status.destroyed, destroyed);
    // What was to be destroyed stays so, and may still come to be.
    for (uid, destroyed) in [(6, false), (7, true)] {
        let application = Uid(uid);
        let body = ModelCommand::RememberRemoved {
            application,
            destroyed,
        };
        give(&mut model, &body).expect("remembered");
        assert!(model.status.destroyed.contains(&application));
    }
}

#[test]
fn settings_are_kept_whatever_they_are_save_those_that_mean_nothing() {
    let mut model = model("shop");
    give(&mut model, &set("whatever", Some("x"))).expect("kept");
    give(
        &mut model,
        &set("resource-tags", Some("owner=me cost.example/centre=7")),
    )
    .expect("kept");
    assert_eq!(model.view().resource_tags.get("owner"), Some("me"));
    for bad in ["owner", "=x", "owner=a b c", "-a=b", "a=-"] {
        let denial = give(&mut model, &set("resource-tags", Some(bad)));
        assert!(
            matches!(denial, Err(Denial::Setting { .. })),
            "{bad}: {denial:?}"
        );
    }
    let denial = give(&mut model, &set("agent-version", Some("4")));
    assert_eq!(denial, Err(Denial::SettingFixed("agent-version".into())));
    give(&mut model, &set("whatever", None)).expect("reset");
    assert!(!model.spec.settings.contains_key("whatever"));
}

#[test]
fn a_model_goes_only_when_somebody_asked_for_it() {
    let mut model = model("shop");
    let denial = give(&mut model, &ModelCommand::Clear);
    assert!(matches!(denial, Err(Denial::Untimely { .. })), "{denial:?}");
    let wish = RemovalWish::default();
    give(&mut model, &ModelCommand::Destroy { wish }).expect("dying");
    assert_eq!(model.status.life, Life::Dying);
    assert_eq!(
        give(&mut model, &ModelCommand::Destroy { wish }),
        Ok((None, vec![]))
    );
    let denial = give(&mut model, &set("a", Some("b")));
    assert_eq!(denial, Err(Denial::ModelLeaving("shop".into())));
    give(&mut model, &ModelCommand::DrawStorage { count: 1 }).expect("units may still need it");
}
