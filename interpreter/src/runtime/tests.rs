//! Batches: one outcome per effect, in order, fair, bounded.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use pilotage_core::effect::{Action, EffectId};
use pilotage_core::kubernetes::{Key, Kind};
use pilotage_core::name::Uid;
use pilotage_core::outcome::{Refusal, Reply};
use pilotage_core::reason::Reason;
use pilotage_core::state::{Caller, Command, ModelCommand};
use pilotage_core::time::Timestamp;

use super::*;
use crate::cluster::{Answer, Values};
use crate::leader::{Ask, Leadership, Leases, Record, Seen, Times, Told, Trouble};

/// A cluster that does what it is told to.
struct Script<F>(F);

impl<F: Fn(Arc<Effect>) -> Answer<Outcome> + Send + Sync> Cluster for Script<F> {
    fn uid(&self) -> Answer<Result<Uid, ClusterError>> {
        Box::pin(async { Ok(Uid(1)) })
    }

    fn run(&self, effect: Arc<Effect>, _: Values) -> Answer<Outcome> {
        (self.0)(effect)
    }

    fn watch(&self, _: Kind, events: mpsc::Sender<Event>) -> Answer<()> {
        Box::pin(async move { events.closed().await })
    }
}

struct House {
    dispatcher: Dispatcher,
    events: mpsc::Receiver<Event>,
    store: Arc<dyn Store>,
    _folder: tempfile::TempDir,
}

impl House {
    fn new<F>(in_flight: usize, deadline: Duration, script: F) -> Self
    where
        F: Fn(Arc<Effect>) -> Answer<Outcome> + Send + Sync + 'static,
    {
        Self::led(Authority::undisputed(), in_flight, deadline, script)
    }

    fn led<F>(authority: Authority, in_flight: usize, deadline: Duration, script: F) -> Self
    where
        F: Fn(Arc<Effect>) -> Answer<Outcome> + Send + Sync + 'static,
    {
        let folder = tempfile::tempdir().unwrap();
        let store = crate::store::open(&folder.path().join("state.db"));
        let (sender, events) = mpsc::channel(4);
        let settings = Settings {
            in_flight,
            deadline,
            authority,
            ..Settings::new(Tracing::Off, Arc::new(Silent))
        };
        let cluster = Arc::new(Script(script));
        House {
            dispatcher: Dispatcher::new(store.clone(), cluster, &settings, sender),
            events,
            store,
            _folder: folder,
        }
    }

    /// The next outcome, while batches go on.
    async fn outcome(&mut self) -> (EffectId, Outcome) {
        loop {
            tokio::select! {
                () = self.dispatcher.ended() => {}
                event = self.events.recv() => match event {
                    Some(Event::EffectCompleted { id, outcome }) => return (id, outcome),
                    other => panic!("{other:?}"),
                },
                () = tokio::time::sleep(Duration::from_secs(60)) => panic!("no outcome for a minute"),
            }
        }
    }

    /// So many outcomes, and that there is none beyond them.
    async fn outcomes(&mut self, count: usize) -> Vec<(EffectId, Outcome)> {
        let mut outcomes = Vec::new();
        while outcomes.len() < count {
            outcomes.push(self.outcome().await);
        }
        assert!(self.events.try_recv().is_err(), "one outcome per effect");
        outcomes
    }
}

const LONG: Duration = Duration::from_secs(60);

fn id(owner: u128, sequence: u32) -> EffectId {
    EffectId {
        owner: Uid(owner),
        incarnation: 1,
        sequence,
    }
}

fn get(owner: u128, sequence: u32) -> Effect {
    let key = Key::new(Kind::Pod, "default", "a");
    Effect {
        id: id(owner, sequence),
        subject: "a".into(),
        because: Reason::ReadAgain { key: key.clone() },
        action: Action::Get { key },
    }
}

fn nothing() -> Outcome {
    Outcome::Done(Reply::Nothing)
}

fn refused() -> Outcome {
    Outcome::Refused {
        reason: Refusal::Conflict,
        message: "".into(),
    }
}

