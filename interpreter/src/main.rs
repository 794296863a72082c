//! The program `pilotage`.

use std::io::IsTerminal;
use std::process::ExitCode;

use pilotage_interpreter::cli::environment::Environment;
use pilotage_interpreter::cli::session::Streams;

fn main() -> ExitCode {
    let mut words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    let program = words.next().unwrap_or_default();
    let words: Vec<String> = words.collect();
    let environment = Environment::of_process(&program);
    // Not locked: the provisioner's threads say warnings too.
    let (mut stdout, mut stderr) = (std::io::stdout(), std::io::stderr());
    let streams = Streams {
        out_is_terminal: stdout.is_terminal(),
        err_is_terminal: stderr.is_terminal(),
        out: &mut stdout,
        err: &mut stderr,
        input: &mut std::io::stdin().lock(),
    };
    ExitCode::from(pilotage_interpreter::cli::run(
        &environment,
        &words,
        streams,
    ))
}
