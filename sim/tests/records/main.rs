//! What is true of records: after any sequence of commands (design, section 3; reference, section 15, items 2 and 3),
//! and in the situations that broke other systems.

mod desire;
mod detached;
mod model;
mod names;
mod properties;
mod record;
mod refresh;
mod removal;
mod scaling;
mod status;
mod storage;
mod user;
mod written;

use pilotage_core::name::Uid;

/// The model that applications are in.
const MODEL: Uid = Uid(1);
/// The application that commands are tried on.
const APPLICATION: Uid = Uid(2);
