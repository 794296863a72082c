//! A world with one model, driven in several orders of what is ready, and looked at after every step.

use std::sync::Arc;

use pilotage_core::effect::{Action, Effect};
use pilotage_core::name::Uid;
use pilotage_core::outcome::Outcome;
use pilotage_core::state::{
    Application, ApplicationCommand, NewApplication, RemovalWish, StatusReport, Word, check,
};
use pilotage_core::time::{Span, Timestamp};
use pilotage_sim::cluster::controllers::instruction::{Behaviour, Rule, Rules};
use pilotage_sim::cluster::controllers::settings::Settings;
use pilotage_sim::cluster::object::{Stored, at, items_at, number_at};
use pilotage_sim::cluster::request::{Failure, Propagation, Request, Response, Verb};
use pilotage_sim::cluster::resource::Resource;
use pilotage_sim::cluster::settings::Denial;
use pilotage_sim::workload::ledger_application;
use pilotage_sim::world::{Choice, World};
use serde_json::Value;

/// The namespace of the model.
pub const SPACE: &str = "shop";
/// More steps than any scenario needs.
const BOUND: usize = 40_000;
/// The orders in which a scenario is played; 0 is "the first that is ready".
const ORDERS: u64 = 4;

/// Plays a scenario in several orders. `ORDER=n` plays that one alone.
pub fn play(scenario: impl Fn(&mut Stage)) {
    play_with(&Settings::default(), scenario);
}

/// As [`play`], with a cluster that takes these times.
pub fn play_with(settings: &Settings, scenario: impl Fn(&mut Stage)) {
    let wanted = std::env::var("ORDER").ok();
    let wanted = wanted.map(|order| order.parse().expect("ORDER is a number"));
    for order in wanted.map_or(0..ORDERS, |order: u64| order..order + 1) {
        println!("order {order}: rerun this test with ORDER={order} in the environment");
        scenario(&mut Stage::new(order, settings.clone()));
    }
}

/// A world, its model, and the order in which things happen.
#[derive(Clone)]
pub struct Stage {
    pub world: World,
    pub model: Uid,
    order: u64,
    draws: u64,
}

impl Stage {
    pub fn new(order: u64, settings: Settings) -> Self {
        let mut world = World::with(Default::default(), settings);
        let model = world.add_model(SPACE);
        Stage {
            world,
            model,
            order,
            draws: order,
        }
    }

    fn pick(&mut self, choices: &[Choice]) -> Choice {
        if self.order == 0 {
            return choices[0].clone();
        }
        // A linear congruential generator (Knuth, MMIX): the same order every time.
        self.draws = self
            .draws
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let count = u64::try_from(choices.len()).expect("few choices");
        let place = (self.draws >> 33) % count;
        choices[usize::try_from(place).expect("few choices")].clone()
    }

    /// Takes one step, unless nothing happens before `end`.
    pub fn step(&mut self, end: Timestamp) -> bool {
        let choices = self.world.choices();
        if choices.is_empty() {
            return false;
        }
        let choice = self.pick(&choices);
        if matches!(choice, Choice::Wait(until) if until > end) {
            self.world.now = end;
            return false;
        }
        self.world.take(&choice);
        for application in self.world.store.applications() {
            assert_eq!(check(application), Ok(()), "{}", application.name);
        }
        true
    }

    /// Lets things happen for so long, and looks after every step.
    pub fn watch_for(&mut self, span: Span, mut look: impl FnMut(&Stage)) {
        let end = self.world.now.after(span);
        for _ in 0..BOUND {
            if !self.step(end) {
                return;
            }
            look(self);
        }
        let from = self.steps().saturating_sub(24);
        for (at, event, step) in &self.world.steps[from..] {
            println!("{at} {event:?} -> {:?}", step.effects);
        }
        panic!("no rest after {BOUND} steps: {:?}", self.world.choices());
    }

    /// Lets things happen for so long, or until nothing happens any more.
    pub fn run_for(&mut self, span: Span) {
        self.watch_for(span, |_| {});
    }

    /// Lets things happen for half an hour, or until nothing happens any more, and looks after every step.
    pub fn watch(&mut self, look: impl FnMut(&Stage)) {
        self.watch_for(Span::seconds(1_800), look);
    }

    pub fn settle(&mut self) {
        self.watch(|_| {});
    }

    /// Lets things happen until this is so.
    pub fn until(&mut self, what: &str, done: impl Fn(&Stage) -> bool) {
        let end = self.world.now.after(Span::seconds(1_800));
        for _ in 0..BOUND {
            if done(self) {
                return;
            }
            if !self.step(end) {
                break;
            }
        }
        assert!(done(self), "never: {what}");
    }

