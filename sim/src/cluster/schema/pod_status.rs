//! What the kubelet reports of pods.

use super::{
    FLAG, NUMBER, QUANTITY, RESOURCE_REQUIREMENTS, TEXT, TIME, Type, always, given, nonzero,
};

/// `PodCondition`.
pub(crate) static POD_CONDITION: Type = Type::Struct(&[
    always("lastProbeTime", &TIME),
    always("lastTransitionTime", &TIME),
    nonzero("message", &TEXT),
    nonzero("observedGeneration", &NUMBER),
    nonzero("reason", &TEXT),
    always("status", &TEXT),
    always("type", &TEXT),
]);

/// `HostIP`.
pub(crate) static HOST_IP: Type = Type::Struct(&[always("ip", &TEXT)]);

/// `PodIP`.
pub(crate) static POD_IP: Type = Type::Struct(&[always("ip", &TEXT)]);

/// `ContainerStateWaiting`.
pub(crate) static CONTAINER_STATE_WAITING: Type =
    Type::Struct(&[nonzero("message", &TEXT), nonzero("reason", &TEXT)]);

/// `ContainerStateRunning`.
pub(crate) static CONTAINER_STATE_RUNNING: Type = Type::Struct(&[always("startedAt", &TIME)]);

/// `ContainerStateTerminated`.
pub(crate) static CONTAINER_STATE_TERMINATED: Type = Type::Struct(&[
    nonzero("containerID", &TEXT),
    always("exitCode", &NUMBER),
    always("finishedAt", &TIME),
    nonzero("message", &TEXT),
    nonzero("reason", &TEXT),
    nonzero("signal", &NUMBER),
    always("startedAt", &TIME),
]);

/// `ContainerState`.
pub(crate) static CONTAINER_STATE: Type = Type::Struct(&[
    given("running", &CONTAINER_STATE_RUNNING),
    given("terminated", &CONTAINER_STATE_TERMINATED),
    given("waiting", &CONTAINER_STATE_WAITING),
]);

/// `ImageVolumeStatus`.
pub(crate) static IMAGE_VOLUME_STATUS: Type = Type::Struct(&[nonzero("imageRef", &TEXT)]);

/// `VolumeStatus`.
pub(crate) static VOLUME_STATUS: Type = Type::Struct(&[given("image", &IMAGE_VOLUME_STATUS)]);

/// `VolumeMountStatus`.
pub(crate) static VOLUME_MOUNT_STATUS: Type = Type::Struct(&[
    always("mountPath", &TEXT),
    always("name", &TEXT),
    nonzero("readOnly", &FLAG),
    given("recursiveReadOnly", &TEXT),
    given("volumeStatus", &VOLUME_STATUS),
]);

/// `LinuxContainerUser`.
pub(crate) static LINUX_CONTAINER_USER: Type = Type::Struct(&[
    always("gid", &NUMBER),
    nonzero("supplementalGroups", &Type::List(&NUMBER)),
    always("uid", &NUMBER),
]);

/// `ContainerUser`.
pub(crate) static CONTAINER_USER: Type = Type::Struct(&[given("linux", &LINUX_CONTAINER_USER)]);

/// `ResourceHealth`.
pub(crate) static RESOURCE_HEALTH: Type = Type::Struct(&[
    nonzero("health", &TEXT),
    given("message", &TEXT),
    always("resourceID", &TEXT),
]);

/// `ResourceStatus`.
pub(crate) static RESOURCE_STATUS: Type = Type::Struct(&[
    always("name", &TEXT),
    nonzero("resources", &Type::Keyed(&["resourceID"], &RESOURCE_HEALTH)),
]);

/// `ContainerStatus`.
pub(crate) static CONTAINER_STATUS: Type = Type::Struct(&[
    nonzero("allocatedResources", &Type::Map(&QUANTITY)),
    nonzero(
        "allocatedResourcesStatus",
        &Type::Keyed(&["name"], &RESOURCE_STATUS),
    ),
    nonzero("containerID", &TEXT),
    always("image", &TEXT),
    always("imageID", &TEXT),
    always("lastState", &CONTAINER_STATE),
    always("name", &TEXT),
    always("ready", &FLAG),
    given("resources", &RESOURCE_REQUIREMENTS),
    always("restartCount", &NUMBER),
    given("started", &FLAG),
    always("state", &CONTAINER_STATE),
    given("stopSignal", &TEXT),
    given("user", &CONTAINER_USER),
    nonzero(
        "volumeMounts",
        &Type::Keyed(&["mountPath"], &VOLUME_MOUNT_STATUS),
    ),
]);

/// `PodResourceClaimStatus`.
pub(crate) static POD_RESOURCE_CLAIM_STATUS: Type =
    Type::Struct(&[always("name", &TEXT), given("resourceClaimName", &TEXT)]);

/// `ContainerExtendedResourceRequest`.
pub(crate) static CONTAINER_EXTENDED_RESOURCE_REQUEST: Type = Type::Struct(&[
    always("containerName", &TEXT),
    always("requestName", &TEXT),
    always("resourceName", &TEXT),
]);

/// `PodExtendedResourceClaimStatus`.
pub(crate) static POD_EXTENDED_RESOURCE_CLAIM_STATUS: Type = Type::Struct(&[
    always(
        "requestMappings",
        &Type::List(&CONTAINER_EXTENDED_RESOURCE_REQUEST),
    ),
    always("resourceClaimName", &TEXT),
]);

/// `NodeAllocatableResourceClaimStatus`.
pub(crate) static NODE_ALLOCATABLE_RESOURCE_CLAIM_STATUS: Type = Type::Struct(&[
    nonzero("containers", &Type::Set(&TEXT)),
    always("resourceClaimName", &TEXT),
    always("resources", &Type::Map(&QUANTITY)),
]);

/// `PodStatus`.
pub(crate) static POD_STATUS: Type = Type::Struct(&[
    nonzero("allocatedResources", &Type::Map(&QUANTITY)),
    nonzero("conditions", &Type::Keyed(&["type"], &POD_CONDITION)),
    nonzero("containerStatuses", &Type::List(&CONTAINER_STATUS)),
    nonzero("ephemeralContainerStatuses", &Type::List(&CONTAINER_STATUS)),
    given(
        "extendedResourceClaimStatus",
        &POD_EXTENDED_RESOURCE_CLAIM_STATUS,
    ),
    nonzero("hostIP", &TEXT),
    nonzero("hostIPs", &Type::List(&HOST_IP)),
    nonzero("initContainerStatuses", &Type::List(&CONTAINER_STATUS)),
    nonzero("message", &TEXT),
    nonzero(
        "nodeAllocatableResourceClaimStatuses",
        &Type::List(&NODE_ALLOCATABLE_RESOURCE_CLAIM_STATUS),
    ),
    nonzero("nominatedNodeName", &TEXT),
    nonzero("observedGeneration", &NUMBER),
    nonzero("phase", &TEXT),
    nonzero("podIP", &TEXT),
    nonzero("podIPs", &Type::Keyed(&["ip"], &POD_IP)),
    nonzero("qosClass", &TEXT),
    nonzero("reason", &TEXT),
    nonzero("resize", &TEXT),
    nonzero(
        "resourceClaimStatuses",
        &Type::Keyed(&["name"], &POD_RESOURCE_CLAIM_STATUS),
    ),
    given("resources", &RESOURCE_REQUIREMENTS),
    given("startTime", &TIME),
]);
