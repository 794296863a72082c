//! The state: three kinds of record, and the commands that change them.
//!
//! * [`Model`]: a namespace, its settings, and which applications it once had;
//! * [`Application`]: what a user wants, and what Pilotage knows of it;
//! * [`Storage`]: a storage that outlives its application.
//!
//! Every rule about records is here, in pure functions: a store only finds a record, applies a command, and keeps what
//! comes out. One [`Command`] changes one record. What the provisioner hears of a change is computed by [`changes`],
//! the same for a live change and for the first list after a start.

mod application;
mod apply;
mod changes;
mod check;
mod command;
mod denial;
mod desire;
mod model;
mod naming;
mod provisioning;
mod shown;
mod status;
mod storage;
mod transaction;
mod unit;
mod view;
mod written;

pub use application::{
    Application, ApplicationReport, ApplicationSpec, ApplicationState, CharmOrigin, Login, Removal,
    RemovalWish, Resource, ResourceValue, ServiceReport,
};
pub use apply::{APPLICATION_SETTINGS, LARGEST_SCALE, REMOVED_REMEMBERED, most_units};
pub use changes::{changes, model_changes, storage_changes};
pub use check::{Broken, check, check_change};
pub use command::{
    ApplicationCommand, Caller, Command, Given, ModelCommand, NewApplication, NewStorage, Refresh,
    Report, StorageCommand, StorageReport, UnitReport,
};
pub use denial::Denial;
pub use desire::Desire;
pub use model::{Model, ModelSpec, ModelState, ModelView};
pub use naming::check_model_name;
pub use provisioning::{ProvisionedContainer, Provisioning, ServiceSettings, TEMPLATE_REVISION};
pub use status::{NO_POD_YET, SETTLING, Status, StatusReport, Word};
pub use storage::{Storage, StorageInstance, StorageWord};
pub use transaction::{Records, Stopped, Transaction, Write, transaction};
pub use unit::{PodFacts, Unit};
pub use view::{DEFAULT_MODEL, provisioning};
pub use written::{Kept, Observed, Written};
