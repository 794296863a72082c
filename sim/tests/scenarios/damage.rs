//! A record that is there and cannot be read: nothing of it is lost, nothing of it is touched, and everything else goes
//! on.

use pilotage_core::event::{Event, RecordName, Source};
use pilotage_core::name::Uid;
use pilotage_core::outcome::Outcome;
use pilotage_core::state::{ApplicationCommand, ModelCommand, RemovalWish, StatusReport, Word};
use pilotage_sim::cluster::request::Propagation;
use pilotage_sim::cluster::resource::Resource;

use crate::stage::{KEEP, Stage, play};

fn record_of(stage: &Stage, application: Uid) -> RecordName {
    RecordName::Application {
        application,
        name: "ledger".into(),
        model: stage.model,
    }
}

/// From now on the record cannot be read, and the provisioner hears of it.
fn damage(stage: &mut Stage, record: &RecordName) {
    stage.world.store.damage(record.clone());
    stage.world.list(Source::Store);
}

fn mend(stage: &mut Stage, record: &RecordName) {
    stage.world.store.mend(record);
    stage.world.list(Source::Store);
}

/// Everything of the application in the cluster, with its version.
fn objects(stage: &Stage, application: &str) -> Vec<String> {
    let mut objects: Vec<String> = (stage.world.cluster.all_objects())
        .filter(|object| object.label("app.kubernetes.io/name") == Some(application))
        .map(|object| format!("{:?} {}", object.resource, object.name()))
        .collect();
    objects.sort();
    objects
}

fn effects_of(stage: &Stage, from: usize, owner: Uid) -> usize {
    let effects = stage.effects(from);
    effects
        .filter(|(_, effect)| effect.id.owner == owner)
        .count()
}

fn model_status(stage: &Stage) -> StatusReport {
    let mut models = stage.world.store.models();
    let model = models.find(|model| model.uid == stage.model);
    model.expect("the model").status.status.report.clone()
}

#[test]
fn an_application_whose_record_cannot_be_read_keeps_all_its_objects_and_others_go_on() {
    play(|stage| {
        let ledger = stage.active("ledger", 2);
        let audit = stage.active("audit", 1);
        let before = objects(stage, "ledger");
        let record = record_of(stage, ledger);
        damage(stage, &record);
        stage.settle();
        for restarts in [false, true] {
            let mut stage = stage.clone();
            if restarts {
                stage.world.restart();
                stage.settle();
            }
            let from = stage.steps();
            stage.scale(audit, 3);
            stage.world.list(Source::Store);
            stage.settle();
            stage.assert_active("audit", 3);
            stage.remove(audit, KEEP);
            stage.settle();
            assert!(stage.gone("audit"));
            assert_eq!(objects(&stage, "ledger"), before);
            assert_eq!(effects_of(&stage, from, ledger), 0);
            assert_eq!(
                model_status(&stage),
                StatusReport::new(Word::Active, ""),
                "its objects are no strangers"
            );
        }
    });
}

#[test]
fn a_command_on_a_record_that_cannot_be_read_is_refused_and_names_it() {
    play(|stage| {
        let ledger = stage.active("ledger", 1);
        let record = record_of(stage, ledger);
        damage(stage, &record);
        let scale = ApplicationCommand::SetScale { scale: 3 };
        let Outcome::Refused { message, .. } = stage.world.command(ledger, scale) else {
            panic!("it was carried out");
        };
        assert_eq!(
            &*message,
            "the record of application \"ledger\" cannot be read"
        );
    });
}

#[test]
fn what_differs_meanwhile_is_put_right_once_the_record_can_be_read_again() {
    play(|stage| {
        let ledger = stage.active("ledger", 2);
        let record = record_of(stage, ledger);
        damage(stage, &record);
        stage.settle();
        stage.delete(Resource::Service, "ledger", Propagation::Background);
        stage.settle();
        assert!(stage.object(Resource::Service, "ledger").is_none());
        mend(stage, &record);
        stage.settle();
        assert!(stage.object(Resource::Service, "ledger").is_some());
        stage.scale(ledger, 3);
        stage.settle();
        stage.assert_active("ledger", 3);
    });
}

#[test]
fn a_record_that_is_damaged_and_mended_at_any_moment_of_a_change_costs_nothing() {
    play(|stage| {
        let ledger = stage.active("ledger", 3);
        let record = record_of(stage, ledger);
        stage.scale(ledger, 1);
        let mut way = stage.clone();
        let end = way.world.now.after(pilotage_core::time::Span::seconds(600));
        let mut moments = 0;
        loop {
            let mut fork = way.clone();
            damage(&mut fork, &record);
            fork.settle();
            let pods = fork.pods("ledger");
            assert!(pods.contains(&"ledger-0".into()), "{pods:?}");
            mend(&mut fork, &record);
            fork.settle();
            fork.assert_active("ledger", 1);
            moments += 1;
            if !way.step(end) {
                break;
            }
        }
        assert!(moments > 20, "only {moments} moments");
    });
}

