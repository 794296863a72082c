//! Devices: what a charm can use, and what a user asks for. Recorded only; no unit gets one yet.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::document::At;
use super::mistake::{self, Report};

/// A device that a charm can use.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DeviceDeclaration {
    /// Label of the device in the charm.
    pub name: String,
    /// Kubernetes' or the vendor's name of the kind: `gpu`, `nvidia.com/gpu`.
    pub kind: String,
    /// What it is for.
    pub description: String,
    /// The least number that the charm works with.
    pub minimum: u64,
    /// The most that it can use; `None` is no bound.
    pub maximum: Option<u64>,
}

/// What a user asks for with `--device LABEL=[COUNT,]TYPE[,K=V;…]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DeviceDirective {
    /// Number of devices, at least 1.
    pub count: u64,
    /// Kind of device.
    pub kind: String,
    /// Attributes that the device must have.
    pub attributes: BTreeMap<String, String>,
}

/// Reads `devices`. Each is recorded, and the charm's author hears that nobody gets one yet.
pub(super) fn read(root: &At<'_>, report: &mut Report) -> Vec<DeviceDeclaration> {
    let Some(at) = root.get("devices") else {
        return Vec::new();
    };
    let devices = at.declared(report, read_one);
    if !devices.is_empty() {
        report.warning(
            at.key,
            &at.path,
            "devices are recorded, and no unit gets one yet",
            "place the units on nodes with the devices by constraints",
        );
    }
    devices
}

fn read_one(name: &str, at: &At<'_>, report: &mut Report) -> Option<DeviceDeclaration> {
    const KEYS: [&str; 4] = ["type", "description", "countmin", "countmax"];
    at.warn_unknown("a device", &KEYS, report, |key| {
        Some(match key {
            "count" => String::from("did you mean \"countmin\" and \"countmax\"?"),
            key => mistake::did_you_mean(key, &KEYS),
        })
    });
    let number = |key: &str, report: &mut Report| at.get(key).and_then(|at| at.whole(report));
    let minimum = number("countmin", report).unwrap_or(1);
    let maximum = number("countmax", report);
    if maximum.is_some_and(|maximum| maximum < minimum) {
        report.error(
            at.key,
            &at.path,
            "the most devices are fewer than the least",
            "make \"countmax\" at least \"countmin\"",
        );
    }
    let description = at.description(report);
    let Some(kind) = at.get("type") else {
        report.error(
            at.key,
            &at.path,
            "the device has no type",
            "add \"type:\", as nvidia.com/gpu",
        );
        return None;
    };
    Some(DeviceDeclaration {
        name: name.into(),
        kind: kind.text(report)?.into(),
        description,
        minimum,
        maximum,
    })
}

/// Why a text is not a device directive.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeviceDirectiveError {
    /// Nothing, or more than count, type and attributes.
    #[error("cannot parse device constraints: expected [COUNT,]TYPE[,KEY=VALUE;…], got {0:?}")]
    Malformed(String),
    /// The count is no whole number from 1.
    #[error("cannot parse device constraints: count must be greater than zero, got {0:?}")]
    Count(String),
    /// An attribute has no `=`, or comes twice.
    #[error("cannot parse device constraints: device attribute {0:?} not valid")]
    Attribute(String),
}

impl core::str::FromStr for DeviceDirective {
    type Err = DeviceDirectiveError;

    /// Reads `[COUNT,]TYPE[,KEY=VALUE;…]`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let malformed = || DeviceDirectiveError::Malformed(text.into());
        let mut parts = text.split(',').peekable();
        let first = *parts.peek().ok_or_else(malformed)?;
        let number = first.strip_prefix(['-', '+']).unwrap_or(first);
        let counted = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        let mut count = 1;
        if counted {
            let refused = || DeviceDirectiveError::Count(first.into());
            count = first.parse().map_err(|_| refused())?;
            if count == 0 {
                return Err(refused());
            }
            parts.next();
        }
        let kind = parts
            .next()
            .filter(|kind| !kind.is_empty() && !kind.contains('='))
            .ok_or_else(malformed)?;
        let mut attributes = BTreeMap::new();
        for attribute in parts
            .next()
            .unwrap_or_default()
            .split(';')
            .filter(|text| !text.is_empty())
        {
            let refused = || DeviceDirectiveError::Attribute(attribute.into());
            let (key, value) = attribute
                .split_once('=')
                .filter(|(key, _)| !key.is_empty())
                .ok_or_else(refused)?;
            if attributes.insert(key.into(), value.into()).is_some() {
                return Err(refused());
            }
        }
        if parts.next().is_some() {
            return Err(malformed());
        }
        Ok(Self {
            count,
            kind: kind.into(),
            attributes,
        })
    }
}

impl core::fmt::Display for DeviceDirective {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{},{}", self.count, self.kind)?;
        for (index, (key, value)) in self.attributes.iter().enumerate() {
            let separator = if index == 0 { ',' } else { ';' };
            write!(f, "{separator}{key}={value}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use proptest::prelude::*;

    #[test]
    fn count_and_attributes_are_optional() {
        let device: DeviceDirective = "2,nvidia.com/gpu,gpu=a100;mode=x".parse().unwrap();
        assert_eq!((device.count, device.kind.as_str()), (2, "nvidia.com/gpu"));
        assert_eq!(device.attributes["gpu"], "a100");
        assert_eq!(
            "gpu".parse::<DeviceDirective>().unwrap().to_string(),
            "1,gpu"
        );
        for refused in [
            "",
            "0,gpu",
            "-1,gpu",
            "2",
            "gpu,x",
            "gpu,a=1;a=2",
            "gpu,a=1,b=2",
            ",gpu",
        ] {
            assert!(refused.parse::<DeviceDirective>().is_err(), "{refused:?}");
        }
    }

    proptest! {
        #[test]
        fn reading_a_directive_is_total_and_what_is_read_prints_back(text in "[-0-9a-z,;=/.]{0,20}") {
            if let Ok(directive) = text.parse::<DeviceDirective>() {
                prop_assert_eq!(directive.to_string().parse(), Ok(directive));
            }
        }
    }
}
