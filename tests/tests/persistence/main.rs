//! What is kept on disk: the state, the embedded cluster, and who runs on them.

mod crash;
mod embedded;
mod files;
mod transactions;

use pilotage_core::name::Uid;
use pilotage_core::outcome::Outcome;
use pilotage_core::state::{Caller, Command, ModelCommand};
use pilotage_core::time::Timestamp;
use pilotage_interpreter::store::Store;

const CHILD: &str = env!("CARGO_BIN_EXE_child");

fn command(model: u128, body: ModelCommand) -> Command {
    Command::Model {
        model: Uid(model),
        caller: Caller::User,
        expect: None,
        body,
    }
}

fn add(model: u128) -> Command {
    command(
        model,
        ModelCommand::Add {
            name: format!("m{model}").into(),
            settings: Default::default(),
        },
    )
}

fn execute(store: &dyn Store, command: &Command) -> Outcome {
    store
        .execute(Timestamp(1), command, &[])
        .unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

fn done(store: &dyn Store, command: &Command) {
    let outcome = execute(store, command);
    assert!(matches!(outcome, Outcome::Done(_)), "{outcome:?}");
}
