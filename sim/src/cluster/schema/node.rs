//! Nodes.

use super::{FLAG, NUMBER, OBJECT_META, QUANTITY, TEXT, TIME, Type, always, given, nonzero};

/// `Taint`.
pub(crate) static TAINT: Type = Type::Struct(&[
    always("effect", &TEXT),
    always("key", &TEXT),
    given("timeAdded", &TIME),
    nonzero("value", &TEXT),
]);

/// `ConfigMapNodeConfigSource`.
pub(crate) static CONFIG_MAP_NODE_CONFIG_SOURCE: Type = Type::Struct(&[
    always("kubeletConfigKey", &TEXT),
    always("name", &TEXT),
    always("namespace", &TEXT),
    nonzero("resourceVersion", &TEXT),
    nonzero("uid", &TEXT),
]);

/// `NodeConfigSource`.
pub(crate) static NODE_CONFIG_SOURCE: Type =
    Type::Struct(&[given("configMap", &CONFIG_MAP_NODE_CONFIG_SOURCE)]);

/// `NodeSpec`.
pub(crate) static NODE_SPEC: Type = Type::Struct(&[
    given("configSource", &NODE_CONFIG_SOURCE),
    nonzero("externalID", &TEXT),
    nonzero("podCIDR", &TEXT),
    nonzero("podCIDRs", &Type::Set(&TEXT)),
    nonzero("providerID", &TEXT),
    nonzero("taints", &Type::List(&TAINT)),
    nonzero("unschedulable", &FLAG),
]);

/// `NodeCondition`.
pub(crate) static NODE_CONDITION: Type = Type::Struct(&[
    always("lastHeartbeatTime", &TIME),
    always("lastTransitionTime", &TIME),
    nonzero("message", &TEXT),
    nonzero("reason", &TEXT),
    always("status", &TEXT),
    always("type", &TEXT),
]);

/// `NodeAddress`.
pub(crate) static NODE_ADDRESS: Type =
    Type::Struct(&[always("address", &TEXT), always("type", &TEXT)]);

/// `DaemonEndpoint`.
pub(crate) static DAEMON_ENDPOINT: Type = Type::Struct(&[always("Port", &NUMBER)]);

/// `NodeDaemonEndpoints`.
pub(crate) static NODE_DAEMON_ENDPOINTS: Type =
    Type::Struct(&[always("kubeletEndpoint", &DAEMON_ENDPOINT)]);

/// `NodeSwapStatus`.
pub(crate) static NODE_SWAP_STATUS: Type = Type::Struct(&[given("capacity", &NUMBER)]);

/// `NodeSystemInfo`.
pub(crate) static NODE_SYSTEM_INFO: Type = Type::Struct(&[
    always("architecture", &TEXT),
    always("bootID", &TEXT),
    always("containerRuntimeVersion", &TEXT),
    always("kernelVersion", &TEXT),
    always("kubeProxyVersion", &TEXT),
    always("kubeletVersion", &TEXT),
    always("machineID", &TEXT),
    always("operatingSystem", &TEXT),
    always("osImage", &TEXT),
    given("swap", &NODE_SWAP_STATUS),
    always("systemUUID", &TEXT),
]);

/// `ContainerImage`.
pub(crate) static CONTAINER_IMAGE: Type = Type::Struct(&[
    always("names", &Type::List(&TEXT)),
    nonzero("sizeBytes", &NUMBER),
]);

/// `AttachedVolume`.
pub(crate) static ATTACHED_VOLUME: Type =
    Type::Struct(&[always("devicePath", &TEXT), always("name", &TEXT)]);

/// `NodeConfigStatus`.
pub(crate) static NODE_CONFIG_STATUS: Type = Type::Struct(&[
    given("active", &NODE_CONFIG_SOURCE),
    given("assigned", &NODE_CONFIG_SOURCE),
    nonzero("error", &TEXT),
    given("lastKnownGood", &NODE_CONFIG_SOURCE),
]);

/// `NodeRuntimeHandlerFeatures`.
pub(crate) static NODE_RUNTIME_HANDLER_FEATURES: Type = Type::Struct(&[
    given("recursiveReadOnlyMounts", &FLAG),
    given("userNamespaces", &FLAG),
]);

/// `NodeRuntimeHandler`.
pub(crate) static NODE_RUNTIME_HANDLER: Type = Type::Struct(&[
    given("features", &NODE_RUNTIME_HANDLER_FEATURES),
    always("name", &TEXT),
]);

/// `NodeFeatures`.
pub(crate) static NODE_FEATURES: Type = Type::Struct(&[given("supplementalGroupsPolicy", &FLAG)]);

/// `NodeStatus`.
pub(crate) static NODE_STATUS: Type = Type::Struct(&[
    nonzero("addresses", &Type::Keyed(&["type"], &NODE_ADDRESS)),
    nonzero("allocatable", &Type::Map(&QUANTITY)),
    nonzero("capacity", &Type::Map(&QUANTITY)),
    nonzero("conditions", &Type::Keyed(&["type"], &NODE_CONDITION)),
    given("config", &NODE_CONFIG_STATUS),
    always("daemonEndpoints", &NODE_DAEMON_ENDPOINTS),
    nonzero("declaredFeatures", &Type::List(&TEXT)),
    given("features", &NODE_FEATURES),
    nonzero("images", &Type::List(&CONTAINER_IMAGE)),
    always("nodeInfo", &NODE_SYSTEM_INFO),
    nonzero("phase", &TEXT),
    nonzero("runtimeHandlers", &Type::List(&NODE_RUNTIME_HANDLER)),
    nonzero("volumesAttached", &Type::List(&ATTACHED_VOLUME)),
    nonzero("volumesInUse", &Type::List(&TEXT)),
]);

/// `Node`.
pub(crate) static NODE: Type = Type::Struct(&[
    nonzero("apiVersion", &TEXT),
    nonzero("kind", &TEXT),
    always("metadata", &OBJECT_META),
    always("spec", &NODE_SPEC),
    always("status", &NODE_STATUS),
]);
