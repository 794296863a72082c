//! How events, effects and reasons are said to people: in logs, stories of simulated runs, and replays.

use core::fmt::{Display, Formatter, Result};

use crate::effect::Action;
use crate::event::{Event, RecordName, Source};
use crate::life::Life;
use crate::reason::Reason;
use crate::state::{
    ApplicationCommand, Command, ModelCommand, Report, StatusReport, StorageCommand, Unit,
};

impl Display for Source {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Source::Store => f.write_str("the state"),
            Source::Cluster(kind) => write!(f, "{kind}"),
        }
    }
}

impl Display for RecordName {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            RecordName::Model { name, .. } => write!(f, "model \"{name}\""),
            RecordName::Application { name, .. } => write!(f, "application \"{name}\""),
            RecordName::Storage { number, .. } => write!(f, "storage number {number}"),
        }
    }
}

impl Display for Event {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Event::Listing { source } => write!(f, "list of {source} begins"),
            Event::Synced { source } => write!(f, "list of {source} is complete"),
            Event::SourceFailed { source, reason } => {
                write!(f, "{source} cannot be read: {reason}")
            }
            Event::SourceResumed { source } => write!(f, "{source} can be read again"),
            Event::ModelChanged(model) => write!(f, "model {} is {}", model.name, life(model.life)),
            Event::ModelGone { .. } => f.write_str("model is gone"),
            Event::LifeChanged { name, life: at, .. } => {
                write!(f, "application {name} is {}", life(*at))
            }
            Event::ScaleChanged { scale, scaling, .. } => {
                write!(f, "scale is {scale}")?;
                scaling.map_or(Ok(()), |target| write!(f, ", scaling to {target}"))
            }
            Event::TrustChanged { trust, .. } => write!(f, "trust is {trust}"),
            Event::ProvisioningChanged { provisioning, .. } => match provisioning {
                Ok(made) => write!(
                    f,
                    "pods are made from revision {} of the charm",
                    made.revision
                ),
                Err(text) => write!(f, "pods cannot be made: {text}"),
            },
            Event::UnitChanged { unit, .. } => write!(f, "{}", Of(&**unit)),
            Event::UnitRemoved { number, .. } => write!(f, "unit {number} is gone"),
            Event::StorageChanged { storage, .. } => {
                write!(f, "storage {} of unit {}", storage.id(), storage.unit)
            }
            Event::StorageRemoved { number, .. } => write!(f, "storage {number} is gone"),
            Event::Reported { report, .. } => {
                write!(f, "status is {}", Of(&report.provisioner))
            }
            Event::DetachedStorageChanged { storage } => {
                write!(
                    f,
                    "storage {} outlives its application",
                    storage.instance.id()
                )
            }
            Event::DetachedStorageGone { number, .. } => write!(f, "storage {number} is gone"),
            Event::RecordUnreadable(record) => write!(f, "the record of {record} cannot be read"),
            Event::PodUpdated(pod) => {
                let metadata = &pod.metadata;
                let ending = if metadata.is_deleting() {
                    ", ending"
                } else {
                    ""
                };
                let ready = pod.status.conditions.iter();
                let mut ready =
                    ready.filter(|one| &*one.r#type == "Ready" && &*one.status == "True");
                let ready = if ready.next().is_some() {
                    ", ready"
                } else {
                    ""
                };
                let phase = &pod.status.phase;
                write!(f, "Pod \"{}\" is {phase:?}{ready}{ending}", metadata.name)
            }
            Event::ObjectUpdated(object) => {
                let ending = object.metadata().is_deleting();
                let ending = if ending { ", ending" } else { "" };
                write!(
                    f,
                    "{} at version {}{ending}",
                    object.key(),
                    object.metadata().version
                )
            }
            Event::PodDeleted { key, .. } | Event::ObjectDeleted { key, .. } => {
                write!(f, "{key} is gone")
            }
            Event::Timer => f.write_str("the time has come"),
            Event::EffectCompleted { id, .. } => write!(f, "effect {} is answered", id.sequence),
        }
    }
}

