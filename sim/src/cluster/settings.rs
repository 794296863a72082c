//! What a cluster is told when it is made, and the refusals that faults inject.

use alloc::boxed::Box;

use serde::{Deserialize, Serialize};

use super::request::{Failure, Request, Verb};
use super::resource::Resource;

/// How a cluster is set up. Two clusters with equal settings that are asked the same things answer the same bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// What uids, generated names and addresses are drawn from.
    pub seed: u64,
    /// The first two numbers of the /16 that Services get their addresses from.
    #[serde(default = "service_range")]
    pub service_range: [u8; 2],
}

fn service_range() -> [u8; 2] {
    [10, 0]
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            seed: 1,
            service_range: service_range(),
        }
    }
}

/// Requests that are refused, whatever they say: an admission policy, a quota, an overloaded server.
///
/// A rule applies where all that it names agrees.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Denial {
    /// Only requests of this manager.
    pub manager: Option<Box<str>>,
    /// Only this kind.
    pub resource: Option<Resource>,
    /// Only in this namespace.
    pub namespace: Option<Box<str>>,
    /// Only the object of this name.
    pub name: Option<Box<str>>,
    /// Only this action.
    pub action: Option<Action>,
    /// How often the rule applies before it is gone; for ever if absent.
    pub times: Option<u32>,
    /// The answer.
    pub answer: Failure,
}

/// What a request does, as access rules name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Action {
    /// GET of one object.
    Get,
    /// GET of a collection.
    List,
    /// POST.
    Create,
    /// PUT.
    Update,
    /// PATCH of any kind.
    Patch,
    /// DELETE.
    Delete,
}

impl Verb {
    /// The verb as access rules name it.
    pub fn action(&self) -> Action {
        match self {
            Verb::Get => Action::Get,
            Verb::List { .. } => Action::List,
            Verb::Create { .. } => Action::Create,
            Verb::Update { .. } => Action::Update,
            Verb::Apply { .. } | Verb::JsonPatch { .. } | Verb::MergePatch { .. } => Action::Patch,
            Verb::Delete { .. } => Action::Delete,
        }
    }
}

impl Denial {
    /// A rule that refuses every request of that action on that kind.
    pub fn new(resource: Resource, action: Action, answer: Failure) -> Self {
        Denial {
            manager: None,
            resource: Some(resource),
            namespace: None,
            name: None,
            action: Some(action),
            times: None,
            answer,
        }
    }

    /// Whether the rule speaks of that request. The name of an object that is made is in its body.
    pub fn applies(&self, request: &Request) -> bool {
        fn agrees<T: PartialEq + ?Sized>(rule: Option<&T>, asked: Option<&T>) -> bool {
            rule.is_none() || rule == asked
        }
        let name = match &request.verb {
            Verb::Create { body } => super::object::text_at(body, &["metadata", "name"]),
            _ => &request.name,
        };
        agrees(self.manager.as_deref(), Some(&*request.manager))
            && agrees(self.resource.as_ref(), Some(&request.resource))
            && agrees(self.namespace.as_deref(), request.namespace.as_deref())
            && agrees(self.name.as_deref(), Some(name))
            && agrees(self.action.as_ref(), Some(&request.verb.action()))
    }
}
