//! Options of charms, settings of applications and models: which there are, and what their values mean.

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::charm::{Charm, ConfigValue};
use crate::kubernetes::labels::Labels;
use crate::state::{Denial, ServiceSettings};

/// The setting that is the application's trust under another name (command line, 2.3).
pub(super) const TRUST: &str = "trust";

const SERVICE_TYPE: &str = "kubernetes-service-type";
const SERVICE_ANNOTATIONS: &str = "kubernetes-service-annotations";
const SERVICE_EXTERNAL_IPS: &str = "kubernetes-service-external-ips";
const SERVICE_LOAD_BALANCER_IP: &str = "kubernetes-service-loadbalancer-ip";
const SERVICE_SOURCE_RANGES: &str = "kubernetes-service-loadbalancer-sourceranges";
const SERVICE_EXTERNAL_NAME: &str = "kubernetes-service-externalname";

/// The settings of an application itself, beside its charm's options (command line, 2.3), by name.
pub const APPLICATION_SETTINGS: [&str; 14] = [
    "juju-application-path",
    "juju-external-hostname",
    "kubernetes-ingress-allow-http",
    "kubernetes-ingress-class",
    "kubernetes-ingress-ssl-passthrough",
    "kubernetes-ingress-ssl-redirect",
    SERVICE_ANNOTATIONS,
    SERVICE_EXTERNAL_IPS,
    SERVICE_EXTERNAL_NAME,
    SERVICE_LOAD_BALANCER_IP,
    SERVICE_SOURCE_RANGES,
    "kubernetes-service-target-port",
    SERVICE_TYPE,
    TRUST,
];

/// A truth value as the original reads one (Go: `strconv.ParseBool`).
pub(super) fn truth(key: &str, text: &str) -> Result<bool, Denial> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
        _ => Err(wrong(key, text, "true or false")),
    }
}

fn wrong(key: &str, value: &str, expected: &'static str) -> Denial {
    Denial::Setting {
        key: key.to_string(),
        value: value.to_string(),
        expected,
    }
}

/// Every option is one of the charm's, with a value of its kind.
pub(super) fn check_config(
    charm: &Charm,
    config: &BTreeMap<String, ConfigValue>,
) -> Result<(), Denial> {
    config
        .iter()
        .try_for_each(|(name, value)| check_option(charm, name, Some(value)))
}

pub(super) fn check_option(
    charm: &Charm,
    name: &str,
    value: Option<&ConfigValue>,
) -> Result<(), Denial> {
    let option = charm
        .option(name)
        .ok_or_else(|| Denial::OptionUnknown(name.to_string()))?;
    match value {
        Some(value) if value.kind() != option.kind => Err(Denial::OptionKind {
            name: name.to_string(),
            expected: option.kind,
            got: value.clone(),
        }),
        _ => Ok(()),
    }
}

/// Every setting is known, and those that have an effect can have it.
pub(super) fn check(settings: &BTreeMap<String, String>) -> Result<(), Denial> {
    for key in settings.keys() {
        check_key(key)?;
    }
    service_settings(settings).map(drop)
}

pub(super) fn check_key(key: &str) -> Result<(), Denial> {
    if APPLICATION_SETTINGS.contains(&key) {
        Ok(())
    } else {
        Err(Denial::OptionUnknown(key.to_string()))
    }
}

/// What the settings ask of the application's service.
pub(in crate::state) fn service_settings(
    settings: &BTreeMap<String, String>,
) -> Result<ServiceSettings, Denial> {
    let text = |key: &str| settings.get(key).filter(|text| !text.is_empty());
    let list = |key: &str| -> Vec<String> {
        text(key).map_or_else(Vec::new, |text| {
            text.split([',', ' '])
                .filter(|item| !item.is_empty())
                .map(String::from)
                .collect()
        })
    };
    let r#type = text(SERVICE_TYPE).cloned();
    if let Some(name) = &r#type
        && !["ClusterIP", "NodePort", "LoadBalancer", "ExternalName"].contains(&&**name)
    {
        let expected = "ClusterIP, NodePort, LoadBalancer or ExternalName";
        return Err(wrong(SERVICE_TYPE, name, expected));
    }
    Ok(ServiceSettings {
        r#type,
        annotations: pairs(SERVICE_ANNOTATIONS, text(SERVICE_ANNOTATIONS))?,
        external_ips: list(SERVICE_EXTERNAL_IPS),
        load_balancer_ip: text(SERVICE_LOAD_BALANCER_IP).cloned(),
        load_balancer_source_ranges: list(SERVICE_SOURCE_RANGES),
        external_name: text(SERVICE_EXTERNAL_NAME).cloned(),
    })
}

/// The labels that a model's `resource-tags` asks for.
pub(in crate::state) fn resource_tags(
    settings: &BTreeMap<String, String>,
) -> Result<Labels, Denial> {
    const TAGS: &str = "resource-tags";
    let tags = pairs(TAGS, settings.get(TAGS))?;
    for (key, value) in tags.iter() {
        if !is_label_key(key) || !is_label_value(value) {
            let text = alloc::format!("{key}={value}");
            return Err(wrong(TAGS, &text, "a label that Kubernetes takes"));
        }
    }
    Ok(tags)
}

/// `k=v k=v`, also with commas between.
fn pairs(key: &str, text: Option<&String>) -> Result<Labels, Denial> {
    let mut pairs = Vec::new();
    for item in text
        .into_iter()
        .flat_map(|text| text.split([',', ' ', '\n']))
        .filter(|item| !item.is_empty())
    {
        match item.split_once('=') {
            Some((name, value)) if !name.is_empty() => pairs.push((name, value)),
            _ => return Err(wrong(key, item, "of the form key=value")),
        }
    }
    Ok(pairs.into_iter().collect())
}

/// Kubernetes, "Labels and Selectors": at most 63 characters, letters, digits, `-`, `_`, `.`, not at the ends.
fn is_label_value(text: &str) -> bool {
    text.is_empty() || is_label_name(text)
}

fn is_label_name(text: &str) -> bool {
    let bytes = text.as_bytes();
    let ends = [bytes.first(), bytes.last()];
    text.len() <= 63
        && ends
            .into_iter()
            .all(|end| end.is_some_and(u8::is_ascii_alphanumeric))
        && bytes
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
}

fn is_label_key(text: &str) -> bool {
    match text.split_once('/') {
        Some((prefix, name)) => {
            let subdomain = |part: &str| {
                is_label_name(part)
                    && !part.contains('_')
                    && !part.bytes().any(|byte| byte.is_ascii_uppercase())
            };
            prefix.len() <= 253 && prefix.split('.').all(subdomain) && is_label_name(name)
        }
        None => is_label_name(text),
    }
}