    /// Deploys, with what is changed of the standard application.
    pub fn deploy_as(&mut self, name: &str, change: impl FnOnce(&mut NewApplication)) -> Uid {
        let (uid, outcome) = self.try_deploy(name, change);
        assert!(matches!(outcome, Outcome::Done(_)), "{outcome:?}");
        uid
    }

    pub fn try_deploy(
        &mut self,
        name: &str,
        change: impl FnOnce(&mut NewApplication),
    ) -> (Uid, Outcome) {
        let uid = self.world.store.draw_uid();
        let mut new = ledger_application(self.model, name, 1);
        change(&mut new);
        let add = ApplicationCommand::Add(Box::new(new));
        (uid, self.world.command(uid, add))
    }

    /// Deploys the standard application and lets it become active.
    pub fn active(&mut self, name: &str, scale: u32) -> Uid {
        let uid = self.deploy_as(name, |new| new.scale = scale);
        self.settle();
        self.assert_active(name, scale);
        uid
    }

    pub fn command(&mut self, application: Uid, body: ApplicationCommand) {
        let outcome = self.world.command(application, body);
        assert!(matches!(outcome, Outcome::Done(_)), "{outcome:?}");
    }

    pub fn scale(&mut self, application: Uid, scale: u32) {
        self.command(application, ApplicationCommand::SetScale { scale });
    }

    pub fn remove(&mut self, application: Uid, wish: RemovalWish) {
        self.command(application, ApplicationCommand::Remove { wish });
    }

    pub fn rule(&mut self, rules: &[Rule]) {
        self.world
            .cluster
            .instruct(self.world.now, Rules(rules.to_vec()));
    }

    pub fn pods_do(&mut self, pods: &str, behaviour: Behaviour) {
        self.rule(&[Rule::pod(pods, behaviour)]);
    }

    /// A request of a person.
    pub fn ask(&mut self, resource: Resource, name: &str, verb: Verb) -> Response {
        let request = Request {
            manager: "person".into(),
            resource,
            namespace: resource.namespaced().then(|| SPACE.into()),
            name: name.into(),
            subresource: None,
            verb,
        };
        let response = self.world.cluster.request(self.world.now, request);
        if let Response::Failure(failure) = &response {
            panic!("a person's request on {resource:?} {name}: {failure:?}");
        }
        response
    }

    pub fn create(&mut self, resource: Resource, mut body: Value) {
        body["apiVersion"] = resource.api_version().into();
        body["kind"] = resource.kind().into();
        self.ask(resource, "", Verb::Create { body });
    }

    pub fn edit(&mut self, resource: Resource, name: &str, body: Value) {
        self.ask(resource, name, Verb::MergePatch { body });
    }

    pub fn delete(&mut self, resource: Resource, name: &str, propagation: Propagation) {
        let verb = Verb::Delete {
            uid: None,
            version: None,
            propagation,
            grace: None,
        };
        self.ask(resource, name, verb);
    }

    pub fn deny(&mut self, resource: Resource, action: Verbs, answer: Failure) {
        let denial = Denial::new(resource, action, answer);
        self.world.cluster.deny(Denial {
            manager: Some("pilotage".into()),
            ..denial
        });
    }

    pub fn record(&self, name: &str) -> &Arc<Application> {
        self.world.application(name).expect("its record is there")
    }

    pub fn gone(&self, name: &str) -> bool {
        self.world.application(name).is_none()
    }

    /// The numbers of its units.
    pub fn units(&self, name: &str) -> Vec<u32> {
        let record = self.world.application(name);
        let units = record.map_or(&[][..], |record| &record.status.units);
        units.iter().map(|unit| unit.number).collect()
    }

    /// The status that users see.
    pub fn status(&self, name: &str) -> StatusReport {
        self.record(name).shown_status().report
    }

    pub fn object(&self, resource: Resource, name: &str) -> Option<&Arc<Stored>> {
        let space = if resource.namespaced() { SPACE } else { "" };
        self.world.cluster.peek(resource, space, name)
    }

    pub fn set(&self, name: &str) -> Option<&Arc<Stored>> {
        self.object(Resource::StatefulSet, name)
    }

    pub fn replicas(&self, name: &str) -> Option<u64> {
        number_at(&self.set(name)?.value, &["spec", "replicas"])
    }

    /// The names of what there is of a kind in the namespace, with that label `app.kubernetes.io/name`.
    pub fn names(&self, resource: Resource, application: &str) -> Vec<String> {
        self.labelled(resource, application)
            .map(|object| object.name().to_string())
            .collect()
    }

