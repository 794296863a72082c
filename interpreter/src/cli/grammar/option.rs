//! Options and the tables of those that many commands share.

/// What an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing, or `=true`, `=false`.
    Flag,
    /// One value; the last of several wins.
    Value(&'static str),
    /// A value each time that it is given.
    Many(&'static str),
    /// A whole number.
    Integer(&'static str),
    /// A span of time, as Go writes it.
    Duration(&'static str),
}

impl Kind {
    /// The name of the value in help; none for a flag.
    pub fn placeholder(self) -> Option<&'static str> {
        match self {
            Kind::Flag => None,
            Kind::Value(name) | Kind::Many(name) | Kind::Integer(name) | Kind::Duration(name) => {
                Some(name)
            }
        }
    }
}

/// One option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opt {
    /// Its long name, under which [`Parsed`](super::Parsed) keeps it.
    pub long: &'static str,
    /// Another long name of the same.
    pub alias: Option<&'static str>,
    /// Its letter.
    pub short: Option<char>,
    /// What it takes.
    pub kind: Kind,
    /// The value if it is the last word of the call.
    pub alone: Option<&'static str>,
    /// One line for help.
    pub help: &'static str,
}

impl Opt {
    /// A flag.
    pub const fn flag(long: &'static str, help: &'static str) -> Self {
        Opt::new(long, Kind::Flag, help)
    }

    /// An option with one value.
    pub const fn value(long: &'static str, value: &'static str, help: &'static str) -> Self {
        Opt::new(long, Kind::Value(value), help)
    }

    /// An option that may be given several times.
    pub const fn many(long: &'static str, value: &'static str, help: &'static str) -> Self {
        Opt::new(long, Kind::Many(value), help)
    }

    /// An option with a whole number.
    pub const fn integer(long: &'static str, value: &'static str, help: &'static str) -> Self {
        Opt::new(long, Kind::Integer(value), help)
    }

    /// An option with a span of time.
    pub const fn duration(long: &'static str, value: &'static str, help: &'static str) -> Self {
        Opt::new(long, Kind::Duration(value), help)
    }

    const fn new(long: &'static str, kind: Kind, help: &'static str) -> Self {
        Opt {
            long,
            alias: None,
            short: None,
            kind,
            alone: None,
            help,
        }
    }

    /// The same with a letter.
    pub const fn short(self, letter: char) -> Self {
        Opt {
            short: Some(letter),
            ..self
        }
    }

    /// The same with a value that holds if nothing follows.
    pub const fn alone(self, value: &'static str) -> Self {
        Opt {
            alone: Some(value),
            ..self
        }
    }

    /// The same with a second long name.
    pub const fn alias(self, alias: &'static str) -> Self {
        Opt {
            alias: Some(alias),
            ..self
        }
    }
}

/// Of every command.
pub const COMMON: [Opt; 11] = [
    Opt::value("output", "FILE", "write to FILE what would go to stdout").short('o'),
    Opt::flag("quiet", "no informational lines").short('q'),
    Opt::flag("verbose", "more informational lines").short('v'),
    Opt::flag(
        "debug",
        "the same as --show-log --logging-config=<root>=DEBUG",
    ),
    Opt::flag("show-log", "write the log to stderr"),
    Opt::value("logging-config", "LEVELS", "levels of the log"),
    Opt::flag("no-browser-login", "accepted without an effect").short('B'),
    Opt::value(
        "state",
        "PATH|kubernetes[:CONTEXT]",
        "where the state is (default: $PILOTAGE_STATE, else state.db among the user's data)",
    ),
    Opt::flag("help", "show help").short('h'),
    Opt::flag("color", "colour also where there is no terminal"),
    Opt::flag("no-color", "no colour"),
];

/// Of commands on one model.
pub const MODEL: [Opt; 1] = [Opt::value(
    "model",
    "[CONTROLLER:][USER/]MODEL",
    "the model (default: $PILOTAGE_MODEL, $JUJU_MODEL, else the current one)",
)
.short('m')];

/// Of commands on all models.
pub const CONTROLLER: [Opt; 1] =
    [Opt::value("controller", "NAME", "the controller; there is one").short('c')];

/// Of commands that show something.
pub const FORMAT: [Opt; 1] = [Opt::value("format", "NAME", "how to show it")];
