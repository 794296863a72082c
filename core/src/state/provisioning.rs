//! What an application's objects are made from: everything that a worker needs of a charm and of a user's wishes.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::charm::{CharmUser, Constraints, Filesystem};
use crate::kubernetes::labels::Labels;

use super::Login;

/// The revision of the builders of pod templates. It rises whenever their bytes change, so that a new release of
/// Pilotage restarts nobody's pods (scenario B111): a record keeps the revision that built its pods.
pub const TEMPLATE_REVISION: u32 = 1;

/// What an application's objects are made from.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Provisioning {
    /// Rises with every refresh; an annotation of the pod template, so that a refresh rolls the pods (KAPP-24).
    pub revision: u32,
    /// The [`TEMPLATE_REVISION`] that the template is to be built by.
    pub template: u32,
    /// As whom the charm's code runs.
    pub user: CharmUser,
    /// Workload containers, by name.
    pub containers: Vec<ProvisionedContainer>,
    /// Filesystems of each unit, by storage and index.
    pub filesystems: Vec<Filesystem>,
    /// The application's own constraints; the model's stand behind them.
    pub constraints: Constraints,
    /// The service.
    pub service: ServiceSettings,
}

/// A workload container with its image.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ProvisionedContainer {
    /// The container's name.
    pub name: String,
    /// The image reference.
    pub image: String,
    /// How to log in at the image's registry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub login: Option<Login>,
    /// User id, if the charm says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uid: Option<u32>,
    /// Group id, if the charm says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gid: Option<u32>,
}

/// What a user asked of the application's service (`kubernetes-service-*`). What is not asked for is a birth field of
/// the service and belongs to whoever changes it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct ServiceSettings {
    /// `ClusterIP`, `NodePort`, `LoadBalancer`, `ExternalName`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#type: Option<String>,
    /// Annotations.
    #[serde(skip_serializing_if = "Labels::is_empty")]
    pub annotations: Labels,
    /// `externalIPs`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub external_ips: Vec<String>,
    /// `loadBalancerIP`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load_balancer_ip: Option<String>,
    /// `loadBalancerSourceRanges`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub load_balancer_source_ranges: Vec<String>,
    /// `externalName`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub external_name: Option<String>,
}
