//! Accounts, secrets, configuration and RBAC.

use super::{
    FLAG, LABEL_SELECTOR, LOCAL_OBJECT_REFERENCE, OBJECT_META, OBJECT_REFERENCE, TEXT, Type,
    always, given, nonzero,
};

/// `ServiceAccount`.
pub(crate) static SERVICE_ACCOUNT: Type = Type::Struct(&[
    nonzero("apiVersion", &TEXT),
    given("automountServiceAccountToken", &FLAG),
    nonzero(
        "imagePullSecrets",
        &Type::List(&Type::Atomic(&LOCAL_OBJECT_REFERENCE)),
    ),
    nonzero("kind", &TEXT),
    always("metadata", &OBJECT_META),
    nonzero(
        "secrets",
        &Type::Keyed(&["name"], &Type::Atomic(&OBJECT_REFERENCE)),
    ),
]);

/// `Secret`.
pub(crate) static SECRET: Type = Type::Struct(&[
    nonzero("apiVersion", &TEXT),
    nonzero("data", &Type::Map(&TEXT)),
    given("immutable", &FLAG),
    nonzero("kind", &TEXT),
    always("metadata", &OBJECT_META),
    nonzero("stringData", &Type::Map(&TEXT)),
    nonzero("type", &TEXT),
]);

/// `ConfigMap`.
pub(crate) static CONFIG_MAP: Type = Type::Struct(&[
    nonzero("apiVersion", &TEXT),
    nonzero("binaryData", &Type::Map(&TEXT)),
    nonzero("data", &Type::Map(&TEXT)),
    given("immutable", &FLAG),
    nonzero("kind", &TEXT),
    always("metadata", &OBJECT_META),
]);

/// `PolicyRule`.
pub(crate) static POLICY_RULE: Type = Type::Struct(&[
    nonzero("apiGroups", &Type::List(&TEXT)),
    nonzero("nonResourceURLs", &Type::List(&TEXT)),
    nonzero("resourceNames", &Type::List(&TEXT)),
    nonzero("resources", &Type::List(&TEXT)),
    always("verbs", &Type::List(&TEXT)),
]);

/// `Role`.
pub(crate) static ROLE: Type = Type::Struct(&[
    nonzero("apiVersion", &TEXT),
    nonzero("kind", &TEXT),
    always("metadata", &OBJECT_META),
    always("rules", &Type::List(&POLICY_RULE)),
]);

/// `Subject`.
pub(crate) static SUBJECT: Type = Type::Struct(&[
    nonzero("apiGroup", &TEXT),
    always("kind", &TEXT),
    always("name", &TEXT),
    nonzero("namespace", &TEXT),
]);

/// `RoleRef`.
pub(crate) static ROLE_REF: Type = Type::Struct(&[
    always("apiGroup", &TEXT),
    always("kind", &TEXT),
    always("name", &TEXT),
]);

/// `RoleBinding`.
pub(crate) static ROLE_BINDING: Type = Type::Struct(&[
    nonzero("apiVersion", &TEXT),
    nonzero("kind", &TEXT),
    always("metadata", &OBJECT_META),
    always("roleRef", &Type::Atomic(&ROLE_REF)),
    nonzero("subjects", &Type::List(&Type::Atomic(&SUBJECT))),
]);

/// `AggregationRule`.
pub(crate) static AGGREGATION_RULE: Type = Type::Struct(&[nonzero(
    "clusterRoleSelectors",
    &Type::List(&Type::Atomic(&LABEL_SELECTOR)),
)]);

/// `ClusterRole`.
pub(crate) static CLUSTER_ROLE: Type = Type::Struct(&[
    given("aggregationRule", &AGGREGATION_RULE),
    nonzero("apiVersion", &TEXT),
    nonzero("kind", &TEXT),
    always("metadata", &OBJECT_META),
    always("rules", &Type::List(&POLICY_RULE)),
]);

/// `ClusterRoleBinding`.
pub(crate) static CLUSTER_ROLE_BINDING: Type = Type::Struct(&[
    nonzero("apiVersion", &TEXT),
    nonzero("kind", &TEXT),
    always("metadata", &OBJECT_META),
    always("roleRef", &Type::Atomic(&ROLE_REF)),
    nonzero("subjects", &Type::List(&Type::Atomic(&SUBJECT))),
]);
