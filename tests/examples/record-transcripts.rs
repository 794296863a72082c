//! Records what a real control plane does into `tests/transcripts/`.
//!
//! ```text
//! cargo run -p pilotage-tests --example record-transcripts                  records everything
//! cargo run -p pilotage-tests --example record-transcripts NAME…            records these
//! cargo run -p pilotage-tests --example record-transcripts -- --check NAME… records these and compares with the files
//! ```
//!
//! Builds the control plane first if it is not there. Ends with 3 where it can't be had: then nothing was recorded. Ends with 1 if `--check` found a difference,
//! or if the control plane did something that a script did not expect.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use pilotage_tests::control_plane::{ControlPlane, Programs, Watches};
use pilotage_tests::recorder::{WATCHED, record, scripts};
use pilotage_tests::transcript::file;

fn main() -> ExitCode {
    let (flags, names): (Vec<String>, Vec<String>) = std::env::args()
        .skip(1)
        .partition(|argument| argument.starts_with("--"));
    let check = flags.iter().any(|flag| flag == "--check");
    let chosen: Vec<_> = scripts::all()
        .into_iter()
        .filter(|script| names.is_empty() || names.iter().any(|name| name == script.name))
        .collect();
    if chosen.is_empty() {
        eprintln!("there is no script of that name");
        return ExitCode::from(2);
    }
    let programs = match Programs::build() {
        Ok(programs) => programs,
        Err(absent) => {
            eprintln!("NOT RECORDED: {absent}");
            return ExitCode::from(3);
        }
    };
    let mut control_plane = match ControlPlane::start(&programs) {
        Ok(control_plane) => control_plane,
        Err(error) => {
            eprintln!("NOT RECORDED: {error}");
            return ExitCode::from(3);
        }
    };
    let mut watches =
        Watches::start(control_plane.client(), WATCHED).expect("the server lists every kind");
    let mut differ = false;
    for script in chosen {
        let begin = std::time::Instant::now();
        let recording = AssertUnwindSafe(|| record(&mut control_plane, &mut watches, script));
        let Ok(transcript) = catch_unwind(recording) else {
            eprintln!(
                "   FAILED: {} is wrong about Kubernetes, see above",
                script.name
            );
            differ = true;
            continue;
        };
        let text = file::text(&transcript);
        let path = file::folder().join(format!("{}.json", script.name));
        let old = std::fs::read_to_string(&path).unwrap_or_default();
        let word = if old == text { "same" } else { "different" };
        eprintln!(
            "{:>9} {:>4} deeds {:>7} bytes {:>5.1} s  {}",
            word,
            transcript.deeds(),
            text.len(),
            begin.elapsed().as_secs_f32(),
            script.name
        );
        if check && old != text {
            differ = true;
            let again = std::env::temp_dir().join(format!("{}.json", script.name));
            std::fs::write(&again, &text).expect("the temporary folder can be written");
            eprintln!("  compare: diff {} {}", path.display(), again.display());
        } else if !check {
            std::fs::write(&path, &text).expect("the folder of transcripts can be written");
        }
    }
    if differ {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}