#[tokio::test]
async fn a_batch_runs_in_order_and_stops_at_the_first_that_is_not_done() {
    for stop in [refused(), Outcome::Unknown] {
        let second = stop.clone();
        let mut house = House::new(16, LONG, move |effect| {
            let outcome = match effect.id.sequence {
                1 => second.clone(),
                _ => nothing(),
            };
            Box::pin(async move { outcome })
        });
        house.dispatcher.submit((0..4).map(|n| get(1, n)).collect());
        let expected = [
            (id(1, 0), nothing()),
            (id(1, 1), stop),
            (id(1, 2), Outcome::NotAttempted),
            (id(1, 3), Outcome::NotAttempted),
        ];
        assert_eq!(house.outcomes(4).await, expected);
        // The application is not held up by it: its next batch is tried.
        house.dispatcher.submit(vec![get(1, 4)]);
        assert_eq!(house.outcomes(1).await, [(id(1, 4), nothing())]);
    }
}

#[tokio::test]
async fn nothing_leaves_while_another_process_may_act() {
    struct Held;
    impl Leases for Held {
        fn ask(&self, _: Ask) -> Answer<Result<Told, Trouble>> {
            let record = Record {
                holder: Some("another".into()),
                seconds: 15,
                ..Record::default()
            };
            let seen = Seen {
                uid: "1".into(),
                version: "1".into(),
                says: record,
            };
            Box::pin(async move { Ok(Told::Is(seen)) })
        }
        fn name(&self) -> String {
            "here/lease".into()
        }
    }
    let sent = Arc::new(AtomicUsize::new(0));
    let counted = sent.clone();
    let leadership = Leadership::stand(Arc::new(Held), Times::default(), None).unwrap();
    let authority = leadership.authority();
    authority.ended().await;
    let mut house = House::led(authority, 16, LONG, move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
        Box::pin(async { nothing() })
    });
    house.dispatcher.submit(vec![get(1, 0), get(1, 1)]);
    let outcomes = house.outcomes(2).await;
    let Outcome::Refused { reason, .. } = &outcomes[0].1 else {
        panic!("{outcomes:?}");
    };
    assert_eq!(*reason, Refusal::NotSent);
    assert_eq!(outcomes[1].1, Outcome::NotAttempted);
    assert_eq!(sent.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn what_one_step_asks_of_several_owners_is_a_batch_each() {
    let mut house = House::new(16, LONG, |effect| {
        let outcome = match effect.id.owner {
            Uid(1) => refused(),
            _ => nothing(),
        };
        Box::pin(async move { outcome })
    });
    let effects = vec![get(1, 0), get(2, 0), get(1, 1), get(2, 1)];
    house.dispatcher.submit(effects);
    let outcomes: BTreeMap<EffectId, Outcome> = house.outcomes(4).await.into_iter().collect();
    assert_eq!(outcomes[&id(1, 0)], refused());
    assert_eq!(outcomes[&id(1, 1)], Outcome::NotAttempted);
    assert_eq!(outcomes[&id(2, 0)], nothing());
    assert_eq!(outcomes[&id(2, 1)], nothing());
}

#[tokio::test]
async fn no_more_requests_are_in_flight_than_allowed_and_that_many_are() {
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (flying, highest) = (now.clone(), most.clone());
    let mut house = House::new(3, LONG, move |_| {
        let (now, most) = (now.clone(), most.clone());
        Box::pin(async move {
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            for _ in 0..20 {
                tokio::task::yield_now().await;
            }
            now.fetch_sub(1, Ordering::SeqCst);
            nothing()
        })
    });
    let effects = (0..40).map(|owner| get(owner, 0)).collect();
    house.dispatcher.submit(effects);
    house.outcomes(40).await;
    assert_eq!(highest.load(Ordering::SeqCst), 3);
    assert_eq!(flying.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn an_application_with_much_to_do_does_not_hold_up_one_with_little() {
    let mut house = House::new(1, LONG, |_| Box::pin(async { nothing() }));
    house
        .dispatcher
        .submit((0..50).map(|n| get(1, n)).collect());
    house.dispatcher.submit(vec![get(2, 0)]);
    let outcomes = house.outcomes(51).await;
    let place = outcomes.iter().position(|(id, _)| id.owner == Uid(2));
    assert!(place.is_some_and(|place| place <= 2), "{place:?}");
}

#[tokio::test]
async fn a_request_without_an_answer_is_given_up_at_its_deadline() {
    struct GivenUp(Arc<AtomicBool>);
    impl Drop for GivenUp {
        fn drop(&mut self) {
            self.0.store(true, Ordering::SeqCst);
        }
    }
    let given_up = Arc::new(AtomicBool::new(false));
    let seen = given_up.clone();
    let mut house = House::new(1, Duration::from_millis(20), move |effect| {
        let guard = GivenUp(given_up.clone());
        Box::pin(async move {
            if effect.id.owner == Uid(1) {
                std::future::pending::<()>().await;
            }
            drop(guard);
            nothing()
        })
    });
    house.dispatcher.submit(vec![get(1, 0), get(1, 1)]);
    let expected = [
        (id(1, 0), Outcome::Unknown),
        (id(1, 1), Outcome::NotAttempted),
    ];
    assert_eq!(house.outcomes(2).await, expected);
    // Its place is free for others.
    house.dispatcher.submit(vec![get(2, 0)]);
    assert_eq!(house.outcomes(1).await, [(id(2, 0), nothing())]);
    assert!(seen.load(Ordering::SeqCst));
}

#[tokio::test]
async fn a_cluster_that_panics_gives_an_unknown_outcome() {
    let mut house = House::new(1, LONG, |_| Box::pin(async { panic!("on purpose") }));
    house.dispatcher.submit(vec![get(1, 0)]);
    assert_eq!(house.outcomes(1).await, [(id(1, 0), Outcome::Unknown)]);
}

#[tokio::test]
async fn a_command_goes_to_the_store_and_is_answered_by_it() {
    let asked = Arc::new(Mutex::new(0));
    let counted = asked.clone();
    let mut house = House::new(1, LONG, move |_| {
        *counted.lock().unwrap() += 1;
        Box::pin(async { nothing() })
    });
    let command = |caller| Command::Model {
        model: Uid(1),
        caller,
        expect: None,
        body: ModelCommand::Add {
            name: "m".into(),
            settings: BTreeMap::new(),
        },
    };
    let effect = |sequence, caller| Effect {
        action: Action::Store(Box::new(command(caller))),
        ..get(1, sequence)
    };
    house
        .dispatcher
        .submit(vec![effect(0, Caller::User), effect(1, Caller::User)]);
    let outcomes = house.outcomes(2).await;
    assert!(
        matches!(outcomes[0].1, Outcome::Done(Reply::Recorded { .. })),
        "{outcomes:?}"
    );
    assert!(
        matches!(
            outcomes[1].1,
            Outcome::Refused {
                reason: Refusal::AlreadyExists,
                ..
            }
        ),
        "{outcomes:?}"
    );
    assert_eq!(house.store.snapshot().unwrap().models.len(), 1);
    assert_eq!(
        *asked.lock().unwrap(),
        0,
        "a command is no request to the cluster"
    );
}

#[tokio::test]
async fn the_store_is_told_from_its_list_on_and_other_processes_commits_are_noticed() {
    use pilotage_core::event::Source;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    let add = |model: u128| Command::Model {
        model: Uid(model),
        caller: Caller::User,
        expect: None,
        body: ModelCommand::Add {
            name: format!("m{model}").into(),
            settings: BTreeMap::new(),
        },
    };
    let other = crate::store::open(&path);
    other.execute(Timestamp(1), &add(1), &[]).unwrap();
    let cluster: Arc<dyn Cluster> = Arc::new(Script(|_| -> Answer<Outcome> {
        Box::pin(async { nothing() })
    }));
    let (sender, mut events) = mpsc::channel(4);
    let _sources = {
        let silent = Settings::new(Tracing::Off, Arc::new(Silent));
        sources::start(&crate::store::open(&path), &cluster, &sender, &silent).unwrap()
    };
    let mut next = async || {
        let event = tokio::time::timeout(LONG, events.recv()).await;
        event
            .expect("an event comes within a minute")
            .expect("the source goes on")
    };
    let source = Source::Store;
    assert_eq!(next().await, Event::Listing { source });
    let event = next().await;
    assert!(
        matches!(&event, Event::ModelChanged(model) if model.uid == Uid(1)),
        "{event:?}"
    );
    assert_eq!(next().await, Event::Synced { source });
    other.execute(Timestamp(1), &add(2), &[]).unwrap();
    let event = next().await;
    assert!(
        matches!(&event, Event::ModelChanged(model) if model.uid == Uid(2)),
        "{event:?}"
    );
}

#[tokio::test]
async fn a_provisioner_ends_when_it_is_asked_to_whatever_is_in_flight() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    let store = crate::store::open(&path);
    let held = store.hold(Timestamp(1)).unwrap();
    let add = Command::Model {
        model: Uid(1),
        caller: Caller::User,
        expect: None,
        body: ModelCommand::Add {
            name: "work".into(),
            settings: BTreeMap::new(),
        },
    };
    store.execute(Timestamp(1), &add, &[]).unwrap();
    // A cluster that is empty and never answers a request.
    struct Silence(mpsc::Sender<()>);
    impl Cluster for Silence {
        fn uid(&self) -> Answer<Result<Uid, ClusterError>> {
            Box::pin(async { Ok(Uid(1)) })
        }
        fn run(&self, _: Arc<Effect>, _: Values) -> Answer<Outcome> {
            let asked = self.0.clone();
            Box::pin(async move {
                let _ = asked.send(()).await;
                std::future::pending().await
            })
        }
        fn watch(&self, kind: Kind, events: mpsc::Sender<Event>) -> Answer<()> {
            Box::pin(async move {
                let source = pilotage_core::event::Source::Cluster(kind);
                let _ = events.send(Event::Listing { source }).await;
                let _ = events.send(Event::Synced { source }).await;
                events.closed().await;
            })
        }
    }
    let (asked, mut was_asked) = mpsc::channel(4);
    let stop = async move {
        // The namespace of the model is asked for, and never answered.
        let _ = was_asked.recv().await;
    };
    let settings = Settings::new(Tracing::Off, Arc::new(Silent));
    let ran = run(
        store.clone(),
        &held,
        Arc::new(Silence(asked)),
        settings,
        stop,
    );
    tokio::time::timeout(LONG, ran)
        .await
        .expect("it ends")
        .expect("it ran");
    drop(held);
    assert_eq!(store.provisioner().unwrap(), None, "others may run now");
}

/// A cluster whose first source fails when the answer is sent for, and that is silent otherwise.
struct Failing(Mutex<Option<tokio::sync::oneshot::Receiver<()>>>);

impl Cluster for Failing {
    fn uid(&self) -> Answer<Result<Uid, ClusterError>> {
        Box::pin(async { Ok(Uid(1)) })
    }
    fn run(&self, _: Arc<Effect>, _: Values) -> Answer<Outcome> {
        Box::pin(std::future::pending())
    }
    fn watch(&self, kind: Kind, events: mpsc::Sender<Event>) -> Answer<()> {
        let when = self.0.lock().unwrap().take();
        Box::pin(async move {
            if let Some(when) = when {
                let _ = when.await;
                let source = pilotage_core::event::Source::Cluster(kind);
                let reason = "it fails".into();
                let _ = events.send(Event::SourceFailed { source, reason }).await;
            }
            events.closed().await;
        })
    }
}

/// An observer whom a warning holds up until it is let go.
struct Slow(Mutex<std::sync::mpsc::Receiver<()>>);

impl Observer for Slow {
    fn warning(&self, _: &str) {
        let _ = self.0.lock().unwrap().recv();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_loop_that_is_stuck_is_told_from_one_that_is_idle() {
    let folder = tempfile::tempdir().unwrap();
    let store = crate::store::open(&folder.path().join("state.db"));
    let held = store.hold(Timestamp(1)).unwrap();
    let (fail, fails) = tokio::sync::oneshot::channel();
    let (let_go, held_up) = std::sync::mpsc::channel();
    let monitor = Arc::new(Monitor::with_limit(Duration::from_millis(300)));
    let settings = Settings {
        monitor: monitor.clone(),
        ..Settings::new(Tracing::Off, Arc::new(Slow(Mutex::new(held_up))))
    };
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let cluster = Arc::new(Failing(Mutex::new(Some(fails))));
    let running = tokio::spawn(async move {
        let stop = async {
            let _ = stopped.await;
        };
        run(store, &held, cluster, settings, stop).await
    });
    let live = || monitor.live().iter().all(|check| check.wrong.is_none());
    let until = async |what: &str, holds: &dyn Fn() -> bool| {
        let begun = Instant::now();
        while !holds() {
            assert!(begun.elapsed() < LONG, "this did not come about: {what}");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    until("it turns", &|| monitor.counts().step_time.count() > 0).await;
    // More than the limit, in which nothing happens but that it is asked.
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(1) {
        assert!(live(), "{:?}", monitor.live());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    fail.send(()).unwrap();
    until("it is stuck", &|| !live()).await;
    let_go.send(()).unwrap();
    until("it turns again", &live).await;
    drop(stop);
    running.await.unwrap().unwrap();
}