#[test]
fn an_older_record_that_is_put_in_the_place_of_one_that_cannot_be_read_is_taken() {
    play(|stage| {
        let ledger = stage.active("ledger", 2);
        let copy = stage.world.store.clone();
        stage.scale(ledger, 3);
        stage.settle();
        let record = record_of(stage, ledger);
        damage(stage, &record);
        stage.settle();
        stage.world.store = copy;
        stage.world.list(Source::Store);
        stage.settle();
        stage.assert_active("ledger", 2);
    });
}

#[test]
fn a_model_does_not_end_while_a_storage_of_it_cannot_be_read() {
    play(|stage| {
        let ledger = stage.active("ledger", 1);
        stage.remove(ledger, KEEP);
        stage.settle();
        let kept: Vec<u32> = (stage.world.store.storages())
            .map(|storage| storage.instance.number)
            .collect();
        let record = RecordName::Storage {
            model: stage.model,
            number: kept[0],
        };
        damage(stage, &record);
        stage.settle();
        let wish = RemovalWish {
            destroy_storage: true,
            force: false,
        };
        let model = stage.model;
        stage
            .world
            .model_command(model, ModelCommand::Destroy { wish });
        stage.settle();
        let claims = stage.names(Resource::PersistentVolumeClaim, "ledger");
        assert!(!claims.is_empty(), "a claim went without its record");
        let namespace = stage.world.cluster.peek(Resource::Namespace, "", "shop");
        assert!(namespace.is_some(), "the namespace went");
        mend(stage, &record);
        stage.settle();
        assert_eq!(stage.world.store.models().count(), 0);
        let claims = stage.names(Resource::PersistentVolumeClaim, "ledger");
        assert_eq!(claims, Vec::<String>::new());
    });
}

#[test]
fn a_model_whose_record_cannot_be_read_does_nothing_and_its_applications_wait() {
    play(|stage| {
        let ledger = stage.active("ledger", 1);
        let before = objects(stage, "ledger");
        let record = RecordName::Model {
            model: stage.model,
            name: "shop".into(),
        };
        damage(stage, &record);
        stage.world.restart();
        stage.settle();
        let from = stage.steps();
        let other = stage.world.add_model("harbour");
        let quay = stage.world.deploy(other, "quay", 1);
        stage.settle();
        assert!(effects_of(stage, from, quay) > 0, "other models go on");
        stage.scale(ledger, 2);
        stage.settle();
        assert_eq!(objects(stage, "ledger"), before);
        assert_eq!(effects_of(stage, from, stage.model), 0);
        mend(stage, &record);
        stage.settle();
        stage.assert_active("ledger", 2);
    });
}

/// What is shown of the units, and when it last changed.
fn shown(stage: &Stage) -> Vec<pilotage_core::state::Unit> {
    stage.record("ledger").status.units.clone()
}

/// While a model's record is away, in either way, its applications are left as they are, show what was last known of
/// their units, and say what is wrong; and go on when it is back.
#[test]
fn without_its_models_record_an_application_shows_what_was_last_known_and_says_why() {
    play(|stage| {
        let ledger = stage.active("ledger", 2);
        let (before, units) = (objects(stage, "ledger"), shown(stage));
        let record = RecordName::Model {
            model: stage.model,
            name: "shop".into(),
        };
        for (lost, restarts) in [(false, false), (false, true), (true, false), (true, true)] {
            let mut stage = stage.clone();
            let model = match lost {
                true => stage.world.store.lose_model(stage.model),
                false => {
                    stage.world.store.damage(record.clone());
                    None
                }
            };
            assert_eq!(model.is_some(), lost);
            stage.world.list(Source::Store);
            if restarts {
                stage.world.restart();
            }
            stage.settle();
            stage.delete(Resource::Pod, "ledger-1", Propagation::Background);
            stage.delete(Resource::Service, "ledger", Propagation::Background);
            stage.scale(ledger, 3);
            stage.settle();
            let status = stage.record("ledger").status.provisioner.report.clone();
            assert_eq!(status.word, Word::Error, "{status:?}");
            let says = match lost {
                true => "its model has no record",
                false => "the record of its model cannot be read",
            };
            assert!(status.message.starts_with(says), "{status:?}");
            assert_eq!(shown(&stage)[..2], units, "what was last known");
            assert_eq!(objects(&stage, "ledger").len(), before.len() - 1);

            match model {
                Some(model) => stage.world.store.put_model_back(model),
                None => stage.world.store.mend(&record),
            }
            stage.world.list(Source::Store);
            stage.settle();
            stage.assert_active("ledger", 3);
            assert!(stage.object(Resource::Service, "ledger").is_some());
        }
    });
}

#[test]
fn that_a_record_cannot_be_read_is_said_in_words() {
    let event = Event::RecordUnreadable(RecordName::Storage {
        model: Uid(1),
        number: 3,
    });
    assert_eq!(
        event.to_string(),
        "the record of storage number 3 cannot be read"
    );
}
