//! Commands: the only way in which a record changes.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::charm::{
    Charm, ConfigValue, Constraints, DeviceDirective, Filesystem, StorageDirective,
};
use crate::name::{Uid, Version};

use super::{
    CharmOrigin, Desire, ModelSpec, PodFacts, RemovalWish, ResourceValue, ServiceReport,
    StatusReport, Storage, StorageWord,
};

/// One change of one record, and who asks for it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "kebab-case")]
pub enum Command {
    /// Changes an application.
    Application {
        /// Which; for [`ApplicationCommand::Add`] the uid that it gets.
        application: Uid,
        /// Who asks. A rule of the record, not a login.
        caller: Caller,
        /// Only at this version; another is answered "try again".
        expect: Option<Version>,
        /// What.
        body: ApplicationCommand,
    },
    /// Changes a model.
    Model {
        /// Which; for [`ModelCommand::Add`] the uid that it gets.
        model: Uid,
        /// Who asks.
        caller: Caller,
        /// Only at this version.
        expect: Option<Version>,
        /// What.
        body: ModelCommand,
    },
    /// Changes a storage that outlived its application.
    Storage {
        /// The model.
        model: Uid,
        /// The storage's number in the model.
        number: u32,
        /// Who asks.
        caller: Caller,
        /// Only at this version.
        expect: Option<Version>,
        /// What.
        body: StorageCommand,
    },
}

/// Who gives a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Caller {
    /// A person, or a program for one.
    User,
    /// A worker of the core.
    Provisioner,
    /// The agent of a unit.
    Agent {
        /// The unit's number.
        unit: u32,
    },
}

/// What can happen to an application's record.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ApplicationCommand {
    /// User: a new application.
    Add(Box<NewApplication>),
    /// User: this many units.
    SetScale {
        /// Units wanted.
        scale: u32,
    },
    /// User: so many units more, or fewer.
    ChangeScale {
        /// By how many.
        by: i64,
    },
    /// User: trusted or not.
    SetTrust {
        /// Whether it may do everything in the cluster.
        trust: bool,
    },
    /// User: options and settings; `None` resets one.
    Configure {
        /// Options of the charm.
        config: BTreeMap<String, Option<ConfigValue>>,
        /// Settings of the application itself.
        settings: BTreeMap<String, Option<String>>,
    },
    /// User: the whole set of constraints.
    SetConstraints {
        /// The set.
        constraints: Box<Constraints>,
    },
    /// User: another revision of the charm, or the same with other resources, options, storage, trust. Absent parts
    /// stay.
    Refresh(Box<Refresh>),
    /// User: build the pods as this release does.
    Upgrade,
    /// User: all that is wanted, whatever there was.
    Desire(Box<Desire>),
    /// User, and a model that is to go: away with it.
    Remove {
        /// How.
        wish: RemovalWish,
    },

    /// Provisioner: a scaling begins; written before its first side effect (B22).
    BeginScaling {
        /// Where to.
        target: u32,
    },
    /// Provisioner: the scaling is over.
    EndScaling,
    /// Provisioner: the units from this number on are to go. Without agents they are dead at once.
    DestroyUnits {
        /// The lowest that goes.
        from: u32,
    },
    /// Provisioner: the pods of these dead units are confirmed gone; so go the units.
    RemoveUnits {
        /// Their numbers.
        numbers: Vec<u32>,
    },
    /// Provisioner: numbers that the model drew become storages of units.
    AddStorage {
        /// Which.
        storages: Vec<NewStorage>,
    },
    /// Provisioner: what the cluster shows.
    Report(Report),
    /// Provisioner: every unit is gone; what is left is to be taken away.
    MarkDead,
    /// Provisioner: the claims of these storages are confirmed gone, or their own records are written.
    RemoveStorage {
        /// Their numbers.
        numbers: Vec<u32>,
    },
    /// Provisioner: the cluster holds nothing of it any more; the record goes.
    Clear,
}

/// What a user says of a new application.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct NewApplication {
    /// The model.
    pub model: Uid,
    /// The name.
    pub name: Box<str>,
    /// The charm.
    pub charm: Arc<Charm>,
    /// Where it came from.
    pub origin: CharmOrigin,
    /// Resources that the user gave, by name. What is not given comes from `upstream-source`.
    pub resources: BTreeMap<String, ResourceValue>,
    /// Units wanted.
    pub scale: u32,
    /// Whether it is trusted.
    pub trust: bool,
    /// Options.
    pub config: BTreeMap<String, ConfigValue>,
    /// Settings of the application itself.
    pub settings: BTreeMap<String, String>,
    /// Constraints.
    pub constraints: Constraints,
    /// Storage directives.
    pub storage: BTreeMap<String, StorageDirective>,
    /// The filesystems that charm, directives and model make together.
    pub filesystems: Vec<Filesystem>,
    /// Devices.
    pub devices: BTreeMap<String, DeviceDirective>,
    /// Base.
    pub base: Option<String>,
}

