//! `--dry-run`: what would be recorded and done, without doing it (design, section 9).
//!
//! What the provisioner would do is not foretold but found out: the very core does it, in a simulated world. New
//! applications find a cluster there that holds nothing under their names; those of the state stand in it as their
//! records want them. So what is shown is exact where the real cluster is so too.

use std::collections::{BTreeMap, BTreeSet};

use pilotage_core::digest::DigestKey;
use pilotage_core::effect::Action;
use pilotage_core::name::Uid;
use pilotage_core::outcome::Outcome;
use pilotage_core::secret::SecretRef;
use pilotage_core::state::{
    Application, ApplicationCommand, ApplicationSpec, Caller, Command, ModelCommand,
    NewApplication, Resource, ResourceValue,
};
use pilotage_sim::world::World;

use super::super::failure::{Done, Failure};
use super::super::session::Session;
use super::super::target::Target;
use super::super::wish::{Wish, resources};
use super::bundle::Step;
use crate::store::Store;

/// Says what a deploy would record, and what the provisioner would then do.
///
/// # Errors
/// What was given for a resource cannot be read.
pub fn deploy(
    session: &mut Session<'_>,
    target: &Target,
    uid: Uid,
    new: NewApplication,
    wish: &Wish,
) -> Done {
    let plural = if new.scale == 1 { "" } else { "s" };
    session.print_line(&format!(
        "would deploy application {} with {} unit{plural} using local charm {} in model {}",
        wish.name,
        new.scale,
        wish.charm.name,
        target.shown_name()
    ));
    for filesystem in &new.filesystems {
        session.print_line(&format!(
            "- each unit gets storage {} of {}M",
            filesystem.storage, filesystem.size_mib
        ));
    }
    let mut rehearsal = Rehearsal::new(target, DigestKey::default());
    rehearsal.add(uid, new, wish)?;
    for line in rehearsal.effects(uid) {
        session.print_line(&format!("- would {line}"));
    }
    Ok(())
}

/// Says what a refresh would change of a record, and what the provisioner would then do. `secrets` are those that come
/// with the command, and the vault of those that are there.
///
/// # Errors
/// The state's refusal, or it cannot be read.
pub fn refresh(
    session: &mut Session<'_>,
    target: &Target,
    application: &Application,
    body: ApplicationCommand,
    (secrets, store): (&[(SecretRef, String)], &dyn Store),
) -> Done {
    let now = session.environment.now();
    let refreshed = application.apply(now, Caller::User, None, &body);
    let (after, _) = refreshed.map_err(|denial| Failure::failed(denial.to_string()))?;
    let after = after.unwrap_or_else(|| application.clone());
    session.print_line(&format!(
        "would refresh application {} in model {}",
        application.name,
        target.shown_name()
    ));
    for line in differences(&application.spec, &after.spec) {
        session.print_line(&format!("- {line}"));
    }
    let mut rehearsal = Rehearsal::new(target, store.fingerprint_key()?);
    rehearsal.stand(application, store)?;
    rehearsal.ask(application.uid, body, secrets)?;
    for line in rehearsal.effects(application.uid) {
        session.print_line(&format!("- would {line}"));
    }
    Ok(())
}

