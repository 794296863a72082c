//! One call of the program: where its words go, and what surrounds it (command line, 1.3).

use std::io::{BufRead, Write};

use super::bounded;
use super::environment::Environment;
use super::failure::Failure;
use super::grammar::{Command, Parsed};

/// Where words come from and go to.
pub struct Streams<'a> {
    /// Data.
    pub out: &'a mut dyn Write,
    /// Words.
    pub err: &'a mut dyn Write,
    /// Answers to prompts.
    pub input: &'a mut dyn BufRead,
    /// Whether data goes to a terminal.
    pub out_is_terminal: bool,
    /// Whether words go to a terminal.
    pub err_is_terminal: bool,
}

/// One call of one command.
pub struct Session<'a> {
    /// What surrounds it.
    pub environment: &'a Environment,
    /// The command.
    pub command: &'static Command,
    streams: Streams<'a>,
    quiet: bool,
    verbose: bool,
    colour: Option<bool>,
    format: Option<String>,
    /// Whether `--format` asks for something that a program reads.
    for_programs: bool,
    file: Option<std::fs::File>,
    wrote: bool,
    /// Why data could not be written, the first time that it could not.
    lost: Option<std::io::Error>,
    /// Whether data could not be written, for whatever reason.
    unread: bool,
}

impl<'a> Session<'a> {
    /// Starts one.
    ///
    /// # Errors
    /// `--output` names a file that cannot be written; both colour options are given.
    pub fn start(
        environment: &'a Environment,
        streams: Streams<'a>,
        command: &'static Command,
        parsed: &Parsed,
    ) -> Result<Self, (Failure, Streams<'a>)> {
        if parsed.flag("color") && parsed.flag("no-color") {
            let clash = Failure::usage("cannot mix --no-color and --color");
            return Err((clash, streams));
        }
        let file = match parsed.value("output") {
            None => None,
            Some(name) => match std::fs::File::create(environment.path(name)) {
                Ok(file) => Some(file),
                Err(error) => {
                    let failure = Failure::failed(format!("cannot write to {name:?}: {error}"));
                    return Err((failure, streams));
                }
            },
        };
        let colour = match (parsed.flag_given("color"), parsed.flag("no-color")) {
            (_, true) => Some(false),
            (Some(wanted), _) => Some(wanted),
            _ if environment.variable("NO_COLOR").is_some()
                || environment.variable("TERM") == Some("dumb") =>
            {
                Some(false)
            }
            _ => None,
        };
        Ok(Session {
            environment,
            command,
            streams,
            quiet: parsed.flag("quiet"),
            verbose: parsed.flag("verbose") || parsed.flag("debug") || parsed.flag("show-log"),
            colour,
            format: parsed
                .value("format")
                .map(str::to_owned)
                .or_else(|| command.formats.first().map(|name| (*name).to_owned())),
            for_programs: matches!(parsed.value("format"), Some("json" | "yaml")),
            file,
            wrote: false,
            lost: None,
            unread: false,
        })
    }

    /// The format asked for, or the command's default.
    pub fn format(&self) -> &str {
        self.format.as_deref().unwrap_or("")
    }

    /// Whether data is shown in colour.
    pub fn colour(&self) -> bool {
        self.colour
            .unwrap_or(self.streams.out_is_terminal && self.file.is_none())
    }

    /// Whether data goes to a terminal.
    pub fn on_terminal(&self) -> bool {
        self.streams.out_is_terminal && self.file.is_none()
    }

    /// Data, to stdout or the file of `--output`. A reader that has gone away is no error of ours; anything else that
    /// cannot be written fails the call at its end.
    pub fn print(&mut self, data: &str) {
        self.wrote |= !data.is_empty();
        let written = match &mut self.file {
            Some(file) => file.write_all(data.as_bytes()),
            None => self
                .streams
                .out
                .write_all(data.as_bytes())
                .and_then(|()| self.streams.out.flush()),
        };
        if let Err(error) = written {
            self.unread = true;
            if error.kind() != std::io::ErrorKind::BrokenPipe {
                self.lost.get_or_insert(error);
            }
        }
    }

    /// Whether data could not be written: to go on printing is of no use.
    pub fn is_unread(&self) -> bool {
        self.unread
    }

    /// One line of data.
    pub fn print_line(&mut self, line: &str) {
        self.print(&format!("{line}\n"));
    }

    /// Words, unless `--quiet`.
    pub fn note(&mut self, line: &str) {
        if !self.quiet {
            self.say(line);
        }
    }

    /// Words without an end of line, unless `--quiet`.
    pub fn note_part(&mut self, text: &str) {
        if !self.quiet {
            self.say_part(text);
        }
    }

    /// Words only with `--verbose`.
    pub fn detail(&mut self, line: &str) {
        if self.verbose {
            self.say(line);
        }
    }

    /// A warning.
    pub fn warn(&mut self, line: &str) {
        self.say(&format!("WARNING {line}"));
    }

    /// Words in any case.
    pub fn say(&mut self, line: &str) {
        let _ = writeln!(self.streams.err, "{line}");
    }

    /// Words without an end of line.
    pub fn say_part(&mut self, text: &str) {
        let _ = write!(self.streams.err, "{text}");
        let _ = self.streams.err.flush();
    }

    /// An error that does not end the command.
    pub fn error(&mut self, message: &str) {
        say_error(&mut self.streams, message);
    }

    /// Asks, and reads one line of answer; nothing at the end of the input.
    pub fn ask(&mut self, question: &str) -> String {
        self.say_part(question);
        let mut answer = String::new();
        let _ = self.streams.input.read_line(&mut answer);
        answer.trim().to_owned()
    }

    /// Everything from stdin.
    ///
    /// # Errors
    /// It cannot be read, or is no UTF-8.
    pub fn read_input(&mut self) -> Result<String, Failure> {
        bounded::text(&mut self.streams.input)
            .map_err(|error| Failure::failed(format!("cannot read stdin: {error}")))
    }

    /// Ends the call: says what went wrong, and gives the exit code.
    pub fn end(mut self, done: Result<(), Failure>) -> u8 {
        let done = match (done, self.lost.take()) {
            (Ok(()), Some(error)) => Err(Failure::failed(format!(
                "what was asked for could not be written: {error}"
            ))),
            (done, _) => done,
        };
        let Err(failure) = done else { return 0 };
        if self.for_programs && !self.wrote && failure.exit_code() != 2 {
            self.print("{}\n");
        }
        say_failure(&mut self.streams, &failure);
        failure.exit_code()
    }
}

/// Says why a call failed.
pub fn say_failure(streams: &mut Streams<'_>, failure: &Failure) {
    if !matches!(failure, Failure::Told | Failure::Stopped) {
        say_error(streams, &failure.to_string());
    }
}

fn say_error(streams: &mut Streams<'_>, message: &str) {
    let word = if streams.err_is_terminal {
        "\u{1b}[31mERROR\u{1b}[0m"
    } else {
        "ERROR"
    };
    let _ = writeln!(streams.err, "{word} {message}");
}
