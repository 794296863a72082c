//! The application's services (reference, 12.2).

use serde_json::{Value, json};

use super::{Kind, Manifest, Site, list, object, pointers};
use crate::kubernetes::names;
use crate::state::ServiceSettings;

/// The application's address. Its ports are a birth field, and its type too unless the user asked for one: charms and
/// people set them, and a restart of ours must not put them back (B73).
pub fn service(site: Site<'_>, settings: &ServiceSettings) -> Manifest {
    let texts = |items: &[alloc::string::String]| {
        list(
            items
                .iter()
                .map(|item| Value::String(item.clone()))
                .collect(),
        )
    };
    let text =
        |item: &Option<alloc::string::String>| item.clone().map_or(Value::Null, Value::String);
    let spec = object([
        (
            "type",
            json!(settings.r#type.as_deref().unwrap_or("ClusterIP")),
        ),
        ("selector", site.selector()),
        (
            "ports",
            json!([{ "name": "placeholder", "port": 65535, "protocol": "TCP" }]),
        ),
        ("externalIPs", texts(&settings.external_ips)),
        ("loadBalancerIP", text(&settings.load_balancer_ip)),
        (
            "loadBalancerSourceRanges",
            texts(&settings.load_balancer_source_ranges),
        ),
        ("externalName", text(&settings.external_name)),
    ]);
    let mut manifest = site.manifest(Kind::Service, site.application, json!({ "spec": spec }));
    if let Some(Value::Object(metadata)) = manifest.body.get_mut("metadata")
        && !settings.annotations.is_empty()
    {
        metadata.insert("annotations".into(), json!(settings.annotations));
    }
    manifest.birth = match settings.r#type {
        Some(_) => pointers(["/spec/ports"]),
        None => pointers(["/spec/ports", "/spec/type"]),
    };
    manifest
}

/// The headless service that gives pods their names, ready or not.
pub fn endpoints(site: Site<'_>) -> Manifest {
    let mut manifest = site.manifest(
        Kind::Service,
        &names::endpoints(site.application),
        json!({ "spec": {
            "type": "ClusterIP",
            "clusterIP": "None",
            "selector": site.selector(),
            "publishNotReadyAddresses": true,
        }}),
    );
    manifest.birth = pointers(["/spec/type"]);
    manifest
}
