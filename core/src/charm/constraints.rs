//! Constraints: what the units of an application need of the nodes that run them.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::size::{self, Grammar};
use super::{ConfigValue, OptionKind};

/// Constraints of an application or a model.
///
/// `None` means not named: the model's value holds. An *empty* value (0, no text, no list) is named too and means none,
/// also against the model's. On Kubernetes `mem`, `cpu_power`, `arch`, `tags` and `zones` have an effect; the rest is
/// kept and shown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct Constraints {
    /// Architecture: `amd64`, `arm64`, `ppc64el`, `s390x`, `riscv64`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arch: Option<String>,
    /// Kind of machine container; no effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
    /// Number of cores; no effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cores: Option<u64>,
    /// Thousandths of a CPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_power: Option<u64>,
    /// Role of the instance; no effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance_role: Option<String>,
    /// Type of the instance; no effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance_type: Option<String>,
    /// Memory in MiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mem: Option<u64>,
    /// Size of the root disk in MiB; no effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root_disk: Option<u64>,
    /// Where the root disk comes from; no effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root_disk_source: Option<String>,
    /// Affinity terms, in the order given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<String>>,
    /// Network spaces; no effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spaces: Option<Vec<String>>,
    /// Kind of virtual machine; no effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub virt_type: Option<String>,
    /// Zones, one of which a unit must be in, in the order given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zones: Option<Vec<String>>,
    /// Whether a public address is wanted; no effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allocate_public_ip: Option<bool>,
    /// Machine image; no effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image_id: Option<String>,
}

/// Why a text is no list of constraints; in Juju's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConstraintsError {
    /// A part without `=`, or without a name before it.
    #[error("malformed constraint {0:?}")]
    Malformed(String),
    /// A constraint that nobody knows.
    #[error("unknown constraint {0:?}")]
    Unknown(String),
    /// The same constraint twice.
    #[error("bad {0:?} constraint: already set")]
    AlreadySet(String),
    /// A word of a closed set that is not in it.
    #[error("bad {constraint:?} constraint: {value:?} not recognized")]
    NotRecognized {
        /// Name of the constraint.
        constraint: String,
        /// The word.
        value: String,
    },
    /// Not a size.
    #[error("bad {0:?} constraint: must be a non-negative float with optional M/G/T/P suffix")]
    NotASize(String),
    /// Not a whole number.
    #[error("bad {0:?} constraint: must be a non-negative integer")]
    NotAnInteger(String),
    /// Not a boolean.
    #[error("bad {0:?} constraint: must be 'true' or 'false'")]
    NotABoolean(String),
}

/// Architectures that there are.
const ARCHITECTURES: [&str; 5] = ["amd64", "arm64", "ppc64el", "riscv64", "s390x"];

/// Constraints as read, with what is to be said about them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParsedConstraints {
    /// The constraints.
    pub constraints: Constraints,
    /// Old names that were used, each with the one that holds today: `("cpu-cores", "cores")`.
    pub aliases: Vec<(&'static str, &'static str)>,
}

/// Reads `KEY=VALUE` parts separated by blanks; `\ ` is a blank inside a part. An empty value means none.
///
/// # Errors
///
/// The first mistake, in Juju's words.
pub fn parse(text: &str) -> Result<ParsedConstraints, ConstraintsError> {
    let mut parsed = ParsedConstraints::default();
    for part in split(text) {
        let (key, value) = part
            .split_once('=')
            .filter(|(key, _)| !key.is_empty())
            .ok_or_else(|| ConstraintsError::Malformed(part.clone()))?;
        let key = match key {
            "cpu-cores" => {
                parsed.aliases.push(("cpu-cores", "cores"));
                "cores"
            }
            key => key,
        };
        parsed.constraints.set(key, value)?;
    }
    Ok(parsed)
}

impl core::str::FromStr for Constraints {
    type Err = ConstraintsError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse(text).map(|parsed| parsed.constraints)
    }
}

/// Splits at blanks, save those behind a backslash.
fn split(text: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let mut part = String::new();
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if letters.peek() == Some(&' ') => {
                letters.next();
                part.push(' ');
            }
            letter if letter.is_whitespace() => {
                if !part.is_empty() {
                    parts.push(core::mem::take(&mut part));
                }
            }
            letter => part.push(letter),
        }
    }
    if !part.is_empty() {
        parts.push(part);
    }
    parts
}

/// Sets a field once.
fn once<T>(
    field: &mut Option<T>,
    key: &str,
    value: Result<T, ConstraintsError>,
) -> Result<(), ConstraintsError> {
    if field.is_some() {
        return Err(ConstraintsError::AlreadySet(key.into()));
    }
    *field = Some(value?);
    Ok(())
}

fn read_integer(key: &str, value: &str) -> Result<u64, ConstraintsError> {
    if value.is_empty() {
        return Ok(0);
    }
    let digits = value.bytes().all(|byte| byte.is_ascii_digit());
    let number = if digits { value.parse().ok() } else { None };
    number.ok_or_else(|| ConstraintsError::NotAnInteger(key.into()))
}