impl Display for Action {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Action::Create { manifest } => write!(f, "create {}", manifest.key),
            Action::TakeOver { key, .. } => write!(f, "take over {key}"),
            Action::Apply { manifest, .. } => write!(f, "apply {}", manifest.key),
            Action::Scale { key, replicas, .. } => write!(f, "scale {key} to {replicas}"),
            Action::Delete { key, .. } => write!(f, "delete {key}"),
            Action::Get { key } => write!(f, "get {key}"),
            Action::List { kind, .. } => write!(f, "list {kind}"),
            Action::Warnings { about, .. } => write!(f, "read warnings about {about}"),
            Action::RecordEvent {
                reason, message, ..
            } => write!(f, "announce {reason}: {message}"),
            Action::Store(command) => write!(f, "{command}"),
        }
    }
}

impl Display for Command {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Command::Application { body, .. } => write!(f, "state: {}", Of(body)),
            Command::Model { body, .. } => write!(f, "state: {}", Of(body)),
            Command::Storage { body, .. } => f.write_str(match body {
                StorageCommand::Keep { .. } => "state: keep a storage",
                StorageCommand::Report(_) => "state: report a storage",
                StorageCommand::Destroy => "state: destroy a storage",
                StorageCommand::Clear => "state: forget a storage",
            }),
        }
    }
}

impl Display for Reason {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Reason::Missing { .. } => f.write_str("it is not there yet"),
            Reason::Drift { field, .. } => write!(f, "something else changed {field}"),
            Reason::Changed { .. } => f.write_str("what is wanted of it has changed"),
            Reason::ReadAgain { .. } => f.write_str("what comes next rests on what it really is"),
            Reason::ScaleUp { from, to } => write!(f, "{to} pods are wanted, there are {from}"),
            Reason::ScaleDown { from, to } if from > to => {
                write!(f, "only {to} of {from} pods are wanted")
            }
            Reason::ScaleDown { to, .. } => write!(f, "{to} pods are wanted"),
            Reason::Scaled { to } => write!(f, "{to} pods are asked for, and no unit leaves"),
            Reason::EndUnits { from } => write!(f, "units from {from} on are to end"),
            Reason::ConfirmGone { .. } => f.write_str("that it is gone has to be sure"),
            Reason::StuckRollout { pod } => write!(f, "pod {pod} holds up a rollout"),
            Reason::Report => f.write_str("the cluster shows something new"),
            Reason::Status => f.write_str("the status has changed"),
            Reason::NumberStorage => f.write_str("storages of units get their numbers"),
            Reason::Removal => f.write_str("the application is being removed"),
            Reason::DestroyStorage { storage } => write!(f, "storage {storage} is to be destroyed"),
            Reason::Leftover { .. } => f.write_str("its application was removed"),
            Reason::Namespace => f.write_str("the model has a namespace of its own"),
            Reason::ModelRemoval => f.write_str("the model is being destroyed"),
            Reason::NotSynced => f.write_str("not everything has been read yet"),
            Reason::ModelNotReady => f.write_str("the namespace is not ready"),
            Reason::NotProvisioned { text } => f.write_str(text),
            Reason::PredecessorLeaving { key } => write!(f, "a former {key} is still going"),
            Reason::PodsMissing => f.write_str("its pods do not come"),
            Reason::PodsRefused { message } => f.write_str(message),
            Reason::Foreign { key } => write!(f, "{key} is somebody else's"),
            Reason::Refused { message, .. } => f.write_str(message),
            Reason::NoAnswer { .. } => f.write_str("there was no answer"),
            Reason::Contested { key, field } => {
                write!(f, "{field} of {key} is changed again and again")
            }
            Reason::Settling { ready, wanted } => write!(f, "{ready} of {wanted} units are ready"),
            Reason::PodsEnding => f.write_str("pods are still ending"),
            Reason::PartitionHeld { partition } => {
                write!(f, "partition {partition} holds the rollout")
            }
            Reason::ObjectsEnding => f.write_str("objects are still going"),
            Reason::Broken { text } => f.write_str(text),
        }
    }
}

/// Something that has words here and no `Display` of its own.
struct Of<T>(T);