/// What a user says of another revision. Absent parts stay as they are.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Refresh {
    /// The charm, its origin and the filesystems that it makes with the directives.
    pub charm: Option<(Arc<Charm>, CharmOrigin)>,
    /// Resources.
    pub resources: BTreeMap<String, ResourceValue>,
    /// Options.
    pub config: BTreeMap<String, ConfigValue>,
    /// Settings.
    pub settings: BTreeMap<String, String>,
    /// Directives.
    pub storage: BTreeMap<String, StorageDirective>,
    /// The filesystems of each unit from now on.
    pub filesystems: Vec<Filesystem>,
    /// Trust.
    pub trust: Option<bool>,
    /// Base.
    pub base: Option<String>,
}

/// A storage that a unit is to have.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct NewStorage {
    /// Its number in the model, drawn before.
    pub number: u32,
    /// The unit's number.
    pub unit: u32,
    /// Name of the storage in the charm.
    pub storage: String,
    /// Which of several.
    pub index: Option<u32>,
    /// Name of its claim.
    pub claim: Option<Box<str>>,
}

/// What the cluster shows. Absent parts are unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Report {
    /// The service.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service: Option<ServiceReport>,
    /// Units. A unit that has no record is left alone: a report never makes units (AFAC-20).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub units: Vec<UnitReport>,
    /// Storages.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub storage: Vec<StorageReport>,
    /// The provisioner's own status.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provisioner: Option<StatusReport>,
    /// Whether all that users want is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_rest: Option<bool>,
}

/// What the cluster shows of one unit.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct UnitReport {
    /// The unit.
    pub number: u32,
    /// Its pod.
    pub pod: Option<PodFacts>,
    /// Whether the pod is ready: once so, the unit has started.
    pub ready: bool,
    /// What its workload does.
    pub workload: StatusReport,
    /// What its agent does.
    pub agent: StatusReport,
}

/// What the cluster shows of one storage.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct StorageReport {
    /// Its number in the model.
    pub number: u32,
    /// What it is doing.
    pub word: StorageWord,
    /// For people.
    pub message: Box<str>,
    /// What the cluster gave. It follows the claim (B53).
    pub given: Option<Given>,
}

/// What the cluster gave for a claim.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Given {
    /// The claim's uid.
    pub claim: Uid,
    /// The volume's name.
    pub volume: Box<str>,
    /// Size in MiB.
    pub size_mib: u64,
}

/// What can happen to a model's record.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ModelCommand {
    /// User: a new model.
    Add {
        /// The name.
        name: Box<str>,
        /// Settings.
        settings: BTreeMap<String, String>,
    },
    /// User: settings; `None` resets one.
    Configure {
        /// The settings.
        settings: BTreeMap<String, Option<String>>,
    },
    /// User: the whole set of constraints.
    SetConstraints {
        /// The set.
        constraints: Box<Constraints>,
    },
    /// User: all that is wanted, whatever there was. With a removal, nothing else of it counts.
    Desire(Box<ModelSpec>),
    /// User: away with it and all that is in it.
    Destroy {
        /// How.
        wish: RemovalWish,
    },
    /// Draws numbers for storages; the first is in the reply. A crash leaves a gap, never a double.
    DrawStorage {
        /// How many.
        count: u32,
    },
    /// User: draws the next revision of a charm, at least `floor`; it is in the reply.
    DrawRevision {
        /// The charm's name.
        charm: String,
        /// The charm's own revision.
        floor: u32,
    },
    /// Provisioner: an application's objects are gone; what still carries its uid is a leftover from now on.
    RememberRemoved {
        /// Which.
        application: Uid,
        /// Whether its storage was to be destroyed: then so are claims of it that are found later.
        #[serde(default, skip_serializing_if = "core::ops::Not::not")]
        destroyed: bool,
    },
    /// Provisioner: what the namespace shows.
    Report {
        /// The status.
        status: StatusReport,
    },
    /// Provisioner: nothing of it is left; the record goes.
    Clear,
}

/// What can happen to the record of a storage that outlived its application.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StorageCommand {
    /// Provisioner: it outlives its application. Again is the same.
    Keep {
        /// The record, its version not yet set.
        storage: Box<Storage>,
    },
    /// Provisioner: what the cluster shows of its claim.
    Report(StorageReport),
    /// User, and a model that is to go: its claim is to be deleted.
    Destroy,
    /// Provisioner: its claim is confirmed gone; user: forget it, the claim stays.
    Clear,
}