/// Says what the provisioner would do about the steps of a bundle, application by application.
///
/// # Errors
/// What was given for a resource, or the state, cannot be read.
pub fn steps(
    session: &mut Session<'_>,
    target: &Target,
    steps: &[Step],
    store: &dyn Store,
) -> Done {
    let contents = target.contents();
    let there = steps.iter().any(|step| matches!(step, Step::Change(..)));
    let key = match there {
        true => store.fingerprint_key()?,
        false => DigestKey::default(),
    };
    let mut rehearsal = Rehearsal::new(target, key);
    let mut standing = BTreeMap::new();
    for step in steps {
        if let Step::Change(wish, _) = step {
            let application = super::application_of(&contents, &wish.name)?;
            rehearsal.stand(application, store)?;
            standing.insert(&wish.name, application.uid);
        }
    }
    let mut asked = Vec::new();
    for step in steps {
        match step {
            Step::Add(wish, uid, new) => {
                rehearsal.add(*uid, (**new).clone(), wish)?;
                asked.push((&wish.name, *uid));
            }
            Step::Change(wish, changes) => {
                let uid = standing.get(&wish.name).copied().unwrap_or(Uid(0));
                for change in changes {
                    rehearsal.ask(uid, change.body.clone(), &change.secrets)?;
                }
                asked.push((&wish.name, uid));
            }
        }
    }
    rehearsal.settle();
    for (name, uid) in asked {
        for line in rehearsal.effects(uid) {
            session.print_line(&format!("- {name}: would {line}"));
        }
    }
    Ok(())
}

/// A simulated world with the model in it.
struct Rehearsal {
    world: World,
    model: Uid,
    /// Its steps from here on are what would be done.
    from: usize,
    /// Units in it.
    units: usize,
}

impl Rehearsal {
    /// Steps until an application of no unit has settled, and for each unit, with room to spare.
    const STEPS: usize = 2_000;

    fn new(target: &Target, key: DigestKey) -> Self {
        let mut world = World::new();
        world.key = key;
        let model = world.add_model(&target.name);
        if let Some(record) = &target.model {
            let settings = record.spec.settings.iter();
            let settings = settings.map(|(key, value)| (key.clone(), Some(value.clone())));
            let configure = ModelCommand::Configure {
                settings: settings.collect(),
            };
            world.model_command(model, configure);
            let constraints = Box::new(record.spec.constraints.clone());
            world.model_command(model, ModelCommand::SetConstraints { constraints });
        }
        Rehearsal {
            world,
            model,
            from: 0,
            units: 0,
        }
    }

    /// Lets everything happen that follows from what was asked.
    fn settle(&mut self) {
        let bound = Self::STEPS.saturating_mul(self.units.saturating_add(1));
        self.world.drive_until(bound, |_| false);
    }

    /// An application of the state stands as its record wants it.
    fn stand(&mut self, application: &Application, store: &dyn Store) -> Done {
        let spec = &application.spec;
        let mut secrets = Vec::new();
        let logins = spec.resources.values().filter_map(login);
        for secret in logins {
            secrets.extend(store.secret(secret)?.map(|value| (secret.clone(), value)));
        }
        let new = standing(application, self.model);
        self.units += spec.scale as usize;
        self.ask(
            application.uid,
            ApplicationCommand::Add(Box::new(new)),
            &secrets,
        )?;
        self.settle();
        self.from = self.world.steps.len();
        Ok(())
    }

    /// A new application is asked for.
    fn add(&mut self, uid: Uid, mut new: NewApplication, wish: &Wish) -> Done {
        let key = self.world.key;
        let (values, secrets) =
            resources::kept(|| Ok(key), uid, &wish.resources, &BTreeMap::new())?;
        new.model = self.model;
        new.resources = values;
        self.units += new.scale as usize;
        self.ask(uid, ApplicationCommand::Add(Box::new(new)), &secrets)
    }

    fn ask(
        &mut self,
        application: Uid,
        body: ApplicationCommand,
        secrets: &[(SecretRef, String)],
    ) -> Done {
        let command = Command::Application {
            application,
            caller: Caller::User,
            expect: None,
            body,
        };
        match self.world.store.execute(self.world.now, &command, secrets) {
            Outcome::Refused { message, .. } => Err(Failure::failed(message)),
            _ => Ok(()),
        }
    }

    /// What is done to the cluster about an application, in its order.
    fn effects(&mut self, application: Uid) -> Vec<String> {
        self.settle();
        let steps = self.world.steps.get(self.from..).unwrap_or_default();
        let effects = steps.iter().flat_map(|(_, _, step)| &step.effects);
        effects
            .filter(|effect| effect.id.owner == application)
            .filter(|effect| {
                !matches!(
                    effect.action,
                    Action::Get { .. }
                        | Action::List { .. }
                        | Action::RecordEvent { .. }
                        | Action::Store(_)
                )
            })
            .map(|effect| match &effect.action {
                Action::Create { .. } => effect.action.to_string(),
                action => format!("{action}, as {}", effect.because),
            })
            .collect()
    }
}

