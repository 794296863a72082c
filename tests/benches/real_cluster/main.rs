//! Pilotage against a bare client, on one real control plane: what it takes to converge many applications.
//!
//! ```text
//! cargo bench -p pilotage-tests --bench real_cluster                 500 applications of one unit
//! cargo bench -p pilotage-tests --bench real_cluster -- 100          fewer
//! ```
//!
//! The bare client sends the very requests that the provisioner sends (drawn from the simulator for the same applications), from
//! sixteen threads, as fast as they are answered, and knows nothing: no watch, no state, no status. It runs before and after
//! Pilotage, so that a server that has grown is not taken for ours. Both are processes of their own; processor time and memory are the
//! kernel's. Scheduler and kubelet are played alike for both.

mod bare;
mod pods;
mod requests;

use std::time::{Duration, Instant};

use pilotage_core::name::Uid;
use pilotage_core::state::{ApplicationCommand, Caller, Command, ModelCommand, Word};
use pilotage_interpreter::store::{self, Store};
use pilotage_interpreter::{clock, identity};
use pilotage_sim::workload;
use pilotage_tests::control_plane::{Asked, ControlPlane, Programs};
use pilotage_tests::measure::{Usage, usage};
use pilotage_tests::program::{Desk, Running, program};

use pods::Pods;

/// Where the state asks for one application more, to see that a restart has come to rest.
const LAST: &str = "last";
/// Of an application that becomes active: that it was deployed.
const EVENTS: usize = 1;
/// A wait that lasts longer has failed.
const PATIENCE: Duration = Duration::from_secs(300);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [word, rest @ ..] = arguments.as_slice()
        && word == bare::WORD
    {
        return bare::run(rest);
    }
    let number = arguments.iter().find_map(|text| text.parse().ok());
    let programs = match Programs::find() {
        Ok(programs) => programs,
        Err(absent) => return eprintln!("NOT RUN: {absent}"),
    };
    program();
    let cluster = ControlPlane::start(&programs).unwrap_or_else(|error| panic!("{error}"));
    measure(&cluster, number.unwrap_or(500));
}

/// What one way to make the applications took.
#[derive(Clone, Copy, Debug)]
struct Taken {
    wall: Duration,
    server: Duration,
    own: Usage,
}

fn measure(cluster: &ControlPlane, number: usize) {
    eprintln!("{number} applications of one unit without claims: eight objects and a pod each");
    let empty = idle(cluster);
    let first = bare_client(cluster, "bare-one", number);
    let desk = Desk::on(cluster, "counted");
    let (taken, asked) = pilotage(cluster, &desk, number);
    let second = bare_client(cluster, "bare-two", number);
    let (start, asked_again) = restart(cluster, &desk, number);

    let bare = Taken {
        wall: (first.wall + second.wall) / 2,
        server: (first.server + second.server) / 2,
        own: Usage {
            processor: (first.own.processor + second.own.processor) / 2,
            peak_memory: first.own.peak_memory.max(second.own.peak_memory),
        },
    };
    let each = |duration: Duration| duration.as_secs_f64() * 1_000.0 / number as f64;
    println!("| | bare client | Pilotage | ratio |\n|---|---|---|---|");
    let row = |what: &str, bare: Duration, ours: Duration| {
        println!(
            "| {what} | {:.2} s | {:.2} s | {:.2} |",
            bare.as_secs_f64(),
            ours.as_secs_f64(),
            ours.as_secs_f64() / bare.as_secs_f64()
        );
    };
    row("until all is active", bare.wall, taken.wall);
    row("the API server's processor time", bare.server, taken.server);
    row(
        "own processor time",
        bare.own.processor,
        taken.own.processor,
    );
    println!(
        "| own processor time for each application | {:.1} ms | {:.1} ms | |",
        each(bare.own.processor),
        each(taken.own.processor)
    );
    let grown = |usage: Usage| usage.peak_memory.saturating_sub(empty.peak_memory) / 1024;
    println!(
        "| memory at most | {:.1} MiB | {:.1} MiB | {:.2} |",
        mib(bare.own.peak_memory),
        mib(taken.own.peak_memory),
        taken.own.peak_memory as f64 / bare.own.peak_memory as f64
    );
    println!(
        "| of which for each application | | {:.1} KiB | |",
        grown(taken.own) as f64 / number as f64
    );
    println!(
        "| writes for each application, and one of all for the namespace | {} | {} | |",
        requests::EACH,
        writes(&asked) as f64 / number as f64
    );
    println!(
        "\nRestart with {number}: {:.2} s and {:.2} s of own processor time until one more is made, {:.1} MiB at most \
         ({:.1} KiB for each application), {} reads and {} writes beside those of the one.",
        start.wall.as_secs_f64(),
        start.own.processor.as_secs_f64(),
        mib(start.own.peak_memory),
        grown(start.own) as f64 / number as f64,
        asked_again.len() - writes(&asked_again),
        writes(&asked_again).abs_diff(requests::EACH + EVENTS),
    );
    eprintln!(
        "bare client: {first:?}, {second:?}\nPilotage: {taken:?}\nrestart: {start:?}\nempty: {empty:?}"
    );
}

