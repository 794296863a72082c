//! Units: what an application is made of.

use alloc::boxed::Box;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::life::Life;

use super::Status;

/// One unit. Its number is its pod's ordinal, for ever.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Unit {
    /// The number.
    pub number: u32,
    /// How far it is on its way out.
    pub life: Life,
    /// Its pod, as last reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pod: Option<PodFacts>,
    /// Whether its pod was ready once: until then the agent is `allocating`.
    #[serde(default)]
    pub started: bool,
    /// What its workload does.
    pub workload: Status,
    /// What its agent does.
    pub agent: Status,
}

/// What users see of a unit's pod.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PodFacts {
    /// The pod's name, which is the unit's provider id.
    pub name: Box<str>,
    /// The pod's address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<Box<str>>,
    /// Ports of its containers, in their order, as `5432/TCP`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<Box<str>>,
}
