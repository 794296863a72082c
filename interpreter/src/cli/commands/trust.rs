//! `trust` (command line, 2.3).

use pilotage_core::state::ApplicationCommand;

use super::super::failure::Failure;
use super::super::grammar::{Command, Opt, Scope};
use super::super::state::State;
use super::super::target::Target;
use super::application_of;

/// `trust`
pub const TRUST: Command = Command {
    name: "trust",
    aliases: &[],
    arguments: "<application>",
    summary: "Lets an application's pods do everything in the cluster, or no more.",
    details: "",
    scope: Scope::Model,
    formats: &[],
    options: &[
        Opt::flag("remove", "no more"),
        Opt::value("scope", "SCOPE", "\"cluster\", which says that it is meant"),
    ],
    run: |session, parsed| {
        let name = parsed
            .argument(0)
            .ok_or_else(|| Failure::usage("no application name specified"))?;
        parsed.no_more_than(1)?;
        let remove = parsed.flag("remove");
        match parsed.value("scope") {
            None if !remove => {
                let program = &session.environment.program;
                return Err(Failure::failed(format!(
                    "'{program} trust' currently grants full access to the cluster itself.\n\
                     Set the scope to 'cluster' using '--scope=cluster' to confirm this choice."
                )));
            }
            Some(scope) if scope != "cluster" => {
                return Err(Failure::failed(format!("scope \"{scope}\" not valid")));
            }
            _ => {}
        }
        let state = State::open(session, parsed)?;
        let target = Target::find(session, parsed, &state)?;
        let application = application_of(&target.contents(), name)?;
        let body = ApplicationCommand::SetTrust { trust: !remove };
        state.change(session, application.uid, body)?;
        state.note_provisioner(session)
    },
};
