//! StatefulSet, Deployment, ReplicaSet, DaemonSet and what they make pods from.

use super::{
    ANY, FLAG, LABEL_SELECTOR, NUMBER, OBJECT_META, PERSISTENT_VOLUME_CLAIM, POD_SPEC, PORT, TEXT,
    TIME, Type, always, given, nonzero,
};

/// `ControllerRevision`.
pub(crate) static CONTROLLER_REVISION: Type = Type::Struct(&[
    nonzero("apiVersion", &TEXT),
    given("data", &Type::Atomic(&ANY)),
    nonzero("kind", &TEXT),
    always("metadata", &OBJECT_META),
    always("revision", &NUMBER),
]);

/// `PodTemplateSpec`.
pub(crate) static POD_TEMPLATE_SPEC: Type =
    Type::Struct(&[always("metadata", &OBJECT_META), always("spec", &POD_SPEC)]);

/// `RollingUpdateStatefulSetStrategy`.
pub(crate) static ROLLING_UPDATE_STATEFUL_SET_STRATEGY: Type =
    Type::Struct(&[given("maxUnavailable", &PORT), given("partition", &NUMBER)]);

/// `StatefulSetUpdateStrategy`.
pub(crate) static STATEFUL_SET_UPDATE_STRATEGY: Type = Type::Struct(&[
    given("rollingUpdate", &ROLLING_UPDATE_STATEFUL_SET_STRATEGY),
    nonzero("type", &TEXT),
]);

/// `StatefulSetPersistentVolumeClaimRetentionPolicy`.
pub(crate) static STATEFUL_SET_PERSISTENT_VOLUME_CLAIM_RETENTION_POLICY: Type =
    Type::Struct(&[nonzero("whenDeleted", &TEXT), nonzero("whenScaled", &TEXT)]);

/// `StatefulSetOrdinals`.
pub(crate) static STATEFUL_SET_ORDINALS: Type = Type::Struct(&[always("start", &NUMBER)]);

/// `StatefulSetSpec`.
pub(crate) static STATEFUL_SET_SPEC: Type = Type::Struct(&[
    nonzero("minReadySeconds", &NUMBER),
    given("ordinals", &STATEFUL_SET_ORDINALS),
    given(
        "persistentVolumeClaimRetentionPolicy",
        &STATEFUL_SET_PERSISTENT_VOLUME_CLAIM_RETENTION_POLICY,
    ),
    nonzero("podManagementPolicy", &TEXT),
    given("replicas", &NUMBER),
    given("revisionHistoryLimit", &NUMBER),
    given("selector", &Type::Atomic(&LABEL_SELECTOR)),
    always("serviceName", &TEXT),
    always("template", &POD_TEMPLATE_SPEC),
    always("updateStrategy", &STATEFUL_SET_UPDATE_STRATEGY),
    nonzero(
        "volumeClaimTemplates",
        &Type::List(&PERSISTENT_VOLUME_CLAIM),
    ),
]);

/// `StatefulSetCondition`.
pub(crate) static STATEFUL_SET_CONDITION: Type = Type::Struct(&[
    always("lastTransitionTime", &TIME),
    nonzero("message", &TEXT),
    nonzero("reason", &TEXT),
    always("status", &TEXT),
    always("type", &TEXT),
]);

/// `StatefulSetStatus`.
pub(crate) static STATEFUL_SET_STATUS: Type = Type::Struct(&[
    always("availableReplicas", &NUMBER),
    given("collisionCount", &NUMBER),
    nonzero(
        "conditions",
        &Type::Keyed(&["type"], &STATEFUL_SET_CONDITION),
    ),
    nonzero("currentReplicas", &NUMBER),
    nonzero("currentRevision", &TEXT),
    nonzero("observedGeneration", &NUMBER),
    nonzero("readyReplicas", &NUMBER),
    always("replicas", &NUMBER),
    nonzero("updateRevision", &TEXT),
    nonzero("updatedReplicas", &NUMBER),
]);

/// `StatefulSet`.
pub(crate) static STATEFUL_SET: Type = Type::Struct(&[
    nonzero("apiVersion", &TEXT),
    nonzero("kind", &TEXT),
    always("metadata", &OBJECT_META),
    always("spec", &STATEFUL_SET_SPEC),
    always("status", &STATEFUL_SET_STATUS),
]);

/// `ReplicaSetSpec`.
pub(crate) static REPLICA_SET_SPEC: Type = Type::Struct(&[
    nonzero("minReadySeconds", &NUMBER),
    given("replicas", &NUMBER),
    given("selector", &Type::Atomic(&LABEL_SELECTOR)),
    always("template", &POD_TEMPLATE_SPEC),
]);

/// `ReplicaSetCondition`.
pub(crate) static REPLICA_SET_CONDITION: Type = Type::Struct(&[
    always("lastTransitionTime", &TIME),
    nonzero("message", &TEXT),
    nonzero("reason", &TEXT),
    always("status", &TEXT),
    always("type", &TEXT),
]);

/// `ReplicaSetStatus`.
pub(crate) static REPLICA_SET_STATUS: Type = Type::Struct(&[
    nonzero("availableReplicas", &NUMBER),
    nonzero(
        "conditions",
        &Type::Keyed(&["type"], &REPLICA_SET_CONDITION),
    ),
    nonzero("fullyLabeledReplicas", &NUMBER),
    nonzero("observedGeneration", &NUMBER),
    nonzero("readyReplicas", &NUMBER),
    always("replicas", &NUMBER),
    given("terminatingReplicas", &NUMBER),
]);

