//! `--dry-run`: what would be made, without making it (design, section 9).

use std::collections::BTreeMap;

use pilotage_core::effect::Action;
use pilotage_core::name::Uid;
use pilotage_core::state::{ApplicationCommand, NewApplication, ResourceValue};
use pilotage_sim::world::World;

use super::super::failure::Done;
use super::super::session::Session;
use super::super::target::Target;
use super::super::wish::Wish;
use crate::charm::GivenResource;

/// More steps than any application needs until its workload is made.
const BOUND: usize = 2_000;

/// Says what a deploy would record, and what the provisioner would then create: the very core decides it, on a
/// simulated cluster that holds nothing under those names.
pub fn show(
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
    for line in created(target, uid, new, wish) {
        session.print_line(&format!("- would create {line}"));
    }
    Ok(())
}

/// The objects that would be created, in their order.
fn created(target: &Target, uid: Uid, mut new: NewApplication, wish: &Wish) -> Vec<String> {
    let mut world = World::new();
    new.model = world.add_model(&target.name);
    new.resources = images(wish);
    world.command(uid, ApplicationCommand::Add(Box::new(new)));
    world.drive_until(BOUND, |world| {
        world.application(&wish.name).is_some_and(|application| {
            application
                .status
                .units
                .iter()
                .all(|unit| unit.pod.is_some())
        })
    });
    let effects = world.steps.iter().flat_map(|(_, _, step)| &step.effects);
    effects
        .filter_map(|effect| match &effect.action {
            Action::Create { manifest } => Some(manifest.key.to_string()),
            _ => None,
        })
        .collect()
}

/// The images that were given. Who may pull them is left out: it makes a secret more, whose value only the vault has.
fn images(wish: &Wish) -> BTreeMap<String, ResourceValue> {
    wish.resources
        .iter()
        .filter_map(|(name, given)| match given {
            GivenResource::Image(details) => Some((
                name.clone(),
                ResourceValue::Image {
                    path: details.registry_path.clone(),
                    login: None,
                },
            )),
            GivenResource::File(_) => None,
        })
        .collect()
}
