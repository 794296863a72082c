//! Life: how far something is on its way out.

use serde::{Deserialize, Serialize};

/// The life of an application or a unit in the state. It only ever moves down this list.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Life {
    /// Wanted.
    #[default]
    Alive,
    /// To go; what runs may still end in order.
    Dying,
    /// Ended; what is left in the cluster is to be taken away.
    Dead,
    /// Its record is no more.
    Gone,
}
