//! A new application.

use crate::charm::names::check_application;
use crate::name::Uid;
use crate::state::{
    Application, ApplicationSpec, ApplicationState, Denial, NewApplication, Status, StatusReport,
    TEMPLATE_REVISION, Word,
};
use crate::time::Timestamp;

use super::{FIRST, resources, scaling, settings};

pub(super) fn application(
    uid: Uid,
    at: Timestamp,
    new: &NewApplication,
) -> Result<Application, Denial> {
    check_application(&new.name)?;
    let scale = scaling::units_wanted(i128::from(new.scale), new.filesystems.len(), 0)?;
    settings::check_config(&new.charm, &new.config)?;
    let mut texts = new.settings.clone();
    let trust = match texts.remove(settings::TRUST) {
        Some(text) => settings::truth(settings::TRUST, &text)?,
        None => new.trust,
    };
    settings::check(&texts)?;
    let resources = resources::at_deploy(at, &new.charm, &new.resources)?;
    Ok(Application {
        uid,
        name: new.name.clone(),
        model: new.model,
        version: FIRST,
        created: at,
        spec: ApplicationSpec {
            charm: new.charm.clone(),
            origin: new.origin.clone(),
            modified: 0,
            resources,
            scale,
            trust,
            config: new.config.clone(),
            settings: texts,
            constraints: new.constraints.clone(),
            storage: new.storage.clone(),
            filesystems: new.filesystems.clone(),
            devices: new.devices.clone(),
            base: new.base.clone(),
            template: TEMPLATE_REVISION,
            removal: None,
        },
        status: ApplicationState {
            provisioner: Status {
                report: StatusReport::default(),
                since: at,
            },
            settled: Status {
                report: StatusReport::new(Word::Unknown, ""),
                since: at,
            },
            ..ApplicationState::default()
        },
    })
}
