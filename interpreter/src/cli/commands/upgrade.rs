//! `upgrade`: adopts the present revision of the pod template (design, section 4).

use pilotage_core::state::ApplicationCommand;

use super::super::failure::Failure;
use super::super::grammar::{Command, Scope};
use super::super::state::State;
use super::super::target::Target;
use super::application_of;

/// `upgrade`
pub const UPGRADE: Command = Command {
    name: "upgrade",
    aliases: &[],
    arguments: "<application>",
    summary: "Builds an application's pods as this release of Pilotage does.",
    details: "A new release changes nothing of pods that run. This says that they may be replaced.",
    scope: Scope::Model,
    formats: &[],
    options: &[],
    run: |session, parsed| {
        let name = parsed
            .argument(0)
            .ok_or_else(|| Failure::usage("no application specified"))?;
        parsed.no_more_than(1)?;
        let state = State::open(session, parsed)?;
        let target = Target::find(session, parsed, &state)?;
        let application = application_of(&target.contents(), name)?;
        state.change(session, application.uid, ApplicationCommand::Upgrade)?;
        state.note_provisioner(session)
    },
};