fn login(resource: &Resource) -> Option<&SecretRef> {
    match &resource.value {
        ResourceValue::Image { login, .. } => login.as_ref().map(|login| &login.secret),
        ResourceValue::File { .. } => None,
    }
}

/// The application that a record wants, as if it were new.
fn standing(application: &Application, model: Uid) -> NewApplication {
    let spec = application.spec.clone();
    let given = spec.resources.into_iter();
    NewApplication {
        model,
        name: application.name.clone(),
        charm: spec.charm,
        origin: spec.origin,
        resources: given
            .filter(|(_, resource)| resource.given)
            .map(|(name, resource)| (name, resource.value))
            .collect(),
        scale: spec.scale,
        trust: spec.trust,
        config: spec.config,
        settings: spec.settings,
        constraints: spec.constraints,
        storage: spec.storage,
        filesystems: spec.filesystems,
        devices: spec.devices,
        base: spec.base,
    }
}

/// What a refresh changes of what a user wants, a line for each thing.
fn differences(before: &ApplicationSpec, after: &ApplicationSpec) -> Vec<String> {
    let mut lines = Vec::new();
    if before.origin != after.origin || before.charm != after.charm {
        lines.push(format!(
            "charm: local:{}-{}, was local:{}-{}",
            after.charm.name, after.origin.revision, before.charm.name, before.origin.revision
        ));
    }
    let path = |resource: &Resource| match &resource.value {
        ResourceValue::Image { path, .. } | ResourceValue::File { path, .. } => path.clone(),
    };
    let resources = |spec: &ApplicationSpec| -> BTreeMap<String, String> {
        let all = spec.resources.iter();
        all.map(|(name, one)| (name.clone(), path(one))).collect()
    };
    changed(
        "resource",
        &resources(before),
        &resources(after),
        &mut lines,
    );
    for (name, one) in &after.resources {
        let same = |was: &Resource| path(was) == path(one) && was.value != one.value;
        if before.resources.get(name).is_some_and(same) {
            lines.push(format!("resource {name}: its content or its login changes"));
        }
    }
    let options = |spec: &ApplicationSpec| -> BTreeMap<String, String> {
        let all = spec.config.iter();
        all.map(|(name, value)| (name.clone(), value.to_string()))
            .collect()
    };
    changed("option", &options(before), &options(after), &mut lines);
    changed("setting", &before.settings, &after.settings, &mut lines);
    let storage = |spec: &ApplicationSpec| -> BTreeMap<String, String> {
        let all = spec.filesystems.iter();
        all.map(|one| (one.storage.clone(), format!("{}M", one.size_mib)))
            .collect()
    };
    changed("storage", &storage(before), &storage(after), &mut lines);
    if before.trust != after.trust {
        lines.push(format!("trust: {}, was {}", after.trust, before.trust));
    }
    if before.base != after.base {
        let base = |spec: &ApplicationSpec| spec.base.clone().unwrap_or("the charm's".into());
        lines.push(format!("base: {}, was {}", base(after), base(before)));
    }
    lines
}

fn changed(
    what: &str,
    before: &BTreeMap<String, String>,
    after: &BTreeMap<String, String>,
    lines: &mut Vec<String>,
) {
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    for name in names {
        match (before.get(name), after.get(name)) {
            (Some(was), Some(is)) if was != is => {
                lines.push(format!("{what} {name}: {is}, was {was}"));
            }
            (Some(was), None) => lines.push(format!("{what} {name}: unset, was {was}")),
            (None, Some(is)) => lines.push(format!("{what} {name}: {is}")),
            _ => {}
        }
    }
}
