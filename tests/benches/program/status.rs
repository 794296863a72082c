//! `status` of many applications, against reading their records.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use pilotage_core::name::Uid;
use pilotage_core::state::{Application, Caller, Command, ModelCommand};
use pilotage_core::time::Timestamp;
use pilotage_interpreter::cli::environment::Environment;
use pilotage_interpreter::cli::session::Streams;
use pilotage_interpreter::store::{Sqlite, Store};
use pilotage_sim::world::World;
use rusqlite::Connection;

const APPLICATIONS: u32 = 100;
const UNITS: u32 = 3;
const TURNS: u32 = 20;

pub fn print() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("state.db");
    let bytes = fill(&file);
    let floor = shortest(|| read(&file));
    println!(
        "floor: opening a state and reading the {APPLICATIONS} records of {UNITS} units each in it, {} kB of JSON: {:.2} ms",
        bytes / 1_000,
        milliseconds(floor)
    );
    for format in ["json", "tabular"] {
        let taken = shortest(|| status(folder.path(), &file, format));
        println!(
            "status --format {format}: {:.2} ms, {:.2} times the floor (goal: 100 ms, the process's start aside)",
            milliseconds(taken),
            taken.as_secs_f64() / floor.as_secs_f64()
        );
    }
}

fn milliseconds(span: Duration) -> f64 {
    span.as_secs_f64() * 1_000.0
}

/// The shortest of some turns: what else runs on the machine makes them longer, never shorter.
fn shortest(mut turn: impl FnMut()) -> Duration {
    let turns = (0..TURNS).map(|_| {
        let begun = Instant::now();
        turn();
        begun.elapsed()
    });
    turns.min().unwrap_or_default()
}

/// A state with the records of applications that are all active, as a world at rest has them.
fn fill(file: &Path) -> usize {
    let mut world = World::new();
    let model = world.add_model("default");
    for number in 0..APPLICATIONS {
        world.deploy(model, &format!("ledger{number}"), UNITS);
    }
    while let Some(choice) = world.choices().first().cloned() {
        world.take(&choice);
    }
    let store = Sqlite::new(file);
    let make = Command::Model {
        model: Uid(1),
        caller: Caller::User,
        expect: None,
        body: ModelCommand::Add {
            name: "elsewhere".into(),
            settings: BTreeMap::new(),
        },
    };
    store.execute(Timestamp(1), &make, &[]).expect("a state");
    let connection = Connection::open(file).expect("the state");
    let put = "INSERT INTO models (uid, name, record) VALUES (?1, ?2, ?3)";
    for model in world.store.models() {
        let text = serde_json::to_string(&**model).expect("JSON");
        let row = (model.uid.to_string(), &*model.name, text);
        connection.execute(put, row).expect("a row");
    }
    let put = "INSERT INTO applications (uid, model, name, record) VALUES (?1, ?2, ?3, ?4)";
    let mut bytes = 0;
    for application in world.store.applications() {
        let text = serde_json::to_string(&**application).expect("JSON");
        bytes += text.len();
        let (uid, model) = (application.uid.to_string(), application.model.to_string());
        let row = (uid, model, &*application.name, text);
        connection.execute(put, row).expect("a row");
    }
    bytes
}

/// What nothing that shows them can do without.
fn read(file: &Path) {
    let connection = Connection::open(file).expect("the state");
    let mut query = connection
        .prepare("SELECT record FROM applications")
        .expect("a query");
    let mut rows = query.query([]).expect("rows");
    let mut count = 0;
    while let Some(row) = rows.next().expect("a row") {
        let text = row.get_ref(0).expect("a text").as_bytes().expect("a text");
        let application: Application = serde_json::from_slice(text).expect("a record");
        black_box(application);
        count += 1;
    }
    assert_eq!(count, APPLICATIONS);
}

/// The command as the program runs it, from its words to what is printed.
fn status(folder: &Path, file: &Path, format: &str) {
    let environment = Environment {
        program: "pilotage".into(),
        variables: BTreeMap::from([("PILOTAGE_STATE".into(), file.display().to_string())]),
        folder: folder.to_owned(),
        zone: jiff::tz::TimeZone::UTC,
        clock: pilotage_interpreter::clock::now,
    };
    let words = ["status", "--format", format].map(String::from);
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let streams = Streams {
        out: &mut out,
        err: &mut err,
        input: &mut &b""[..],
        out_is_terminal: false,
        err_is_terminal: false,
    };
    let code = pilotage_interpreter::cli::run(&environment, &words, streams);
    let shown = String::from_utf8_lossy(&out);
    assert_eq!(code, 0, "{}", String::from_utf8_lossy(&err));
    assert!(shown.contains("ledger99") && shown.contains("active"));
    black_box(out);
}
