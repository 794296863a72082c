//! What there should be: an application's objects, in the order in which they are made.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::digest::Digest;
use crate::kubernetes::manifest::Manifest;
use crate::kubernetes::read::{Object, Service};
use crate::kubernetes::satisfies::{self, Match};
use crate::kubernetes::write::{self, Site};
use crate::kubernetes::{Kind, names};
use crate::state::{ServiceReport, ServiceSettings};

use super::view::View;

/// One object that there should be.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Wanted {
    /// Its kind.
    pub kind: Kind,
    /// Its name.
    pub name: Box<str>,
    /// Of its manifest after birth.
    pub digest: Digest,
}

/// All that there should be, as far as it is known, in the order in which it is made.
pub fn wanted(view: &View) -> Vec<Wanted> {
    let manifests = names(view)
        .into_iter()
        .filter_map(|(kind, name)| manifest(view, kind, &name, 0));
    manifests
        .map(|manifest| Wanted {
            kind: manifest.key.kind,
            name: manifest.key.name.clone(),
            digest: manifest.digest(),
        })
        .collect()
}

/// Kinds and names of all that an application may have, whether or not it is wanted now: what a removal looks for.
pub fn names(view: &View) -> Vec<(Kind, String)> {
    let application: String = view.name.as_ref().into();
    let cluster_role = names::cluster_role(view.namespace(), &application);
    let mut names = Vec::from([
        (Kind::ServiceAccount, application.clone()),
        (Kind::Role, application.clone()),
        (Kind::RoleBinding, application.clone()),
        (Kind::ClusterRole, cluster_role.clone()),
        (Kind::ClusterRoleBinding, cluster_role),
    ]);
    let containers = view
        .provisioning()
        .map_or(&[][..], |provisioning| &provisioning.containers);
    for container in containers
        .iter()
        .filter(|container| container.login.is_some())
    {
        names.push((
            Kind::Secret,
            names::pull_secret(&application, &container.name),
        ));
    }
    names.push((Kind::Service, application.clone()));
    names.push((Kind::Service, names::endpoints(&application)));
    names.push((Kind::StatefulSet, application));
    names
}

/// The manifest of an object that there should be; none if there should not, or what it is made from is not known.
pub fn manifest(view: &View, kind: Kind, name: &str, replicas: u32) -> Option<Manifest> {
    let model = view.model.as_deref()?;
    let site = Site {
        application: &view.name,
        uid: view.uid,
        model,
    };
    let trust = view.record.trust;
    Some(match kind {
        Kind::ServiceAccount if *name == *view.name => write::service_account(site),
        Kind::Role if *name == *view.name => write::role(site, trust),
        Kind::RoleBinding if *name == *view.name => write::role_binding(site),
        Kind::ClusterRole => write::cluster_role(site, trust && !view.trust_in_namespace_only),
        Kind::ClusterRoleBinding => write::cluster_role_binding(site),
        Kind::Secret => {
            let containers = &view.provisioning()?.containers;
            let (container, login) = containers.iter().find_map(|container| {
                let login = container.login.as_ref()?;
                (names::pull_secret(&view.name, &container.name) == name)
                    .then_some((container, login))
            })?;
            write::pull_secret(site, container, login)
        }
        Kind::Service if *name == *view.name => {
            let nothing = ServiceSettings::default();
            write::service(site, view.provisioning().map_or(&nothing, |p| &p.service))
        }
        Kind::Service if *name == *names::endpoints(&view.name) => write::endpoints(site),
        Kind::StatefulSet if *name == *view.name => {
            write::stateful_set(site, view.provisioning()?, replicas)
        }
        _ => return None,
    })
    .filter(|manifest| *manifest.key.name == *name)
}

/// Compares an object that is there with what we want of it; none if we want nothing of it.
pub fn compare(view: &View, object: &Object) -> Option<(Digest, Match)> {
    let (kind, name) = (object.kind(), &object.metadata().name);
    let wanted = view
        .wanted
        .iter()
        .find(|wanted| wanted.kind == kind && wanted.name == *name)?;
    let manifest = manifest(view, kind, name, 0)?;
    let result = match (satisfies::compare(object, &manifest), object) {
        (Match::Satisfied | Match::Surplus(_), Object::Secret(secret)) => {
            let fits = fingerprint(view, name).is_none_or(|wanted| {
                secret.fingerprint.as_deref() == Some(alloc::format!("{wanted}").as_str())
            });
            if fits {
                Match::Satisfied
            } else {
                Match::Differs("data".into())
            }
        }
        (result, _) => result,
    };
    Some((wanted.digest, result))
}

/// The fingerprint that the data of a pull secret must have.
fn fingerprint(view: &View, name: &str) -> Option<Digest> {
    let containers = &view.provisioning()?.containers;
    containers.iter().find_map(|container| {
        let login = container.login.as_ref()?;
        (names::pull_secret(&view.name, &container.name) == name).then_some(login.fingerprint)
    })
}

/// What users see of the application's service: its identity and its addresses, the cluster's own first (KAPP-31,
/// KAPP-32).
pub fn service_report(service: &Service) -> ServiceReport {
    let text = |pointer: &str| service.spec.pointer(pointer).and_then(Value::as_str);
    let texts = |pointer: &str| {
        let items = service.spec.pointer(pointer).and_then(Value::as_array);
        items.into_iter().flatten().filter_map(Value::as_str)
    };
    let ingress = service.status.load_balancer.ingress.iter();
    let ingress = ingress
        .flat_map(|entry| [entry.ip.as_deref(), entry.hostname.as_deref()])
        .flatten();
    let mut addresses: Vec<Box<str>> = Vec::new();
    let all = (text("/clusterIP").into_iter())
        .chain(text("/externalName"))
        .chain(texts("/externalIPs"))
        .chain(text("/loadBalancerIP"))
        .chain(ingress);
    for address in all.filter(|address| !address.is_empty() && *address != "None") {
        if !addresses.iter().any(|known| **known == *address) {
            addresses.push(address.into());
        }
    }
    ServiceReport {
        uid: Some(service.metadata.uid),
        addresses,
    }
}
