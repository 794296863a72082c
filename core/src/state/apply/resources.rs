//! Resources: given by the user, or found where the charm says.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use crate::charm::resource::MissingImages;
use crate::charm::{Charm, ResourceDeclaration, ResourceKind};
use crate::state::{Denial, Resource, ResourceValue};
use crate::time::Timestamp;

fn fits(declaration: &ResourceDeclaration, value: &ResourceValue) -> bool {
    matches!(
        (declaration.kind, value),
        (ResourceKind::OciImage, ResourceValue::Image { .. })
            | (ResourceKind::File, ResourceValue::File { .. })
    )
}

fn check_given(charm: &Charm, given: &BTreeMap<String, ResourceValue>) -> Result<(), Denial> {
    let unknown: Vec<String> = given
        .keys()
        .filter(|name| charm.resource(name).is_none())
        .cloned()
        .collect();
    if !unknown.is_empty() {
        return Err(Denial::ResourcesUnrecognized(unknown));
    }
    for (name, value) in given {
        if !charm
            .resource(name)
            .is_some_and(|resource| fits(resource, value))
        {
            return Err(Denial::ResourceKind {
                name: name.clone(),
                given: match value {
                    ResourceValue::Image { .. } => "an image",
                    ResourceValue::File { .. } => "a file",
                },
            });
        }
    }
    Ok(())
}

fn upstream(declaration: &ResourceDeclaration) -> Option<ResourceValue> {
    match declaration.kind {
        ResourceKind::OciImage => {
            declaration
                .upstream_source
                .as_ref()
                .map(|path| ResourceValue::Image {
                    path: path.clone(),
                    login: None,
                })
        }
        ResourceKind::File => None,
    }
}

/// The resources of a new application. A file that is not given is not missed: only charm code would use it.
pub(super) fn at_deploy(
    at: Timestamp,
    charm: &Charm,
    given: &BTreeMap<String, ResourceValue>,
) -> Result<BTreeMap<String, Resource>, Denial> {
    at_refresh(at, charm, given, &BTreeMap::new()).map_err(|denial| match denial {
        Denial::NewResourcesMissing(names) => Denial::ImagesMissing(MissingImages(names)),
        other => other,
    })
}

/// The resources from now on: what is given; else what the user once gave; else what the charm names; else what there
/// was.
pub(super) fn at_refresh(
    at: Timestamp,
    charm: &Charm,
    given: &BTreeMap<String, ResourceValue>,
    before: &BTreeMap<String, Resource>,
) -> Result<BTreeMap<String, Resource>, Denial> {
    check_given(charm, given)?;
    let mut resources = BTreeMap::new();
    let mut missing = Vec::new();
    for declaration in &charm.resources {
        let name = &declaration.name;
        let old = before.get(name).filter(|old| fits(declaration, &old.value));
        let wanted = match (given.get(name), old) {
            (Some(value), _) => Some((value.clone(), true)),
            (None, Some(old)) if old.given => Some((old.value.clone(), true)),
            (None, old) => upstream(declaration)
                .or_else(|| old.map(|old| old.value.clone()))
                .map(|value| (value, false)),
        };
        match wanted {
            Some((value, given)) => {
                let (revision, since) = match old {
                    Some(old) if old.value == value => (old.revision, old.since),
                    Some(old) => (old.revision.saturating_add(1), at),
                    None => (0, at),
                };
                let resource = Resource {
                    value,
                    given,
                    revision,
                    since,
                };
                resources.insert(name.clone(), resource);
            }
            None if declaration.kind == ResourceKind::OciImage => missing.push(name.clone()),
            None => {}
        }
    }
    if missing.is_empty() {
        Ok(resources)
    } else {
        Err(Denial::NewResourcesMissing(missing))
    }
}
