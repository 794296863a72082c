//! The commands, a file per group.

pub mod bundle;
pub mod completions;
pub mod config;
pub mod constraints;
pub mod deploy;
pub mod destroy;
pub mod dry_run;
pub mod manifests;
pub mod model_config;
pub mod models;
pub mod refresh;
pub mod remove;
pub mod resources;
pub mod run;
pub mod scale;
pub mod settings;
pub mod show;
pub mod status;
pub mod storage;
pub mod trust;
pub mod up;
pub mod upgrade;
pub mod version;
pub mod wait_for;

use pilotage_core::charm::names;
use pilotage_core::state::Application;

use super::failure::Failure;
use super::state::Contents;

/// The application of a name.
///
/// # Errors
/// It is no name (a usage mistake), or there is no such application.
pub fn application_of<'a>(contents: &Contents<'a>, name: &str) -> Result<&'a Application, Failure> {
    if names::check_application(name).is_err() {
        return Err(Failure::usage(format!(
            "invalid application name \"{name}\""
        )));
    }
    contents
        .application(name)?
        .ok_or_else(|| Failure::failed(format!("application \"{name}\" not found")))
}
