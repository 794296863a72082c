//! The aspects: pure comparers of what is wanted with what is there.
//!
//! Each looks at the view and the memory, changes neither, and says what is to be done next about its part. They share
//! [`ensure`](ensure::ensure), the one way in which an object of ours comes to be what its manifest says.

pub mod access;
pub mod ensure;
pub mod removal;
pub mod report;
pub mod scale;
pub mod secrets;
pub mod services;
pub mod status;
pub mod storage;
pub mod workload;

use alloc::boxed::Box;

use crate::effect::Action;
use crate::name::Version;
use crate::state::{ApplicationCommand, Caller, Command};

use super::view::View;

/// A command about the worker's own application. `expect`: whether it rests on what the worker saw of the record.
fn command(view: &View, expect: bool, body: ApplicationCommand) -> Action {
    let expect: Option<Version> = expect.then_some(view.record.version);
    Action::Store(Box::new(Command::Application {
        application: view.uid,
        caller: Caller::Provisioner,
        expect,
        body,
    }))
}
