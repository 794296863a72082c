//! Where pods may run.

use super::{LABEL_SELECTOR, NUMBER, TEXT, Type, always, given, nonzero};

/// `NodeSelectorRequirement`.
pub(crate) static NODE_SELECTOR_REQUIREMENT: Type = Type::Struct(&[
    always("key", &TEXT),
    always("operator", &TEXT),
    nonzero("values", &Type::List(&TEXT)),
]);

/// `NodeSelectorTerm`.
pub(crate) static NODE_SELECTOR_TERM: Type = Type::Struct(&[
    nonzero("matchExpressions", &Type::List(&NODE_SELECTOR_REQUIREMENT)),
    nonzero("matchFields", &Type::List(&NODE_SELECTOR_REQUIREMENT)),
]);

/// `NodeSelector`.
pub(crate) static NODE_SELECTOR: Type = Type::Struct(&[always(
    "nodeSelectorTerms",
    &Type::List(&Type::Atomic(&NODE_SELECTOR_TERM)),
)]);

/// `PreferredSchedulingTerm`.
pub(crate) static PREFERRED_SCHEDULING_TERM: Type = Type::Struct(&[
    always("preference", &Type::Atomic(&NODE_SELECTOR_TERM)),
    always("weight", &NUMBER),
]);

/// `NodeAffinity`.
pub(crate) static NODE_AFFINITY: Type = Type::Struct(&[
    nonzero(
        "preferredDuringSchedulingIgnoredDuringExecution",
        &Type::List(&PREFERRED_SCHEDULING_TERM),
    ),
    given(
        "requiredDuringSchedulingIgnoredDuringExecution",
        &Type::Atomic(&NODE_SELECTOR),
    ),
]);

/// `PodAffinityTerm`.
pub(crate) static POD_AFFINITY_TERM: Type = Type::Struct(&[
    given("labelSelector", &Type::Atomic(&LABEL_SELECTOR)),
    nonzero("matchLabelKeys", &Type::List(&TEXT)),
    nonzero("mismatchLabelKeys", &Type::List(&TEXT)),
    given("namespaceSelector", &Type::Atomic(&LABEL_SELECTOR)),
    nonzero("namespaces", &Type::List(&TEXT)),
    always("topologyKey", &TEXT),
]);

/// `WeightedPodAffinityTerm`.
pub(crate) static WEIGHTED_POD_AFFINITY_TERM: Type = Type::Struct(&[
    always("podAffinityTerm", &POD_AFFINITY_TERM),
    always("weight", &NUMBER),
]);

/// `PodAffinity`.
pub(crate) static POD_AFFINITY: Type = Type::Struct(&[
    nonzero(
        "preferredDuringSchedulingIgnoredDuringExecution",
        &Type::List(&WEIGHTED_POD_AFFINITY_TERM),
    ),
    nonzero(
        "requiredDuringSchedulingIgnoredDuringExecution",
        &Type::List(&POD_AFFINITY_TERM),
    ),
]);

/// `PodAntiAffinity`.
pub(crate) static POD_ANTI_AFFINITY: Type = Type::Struct(&[
    nonzero(
        "preferredDuringSchedulingIgnoredDuringExecution",
        &Type::List(&WEIGHTED_POD_AFFINITY_TERM),
    ),
    nonzero(
        "requiredDuringSchedulingIgnoredDuringExecution",
        &Type::List(&POD_AFFINITY_TERM),
    ),
]);

/// `Affinity`.
pub(crate) static AFFINITY: Type = Type::Struct(&[
    given("nodeAffinity", &NODE_AFFINITY),
    given("podAffinity", &POD_AFFINITY),
    given("podAntiAffinity", &POD_ANTI_AFFINITY),
]);

/// `Toleration`.
pub(crate) static TOLERATION: Type = Type::Struct(&[
    nonzero("effect", &TEXT),
    nonzero("key", &TEXT),
    nonzero("operator", &TEXT),
    given("tolerationSeconds", &NUMBER),
    nonzero("value", &TEXT),
]);

/// `PodReadinessGate`.
pub(crate) static POD_READINESS_GATE: Type = Type::Struct(&[always("conditionType", &TEXT)]);

/// `TopologySpreadConstraint`.
pub(crate) static TOPOLOGY_SPREAD_CONSTRAINT: Type = Type::Struct(&[
    given("labelSelector", &Type::Atomic(&LABEL_SELECTOR)),
    nonzero("matchLabelKeys", &Type::List(&TEXT)),
    always("maxSkew", &NUMBER),
    given("minDomains", &NUMBER),
    given("nodeAffinityPolicy", &TEXT),
    given("nodeTaintsPolicy", &TEXT),
    always("topologyKey", &TEXT),
    always("whenUnsatisfiable", &TEXT),
]);

/// `PodSchedulingGate`.
pub(crate) static POD_SCHEDULING_GATE: Type = Type::Struct(&[always("name", &TEXT)]);

/// `PodSchedulingGroup`.
pub(crate) static POD_SCHEDULING_GROUP: Type = Type::Struct(&[given("podGroupName", &TEXT)]);