fn read_size(key: &str, value: &str) -> Result<u64, ConstraintsError> {
    if value.is_empty() {
        return Ok(0);
    }
    size::parse(value, Grammar::Constraint).ok_or_else(|| ConstraintsError::NotASize(key.into()))
}

fn read_list(value: &str) -> Vec<String> {
    value
        .split(',')
        .filter(|item| !item.is_empty())
        .map(String::from)
        .collect()
}

impl Constraints {
    fn set(&mut self, key: &str, value: &str) -> Result<(), ConstraintsError> {
        match key {
            "arch" => {
                let known = value.is_empty() || ARCHITECTURES.contains(&value);
                let arch = known.then(|| value.into());
                let arch = arch.ok_or_else(|| ConstraintsError::NotRecognized {
                    constraint: key.into(),
                    value: value.into(),
                });
                once(&mut self.arch, key, arch)
            }
            "container" => once(&mut self.container, key, Ok(value.into())),
            "cores" => once(&mut self.cores, key, read_integer(key, value)),
            "cpu-power" => once(&mut self.cpu_power, key, read_integer(key, value)),
            "instance-role" => once(&mut self.instance_role, key, Ok(value.into())),
            "instance-type" => once(&mut self.instance_type, key, Ok(value.into())),
            "mem" => once(&mut self.mem, key, read_size(key, value)),
            "root-disk" => once(&mut self.root_disk, key, read_size(key, value)),
            "root-disk-source" => once(&mut self.root_disk_source, key, Ok(value.into())),
            "tags" => once(&mut self.tags, key, Ok(read_list(value))),
            "spaces" => once(&mut self.spaces, key, Ok(read_list(value))),
            "virt-type" => once(&mut self.virt_type, key, Ok(value.into())),
            "zones" => once(&mut self.zones, key, Ok(read_list(value))),
            "allocate-public-ip" => {
                let wanted = match value {
                    "" => Ok(false),
                    text => match OptionKind::Boolean.parse(text) {
                        Some(ConfigValue::Boolean(wanted)) => Ok(wanted),
                        _ => Err(ConstraintsError::NotABoolean(key.into())),
                    },
                };
                once(&mut self.allocate_public_ip, key, wanted)
            }
            "image-id" => once(&mut self.image_id, key, Ok(value.into())),
            _ => Err(ConstraintsError::Unknown(key.into())),
        }
    }

    /// These constraints over those of the model: what is named here holds, also when it is empty.
    #[must_use]
    pub fn over(&self, model: &Self) -> Self {
        Self {
            arch: self.arch.clone().or_else(|| model.arch.clone()),
            container: self.container.clone().or_else(|| model.container.clone()),
            cores: self.cores.or(model.cores),
            cpu_power: self.cpu_power.or(model.cpu_power),
            instance_role: self
                .instance_role
                .clone()
                .or_else(|| model.instance_role.clone()),
            instance_type: self
                .instance_type
                .clone()
                .or_else(|| model.instance_type.clone()),
            mem: self.mem.or(model.mem),
            root_disk: self.root_disk.or(model.root_disk),
            root_disk_source: self
                .root_disk_source
                .clone()
                .or_else(|| model.root_disk_source.clone()),
            tags: self.tags.clone().or_else(|| model.tags.clone()),
            spaces: self.spaces.clone().or_else(|| model.spaces.clone()),
            virt_type: self.virt_type.clone().or_else(|| model.virt_type.clone()),
            zones: self.zones.clone().or_else(|| model.zones.clone()),
            allocate_public_ip: self.allocate_public_ip.or(model.allocate_public_ip),
            image_id: self.image_id.clone().or_else(|| model.image_id.clone()),
        }
    }

    /// Names of the constraints that have no effect on Kubernetes and say something, in Juju's order.
    pub fn unsupported(&self) -> Vec<&'static str> {
        let word = |value: &Option<String>| value.as_ref().is_some_and(|value| !value.is_empty());
        let number = |value: Option<u64>| value.is_some_and(|value| value > 0);
        let list =
            |value: &Option<Vec<String>>| value.as_ref().is_some_and(|value| !value.is_empty());
        [
            ("cores", number(self.cores)),
            ("virt-type", word(&self.virt_type)),
            ("container", word(&self.container)),
            ("instance-type", word(&self.instance_type)),
            ("spaces", list(&self.spaces)),
            ("allocate-public-ip", self.allocate_public_ip == Some(true)),
            ("image-id", word(&self.image_id)),
        ]
        .into_iter()
        .filter_map(|(name, said)| said.then_some(name))
        .collect()
    }
}