impl Display for Of<&StatusReport> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(self.0.word.as_str())?;
        if self.0.message.is_empty() {
            return Ok(());
        }
        write!(f, " ({})", self.0.message)
    }
}

impl Display for Of<&Unit> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let unit = self.0;
        write!(f, "unit {} is {}", unit.number, life(unit.life))?;
        write!(f, ", {}", Of(&unit.workload.report))
    }
}

impl Display for Of<&Report> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let report = self.0;
        f.write_str("report")?;
        let mut between = " ";
        let mut next = |f: &mut Formatter<'_>| f.write_str(core::mem::replace(&mut between, ", "));
        if report.service.is_some() {
            next(f)?;
            f.write_str("the service")?;
        }
        for unit in &report.units {
            next(f)?;
            write!(f, "unit {} {}", unit.number, Of(&unit.workload))?;
        }
        for storage in &report.storage {
            next(f)?;
            let word = alloc::format!("{:?}", storage.word);
            write!(
                f,
                "storage {} {}",
                storage.number,
                word.to_ascii_lowercase()
            )?;
        }
        if let Some(status) = &report.provisioner {
            next(f)?;
            write!(f, "status {}", Of(status))?;
        }
        Ok(())
    }
}

impl Display for Of<&ApplicationCommand> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self.0 {
            ApplicationCommand::Add(new) => write!(f, "add {} with {} units", new.name, new.scale),
            ApplicationCommand::SetScale { scale } => write!(f, "scale to {scale}"),
            ApplicationCommand::ChangeScale { by } => write!(f, "scale by {by}"),
            ApplicationCommand::SetTrust { trust } => write!(f, "set trust to {trust}"),
            ApplicationCommand::Configure { .. } => f.write_str("configure"),
            ApplicationCommand::SetConstraints { .. } => f.write_str("set constraints"),
            ApplicationCommand::Refresh(_) => f.write_str("refresh"),
            ApplicationCommand::Upgrade => f.write_str("upgrade"),
            ApplicationCommand::Desire(_) => f.write_str("set all that is wanted"),
            ApplicationCommand::Remove { wish } => match wish.force {
                true => f.write_str("remove by force"),
                false => f.write_str("remove"),
            },
            ApplicationCommand::BeginScaling { target } => write!(f, "begin to scale to {target}"),
            ApplicationCommand::EndScaling => f.write_str("the scaling has ended"),
            ApplicationCommand::DestroyUnits { from } => write!(f, "destroy units from {from} on"),
            ApplicationCommand::RemoveUnits { numbers } => write!(f, "remove units {numbers:?}"),
            ApplicationCommand::AddStorage { storages } => {
                write!(f, "add storages, {}", storages.len())
            }
            ApplicationCommand::Report(report) => write!(f, "{}", Of(report)),
            ApplicationCommand::MarkDead => f.write_str("the application is dead"),
            ApplicationCommand::RemoveStorage { numbers } => {
                write!(f, "remove storages {numbers:?}")
            }
            ApplicationCommand::Clear => f.write_str("forget the application"),
        }
    }
}

impl Display for Of<&ModelCommand> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self.0 {
            ModelCommand::Add { name, .. } => write!(f, "add model {name}"),
            ModelCommand::Configure { .. } => f.write_str("configure the model"),
            ModelCommand::SetConstraints { .. } => f.write_str("set constraints of the model"),
            ModelCommand::Desire(_) => f.write_str("set all that is wanted of the model"),
            ModelCommand::Destroy { .. } => f.write_str("destroy the model"),
            ModelCommand::DrawStorage { count } => write!(f, "draw numbers of storages, {count}"),
            ModelCommand::DrawRevision { .. } => f.write_str("draw a revision"),
            ModelCommand::RememberRemoved { .. } => f.write_str("remember that it was removed"),
            ModelCommand::Report { status } => write!(f, "report the model {}", Of(status)),
            ModelCommand::Clear => f.write_str("forget the model"),
        }
    }
}

fn life(life: Life) -> &'static str {
    match life {
        Life::Alive => "alive",
        Life::Dying => "dying",
        Life::Dead => "dead",
        Life::Gone => "gone",
    }
}
