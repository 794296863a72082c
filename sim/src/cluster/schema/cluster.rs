//! Namespaces, events, leases, and references between objects.

use super::{NUMBER, OBJECT_META, TEXT, TIME, Type, always, given, nonzero};

/// `NamespaceSpec`.
pub(crate) static NAMESPACE_SPEC: Type = Type::Struct(&[nonzero("finalizers", &Type::List(&TEXT))]);

/// `NamespaceCondition`.
pub(crate) static NAMESPACE_CONDITION: Type = Type::Struct(&[
    always("lastTransitionTime", &TIME),
    nonzero("message", &TEXT),
    nonzero("reason", &TEXT),
    always("status", &TEXT),
    always("type", &TEXT),
]);

/// `NamespaceStatus`.
pub(crate) static NAMESPACE_STATUS: Type = Type::Struct(&[
    nonzero("conditions", &Type::Keyed(&["type"], &NAMESPACE_CONDITION)),
    nonzero("phase", &TEXT),
]);

/// `Namespace`.
pub(crate) static NAMESPACE: Type = Type::Struct(&[
    nonzero("apiVersion", &TEXT),
    nonzero("kind", &TEXT),
    always("metadata", &OBJECT_META),
    always("spec", &NAMESPACE_SPEC),
    always("status", &NAMESPACE_STATUS),
]);

/// `ObjectReference`.
pub(crate) static OBJECT_REFERENCE: Type = Type::Struct(&[
    nonzero("apiVersion", &TEXT),
    nonzero("fieldPath", &TEXT),
    nonzero("kind", &TEXT),
    nonzero("name", &TEXT),
    nonzero("namespace", &TEXT),
    nonzero("resourceVersion", &TEXT),
    nonzero("uid", &TEXT),
]);

/// `LocalObjectReference`.
pub(crate) static LOCAL_OBJECT_REFERENCE: Type = Type::Struct(&[nonzero("name", &TEXT)]);

/// `SecretReference`.
pub(crate) static SECRET_REFERENCE: Type =
    Type::Struct(&[nonzero("name", &TEXT), nonzero("namespace", &TEXT)]);

/// `TypedLocalObjectReference`.
pub(crate) static TYPED_LOCAL_OBJECT_REFERENCE: Type = Type::Struct(&[
    given("apiGroup", &TEXT),
    always("kind", &TEXT),
    always("name", &TEXT),
]);

/// `EventSource`.
pub(crate) static EVENT_SOURCE: Type =
    Type::Struct(&[nonzero("component", &TEXT), nonzero("host", &TEXT)]);

/// `EventSeries`.
pub(crate) static EVENT_SERIES: Type =
    Type::Struct(&[nonzero("count", &NUMBER), always("lastObservedTime", &TIME)]);

/// `Event`.
pub(crate) static EVENT: Type = Type::Struct(&[
    nonzero("action", &TEXT),
    nonzero("apiVersion", &TEXT),
    nonzero("count", &NUMBER),
    always("eventTime", &TIME),
    always("firstTimestamp", &TIME),
    always("involvedObject", &Type::Atomic(&OBJECT_REFERENCE)),
    nonzero("kind", &TEXT),
    always("lastTimestamp", &TIME),
    nonzero("message", &TEXT),
    always("metadata", &OBJECT_META),
    nonzero("reason", &TEXT),
    given("related", &Type::Atomic(&OBJECT_REFERENCE)),
    always("reportingComponent", &TEXT),
    always("reportingInstance", &TEXT),
    given("series", &EVENT_SERIES),
    always("source", &EVENT_SOURCE),
    nonzero("type", &TEXT),
]);

/// `LeaseSpec`.
pub(crate) static LEASE_SPEC: Type = Type::Struct(&[
    given("acquireTime", &TIME),
    given("holderIdentity", &TEXT),
    given("leaseDurationSeconds", &NUMBER),
    given("leaseTransitions", &NUMBER),
    given("preferredHolder", &TEXT),
    given("renewTime", &TIME),
    given("strategy", &TEXT),
]);

/// `Lease`.
pub(crate) static LEASE: Type = Type::Struct(&[
    nonzero("apiVersion", &TEXT),
    nonzero("kind", &TEXT),
    always("metadata", &OBJECT_META),
    always("spec", &LEASE_SPEC),
]);