/// `ReplicaSet`.
pub(crate) static REPLICA_SET: Type = Type::Struct(&[
    nonzero("apiVersion", &TEXT),
    nonzero("kind", &TEXT),
    always("metadata", &OBJECT_META),
    always("spec", &REPLICA_SET_SPEC),
    always("status", &REPLICA_SET_STATUS),
]);

/// `RollingUpdateDeployment`.
pub(crate) static ROLLING_UPDATE_DEPLOYMENT: Type =
    Type::Struct(&[given("maxSurge", &PORT), given("maxUnavailable", &PORT)]);

/// `DeploymentStrategy`.
pub(crate) static DEPLOYMENT_STRATEGY: Type = Type::Struct(&[
    given("rollingUpdate", &ROLLING_UPDATE_DEPLOYMENT),
    nonzero("type", &TEXT),
]);

/// `DeploymentSpec`.
pub(crate) static DEPLOYMENT_SPEC: Type = Type::Struct(&[
    nonzero("minReadySeconds", &NUMBER),
    nonzero("paused", &FLAG),
    given("progressDeadlineSeconds", &NUMBER),
    given("replicas", &NUMBER),
    given("revisionHistoryLimit", &NUMBER),
    given("selector", &Type::Atomic(&LABEL_SELECTOR)),
    always("strategy", &DEPLOYMENT_STRATEGY),
    always("template", &POD_TEMPLATE_SPEC),
]);

/// `DeploymentCondition`.
pub(crate) static DEPLOYMENT_CONDITION: Type = Type::Struct(&[
    always("lastTransitionTime", &TIME),
    always("lastUpdateTime", &TIME),
    nonzero("message", &TEXT),
    nonzero("reason", &TEXT),
    always("status", &TEXT),
    always("type", &TEXT),
]);

/// `DeploymentStatus`.
pub(crate) static DEPLOYMENT_STATUS: Type = Type::Struct(&[
    nonzero("availableReplicas", &NUMBER),
    given("collisionCount", &NUMBER),
    nonzero("conditions", &Type::Keyed(&["type"], &DEPLOYMENT_CONDITION)),
    nonzero("observedGeneration", &NUMBER),
    nonzero("readyReplicas", &NUMBER),
    nonzero("replicas", &NUMBER),
    given("terminatingReplicas", &NUMBER),
    nonzero("unavailableReplicas", &NUMBER),
    nonzero("updatedReplicas", &NUMBER),
]);

/// `Deployment`.
pub(crate) static DEPLOYMENT: Type = Type::Struct(&[
    nonzero("apiVersion", &TEXT),
    nonzero("kind", &TEXT),
    always("metadata", &OBJECT_META),
    always("spec", &DEPLOYMENT_SPEC),
    always("status", &DEPLOYMENT_STATUS),
]);

/// `RollingUpdateDaemonSet`.
pub(crate) static ROLLING_UPDATE_DAEMON_SET: Type =
    Type::Struct(&[given("maxSurge", &PORT), given("maxUnavailable", &PORT)]);

/// `DaemonSetUpdateStrategy`.
pub(crate) static DAEMON_SET_UPDATE_STRATEGY: Type = Type::Struct(&[
    given("rollingUpdate", &ROLLING_UPDATE_DAEMON_SET),
    nonzero("type", &TEXT),
]);

/// `DaemonSetSpec`.
pub(crate) static DAEMON_SET_SPEC: Type = Type::Struct(&[
    nonzero("minReadySeconds", &NUMBER),
    given("revisionHistoryLimit", &NUMBER),
    given("selector", &Type::Atomic(&LABEL_SELECTOR)),
    always("template", &POD_TEMPLATE_SPEC),
    always("updateStrategy", &DAEMON_SET_UPDATE_STRATEGY),
]);

/// `DaemonSetCondition`.
pub(crate) static DAEMON_SET_CONDITION: Type = Type::Struct(&[
    always("lastTransitionTime", &TIME),
    nonzero("message", &TEXT),
    nonzero("reason", &TEXT),
    always("status", &TEXT),
    always("type", &TEXT),
]);

/// `DaemonSetStatus`.
pub(crate) static DAEMON_SET_STATUS: Type = Type::Struct(&[
    given("collisionCount", &NUMBER),
    nonzero("conditions", &Type::Keyed(&["type"], &DAEMON_SET_CONDITION)),
    always("currentNumberScheduled", &NUMBER),
    always("desiredNumberScheduled", &NUMBER),
    nonzero("numberAvailable", &NUMBER),
    always("numberMisscheduled", &NUMBER),
    always("numberReady", &NUMBER),
    nonzero("numberUnavailable", &NUMBER),
    nonzero("observedGeneration", &NUMBER),
    nonzero("updatedNumberScheduled", &NUMBER),
]);

/// `DaemonSet`.
pub(crate) static DAEMON_SET: Type = Type::Struct(&[
    nonzero("apiVersion", &TEXT),
    nonzero("kind", &TEXT),
    always("metadata", &OBJECT_META),
    always("spec", &DAEMON_SET_SPEC),
    always("status", &DAEMON_SET_STATUS),
]);
