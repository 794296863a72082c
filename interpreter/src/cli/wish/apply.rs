//! From a wish to commands: a new application, or the changes of one that is there.

use std::collections::BTreeMap;
use std::sync::Arc;

use pilotage_core::name::Uid;
use pilotage_core::outcome::Reply;
use pilotage_core::secret::SecretRef;
use pilotage_core::state::{
    Application, ApplicationCommand, CharmOrigin, ModelCommand, NewApplication, Refresh,
};

use super::super::failure::Failure;
use super::super::session::Session;
use super::super::state::State;
use super::super::target::Target;
use super::{Wish, check, resources};
use crate::charm::GivenResource;
use crate::identity::draw_uid;

/// The command that draws the next revision of a charm.
pub fn revision_of(wish: &Wish) -> ModelCommand {
    ModelCommand::DrawRevision {
        charm: wish.charm.name.clone(),
        floor: wish
            .claimed
            .and_then(|revision| u32::try_from(revision).ok())
            .unwrap_or(0),
    }
}

/// Draws the next revision of a charm in a model.
///
/// # Errors
/// The state's refusal.
pub fn draw_revision(
    session: &Session<'_>,
    state: &State,
    model: Uid,
    wish: &Wish,
) -> Result<u32, Failure> {
    match state.change_model(session, model, revision_of(wish))? {
        Reply::Recorded {
            drawn: Some(revision),
            ..
        } => Ok(revision),
        _ => Err(Failure::failed("the state drew no revision")),
    }
}

/// A new uid.
///
/// # Errors
/// The operating system gives no random bytes.
pub fn fresh_uid() -> Result<Uid, Failure> {
    draw_uid().map_err(|error| Failure::failed(error.to_string()))
}

/// Everything about a new application, checked, its revision not yet drawn.
///
/// # Errors
/// What is refused.
pub fn new_application(
    wish: &Wish,
    uid: Uid,
    target: &Target,
    others: &[pilotage_core::charm::names::Derived],
) -> Result<NewApplication, Failure> {
    let model = target.model.as_ref();
    let filesystems = check::new_application(wish, uid, (&target.name, model), others)?;
    Ok(NewApplication {
        model: model.map_or(Uid(0), |model| model.uid),
        name: wish.name.as_str().into(),
        charm: Arc::clone(&wish.charm),
        origin: CharmOrigin {
            revision: 0,
            version: wish.version.clone(),
        },
        resources: BTreeMap::new(),
        scale: wish.scale.unwrap_or(1),
        trust: wish.trust.unwrap_or(false),
        config: wish.config.clone(),
        settings: wish.settings.clone(),
        constraints: wish.constraints.clone().unwrap_or_default(),
        storage: wish.storage.clone(),
        filesystems,
        devices: wish.devices.clone(),
        base: wish.base.clone(),
    })
}

/// Adds a checked application: one transaction.
///
/// # Errors
/// The state's refusal.
pub fn add(
    session: &Session<'_>,
    state: &State,
    (uid, model, revision): (Uid, Uid, u32),
    mut new: NewApplication,
    given: &BTreeMap<String, GivenResource>,
) -> Result<(), Failure> {
    let (values, secrets) = resources::kept(
        || state.store.fingerprint_key(),
        uid,
        given,
        &BTreeMap::new(),
    )?;
    new.model = model;
    new.origin.revision = revision;
    new.resources = values;
    let add = ApplicationCommand::Add(Box::new(new));
    state.change_with(session, uid, add, &secrets)?;
    Ok(())
}

/// One change of an application that is there.
#[derive(Clone, Debug)]
pub struct Change {
    /// In words, as the change list of a bundle has it.
    pub words: String,
    /// The command.
    pub body: ApplicationCommand,
    /// Values for the vault.
    pub secrets: Vec<(SecretRef, String)>,
    /// Whether a revision is to be drawn first, and for which charm.
    pub new_revision: bool,
}

