//! How a controller speaks to the API server: as one named manager, at one moment.

use alloc::boxed::Box;
use alloc::string::ToString;
use alloc::sync::Arc;
use alloc::vec::Vec;

use pilotage_core::time::Timestamp;
use serde_json::{Value, json};

use super::values::difference;
use crate::cluster::Cluster;
use crate::cluster::moment;
use crate::cluster::object::{Stored, number_at, set_at, text_at};
use crate::cluster::request::{Failure, Propagation, Request, Response, Subresource, Verb};
use crate::cluster::resource::Resource;

/// kube-controller-manager: every controller but those that run beside it.
pub(super) const CONTROLLER_MANAGER: &str = "kube-controller-manager";
/// The scheduler.
pub(super) const SCHEDULER: &str = "kube-scheduler";
/// The kubelet of every node.
pub(super) const KUBELET: &str = "kubelet";
/// What makes volumes.
pub(super) const PROVISIONER: &str = "csi-provisioner";
/// What makes load balancers.
pub(super) const CLOUD: &str = "cloud-controller-manager";

/// The API server as one manager uses it.
pub(super) struct Client<'a> {
    pub(super) api: &'a mut Cluster,
    pub(super) at: Timestamp,
    manager: &'static str,
}

/// The address of an object.
#[derive(Clone, Copy)]
pub(super) struct Address<'a> {
    pub(super) resource: Resource,
    /// Empty for cluster-scoped kinds.
    pub(super) namespace: &'a str,
    pub(super) name: &'a str,
}

impl<'a> Address<'a> {
    /// Where a stored object lies.
    pub(super) fn of(stored: &'a Stored) -> Self {
        Address {
            resource: stored.resource,
            namespace: stored.namespace(),
            name: stored.name(),
        }
    }
}

impl<'a> Client<'a> {
    pub(super) fn new(api: &'a mut Cluster, at: Timestamp, manager: &'static str) -> Self {
        Client { api, at, manager }
    }

    /// The object as it is, from the server's cache: no request.
    pub(super) fn peek(&self, address: Address<'_>) -> Option<Arc<Stored>> {
        self.api
            .peek(address.resource, address.namespace, address.name)
            .cloned()
    }

    /// A namespaced object as it is.
    pub(super) fn peek_in(
        &self,
        resource: Resource,
        namespace: &str,
        name: &str,
    ) -> Option<Arc<Stored>> {
        self.api.peek(resource, namespace, name).cloned()
    }

    /// All objects of a kind, in a namespace or everywhere, by name.
    pub(super) fn list(&self, resource: Resource, namespace: Option<&str>) -> Vec<Arc<Stored>> {
        self.api.objects(resource, namespace).cloned().collect()
    }

    /// The objects that name this uid as an owner.
    pub(super) fn dependents(&self, uid: &str) -> Vec<Arc<Stored>> {
        self.api.dependents(uid).cloned().collect()
    }

    /// POST.
    pub(super) fn create(
        &mut self,
        resource: Resource,
        namespace: &str,
        body: Value,
    ) -> Result<(), Failure> {
        let address = Address {
            resource,
            namespace,
            name: "",
        };
        self.send(address, None, Verb::Create { body })
    }

    /// PATCH of the object with a merge patch; `after` is what it is to be. Nothing is sent if nothing differs.
    pub(super) fn change(&mut self, before: &Stored, after: &Value) -> Result<(), Failure> {
        let Some(body) = difference(&before.value, after) else {
            return Ok(());
        };
        self.send(Address::of(before), None, Verb::MergePatch { body })
    }

    /// PATCH of the object's status; `status` is what it is to be. Nothing is sent if nothing differs.
    pub(super) fn set_status(&mut self, before: &Stored, status: &Value) -> Result<(), Failure> {
        static EMPTY: Value = Value::Null;
        let old = before.value.get("status").unwrap_or(&EMPTY);
        let Some(status) = difference(old, status) else {
            return Ok(());
        };
        self.send(
            Address::of(before),
            Some(Subresource::Status),
            Verb::MergePatch {
                body: json!({ "status": status }),
            },
        )
    }

