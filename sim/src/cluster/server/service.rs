//! Addresses and node ports of Services.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;

use serde_json::{Value, json};

use crate::cluster::Cluster;
use crate::cluster::failure::Problem;
use crate::cluster::object::{at, items_at, remove_at, set_at, text_at};
use crate::cluster::request::Failure;
use crate::cluster::resource::Resource;

/// The node ports that are given out when none is asked for (Kubernetes: "Service", type NodePort).
const NODE_PORTS: core::ops::RangeInclusive<u64> = 30_000..=32_767;
/// Addresses up to this one are given out by hand, if there are others: of a /16 the first 256 (Kubernetes: "Service
/// ClusterIP allocation").
const STATIC_ADDRESSES: u16 = 256;

impl Cluster {
    /// An address of the services' range, by its number there.
    pub(super) fn service_address(&self, number: u16) -> String {
        let ([first, second], [third, fourth]) =
            (self.settings.service_range, number.to_be_bytes());
        format!("{first}.{second}.{third}.{fourth}")
    }

    /// The number of an address in the services' range, if it is there.
    fn service_number(&self, address: &str) -> Option<u16> {
        let address: core::net::Ipv4Addr = address.parse().ok()?;
        let [first, second, third, fourth] = address.octets();
        ([first, second] == self.settings.service_range)
            .then_some(u16::from_be_bytes([third, fourth]))
    }

    /// An address of the services' range that no Service has.
    fn free_address(&self) -> Option<String> {
        let addresses = self.store.iter(Resource::Service, None);
        let taken: BTreeSet<u16> = addresses
            .filter_map(|service| {
                self.service_number(text_at(&service.value, &["spec", "clusterIP"]))
            })
            .collect();
        (STATIC_ADDRESSES + 1..u16::MAX)
            .chain(1..=STATIC_ADDRESSES)
            .find(|number| !taken.contains(number))
            .map(|number| self.service_address(number))
    }

    /// Gives a Service its address and its node ports, or takes them back when its type no longer has them.
    pub(super) fn allocate(
        &mut self,
        resource: Resource,
        value: &mut Value,
        old: Option<&Value>,
    ) -> Result<(), Failure> {
        if resource != Resource::Service {
            return Ok(());
        }
        let kind = String::from(text_at(value, &["spec", "type"]));
        if kind == "ExternalName" {
            for key in ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"] {
                remove_at(value, &["spec", key]);
            }
            return Ok(());
        }
        if kind == "ClusterIP" {
            // What came along from the type before means nothing now.
            for key in [
                "externalTrafficPolicy",
                "healthCheckNodePort",
                "allocateLoadBalancerNodePorts",
            ] {
                remove_at(value, &["spec", key]);
            }
        }
        self.allocate_address(value, old)?;
        let asks = kind == "NodePort"
            || (kind == "LoadBalancer"
                && at(value, &["spec", "allocateLoadBalancerNodePorts"])
                    != Some(&Value::Bool(false)));
        self.allocate_ports(value, old, asks)
    }

    fn allocate_address(&self, value: &mut Value, old: Option<&Value>) -> Result<(), Failure> {
        let mut address = String::from(text_at(value, &["spec", "clusterIP"]));
        let before = old.map_or("", |old| text_at(old, &["spec", "clusterIP"]));
        if address.is_empty() && !before.is_empty() {
            address = before.into();
        }
        if address.is_empty() || (address != "None" && address != before) {
            let name = text_at(value, &["metadata", "name"]);
            let mut services = self.store.iter(Resource::Service, None);
            if address.is_empty() {
                address = self.free_address().ok_or_else(|| {
                    Failure::internal("failed to allocate a serviceIP: range is full")
                })?;
            } else if services
                .any(|service| text_at(&service.value, &["spec", "clusterIP"]) == address)
            {
                return Err(Failure::invalid(
                    Resource::Service,
                    name,
                    &[Problem::invalid(
                        "spec.clusterIPs",
                        json!([address.as_str()]),
                        &format!(
                            "failed to allocate IP {address}: provided IP is already allocated"
                        ),
                    )],
                ));
            }
        }
        set_at(value, &["spec", "clusterIPs"], json!([address.as_str()]));
        set_at(value, &["spec", "clusterIP"], Value::String(address));
        for (key, default) in [
            ("ipFamilies", json!(["IPv4"])),
            ("ipFamilyPolicy", json!("SingleStack")),
        ] {
            if at(value, &["spec", key]).is_none() {
                set_at(value, &["spec", key], default);
            }
        }
        Ok(())
    }

    fn allocate_ports(
        &self,
        value: &mut Value,
        old: Option<&Value>,
        asks: bool,
    ) -> Result<(), Failure> {
        let own = text_at(value, &["metadata", "uid"]);
        let mut taken: BTreeSet<u64> = self
            .store
            .iter(Resource::Service, None)
            .filter(|service| service.uid() != own || own.is_empty())
            .flat_map(|service| items_at(&service.value, &["spec", "ports"]))
            .filter_map(|port| port.get("nodePort").and_then(Value::as_u64))
            .collect();
        let before: alloc::vec::Vec<Value> = old
            .map(|old| items_at(old, &["spec", "ports"]).to_vec())
            .unwrap_or_default();
        let name = String::from(text_at(value, &["metadata", "name"]));
        let Some(ports) = value
            .pointer_mut("/spec/ports")
            .and_then(Value::as_array_mut)
        else {
            return Ok(());
        };
        for (index, port) in ports.iter_mut().enumerate() {
            if !asks {
                // A port that came along from the type before is dropped; one that was asked for was refused before.
                remove_at(port, &["nodePort"]);
                continue;
            }
            let asked = port.get("nodePort").and_then(Value::as_u64).or_else(|| {
                before
                    .iter()
                    .find(|old| {
                        old.get("port") == port.get("port")
                            && old.get("protocol") == port.get("protocol")
                    })
                    .and_then(|old| old.get("nodePort").and_then(Value::as_u64))
            });
            let number = match asked {
                Some(number) if taken.contains(&number) => {
                    return Err(Failure::invalid(
                        Resource::Service,
                        &name,
                        &[Problem::invalid(
                            format!("spec.ports[{index}].nodePort"),
                            number,
                            "provided port is already allocated",
                        )],
                    ));
                }
                Some(number) => number,
                None => NODE_PORTS
                    .into_iter()
                    .find(|number| !taken.contains(number))
                    .ok_or_else(|| Failure::internal("no node port is free"))?,
            };
            taken.insert(number);
            set_at(port, &["nodePort"], Value::from(number));
        }
        Ok(())
    }
}
