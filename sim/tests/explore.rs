//! The life of an application with everything that can go wrong, at every moment.
#![allow(missing_docs)]

use std::time::Instant;

use pilotage_sim::cluster::request::{Request, Verb};
use pilotage_sim::cluster::resource::Resource;
use pilotage_sim::explore::life::Run;
use pilotage_sim::explore::{self, Base, Depth, Failure, Tally};
use pilotage_sim::schedule::{Plot, Schedule};
use pilotage_sim::{shrink, story};

const PLOTS: [Plot; 4] = [Plot::Whole, Plot::Kept, Plot::Forced, Plot::Early];

fn base(plot: Plot) -> Base {
    explore::undisturbed(plot).unwrap_or_else(|failure| {
        println!("{}", story::story(&failure, &Base::default()));
        panic!("the undisturbed life: {}", failure.broken);
    })
}

/// A number from the environment.
fn setting(name: &str, default: u64) -> u64 {
    let text = std::env::var(name).ok();
    text.map_or(default, |text| text.parse().expect(name))
}

fn report(base: &Base, what: &str, tally: &Tally, since: Instant) {
    let seconds = since.elapsed().as_secs_f64();
    println!(
        "{what} ({:?}): {} schedules, {} choices, {:.0} schedules a second, {} failures",
        base.plot,
        tally.schedules,
        tally.choices,
        tally.schedules as f64 / seconds,
        tally.failures.len()
    );
    fail(base, what, &tally.failures);
}

fn fail(base: &Base, what: &str, failures: &[Failure]) {
    let mut kinds: Vec<(String, usize, &Failure)> = Vec::new();
    for failure in failures {
        let text = failure.broken.to_string();
        match kinds.iter_mut().find(|(known, ..)| *known == text) {
            Some((_, count, _)) => *count += 1,
            None => kinds.push((text, 1, failure)),
        }
    }
    for (text, count, failure) in kinds.iter().take(40) {
        let faults = serde_json::to_string(&failure.schedule).expect("a schedule");
        println!("{count} times: {text}\n      {faults}");
    }
    if let Some((_, _, failure)) = kinds.first() {
        let least = shrink::shrink(failure, base);
        println!("{}", story::story(&least, base));
        panic!(
            "{what}: {} of the schedules break something",
            failures.len()
        );
    }
}

#[test]
fn the_undisturbed_life_ends_in_nothing() {
    for (plot, rests) in PLOTS.into_iter().zip([6, 3, 2, 2]) {
        let base = base(plot);
        let effects = base.mishaps.len();
        println!("{plot:?}: {effects} effects, {} choices", base.choices);
        assert_eq!(base.rests.len(), rests);
    }
}

#[test]
fn every_single_mishap_of_an_effect_ends_well() {
    let stride = setting("PILOTAGE_STRIDE", 1) as u32;
    for base in PLOTS.map(base) {
        let since = Instant::now();
        let tally =
            explore::every_mishap(&base, Depth::Rest, |number| number.is_multiple_of(stride));
        report(&base, "single mishaps", &tally, since);
        if stride == 1 {
            assert_eq!(tally.schedules, explore::singles_expected(&base));
        }
    }
}

#[test]
fn every_disturbance_beside_the_effects_ends_well() {
    let stride = setting("PILOTAGE_STRIDE", 101) as u32;
    for base in PLOTS.map(base) {
        let since = Instant::now();
        let tally =
            explore::every_disturbance(&base, Depth::Rest, |number| number.is_multiple_of(stride));
        report(&base, "disturbances", &tally, since);
    }
}

#[test]
fn pairs_of_crashes_end_well() {
    let stride = setting("PILOTAGE_STRIDE", 29) as u32;
    let chosen = |number: u32| number.is_multiple_of(stride);
    for base in PLOTS.map(base) {
        let since = Instant::now();
        let tally = explore::every_pair(&base, Depth::Rest, chosen);
        report(&base, "pairs of crashes", &tally, since);
        assert_eq!(
            tally.schedules,
            explore::pairs_expected(&base, Depth::Rest, chosen)
        );
    }
}

#[test]
fn late_writes_of_a_deposed_leader_do_no_harm() {
    let stride = setting("PILOTAGE_STRIDE", 5) as u32;
    for base in PLOTS.map(base) {
        let since = Instant::now();
        let tally = explore::every_late_write(&base, |number| number.is_multiple_of(stride));
        report(&base, "late writes", &tally, since);
        assert!(tally.schedules > 0);
    }
}

