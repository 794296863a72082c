//! All commands, by name.

use pilotage_core::charm::mistake;

use super::commands;
use super::grammar::Command;
use super::unavailable;

/// Every command, in the order of their names.
pub const COMMANDS: &[&Command] = &[
    &commands::models::ADD_MODEL,
    &commands::scale::ADD_UNIT,
    &commands::resources::ATTACH_RESOURCE,
    &commands::completions::COMPLETIONS,
    &commands::config::CONFIG,
    &commands::constraints::CONSTRAINTS,
    &commands::deploy::DEPLOY,
    &commands::destroy::DESTROY_MODEL,
    &commands::manifests::MANIFESTS,
    &commands::model_config::MODEL_CONFIG,
    &commands::constraints::MODEL_CONSTRAINTS,
    &commands::models::MODELS,
    &commands::refresh::REFRESH,
    &commands::remove::REMOVE_APPLICATION,
    &commands::scale::REMOVE_UNIT,
    &commands::run::REPLAY,
    &commands::resources::RESOURCES,
    &commands::run::RUN,
    &commands::scale::SCALE_APPLICATION,
    &commands::constraints::SET_CONSTRAINTS,
    &commands::constraints::SET_MODEL_CONSTRAINTS,
    &commands::show::SHOW_APPLICATION,
    &commands::models::SHOW_MODEL,
    &commands::show::SHOW_UNIT,
    &commands::status::STATUS,
    &commands::storage::STORAGE,
    &commands::models::SWITCH,
    &commands::trust::TRUST,
    &commands::up::UP,
    &commands::upgrade::UPGRADE,
    &commands::version::VERSION,
    &commands::wait_for::WAIT_FOR,
];

/// The command of a name or an alias.
pub fn find(name: &str) -> Option<&'static Command> {
    COMMANDS
        .iter()
        .find(|command| command.is_called(name))
        .copied()
}

/// The name that a slip was probably meant to be; ours, or one of Juju's that we answer.
pub fn nearest(name: &str) -> Option<&'static str> {
    let ours = COMMANDS
        .iter()
        .flat_map(|command| std::iter::once(command.name).chain(command.aliases.iter().copied()));
    let known: Vec<&'static str> = ours.chain(unavailable::names()).collect();
    mistake::closest(name, &known)
}
