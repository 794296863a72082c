//! Metadata of every object, and selectors.

use super::{ANY, FLAG, NUMBER, TEXT, TIME, Type, always, given, nonzero};

/// `OwnerReference`.
pub(crate) static OWNER_REFERENCE: Type = Type::Struct(&[
    always("apiVersion", &TEXT),
    given("blockOwnerDeletion", &FLAG),
    given("controller", &FLAG),
    always("kind", &TEXT),
    always("name", &TEXT),
    always("uid", &TEXT),
]);

/// `ManagedFieldsEntry`.
pub(crate) static MANAGED_FIELDS_ENTRY: Type = Type::Struct(&[
    nonzero("apiVersion", &TEXT),
    nonzero("fieldsType", &TEXT),
    given("fieldsV1", &Type::Atomic(&ANY)),
    nonzero("manager", &TEXT),
    nonzero("operation", &TEXT),
    nonzero("subresource", &TEXT),
    given("time", &TIME),
]);

/// `ObjectMeta`.
pub(crate) static OBJECT_META: Type = Type::Struct(&[
    nonzero("annotations", &Type::Map(&TEXT)),
    given("creationTimestamp", &TIME),
    given("deletionGracePeriodSeconds", &NUMBER),
    given("deletionTimestamp", &TIME),
    nonzero("finalizers", &Type::Set(&TEXT)),
    nonzero("generateName", &TEXT),
    nonzero("generation", &NUMBER),
    nonzero("labels", &Type::Map(&TEXT)),
    nonzero("managedFields", &Type::List(&MANAGED_FIELDS_ENTRY)),
    nonzero("name", &TEXT),
    nonzero("namespace", &TEXT),
    nonzero(
        "ownerReferences",
        &Type::Keyed(&["uid"], &Type::Atomic(&OWNER_REFERENCE)),
    ),
    nonzero("resourceVersion", &TEXT),
    nonzero("selfLink", &TEXT),
    nonzero("uid", &TEXT),
]);

/// `LabelSelectorRequirement`.
pub(crate) static LABEL_SELECTOR_REQUIREMENT: Type = Type::Struct(&[
    always("key", &TEXT),
    always("operator", &TEXT),
    nonzero("values", &Type::List(&TEXT)),
]);

/// `LabelSelector`.
pub(crate) static LABEL_SELECTOR: Type = Type::Struct(&[
    nonzero("matchExpressions", &Type::List(&LABEL_SELECTOR_REQUIREMENT)),
    nonzero("matchLabels", &Type::Map(&TEXT)),
]);

/// `Condition`.
pub(crate) static CONDITION: Type = Type::Struct(&[
    always("lastTransitionTime", &TIME),
    always("message", &TEXT),
    nonzero("observedGeneration", &NUMBER),
    always("reason", &TEXT),
    always("status", &TEXT),
    always("type", &TEXT),
]);