    pub fn labelled<'a>(
        &'a self,
        resource: Resource,
        application: &'a str,
    ) -> impl Iterator<Item = &'a Arc<Stored>> {
        self.world
            .cluster
            .objects(resource, None)
            .filter(move |object| object.label("app.kubernetes.io/name") == Some(application))
    }

    pub fn pods(&self, name: &str) -> Vec<String> {
        self.names(Resource::Pod, name)
    }

    pub fn uids(&self, resource: Resource, name: &str) -> Vec<String> {
        self.labelled(resource, name)
            .map(|object| object.uid().to_string())
            .collect()
    }

    /// Everything in the cluster that is Pilotage's and is called for that application. Revisions of a set carry our
    /// labels and are its controller's: who deletes a set and orphans what it owns, orphans them.
    pub fn left(&self, application: &str) -> Vec<String> {
        self.world
            .cluster
            .all_objects()
            .filter(|object| object.label("app.kubernetes.io/managed-by") == Some("pilotage"))
            .filter(|object| object.label("app.kubernetes.io/name") == Some(application))
            .filter(|object| object.resource != Resource::ControllerRevision)
            .map(|object| format!("{:?} {}", object.resource, object.name()))
            .collect()
    }

    pub fn assert_active(&self, name: &str, units: u32) {
        let record = self.record(name);
        let numbers: Vec<u32> = (0..units).collect();
        assert_eq!(self.units(name), numbers);
        for unit in &record.status.units {
            assert_eq!(unit.workload.report.word, Word::Active, "{unit:?}");
        }
        assert_eq!(record.status.provisioner.report.word, Word::Active);
        assert_eq!(record.status.scaling, None);
        let pods: Vec<String> = numbers.iter().map(|n| format!("{name}-{n}")).collect();
        assert_eq!(self.pods(name), pods);
        assert_eq!(self.replicas(name), Some(u64::from(units)));
    }

    /// Nothing of it is in the state and in the cluster.
    pub fn assert_nothing_left(&self, name: &str) {
        assert!(self.gone(name), "its record is still there");
        assert_eq!(self.left(name), Vec::<String>::new());
    }

    /// Every effect that was asked for since the `from`th step.
    pub fn effects(&self, from: usize) -> impl Iterator<Item = (Timestamp, &Effect)> {
        let steps = self.world.steps[from..].iter();
        steps.flat_map(|(at, _, step)| step.effects.iter().map(|effect| (*at, effect)))
    }

    /// The effects since then that write to the cluster.
    pub fn writes(&self, from: usize) -> Vec<String> {
        self.effects(from)
            .filter(|(_, effect)| {
                !matches!(
                    effect.action,
                    Action::Get { .. }
                        | Action::List { .. }
                        | Action::Warnings { .. }
                        | Action::Store(_)
                )
            })
            .map(|(at, effect)| format!("{at} {:?}", effect.because))
            .collect()
    }

    pub fn steps(&self) -> usize {
        self.world.steps.len()
    }

    /// From here on, once for every moment until rest: the provisioner dies there and begins again, and then this holds.
    pub fn with_a_crash_at_every_moment(&self, holds: impl Fn(&mut Stage)) {
        let mut way = self.clone();
        let mut crashes = 0;
        let end = way.world.now.after(Span::seconds(1_800));
        loop {
            let effects = way.steps();
            let mut fork = way.clone();
            fork.world.restart();
            fork.settle();
            holds(&mut fork);
            crashes += 1;
            // Crashes between two steps that ask for nothing are one.
            loop {
                if !way.step(end) {
                    holds(&mut way);
                    assert!(crashes > 2, "something was to happen");
                    return;
                }
                if way.effects(effects).next().is_some() || way.steps() > effects + 10 {
                    break;
                }
            }
        }
    }
}

pub use pilotage_sim::cluster::settings::Action as Verbs;

/// A refusal of the API server.
pub fn failure(code: u16, reason: &str, message: &str) -> Failure {
    Failure {
        code,
        reason: reason.into(),
        message: message.into(),
        causes: Vec::new(),
    }
}

/// The rules of a role are those of a trusted application.
pub fn may_everything(role: &Stored) -> bool {
    items_at(&role.value, &["rules"])
        .iter()
        .any(|rule| rule["verbs"][0] == "*" && rule["resources"][0] == "*")
}

/// The names of a template's containers.
pub fn containers(set: &Stored) -> Vec<String> {
    let path = ["spec", "template", "spec", "containers"];
    let containers = items_at(&set.value, &path).iter();
    containers
        .map(|container| container["name"].as_str().expect("a name").to_string())
        .collect()
}

/// A text somewhere in an object.
pub fn text<'a>(object: &'a Stored, path: &[&str]) -> &'a str {
    at(&object.value, path)
        .and_then(Value::as_str)
        .unwrap_or("")
}

pub const KEEP: RemovalWish = RemovalWish {
    destroy_storage: false,
    force: false,
};
pub const DESTROY: RemovalWish = RemovalWish {
    destroy_storage: true,
    force: false,
};
pub const FORCE: RemovalWish = RemovalWish {
    destroy_storage: true,
    force: true,
};
