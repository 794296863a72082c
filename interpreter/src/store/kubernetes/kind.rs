//! The kinds of custom resource, and their addresses.

use pilotage_core::kubernetes::labels::API_VERSION;

use crate::cluster::kube::encode;

/// The API group, and its version.
pub(super) fn group_and_version() -> (&'static str, &'static str) {
    API_VERSION.split_once('/').unwrap_or(("", API_VERSION))
}

/// A kind of custom resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Kind {
    /// A model: of the whole cluster, as its namespace is.
    Model,
    /// An application, in its model's namespace.
    Application,
    /// A storage that outlived its application: of the whole cluster, so that it can be made while the namespace of its
    /// model is going.
    Storage,
}

impl Kind {
    /// Every kind; what others are in comes first.
    pub(super) const ALL: [Kind; 3] = [Kind::Model, Kind::Application, Kind::Storage];

    /// As in `kind`.
    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::Model => "Model",
            Kind::Application => "Application",
            Kind::Storage => "Storage",
        }
    }

    /// As people say it.
    pub(super) fn singular(self) -> &'static str {
        match self {
            Kind::Model => "model",
            Kind::Application => "application",
            Kind::Storage => "storage",
        }
    }

    /// As in addresses.
    pub(super) fn plural(self) -> &'static str {
        match self {
            Kind::Model => "models",
            Kind::Application => "applications",
            Kind::Storage => "storages",
        }
    }

    /// Whether its objects are in namespaces.
    pub(super) fn is_namespaced(self) -> bool {
        self == Kind::Application
    }

    /// The address of all objects.
    pub(super) fn all(self) -> String {
        format!("/apis/{API_VERSION}/{}", self.plural())
    }
}

/// Where an object is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Key {
    pub(super) kind: Kind,
    /// Empty if it is in none.
    pub(super) namespace: Box<str>,
    pub(super) name: Box<str>,
}

impl Key {
    pub(super) fn new(kind: Kind, namespace: &str, name: &str) -> Self {
        let namespace = if kind.is_namespaced() { namespace } else { "" };
        Key {
            kind,
            namespace: namespace.into(),
            name: name.into(),
        }
    }

    /// The address of the collection that it is in.
    pub(super) fn collection(&self) -> String {
        if self.kind.is_namespaced() {
            let namespace = encode(&self.namespace);
            let plural = self.kind.plural();
            format!("/apis/{API_VERSION}/namespaces/{namespace}/{plural}")
        } else {
            self.kind.all()
        }
    }

    /// Its address.
    pub(super) fn path(&self) -> String {
        format!("{}/{}", self.collection(), encode(&self.name))
    }
}

impl std::fmt::Display for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = self.kind.singular();
        match &*self.namespace {
            "" => write!(f, "{kind} {:?}", self.name),
            namespace => write!(f, "{kind} {:?} in namespace {namespace:?}", self.name),
        }
    }
}
