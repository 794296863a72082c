//! Whether a model can have what a user wishes: everything is checked before anything is written.

use std::collections::BTreeMap;

use pilotage_core::charm::assumes::Features;
use pilotage_core::charm::filesystem::filesystems;
use pilotage_core::charm::names::{self, Derived};
use pilotage_core::charm::resource::choose_images;
use pilotage_core::charm::{Charm, Filesystem, StorageDefaults, StorageDirective};
use pilotage_core::name::Uid;
use pilotage_core::state::{Application, Model};

use super::super::failure::Failure;
use super::Wish;
use crate::charm::GivenResource;

/// What a model says about storage: its default pool, else its default storage class, else the cluster's.
pub fn storage_defaults(model: Option<&Model>) -> StorageDefaults {
    let setting = |key: &str| {
        model
            .and_then(|model| model.spec.settings.get(key))
            .filter(|text| !text.is_empty())
            .cloned()
    };
    StorageDefaults {
        pool: setting("storage-default-filesystem-source").or_else(|| setting("workload-storage")),
        pools: Vec::new(),
    }
}

/// The filesystems that each unit gets.
///
/// # Errors
/// Everything that is refused, a line each.
pub fn unit_filesystems(
    charm: &Charm,
    directives: &BTreeMap<String, StorageDirective>,
    model: Option<&Model>,
) -> Result<Vec<Filesystem>, Failure> {
    filesystems(charm, directives, &storage_defaults(model)).map_err(|refused| lines(&refused))
}

/// Checks the form of a name that a user chose.
///
/// # Errors
/// A usage mistake, in Juju's words.
pub fn name(name: &str) -> Result<(), Failure> {
    names::check_application(name).map_err(|refused| Failure::usage(refused.to_string()))
}

/// Checks everything about a new application: assumptions, images, storage, names. Gives its filesystems.
///
/// # Errors
/// What is refused, a line each.
pub fn new_application(
    wish: &Wish,
    uid: Uid,
    (namespace, model): (&str, Option<&Model>),
    others: &[Derived],
) -> Result<Vec<Filesystem>, Failure> {
    assumptions(&wish.charm)?;
    images(wish)?;
    let filesystems = unit_filesystems(&wish.charm, &wish.storage, model)?;
    let derived = names::derive(&wish.name, uid, namespace, &wish.charm, &filesystems);
    names::check(&derived, namespace, others).map_err(|problems| lines(&problems))?;
    Ok(filesystems)
}

/// Checks what a charm assumes.
///
/// # Errors
/// Every assumption that does not hold.
pub fn assumptions(charm: &Charm) -> Result<(), Failure> {
    let unmet = Features::ours().unmet(&charm.assumes);
    if unmet.is_empty() {
        return Ok(());
    }
    Err(Failure::failed(format!(
        "charm \"{}\" cannot be deployed: {}",
        charm.name,
        unmet.join("; ")
    )))
}

/// Checks that there is an image for every resource that needs one; gives a note for each that is the charm's own.
///
/// # Errors
/// All that are missing, in Juju's words.
pub fn images(wish: &Wish) -> Result<Vec<String>, Failure> {
    let given = wish
        .resources
        .iter()
        .filter_map(|(name, given)| match given {
            GivenResource::Image(details) => Some((name.clone(), details.registry_path.clone())),
            GivenResource::File(_) => None,
        })
        .collect();
    let chosen = choose_images(&wish.charm, &given)
        .map_err(|missing| Failure::failed(missing.to_string()))?;
    Ok(chosen
        .into_iter()
        .filter(|image| image.from_upstream)
        .map(|image| {
            format!(
                "using image {} for resource \"{}\"",
                image.image, image.resource
            )
        })
        .collect())
}

/// The names that applications of a model have.
pub fn names_in_use(namespace: &str, applications: &[&Application]) -> Vec<Derived> {
    applications
        .iter()
        .map(|application| {
            names::derive(
                &application.name,
                application.uid,
                namespace,
                &application.spec.charm,
                &application.spec.filesystems,
            )
        })
        .collect()
}

fn lines(problems: &[impl ToString]) -> Failure {
    let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    Failure::failed(lines.join("\n"))
}