fn mib(bytes: u64) -> f64 {
    bytes as f64 / 1024.0 / 1024.0
}

/// What was asked of the server but for the election, whose requests come with time and not with applications.
fn without_election(mut asked: Vec<Asked>) -> Vec<Asked> {
    asked.retain(|asked| asked.resource != "leases");
    asked
}

fn writes(asked: &[Asked]) -> usize {
    asked.iter().filter(|asked| asked.writes()).count()
}

fn used(process: u32) -> Usage {
    usage(process).expect("the kernel says what a process used")
}

fn bare_client(cluster: &ControlPlane, namespace: &str, number: usize) -> Taken {
    let file = requests::write(namespace, number);
    let mut client = bare::Bare::start(cluster, file.path());
    let (begun, before) = (Instant::now(), used(cluster.api_server()));
    let pods = Pods::start(cluster, namespace);
    client.go();
    wait(|| pods.ready() >= number);
    let wall = begun.elapsed();
    let server = used(cluster.api_server()).processor - before.processor;
    Taken {
        wall,
        server,
        own: client.end(),
    }
}

/// What a provisioner of nothing holds.
fn idle(cluster: &ControlPlane) -> Usage {
    let desk = Desk::on(cluster, "pilotage");
    let service = desk.start("run");
    let store = open(&desk);
    deploy(&*store, "idle", &[LAST]);
    wait(|| active(&*store) == 1);
    let usage = used(service.id());
    end(service);
    usage
}

fn open(desk: &Desk) -> std::sync::Arc<dyn Store> {
    store::open(&desk.folder().join("state.db"))
}

fn command(store: &dyn Store, command: &Command) {
    let outcome = store.execute(clock::now(), command, &[]);
    assert!(
        matches!(outcome, Ok(pilotage_core::outcome::Outcome::Done(_))),
        "{outcome:?}"
    );
}

/// Adds a model, and applications without units in it.
fn deploy(store: &dyn Store, model_name: &str, names: &[&str]) -> Uid {
    let model = identity::draw_uid().expect("a uid");
    let body = ModelCommand::Add {
        name: model_name.into(),
        settings: Default::default(),
    };
    command(
        store,
        &Command::Model {
            model,
            caller: Caller::User,
            expect: None,
            body,
        },
    );
    for name in names {
        add(store, model, name, 0);
    }
    model
}

fn add(store: &dyn Store, model: Uid, name: &str, scale: u32) {
    let mut new = workload::ledger_application(model, name, scale);
    new.filesystems.clear();
    let application = identity::draw_uid().expect("a uid");
    let body = ApplicationCommand::Add(Box::new(new));
    command(
        store,
        &Command::Application {
            application,
            caller: Caller::User,
            expect: None,
            body,
        },
    );
}

/// How many applications are active with all their units.
fn active(store: &dyn Store) -> usize {
    let snapshot = store.snapshot().expect("the state");
    let all = snapshot.applications.iter().filter(|record| {
        record.status.provisioner.report.word == Word::Active
            && record.status.units.len() == record.spec.scale as usize
            && record
                .status
                .units
                .iter()
                .all(|unit| unit.workload.report.word == Word::Active)
    });
    all.count()
}

fn pilotage(cluster: &ControlPlane, desk: &Desk, number: usize) -> (Taken, Vec<Asked>) {
    let store = open(desk);
    let model = deploy(&*store, "counted", &[]);
    for index in 0..number {
        add(&*store, model, &requests::name(index), 1);
    }
    let (begun, before) = (Instant::now(), used(cluster.api_server()));
    let pods = Pods::start(cluster, "counted");
    let service = desk.start("run");
    wait(|| pods.ready() >= number);
    wait(|| active(&*store) == number);
    let taken = Taken {
        wall: begun.elapsed(),
        server: used(cluster.api_server()).processor - before.processor,
        own: used(service.id()),
    };
    end(service);
    (taken, without_election(cluster.asked("counted")))
}

fn restart(cluster: &ControlPlane, desk: &Desk, number: usize) -> (Taken, Vec<Asked>) {
    let earlier = cluster.asked("counted").len();
    let store = open(desk);
    let models = store.snapshot().expect("the state").models;
    let (begun, before) = (Instant::now(), used(cluster.api_server()));
    let service = desk.start("run");
    add(&*store, models[0].uid, LAST, 0);
    wait(|| active(&*store) == number + 1);
    let taken = Taken {
        wall: begun.elapsed(),
        server: used(cluster.api_server()).processor - before.processor,
        own: used(service.id()),
    };
    end(service);
    let asked = cluster.asked("counted").split_off(earlier);
    (taken, without_election(asked))
}

fn end(service: Running) {
    let (_, words, well) = service.stop();
    assert!(well, "{words}");
}

fn wait(done: impl Fn() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < PATIENCE, "nothing happens any more");
        // Looking takes processor time that those who are waited for do not get.
        std::thread::sleep(Duration::from_millis(100));
    }
}
