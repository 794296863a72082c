//! Bundles: checked as a whole, then application after application (command line, 2.1.3).

use std::collections::BTreeMap;
use std::path::Path;

use pilotage_core::charm::names::{self, Derived};
use pilotage_core::name::Uid;
use pilotage_core::state::NewApplication;

use super::super::failure::{Done, Failure};
use super::super::grammar::Parsed;
use super::super::session::Session;
use super::super::state::State;
use super::super::target::Target;
use super::super::wish::apply::{self, Change};
use super::super::wish::{Wish, check, options};
use super::deploy::{note_devices, overlays, warn};
use crate::charm::{CharmsFolder, read_bundle};

/// What is to be done about one application.
pub enum Step {
    /// It is not there yet.
    Add(Box<Wish>, Uid, Box<NewApplication>),
    /// It is there, and differs.
    Change(Box<Wish>, Vec<Change>),
}

/// Deploys a bundle.
///
/// # Errors
/// Anything that is missing or refused; then nothing is written.
pub fn deploy(
    session: &mut Session<'_>,
    parsed: &Parsed,
    path: &Path,
    charms: &CharmsFolder,
) -> Done {
    let bundle = read_bundle(path, &overlays(session, parsed), charms)
        .map_err(|error| Failure::failed(error.to_string()))?;
    warn(session, &bundle.warnings);
    for ignored in &bundle.ignored {
        session.warn(&format!("{ignored} is ignored: Pilotage provisions only"));
    }
    if parsed.given("map-machines") {
        session.warn("--map-machines is ignored: there are no machines");
    }
    let mut wishes: Vec<Wish> = bundle
        .applications
        .into_iter()
        .map(Wish::of_bundle)
        .collect();
    lay_over(&mut wishes, parsed)?;
    trust(session, &wishes, parsed)?;
    let state = State::open(session, parsed)?;
    let mut target = Target::find(session, parsed, &state)?;
    let steps = plan(session, &state, &target, wishes)?;
    let lines: Vec<String> = steps.iter().flat_map(words).collect();
    if lines.is_empty() {
        session.note("No changes to apply.");
        return Ok(());
    }
    let dry = parsed.flag("dry-run");
    session.print_line(if dry {
        "Changes to deploy bundle:"
    } else {
        "Executing changes:"
    });
    for line in lines {
        session.print_line(&format!("- {line}"));
    }
    if dry {
        return super::dry_run::steps(session, &target, &steps, &*state.store);
    }
    make(session, &state, &mut target, steps)?;
    session.note("Deploy of bundle completed.");
    state.note_provisioner(session)
}

/// What `--storage APP:NAME=…` and `--device APP:LABEL=…` say beside the bundle.
fn lay_over(wishes: &mut [Wish], parsed: &Parsed) -> Result<(), Failure> {
    let form = "[<application>:]<store>=<constraints>";
    let mut by_application: BTreeMap<&str, [Vec<String>; 2]> = BTreeMap::new();
    for (at, option) in ["storage", "device"].into_iter().enumerate() {
        for word in parsed.many(option) {
            let before_value = word.split('=').next().unwrap_or_default();
            let (application, rest) = before_value
                .find(':')
                .map(|colon| (&word[..colon], &word[colon + 1..]))
                .ok_or_else(|| Failure::usage(format!("expected {form}")))?;
            by_application.entry(application).or_default()[at].push(rest.to_owned());
        }
    }
    for (application, [storage, devices]) in by_application {
        let wish = wishes
            .iter_mut()
            .find(|wish| wish.name == application)
            .ok_or_else(|| {
                Failure::failed(format!("the bundle has no application \"{application}\""))
            })?;
        wish.storage.extend(options::storage(&storage, form)?);
        wish.devices.extend(options::devices(&devices)?);
    }
    Ok(())
}

/// Asks that applications are trusted which a bundle wants trusted.
///
/// # Errors
/// Nobody said `--trust` or `--force`.
pub fn trust(session: &Session<'_>, wishes: &[Wish], parsed: &Parsed) -> Result<(), Failure> {
    if parsed.flag("trust") || parsed.flag("force") {
        return Ok(());
    }
    let asking: Vec<&str> = wishes
        .iter()
        .filter(|wish| wish.trust == Some(true))
        .map(|wish| wish.name.as_str())
        .collect();
    if asking.is_empty() {
        return Ok(());
    }
    Err(Failure::failed(format!(
        "Bundle cannot be deployed without trusting applications with your cloud credentials.\n\
         Please repeat the deploy command with the --trust argument if you consent to trust the following applications \
         with full access to the cluster:\n  - {}\n\n    {} deploy <bundle> --trust",
        asking.join("\n  - "),
        session.environment.program
    )))
}

/// Checks everything, and says what is to be done; writes nothing.
///
/// # Errors
/// All that is refused, application by application.
pub fn plan(
    session: &mut Session<'_>,
    state: &State,
    target: &Target,
    wishes: Vec<Wish>,
) -> Result<Vec<Step>, Failure> {
    let contents = target.contents();
    let mut others: Vec<Derived> = check::names_in_use(&target.name, &contents.applications);
    let (mut steps, mut refused) = (Vec::new(), Vec::new());
    for wish in wishes {
        note_devices(session, &wish);
        let step = match contents.application(&wish.name) {
            Err(failure) => Err(failure),
            Ok(Some(application)) => apply::changes(state, &wish, application, target)
                .map(|changes| Step::Change(Box::new(wish), changes)),
            Ok(None) => check::name(&wish.name)
                .and_then(|()| check::images(&wish))
                .and_then(|notes| {
                    for note in notes {
                        session.note(&note);
                    }
                    let uid = apply::fresh_uid()?;
                    let new = apply::new_application(&wish, uid, target, &others)?;
                    others.push(names::derive(
                        &wish.name,
                        uid,
                        &target.name,
                        &wish.charm,
                        &new.filesystems,
                    ));
                    Ok(Step::Add(Box::new(wish), uid, Box::new(new)))
                }),
        };
        match step {
            Ok(step) => steps.push(step),
            Err(failure) => refused.push(failure.to_string()),
        }
    }
    if refused.is_empty() {
        Ok(steps)
    } else {
        Err(Failure::failed(refused.join("\n")))
    }
}

/// A step in words, a line for each change.
pub fn words(step: &Step) -> Vec<String> {
    match step {
        Step::Add(wish, _, new) => {
            let plural = if new.scale == 1 { "" } else { "s" };
            vec![format!(
                "deploy application {} with {} unit{plural} using local charm {}",
                wish.name, new.scale, wish.charm.name
            )]
        }
        Step::Change(_, changes) => changes.iter().map(|change| change.words.clone()).collect(),
    }
}

/// Makes the steps, a transaction each.
///
/// # Errors
/// The state's refusal. What was made before stays.
pub fn make(
    session: &Session<'_>,
    state: &State,
    target: &mut Target,
    steps: Vec<Step>,
) -> Result<(), Failure> {
    let model = target.ensure(session, state)?;
    for step in steps {
        match step {
            Step::Add(wish, uid, new) => {
                let revision = apply::draw_revision(session, state, model, &wish)?;
                apply::add(
                    session,
                    state,
                    (uid, model, revision),
                    *new,
                    &wish.resources,
                )?;
            }
            Step::Change(wish, changes) => {
                let contents = target.contents();
                let application = super::application_of(&contents, &wish.name)?;
                for change in changes {
                    apply::make(session, state, &wish, application, change)?;
                }
            }
        }
    }
    Ok(())
}