impl core::fmt::Display for Constraints {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let integer = |value: Option<u64>| {
            value.map(|value| {
                if value == 0 {
                    String::new()
                } else {
                    format!("{value}")
                }
            })
        };
        let size = |value: Option<u64>| {
            value.map(|value| {
                if value == 0 {
                    String::new()
                } else {
                    format!("{value}M")
                }
            })
        };
        let list = |value: &Option<Vec<String>>| value.as_ref().map(|items| items.join(","));
        let parts = [
            ("arch", self.arch.clone()),
            ("container", self.container.clone()),
            ("cores", integer(self.cores)),
            ("cpu-power", integer(self.cpu_power)),
            ("instance-role", self.instance_role.clone()),
            ("instance-type", self.instance_type.clone()),
            ("mem", size(self.mem)),
            ("root-disk", size(self.root_disk)),
            ("root-disk-source", self.root_disk_source.clone()),
            ("tags", list(&self.tags)),
            ("spaces", list(&self.spaces)),
            ("virt-type", self.virt_type.clone()),
            ("zones", list(&self.zones)),
            (
                "allocate-public-ip",
                self.allocate_public_ip.map(|wanted| format!("{wanted}")),
            ),
            ("image-id", self.image_id.clone()),
        ];
        let mut separator = "";
        for (name, value) in parts {
            if let Some(value) = value {
                write!(f, "{separator}{name}={}", value.replace(' ', "\\ "))?;
                separator = " ";
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use alloc::vec;
    use proptest::prelude::*;

    fn error(text: &str) -> String {
        parse(text).unwrap_err().to_string()
    }

    #[test]
    fn constraints_are_printed_in_a_fixed_order_with_sizes_in_mib() {
        let read: Constraints = "zones=a,b tags=x=y root-disk=1.5G mem=2G cpu-power=500 arch=arm64"
            .parse()
            .unwrap();
        assert_eq!(
            read.to_string(),
            "arch=arm64 cpu-power=500 mem=2048M root-disk=1536M tags=x=y zones=a,b"
        );
    }

    #[test]
    fn mistakes_are_told_in_the_words_of_juju() {
        assert_eq!(error("mem"), "malformed constraint \"mem\"");
        assert_eq!(error("=1"), "malformed constraint \"=1\"");
        assert_eq!(error("ram=1G"), "unknown constraint \"ram\"");
        assert_eq!(
            error("mem=1G mem=2G"),
            "bad \"mem\" constraint: already set"
        );
        assert_eq!(
            error("arch=x"),
            "bad \"arch\" constraint: \"x\" not recognized"
        );
        assert_eq!(
            error("mem=1GB"),
            "bad \"mem\" constraint: must be a non-negative float with optional M/G/T/P suffix"
        );
        assert_eq!(
            error("cores=-1"),
            "bad \"cores\" constraint: must be a non-negative integer"
        );
        assert_eq!(
            error("cores=1 cpu-cores=2"),
            "bad \"cores\" constraint: already set"
        );
    }

    #[test]
    fn an_old_name_is_taken_and_told() {
        let parsed = parse("cpu-cores=2").unwrap();
        assert_eq!(parsed.constraints.cores, Some(2));
        assert_eq!(parsed.aliases, [("cpu-cores", "cores")]);
    }

    #[test]
    fn an_empty_value_means_none_also_against_the_model() {
        let model: Constraints = "mem=1G arch=amd64 zones=a".parse().unwrap();
        let application: Constraints = "mem= zones=".parse().unwrap();
        assert_eq!(
            application.over(&model).to_string(),
            "arch=amd64 mem= zones="
        );
    }

    #[test]
    fn what_has_no_effect_is_named() {
        let read: Constraints = "mem=1G cores=2 image-id=x spaces= virt-type=kvm"
            .parse()
            .unwrap();
        assert_eq!(read.unsupported(), ["cores", "virt-type", "image-id"]);
    }

    #[test]
    fn a_blank_inside_a_value_stands_behind_a_backslash() {
        let read: Constraints = r"instance-role=a\ b mem=1M".parse().unwrap();
        assert_eq!(read.instance_role.as_deref(), Some("a b"));
        assert_eq!(read.to_string(), r"instance-role=a\ b mem=1M");
    }

    proptest! {
        #[test]
        fn reading_is_total(text in ".*") {
            let _ = parse(&text);
        }

        #[test]
        fn what_is_read_prints_back(
            parts in proptest::sample::subsequence(vec![
                "arch=amd64", "arch=", "container=lxd", "cores=4", "cores=", "cpu-power=100", "instance-role=r",
                "instance-type=t", "mem=1.5G", "mem=", "root-disk=7", "root-disk-source=s", "tags=a=b|c,^d=e", "tags=",
                "spaces=s,t", "virt-type=kvm", "zones=z", "allocate-public-ip=true", "allocate-public-ip=", "image-id=i",
            ], 0..12),
        ) {
            if let Ok(parsed) = parse(&parts.join(" ")) {
                let printed = parsed.constraints.to_string();
                prop_assert_eq!(printed.parse(), Ok(parsed.constraints.clone()));
                let json = serde_json::to_string(&parsed.constraints).unwrap();
                prop_assert_eq!(serde_json::from_str::<Constraints>(&json).unwrap(), parsed.constraints);
            }
        }
    }
}