    /// DELETE of exactly this object.
    pub(super) fn delete(
        &mut self,
        stored: &Stored,
        propagation: Propagation,
        grace: Option<u64>,
    ) -> Result<(), Failure> {
        let uid = Some(stored.uid().into());
        self.send(
            Address::of(stored),
            None,
            Verb::Delete {
                uid,
                version: None,
                propagation,
                grace,
            },
        )
    }

    /// Takes a finalizer away.
    pub(super) fn drop_finalizer(
        &mut self,
        stored: &Stored,
        finalizer: &str,
    ) -> Result<(), Failure> {
        let rest = stored.finalizers().filter(|name| *name != finalizer);
        self.set_finalizers(stored, rest.collect())
    }

    /// Adds a finalizer.
    pub(super) fn add_finalizer(
        &mut self,
        stored: &Stored,
        finalizer: &str,
    ) -> Result<(), Failure> {
        let all = stored.finalizers().chain([finalizer]);
        self.set_finalizers(stored, all.collect())
    }

    fn set_finalizers(&mut self, stored: &Stored, finalizers: Vec<&str>) -> Result<(), Failure> {
        let finalizers = if finalizers.is_empty() {
            Value::Null
        } else {
            json!(finalizers)
        };
        let body = json!({ "metadata": { "finalizers": finalizers, "uid": stored.uid() } });
        self.send(Address::of(stored), None, Verb::MergePatch { body })
    }

    /// Any other request.
    pub(super) fn send(
        &mut self,
        address: Address<'_>,
        subresource: Option<Subresource>,
        verb: Verb,
    ) -> Result<(), Failure> {
        let request = Request {
            manager: self.manager.into(),
            resource: address.resource,
            namespace: Some(address.namespace)
                .filter(|namespace| !namespace.is_empty())
                .map(Box::from),
            name: address.name.into(),
            subresource,
            verb,
        };
        match self.api.request(self.at, request) {
            Response::Failure(failure) => Err(failure),
            _ => Ok(()),
        }
    }

    /// Records a warning about an object as an Event, or counts it up if it was recorded before.
    pub(super) fn warn(&mut self, about: &Stored, reason: &str, message: &str) {
        let (name, uid) = (about.name(), about.uid());
        let now = moment::text(self.at);
        let namespace = match about.namespace() {
            "" => "default",
            namespace => namespace,
        };
        let known = self
            .list(Resource::Event, Some(namespace))
            .into_iter()
            .find(|event| {
                text_at(&event.value, &["involvedObject", "uid"]) == uid
                    && text_at(&event.value, &["reason"]) == reason
                    && text_at(&event.value, &["message"]) == message
            });
        // Events are best effort: a refused one changes nothing for who reports.
        let _ = match known {
            Some(event) => {
                let mut after = event.value.clone();
                let count = number_at(&after, &["count"]).unwrap_or(0) + 1;
                set_at(&mut after, &["count"], json!(count));
                set_at(&mut after, &["lastTimestamp"], json!(now));
                self.change(&event, &after)
            }
            None => {
                let mut digest = super::hash::Fnv::default();
                digest.write(reason.as_bytes());
                digest.write(message.as_bytes());
                let event = json!({
                    "apiVersion": "v1",
                    "kind": "Event",
                    "metadata": {
                        "name": alloc::format!("{name}.{:x}{:08x}", self.at.0, digest.0),
                        "namespace": namespace,
                    },
                    "involvedObject": {
                        "apiVersion": about.resource.api_version(),
                        "kind": about.resource.kind(),
                        "namespace": namespace,
                        "name": name,
                        "uid": uid,
                        "resourceVersion": about.version.to_string(),
                    },
                    "type": "Warning",
                    "reason": reason,
                    "message": message,
                    "source": { "component": self.manager },
                    "reportingComponent": self.manager,
                    "reportingInstance": "",
                    "count": 1,
                    "firstTimestamp": now,
                    "lastTimestamp": now,
                    "eventTime": null,
                });
                self.create(Resource::Event, namespace, event)
            }
        };
    }
}
