//! `version`.

use serde::Serialize;

use super::super::failure::Done;
use super::super::grammar::{Command, Opt, Parsed, Scope};
use super::super::output::{json, yaml};
use super::super::session::Session;
use super::super::version::full;

/// `version`
pub const VERSION: Command = Command {
    name: "version",
    aliases: &[],
    arguments: "",
    summary: "Prints the version of the Juju command line that is spoken; with --all, of Pilotage too.",
    details: "",
    scope: Scope::Program,
    formats: &["smart", "json", "yaml"],
    options: &[Opt::flag("all", "all there is to say about the version")],
    run,
};

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Everything {
    version: String,
    compiler: &'static str,
    official: bool,
    pilotage: &'static str,
}

fn run(session: &mut Session<'_>, parsed: &Parsed) -> Done {
    parsed.no_more_than(0)?;
    if parsed.flag("all") {
        let everything = Everything {
            version: full(),
            compiler: "rustc",
            official: false,
            pilotage: env!("CARGO_PKG_VERSION"),
        };
        let text = match session.format() {
            "json" => json(&everything),
            _ => yaml(&everything),
        };
        session.print(&text);
    } else {
        match session.format() {
            "json" => session.print(&json(&full())),
            "yaml" => session.print(&yaml(&full())),
            _ => session.print_line(&full()),
        }
    }
    Ok(())
}
