//! From records to what `status` shows: a pure function (command line, 3.1).

use pilotage_core::charm::Base;
use pilotage_core::event::RecordName;
use pilotage_core::life::Life;
use pilotage_core::state::{Application, Model, ResourceValue, Status, Storage, Unit, Word};

use super::super::output::times::Clock;
use super::super::version::JUJU_VERSION;
use super::storage::{damaged_storage, storage_view};
use super::view::{
    ApplicationView, BaseView, ControllerView, ModelView, Named, Shown, StatusEntry, StatusView,
    UnitView,
};
use crate::store::Damaged;

/// What a unit's status says while nothing acts on the state.
pub const NO_PROVISIONER: &str =
    "no provisioner is running on this state; start one with: pilotage run";

/// The records that a status is made from, and the names that we answer to.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The model's name.
    pub name: &'a str,
    /// Its record; none for the model `default` before its first write.
    pub model: Option<&'a Model>,
    /// Its applications.
    pub applications: &'a [&'a Application],
    /// Its storages that outlived their applications.
    pub storages: &'a [&'a Storage],
    /// Its records that cannot be read, its own too.
    pub damaged: &'a [&'a Damaged],
    /// The controller's name.
    pub controller: &'a str,
    /// The cloud's name.
    pub cloud: &'a str,
    /// Whether something acts on the state.
    pub provisioned: bool,
}

/// The whole status.
pub fn status_view(source: &Source<'_>, clock: &Clock) -> StatusView {
    let own = source.damaged.iter();
    let mut own = own.filter(|damaged| matches!(damaged.record, RecordName::Model { .. }));
    let mut applications: Named<Shown<ApplicationView>> = source
        .applications
        .iter()
        .map(|application| {
            let view = application_view(application, source.provisioned, clock);
            (application.name.to_string(), view.into())
        })
        .collect();
    let mut storage = storage_view(
        source.applications.iter().copied(),
        source.storages.iter().copied(),
        clock,
    );
    for damaged in source.damaged {
        match &damaged.record {
            RecordName::Application { name, .. } => {
                applications.insert(name.to_string(), Shown::damaged(damaged));
            }
            RecordName::Storage { number, .. } => damaged_storage(&mut storage, *number, damaged),
            RecordName::Model { .. } => {}
        }
    }
    StatusView {
        model: ModelView {
            name: source.name.into(),
            r#type: "caas",
            controller: source.controller.into(),
            cloud: source.cloud.into(),
            version: JUJU_VERSION,
            model_status: match own.next() {
                Some(damaged) => Shown::damaged(damaged),
                None => model_status(source.model, clock).into(),
            },
        },
        machines: Named::new(),
        applications,
        storage,
        controller: ControllerView {
            timestamp: clock.time_of_day(),
        },
    }
}

/// What a model does, in the words of models.
pub fn model_status(model: Option<&Model>, clock: &Clock) -> StatusEntry {
    let Some(model) = model else {
        return StatusEntry {
            current: "available".into(),
            since: clock.since(clock.now),
            ..StatusEntry::default()
        };
    };
    let status = &model.status.status;
    let current = match (model.status.life, status.report.word) {
        (_, Word::Error | Word::Blocked) => "error",
        (Life::Dying | Life::Dead | Life::Gone, _) => "destroying",
        (Life::Alive, Word::Waiting | Word::Maintenance) => "busy",
        (Life::Alive, _) => "available",
    };
    let since = if status.since.0 == 0 {
        model.created
    } else {
        status.since
    };
    StatusEntry {
        current: current.into(),
        message: status.report.message.to_string(),
        since: clock.since(since),
        life: None,
    }
}

/// One application.
pub fn application_view(
    application: &Application,
    provisioned: bool,
    clock: &Clock,
) -> ApplicationView {
    let spec = &application.spec;
    let service = application.status.service.as_ref();
    let leader = application.leader();
    let why = match provisioned {
        true => application.obstacle(),
        false => Some(NO_PROVISIONER),
    };
    ApplicationView {
        charm: charm_url(application),
        base: base(application),
        charm_origin: "local",
        charm_name: spec.charm.name.clone(),
        charm_rev: spec.origin.revision,
        charm_version: spec.origin.version.clone(),
        scale: spec.scale,
        provider_id: service
            .and_then(|service| service.uid)
            .map(|uid| uid.to_string()),
        address: service
            .and_then(|service| service.addresses.first())
            .map(ToString::to_string),
        exposed: false,
        life: shown_life(application.status.life),
        application_status: entry(&application.shown_status(), clock),
        units: application
            .status
            .units
            .iter()
            .map(|unit| {
                let name = format!("{}/{}", application.name, unit.number);
                (
                    name,
                    unit_view(unit, leader == Some(unit.number), why, clock),
                )
            })
            .collect(),
        version: workload_version(application),
    }
}

/// `why` says what stands in the way of pods that are not there yet.
fn unit_view(unit: &Unit, leader: bool, why: Option<&str>, clock: &Clock) -> UnitView {
    let pod = unit.pod.as_ref();
    let mut workload_status = entry(&unit.workload, clock);
    if let Some(why) = why
        && pod.is_none()
        && unit.workload.report.word == Word::Waiting
    {
        workload_status.message = why.into();
    }
    let juju_status = StatusEntry {
        life: shown_life(unit.life),
        ..entry(&unit.agent, clock)
    };
    UnitView {
        workload_status,
        juju_status,
        leader,
        open_ports: pod
            .map(|pod| pod.ports.iter().map(ToString::to_string).collect())
            .unwrap_or_default(),
        address: pod
            .and_then(|pod| pod.address.as_ref())
            .map(ToString::to_string),
        provider_id: pod.map(|pod| pod.name.to_string()),
    }
}

/// The URL of a local charm.
pub fn charm_url(application: &Application) -> String {
    format!(
        "local:{}-{}",
        application.spec.charm.name, application.spec.origin.revision
    )
}

/// The base that was asked for, else the first of the charm's.
pub fn base(application: &Application) -> Option<BaseView> {
    let (name, channel) = match &application.spec.base {
        Some(asked) => {
            let (name, channel) = asked.split_once('@')?;
            (name.to_owned(), channel.to_owned())
        }
        None => {
            let Base { name, channel } = application.spec.charm.bases.first()?.clone();
            (name, channel)
        }
    };
    let channel = channel
        .strip_suffix("/stable")
        .unwrap_or(&channel)
        .to_owned();
    Some(BaseView { name, channel })
}

/// The image of the first container by name: what stands for the workload's version while there is no agent.
pub fn workload_version(application: &Application) -> Option<String> {
    let spec = &application.spec;
    let container = spec.charm.containers.first()?;
    let declared = || {
        spec.charm
            .resource(&container.resource)?
            .upstream_source
            .clone()
    };
    match spec.resources.get(&container.resource) {
        Some(resource) => match &resource.value {
            ResourceValue::Image { path, .. } => Some(path.clone()),
            ResourceValue::File { .. } => None,
        },
        None => declared(),
    }
}

/// A status as it is shown.
pub fn entry(status: &Status, clock: &Clock) -> StatusEntry {
    StatusEntry {
        current: status.report.word.as_str().into(),
        message: status.report.message.to_string(),
        since: clock.since(status.since),
        life: None,
    }
}

/// A life's word.
pub fn life_word(life: Life) -> &'static str {
    match life {
        Life::Alive => "alive",
        Life::Dying => "dying",
        Life::Dead | Life::Gone => "dead",
    }
}

/// A life's word where it is absent while alive.
fn shown_life(life: Life) -> Option<&'static str> {
    (life != Life::Alive).then(|| life_word(life))
}