/// What makes an application that is there what a wish says. What the wish does not say stays.
///
/// # Errors
/// What is refused.
pub fn changes(
    state: &State,
    wish: &Wish,
    application: &Application,
    target: &Target,
) -> Result<Vec<Change>, Failure> {
    let spec = &application.spec;
    let (name, mut changes) = (&wish.name, Vec::new());
    let change = |words: String, body| Change {
        words,
        body,
        secrets: Vec::new(),
        new_revision: false,
    };
    let (values, secrets) = resources::kept(
        || state.store.fingerprint_key(),
        application.uid,
        &wish.resources,
        &spec.resources,
    )?;
    let new_charm = *wish.charm != *spec.charm;
    let new_values: BTreeMap<_, _> = values
        .into_iter()
        .filter(|(name, value)| {
            spec.resources
                .get(name)
                .is_none_or(|resource| resource.value != *value || !resource.given)
        })
        .collect();
    let storage: BTreeMap<_, _> = wish
        .storage
        .iter()
        .filter(|(name, directive)| spec.storage.get(*name) != Some(directive))
        .map(|(name, directive)| (name.clone(), directive.clone()))
        .collect();
    if new_charm || !new_values.is_empty() || !storage.is_empty() {
        check::assumptions(&wish.charm)?;
        let mut directives = spec.storage.clone();
        directives.extend(storage.clone());
        let filesystems = check::unit_filesystems(&wish.charm, &directives, target.model.as_ref())?;
        let words = if new_charm {
            format!("upgrade {name} using local charm {}", wish.charm.name)
        } else {
            format!("set resources and storage of {name}")
        };
        let origin = CharmOrigin {
            revision: spec.origin.revision,
            version: wish.version.clone(),
        };
        let body = ApplicationCommand::Refresh(Box::new(Refresh {
            charm: new_charm.then(|| (Arc::clone(&wish.charm), origin)),
            resources: new_values,
            config: BTreeMap::new(),
            settings: BTreeMap::new(),
            storage,
            filesystems,
            trust: None,
            base: None,
        }));
        changes.push(Change {
            secrets,
            new_revision: new_charm,
            ..change(words, body)
        });
    }
    if let Some(scale) = wish.scale.filter(|scale| *scale != spec.scale) {
        let words = format!("scale {name} to {scale} units");
        changes.push(change(words, ApplicationCommand::SetScale { scale }));
    }
    if let Some(trust) = wish.trust.filter(|trust| *trust != spec.trust) {
        let verb = if trust { "trust" } else { "stop trusting" };
        let words = format!("{verb} {name}");
        changes.push(change(words, ApplicationCommand::SetTrust { trust }));
    }
    let config: BTreeMap<_, _> = wish
        .config
        .iter()
        .filter(|(key, value)| spec.config.get(*key) != Some(value))
        .map(|(key, value)| (key.clone(), Some(value.clone())))
        .collect();
    let settings: BTreeMap<_, _> = wish
        .settings
        .iter()
        .filter(|(key, value)| spec.settings.get(*key) != Some(value) && *key != "trust")
        .map(|(key, value)| (key.clone(), Some(value.clone())))
        .collect();
    if !config.is_empty() || !settings.is_empty() {
        let words = format!("set application options for {name}");
        changes.push(change(
            words,
            ApplicationCommand::Configure { config, settings },
        ));
    }
    if let Some(constraints) = wish
        .constraints
        .as_ref()
        .filter(|constraints| **constraints != spec.constraints)
    {
        let words = format!("set constraints for {name} to \"{constraints}\"");
        let constraints = Box::new(constraints.clone());
        changes.push(change(
            words,
            ApplicationCommand::SetConstraints { constraints },
        ));
    }
    Ok(changes)
}

/// Makes one change: one transaction, after a revision is drawn where one is needed.
///
/// # Errors
/// The state's refusal.
pub fn make(
    session: &Session<'_>,
    state: &State,
    wish: &Wish,
    application: &Application,
    change: Change,
) -> Result<(), Failure> {
    let mut body = change.body;
    if change.new_revision
        && let ApplicationCommand::Refresh(refresh) = &mut body
        && let Some((_, origin)) = &mut refresh.charm
    {
        origin.revision = draw_revision(session, state, application.model, wish)?;
    }
    state.change_with(session, application.uid, body, &change.secrets)?;
    Ok(())
}
