//! Who may give which command, and which commands rest on what was seen.

use crate::name::Version;
use crate::state::{ApplicationCommand, Caller, Denial, ModelCommand, StorageCommand};

/// Whom a command is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum For {
    User,
    Provisioner,
    Both,
}

fn permit(caller: Caller, whom: For, command: &'static str) -> Result<(), Denial> {
    let permitted = match caller {
        Caller::User => whom != For::Provisioner,
        Caller::Provisioner => whom != For::User,
        // Agents have no commands yet: nothing runs charm code.
        Caller::Agent { .. } => false,
    };
    permitted
        .then_some(())
        .ok_or(Denial::NotPermitted { command })
}

/// The command's name, for people.
pub(super) fn application_command_name(command: &ApplicationCommand) -> &'static str {
    use ApplicationCommand as Command;
    match command {
        Command::Add(_) => "add",
        Command::SetScale { .. } => "set-scale",
        Command::ChangeScale { .. } => "change-scale",
        Command::SetTrust { .. } => "set-trust",
        Command::Configure { .. } => "configure",
        Command::SetConstraints { .. } => "set-constraints",
        Command::Refresh(_) => "refresh",
        Command::Upgrade => "upgrade",
        Command::Desire(_) => "desire",
        Command::Remove { .. } => "remove",
        Command::BeginScaling { .. } => "begin-scaling",
        Command::EndScaling => "end-scaling",
        Command::DestroyUnits { .. } => "destroy-units",
        Command::RemoveUnits { .. } => "remove-units",
        Command::AddStorage { .. } => "add-storage",
        Command::Report(_) => "report",
        Command::MarkDead => "mark-dead",
        Command::RemoveStorage { .. } => "remove-storage",
        Command::Clear => "clear",
    }
}

pub(super) fn application(caller: Caller, command: &ApplicationCommand) -> Result<(), Denial> {
    use ApplicationCommand as Command;
    let whom = match command {
        Command::Add(_)
        | Command::SetScale { .. }
        | Command::ChangeScale { .. }
        | Command::SetTrust { .. }
        | Command::Configure { .. }
        | Command::SetConstraints { .. }
        | Command::Refresh(_)
        | Command::Upgrade
        | Command::Desire(_) => For::User,
        Command::Remove { .. } => For::Both,
        Command::BeginScaling { .. }
        | Command::EndScaling
        | Command::DestroyUnits { .. }
        | Command::RemoveUnits { .. }
        | Command::AddStorage { .. }
        | Command::Report(_)
        | Command::MarkDead
        | Command::RemoveStorage { .. }
        | Command::Clear => For::Provisioner,
    };
    permit(caller, whom, application_command_name(command))
}

/// Whether a command is right only while the record is as the worker saw it (design, section 3).
pub(super) fn rests_on_what_was_seen(command: &ApplicationCommand) -> bool {
    use ApplicationCommand as Command;
    matches!(
        command,
        Command::BeginScaling { .. }
            | Command::EndScaling
            | Command::DestroyUnits { .. }
            | Command::RemoveUnits { .. }
            | Command::MarkDead
            | Command::RemoveStorage { .. }
            | Command::Clear
    )
}

pub(super) fn version(
    now: Version,
    expect: Option<Version>,
    needed: bool,
    command: &'static str,
) -> Result<(), Denial> {
    match expect {
        Some(expected) if expected != now => Err(Denial::MovedOn { expected, now }),
        None if needed => Err(Denial::VersionMissing { command }),
        _ => Ok(()),
    }
}

/// The command's name, for people.
pub(super) fn model_command_name(command: &ModelCommand) -> &'static str {
    match command {
        ModelCommand::Add { .. } => "add",
        ModelCommand::Configure { .. } => "configure",
        ModelCommand::SetConstraints { .. } => "set-constraints",
        ModelCommand::Desire(_) => "desire",
        ModelCommand::Destroy { .. } => "destroy",
        ModelCommand::DrawStorage { .. } => "draw-storage",
        ModelCommand::DrawRevision { .. } => "draw-revision",
        ModelCommand::RememberRemoved { .. } => "remember-removed",
        ModelCommand::Report { .. } => "report",
        ModelCommand::Clear => "clear",
    }
}

pub(super) fn model(caller: Caller, command: &ModelCommand) -> Result<(), Denial> {
    let whom = match command {
        ModelCommand::Add { .. }
        | ModelCommand::Configure { .. }
        | ModelCommand::SetConstraints { .. }
        | ModelCommand::Desire(_)
        | ModelCommand::Destroy { .. }
        | ModelCommand::DrawRevision { .. } => For::User,
        ModelCommand::DrawStorage { .. } => For::Both,
        ModelCommand::RememberRemoved { .. }
        | ModelCommand::Report { .. }
        | ModelCommand::Clear => For::Provisioner,
    };
    permit(caller, whom, model_command_name(command))
}

pub(super) fn storage(caller: Caller, command: &StorageCommand) -> Result<(), Denial> {
    match command {
        StorageCommand::Keep { .. } => permit(caller, For::Provisioner, "keep"),
        StorageCommand::Report(_) => permit(caller, For::Provisioner, "report"),
        StorageCommand::Destroy => permit(caller, For::Both, "destroy"),
        StorageCommand::Clear => permit(caller, For::Both, "clear"),
    }
}
