//! Invariant 8: no value from the vault in any event, effect, trace, log or status.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::Debug;

use crate::cluster::object::at;
use crate::cluster::resource::Resource;
use crate::world::{CANARY, World};

use super::{Broken, Seen, holds};

/// The value, and every form in which the cluster holds it.
fn forms(world: &World) -> Vec<String> {
    let mut forms: Vec<String> = [CANARY.to_string()].into();
    let secrets = world.cluster.objects(Resource::Secret, None);
    for data in secrets.filter_map(|secret| at(&secret.value, &["data"])?.as_object()) {
        forms.extend(
            data.values()
                .filter_map(|value| value.as_str())
                .map(Into::into),
        );
    }
    forms
}

fn free_of(forms: &[String], what: &str, thing: &impl Debug) -> Result<(), Broken> {
    let text = format!("{thing:?}");
    let shown = forms.iter().any(|form| text.contains(form.as_str()));
    holds(8, !shown, || format!("a value of the vault is in {what}"))
}

/// In what the core was told and said in this step, and in the records.
pub(super) fn hidden(seen: &Seen<'_>) -> Result<(), Broken> {
    let forms = forms(seen.world);
    if let Some((_, event, step)) = seen.world.steps.last() {
        free_of(&forms, "an event", event)?;
        free_of(&forms, "an effect", &step.effects)?;
    }
    for (effect, outcome) in seen.ran() {
        free_of(&forms, "an effect", effect)?;
        free_of(&forms, "an outcome", outcome)?;
    }
    for (_, after) in seen.records() {
        free_of(&forms, "a record", &after)?;
    }
    Ok(())
}

/// In the core and in the records, at rest.
pub(super) fn kept(world: &World) -> Result<(), Broken> {
    let forms = forms(world);
    free_of(&forms, "the core", &world.provisioner)?;
    for application in world.store.applications() {
        free_of(&forms, "a record", application)?;
    }
    Ok(())
}