#[test]
fn random_schedules_end_well() {
    let (from, count) = (setting("PILOTAGE_SEED", 1), setting("PILOTAGE_SEEDS", 20));
    for base in PLOTS.map(base) {
        let failures: Vec<Failure> = (from..from + count)
            .map(|seed| explore::random(seed, &base))
            .filter_map(|schedule| {
                let broken = explore::live(&schedule, &base).err()?;
                Some(Failure { schedule, broken })
            })
            .collect();
        println!(
            "random schedules ({:?}): seeds {from} to {}, {} failures",
            base.plot,
            from + count - 1,
            failures.len()
        );
        fail(&base, "random schedules", &failures);
    }
}

#[test]
fn the_schedule_that_is_given() {
    let Ok(text) = std::env::var("PILOTAGE_SCHEDULE") else {
        println!("not run: PILOTAGE_SCHEDULE names no schedule");
        return;
    };
    let schedule: Schedule = serde_json::from_str(&text).expect("a schedule");
    let base = base(schedule.plot);
    if let Err(broken) = explore::live(&schedule, &base) {
        let failure = Failure { schedule, broken };
        println!("{}", story::story(&failure, &base));
        panic!("{}", failure.broken);
    }
}

#[test]
fn what_is_somebody_elses_is_left_alone_and_named() {
    let mut run = Run::new(Schedule::default()).thorough();
    let foreign = |name: &str, labels: serde_json::Value| Request {
        manager: "somebody".into(),
        resource: Resource::ClusterRole,
        namespace: None,
        name: "".into(),
        subresource: None,
        verb: Verb::Create {
            body: serde_json::json!({
                "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
                "metadata": {"name": name, "labels": labels}, "rules": [],
            }),
        },
    };
    // One has the name that the application's needs; the other has the labels of an application that nobody knows.
    let taken = "pilotage:shop:ledger";
    run.world.by_hand(foreign(taken, serde_json::json!({})));
    run.step().expect("the user deploys");
    let model = run.world.store.models().next().expect("a model").uid;
    let unknown = serde_json::json!({
        "app.kubernetes.io/name": "ledger",
        "app.kubernetes.io/managed-by": "pilotage",
        "pilotage.dev/model": model.to_string(),
        "pilotage.dev/application-uid": "12345678-0000-8000-8000-000000000000",
    });
    run.world.by_hand(foreign("stranger", unknown));
    let before = |run: &Run, name: &str| {
        let there = run.world.cluster.peek(Resource::ClusterRole, "", name);
        there.map(|object| object.version)
    };
    let versions = (before(&run, taken), before(&run, "stranger"));
    run.story = Some(Vec::new());
    while run.choices < 600 {
        if let Err(broken) = run.step() {
            panic!("{broken}");
        }
    }
    assert_eq!(versions, (before(&run, taken), before(&run, "stranger")));
    let record = run.world.application("ledger").expect("the record");
    let status = &record.status.provisioner.report;
    let story = run.story.unwrap_or_default().join("\n");
    assert!(status.message.contains(taken), "{story}\n{status:?}");
}

#[test]
fn schedules_that_once_broke_something_end_well() {
    let once = [
        // A part of a change told again after the whole: nothing follows it, so nothing is waited for.
        r#"{"faults":[{"at":{"choice":8},"fault":{"twice":"store"}}]}"#,
        r#"{"faults":[{"at":{"choice":584},"fault":{"twice":"store"}}]}"#,
        r#"{"faults":[{"at":{"choice":636},"fault":{"twice":"store"}}]}"#,
        // The defaults of the server, taken for fields of ours after a read that a lost request led to.
        r#"{"faults":[{"at":{"effect":40},"fault":{"effect":"lost-request"}}]}"#,
        // A report that was refused, and did not get its turn while something stood in the way of an account.
        r#"{"seed":907,"faults":[
            {"at":{"choice":224},"fault":{"edit":{"unlabel":"ServiceAccount"}}},
            {"at":{"effect":26},"fault":{"effect":"crash-during"}},
            {"at":{"choice":191},"fault":{"refuse-all":"quota"}},
            {"at":{"choice":303},"fault":"relent"}]}"#,
        // A model whose status is refused, tried every three seconds.
        r#"{"seed":39,"faults":[
            {"at":{"choice":30},"fault":{"refuse-all":"conflict"}},
            {"at":{"choice":176},"fault":"relent"}]}"#,
        // A report of a model that changed nothing, because a deposed leader's came first: repeated without end.
        r#"{"faults":[
            {"at":{"effect":2},"fault":"deposed"},
            {"at":{"choice":69},"fault":"arrival"}]}"#,
    ];
    let base = base(Plot::Whole);
    for text in once {
        let schedule: Schedule = serde_json::from_str(text).expect("a schedule");
        if let Err(broken) = explore::live(&schedule, &base) {
            let failure = Failure { schedule, broken };
            println!("{}", story::story(&failure, &base));
            panic!("{text}: {}", failure.broken);
        }
    }
}
